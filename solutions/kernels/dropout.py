"""Dropout with a seed: the set of dropped elements is computed, not stored.

Source: Triton's tutorial 04, "Low-Memory Dropout"; Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_whole, empty_like, flat, size_of, unless_tuned


@triton.jit
def dropout_kernel(out, x, n, p, seed, BLOCK: tl.constexpr):
    """For all i < n, out[i] is 0 with probability p, and x[i] / (1 - p) otherwise."""
    # [task 8.6] Element i is dropped if `tl.rand(seed, i)` is below p, so BLOCK does not affect which elements are
    # dropped. A dropped element becomes 0, whatever x[i] and p are. Compute in fp32.
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside).to(tl.float32)
    kept = tl.rand(seed, at) >= p
    result = tl.where(kept, values / (1 - p), 0.0)
    tl.store(out + at, result, mask=inside)
    # [end]


def dropout(x: Any, p: float, seed: int, block: int = 1024, kernel: Any = dropout_kernel) -> Any:
    """Set each element of `x` to 0 with probability `p`, or divide it by `1 - p`. The seed determines the choice.

    A `kernel` from `kernels.tuned` chooses the tile itself.
    """
    check("x", x)
    if not isinstance(p, Real) or not 0 <= float(p) <= 1:
        raise ValueError(f"p must be a probability, from 0 to 1, not {p!r}")
    check_whole("seed", seed)
    check_whole("block", block, 1)
    out = empty_like(x)
    n = size_of(x)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
    kernel[grid](flat(out), flat(x), n, float(p), seed, **unless_tuned(kernel, BLOCK=block))
    return out


if __name__ == "__main__":
    from kernels import demo

    demo.run("dropout")
