"""The compiler of the kernels: `mini_triton`, or real Triton. (Given.)

Every kernel is written once. With `KERNELS_COMPILER=triton`, real Triton compiles the same source.
"""

from __future__ import annotations

import os

CHOICES = ("mini_triton", "triton")
chosen = os.environ.get("KERNELS_COMPILER") or CHOICES[0]
if chosen not in CHOICES:
    raise ValueError(f"KERNELS_COMPILER must be one of {', '.join(CHOICES)}, not {chosen!r}")
if chosen == "triton":
    import triton
    import triton.language as tl
else:
    import mini_triton as triton
    import mini_triton.language as tl

__all__ = ["tl", "triton"]
