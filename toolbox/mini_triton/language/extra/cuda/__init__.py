"""Functions for NVIDIA GPUs, `tl.extra.cuda`. (Given.)

Source: Triton's `third_party/nvidia/language/cuda/utils.py` and `gdc.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.compat.missing import explain_missing
from mini_triton.language.context import builtin, warps
from mini_triton.language.dtypes import dtype, int32, int64
from mini_triton.language.extra import libdevice
from mini_triton.language.inline_asm import inline_asm_elementwise
from mini_triton.language.tensor import tensor

__all__ = ["gdc_launch_dependents", "gdc_wait", "globaltimer", "libdevice", "num_threads", "num_warps", "smid"]


def _instruction(asm: str, constraints: str, dtype: dtype, is_pure: bool) -> tensor:
    result: tensor = inline_asm_elementwise(asm, constraints, [], dtype, is_pure, 1)
    return result


@builtin
def globaltimer() -> tensor:
    """Nanoseconds on the GPU's clock."""
    return _instruction("mov.u64 $0, %globaltimer;", "=l", int64, False)


@builtin
def smid() -> tensor:
    """The number of the multiprocessor that runs the program."""
    return _instruction("mov.u32 $0, %smid;", "=r", int32, True)


@builtin
def gdc_wait() -> None:
    """Wait until the previously launched kernel has written all its results."""
    _instruction("griddepcontrol.wait; // dummy $0", "=r", int32, False)


@builtin
def gdc_launch_dependents() -> None:
    """Allow the next kernel to start."""
    _instruction("griddepcontrol.launch_dependents; // dummy $0", "=r", int32, False)


@builtin
def num_warps() -> int:
    """The number of warps that run the program."""
    return warps()


@builtin
def num_threads() -> int:
    """The number of threads that run the program."""
    return 32 * warps()


def __getattr__(name: str) -> Any:
    raise AttributeError(explain_missing("tl.extra.cuda", name))
