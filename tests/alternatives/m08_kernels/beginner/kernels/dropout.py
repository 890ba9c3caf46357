"""Dropout from a seed: which elements are dropped is computed, not stored.

Source: Triton's tutorial 04, "Low-Memory Dropout"; Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, empty_like, flat, size_of


@triton.jit
def dropout_kernel(out, x, n, p, seed, BLOCK: tl.constexpr):
    """out[i] is 0 with probability p, else x[i] / (1 - p)."""
    program = tl.program_id(axis=0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    loaded = tl.load(x + offsets, mask=mask, other=0.0)
    values = loaded.to(tl.float32)
    numbers = tl.rand(seed, offsets)
    dropped = numbers < p
    share_kept = 1.0 - p
    scaled = values / share_kept
    zeros = tl.zeros((BLOCK,), dtype=tl.float32)
    result = tl.where(dropped, zeros, scaled)
    tl.store(out + offsets, result.to(out.dtype.element_ty), mask=mask)


def dropout(x: Any, p: float, seed: int, block: int = 1024) -> Any:
    """`x` with each element zero with probability `p`, else divided by `1 - p`. The same seed drops the same ones."""
    check("x", x)
    if not 0 <= p <= 1:
        raise ValueError(f"p is a probability, from 0 to 1, not {p}")
    out = empty_like(x)
    n = size_of(x)
    grid = (triton.cdiv(n, block),)
    dropout_kernel[grid](flat(out), flat(x), n, float(p), seed, BLOCK=block)
    return out


def plain(x: Any, p: float, random: Any) -> Any:
    """The same without a kernel, for torch tensors: `random` has a number from 0 to 1 for each element."""
    return (x / (1 - p)).where(random >= p, 0)


if __name__ == "__main__":
    from kernels import demo

    demo.run("dropout")
