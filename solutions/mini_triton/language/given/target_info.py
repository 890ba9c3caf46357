"""Questions about the GPU that a kernel is compiled for, `tl.target_info`. (Given.)

The answer is that of no GPU in particular: CPUs and all GPUs run the same module, so a kernel takes its portable way.
"""

from __future__ import annotations

from mini_triton.language.context import builtin

__all__ = ["current_target", "cuda_capability_geq", "is_cuda", "is_hip", "is_hip_cdna3", "is_hip_cdna4"]


@builtin
def current_target() -> None:
    """Nothing is known of it."""


@builtin
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether it is an NVIDIA GPU of at least this compute capability."""
    return False


@builtin
def is_cuda() -> bool:
    """Whether it is an NVIDIA GPU."""
    return False


is_hip = is_hip_cdna3 = is_hip_cdna4 = is_cuda
