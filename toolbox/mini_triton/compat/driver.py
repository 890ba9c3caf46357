"""The device that runs kernels, under Triton's name: `triton.runtime.driver.active`.

With a GPU, its values come from PyTorch. Without a GPU, it describes this machine's CPU, with cores as multiprocessors.

Source: Triton's `python/triton/runtime/driver.py`; `CudaUtils` and `CudaDriver` in its NVIDIA back end.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

WARP = 32
FLUSHED = 256 * 2**20
"""Bytes that are written before each timed run on a GPU: more than its cache holds."""
RATES = {"sm_clock_rate": "clock_rate", "mem_clock_rate": "memory_clock_rate", "mem_bus_width": "memory_bus_width"}
"""Clock rates in kHz and the width of the memory bus in bits: Triton's names, and PyTorch's.

Old versions of PyTorch lack some of these properties.
"""


@dataclass(frozen=True)
class GPUTarget:
    """The target that kernels are compiled for."""

    backend: str  # "cuda" or "cpu"
    arch: int | str  # the compute capability, such as 90, or the CPU's architecture
    warp_size: int


class Driver:
    """A device."""

    @classmethod
    def is_active(cls) -> bool:
        """Whether launches use this device if nobody chooses another."""
        return isinstance(sys.modules[__name__].active, cls)

    @property
    def utils(self) -> Driver:
        """The object in which Triton keeps `get_device_properties`."""
        return self

    def get_device_properties(self, device: int) -> dict[str, int]:
        """The numbers of multiprocessors, of registers, of bytes of shared memory, and of threads in a warp.

        For a GPU, also clock rates, and the width of the memory bus.
        """
        raise NotImplementedError

    def get_device_interface(self) -> Any:
        """A namespace with `synchronize()` and `Event(enable_timing=True)`."""
        raise NotImplementedError

    def get_benchmarker(self) -> Callable[..., Any]:
        """The default timer of `autotune`: `do_bench` on this device."""
        from mini_triton.tuning.measuring import do_bench_on

        return functools.partial(do_bench_on, self)

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory that `clear_cache` writes."""
        return None

    def clear_cache(self, cache: Any) -> None:
        """Fill the device's cache with memory that no kernel uses."""


class CudaDriver(Driver):
    """The current GPU."""

    def get_current_target(self) -> GPUTarget:
        major, minor = _cuda().get_device_capability()
        return GPUTarget("cuda", 10 * major + minor, WARP)

    def get_current_device(self) -> int:
        return _cuda().current_device()

    def get_current_stream(self, device: int | None = None) -> int:
        return _cuda().current_stream(device).cuda_stream

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self) -> Any:
        return _cuda()

    def get_device_properties(self, device: int) -> dict[str, int]:
        properties = _cuda().get_device_properties(device)
        return {
            "multiprocessor_count": properties.multi_processor_count,
            "max_shared_mem": properties.shared_memory_per_block_optin,
            "max_num_regs": properties.regs_per_multiprocessor,
            "warpSize": properties.warp_size,
            **{name: getattr(properties, theirs) for name, theirs in RATES.items() if hasattr(properties, theirs)},
        }

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(FLUSHED, dtype=torch.int8, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()


class CpuDriver(Driver):
    """This machine's CPU. Its caches are not flushed, because flushing takes longer than most kernels."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", platform.machine(), 1)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return Clock

    def get_benchmarker(self) -> Callable[..., Any]:
        """`do_bench`, with the fastest run instead of the median, because other work on the machine only adds time."""
        from mini_triton.tuning.measuring import do_bench_on

        return lambda call, quantiles: do_bench_on(self, call, quantiles=[0.0, *quantiles[1:]])

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "multiprocessor_count": os.cpu_count() or 1,
            "max_shared_mem": 2**20,  # the size of a core's second-level cache
            "max_num_regs": 2**16,
            "warpSize": 1,
        }


class Clock:
    """The interface of a CPU, on which a kernel has finished when its launch returns."""

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Do nothing, because there is nothing to wait for."""

    @staticmethod
    def current_device() -> int:
        return 0

    class Event:
        """A point in time."""

        def __init__(self, enable_timing: bool = False) -> None:
            self.moment = 0

        def record(self) -> None:
            self.moment = time.perf_counter_ns()

        def elapsed_time(self, end: Clock.Event) -> float:
            """Milliseconds from this moment to the moment of `end`."""
            return (end.moment - self.moment) / 1e6


cpu, cuda = CpuDriver(), CudaDriver()
backends = {"cuda": SimpleNamespace(driver=CudaDriver), "cpu": SimpleNamespace(driver=CpuDriver)}
"""The devices by name, as PyTorch looks for them."""


def __getattr__(name: str) -> Any:
    """`active` is the GPU if there is one, and otherwise the CPU. Without PyTorch, a program has no GPU memory.

    `driver` is this module, because Triton has both a module and an object of this name.
    """
    if name == "driver":
        return sys.modules[__name__]
    if name != "active":
        raise AttributeError(f"the driver has no {name}")
    has_gpu = importlib.util.find_spec("torch") is not None and _cuda().is_available()
    return cuda if has_gpu else cpu


def _cuda() -> Any:
    import torch

    return torch.cuda
