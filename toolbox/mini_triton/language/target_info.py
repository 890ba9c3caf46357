"""Functions that kernels call to ask about their GPU, `tl.target_info`. (Given.)

CPUs and all GPUs run the same module. Therefore, no function confirms a particular GPU, and kernels use their portable
code.
"""

from __future__ import annotations

from mini_triton.language.context import builtin

__all__ = ["current_target", "cuda_capability_geq", "is_cuda", "is_hip", "is_hip_cdna3", "is_hip_cdna4"]


@builtin
def current_target() -> None:
    """The target, which is always unknown: None."""


@builtin
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether the target is an NVIDIA GPU of at least this compute capability."""
    return False


@builtin
def is_cuda() -> bool:
    """Whether the target is an NVIDIA GPU."""
    return False


is_hip = is_hip_cdna3 = is_hip_cdna4 = is_cuda
