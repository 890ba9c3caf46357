"""The options of a launch. (Given.)

In real Triton, each back end has its own options, most of which tune the code for a GPU. The NumPy back end ignores
these options; they are stored with the compiled kernel for the back ends that use them.

Source: `CUDAOptions` in Triton's `third_party/nvidia/backend/compiler.py`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from mini_triton.runtime.back_ends import BACK_ENDS


@dataclass(frozen=True)
class Options:
    """The options of a launch, such as `kernel[grid](x, num_warps=8)`."""

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    debug: bool = False  # device assertions are checked
    sanitize_overflow: bool = True  # with `debug`, integer overflow is also checked
    extern_libs: Any = None  # files with device functions, by name; only "libdevice", which is built in
    backend: str = "numpy"  # a name in `BACK_ENDS`

    def __post_init__(self) -> None:
        if not isinstance(self.num_warps, int) or self.num_warps < 1 or self.num_warps & (self.num_warps - 1):
            raise AssertionError(f"num_warps must be a power of 2, not {self.num_warps!r}")
        if self.backend not in BACK_ENDS:
            raise ValueError(f"backend must be one of {', '.join(BACK_ENDS)}, not {self.backend!r}")
        if unknown := dict(self.extern_libs or {}).keys() - {"libdevice"}:
            raise ValueError(f"extern_libs: mini_triton cannot call the functions of {', '.join(sorted(unknown))}")
        object.__setattr__(self, "extern_libs", None)


OPTIONS = tuple(field.name for field in dataclasses.fields(Options))
DEFAULTS = Options()
