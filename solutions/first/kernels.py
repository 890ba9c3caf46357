"""The kernel of milestone 0. `python -m first` shows `add`, which you may change. You may also add kernels."""

from __future__ import annotations

from typing import Any

tl: Any = None  # Kernels are never called. The compiler reads their source, where `tl` is only a name.


def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)
