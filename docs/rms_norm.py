"""The kernel whose stages the site shows."""

from __future__ import annotations

import mini_triton as triton
import mini_triton.language as tl


@triton.jit
def rms_norm(out, x, weight, columns, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + eps)
    tl.store(out + row + at, values * scale * tl.load(weight + at, mask=inside), mask=inside)
