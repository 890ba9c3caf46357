"""Vector addition: the smallest complete kernel.

Each program adds one tile of elements. The last tile may extend past the end, so its loads and its store are masked.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_whole, describe, empty_like, flat, size_of, unless_tuned

NUMBERS = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8")


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i] for all i < n."""
    # [task 8.1] With BLOCK = 64 and n = 100, program 1 adds elements 64 to 99, and does not access element 100 or any
    # element after it.
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)
    # [end]


def add(x: Any, y: Any, block: int = 1024, kernel: Any = add_kernel) -> Any:
    """`x + y`, element by element, for two arrays of the same shape and dtype.

    A `kernel` from `kernels.tuned` chooses the tile itself.
    """
    check("x", x, dtypes=NUMBERS)
    check("y", y, dtypes=NUMBERS)
    check_alike("y", y, "x", x)
    if x.shape != y.shape:
        raise ValueError(f"x is {describe(x)} and y is {describe(y)}: their shapes must be equal")
    check_whole("block", block, 1)
    out = empty_like(x)
    n = size_of(x)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
    kernel[grid](flat(x), flat(y), flat(out), n, **unless_tuned(kernel, BLOCK=block))
    return out


if __name__ == "__main__":
    from kernels import demo

    demo.run("vector_add")
