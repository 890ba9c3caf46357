"""The device that kernels run on, as Triton's users ask for it: `triton.runtime.driver.active`.

With a GPU it is what PyTorch says of it. Without one it is this machine's CPU, and its cores are the multiprocessors.

Source: Triton's `python/triton/runtime/driver.py`; `CudaUtils.get_device_properties` in its NVIDIA back end.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from dataclasses import dataclass
from typing import Any

WARP = 32


@dataclass(frozen=True)
class GPUTarget:
    """What kernels are compiled for."""

    backend: str  # "cuda" or "cpu"
    arch: int | str  # the compute capability, such as 90, or the CPU's architecture
    warp_size: int


class Driver:
    """The device that is there."""

    @property
    def utils(self) -> Driver:
        """Where Triton keeps `get_device_properties`."""
        return self

    def get_current_target(self) -> GPUTarget:
        if not _has_gpu():
            return GPUTarget("cpu", platform.machine(), 1)
        major, minor = _cuda().get_device_capability()
        return GPUTarget("cuda", 10 * major + minor, WARP)

    def get_current_device(self) -> int:
        return _cuda().current_device() if _has_gpu() else 0

    def get_current_stream(self, device: int | None = None) -> int:
        return _cuda().current_stream(device).cuda_stream if _has_gpu() else 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device()) if _has_gpu() else torch.device("cpu")

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda if _has_gpu() else torch.cpu

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Numbers of multiprocessors and registers, bytes of shared memory, lanes of a warp."""
        if not _has_gpu():
            return {
                "multiprocessor_count": os.cpu_count() or 1,
                "max_shared_mem": 2**20,  # as much as a core's second cache
                "max_num_regs": 2**16,
                "warpSize": 1,
            }
        properties = _cuda().get_device_properties(device)
        return {
            "multiprocessor_count": properties.multi_processor_count,
            "max_shared_mem": properties.shared_memory_per_block_optin,
            "max_num_regs": properties.regs_per_multiprocessor,
            "warpSize": properties.warp_size,
        }


active = Driver()


def _has_gpu() -> bool:
    """Whether there is a GPU. Without PyTorch a program has no memory on one."""
    return importlib.util.find_spec("torch") is not None and _cuda().is_available()


def _cuda() -> Any:
    import torch

    return torch.cuda
