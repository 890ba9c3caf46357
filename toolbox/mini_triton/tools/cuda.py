"""Programs that ask for a GPU on a machine without one: CUDA tensors become CPU tensors. (Given.)

In a program, PyTorch then creates tensors on the CPU wherever the program says `"cuda"`, `x.is_cuda` is True, and
`torch.cuda` describes one device with this machine's cores. PyTorch itself and mini_triton still see the truth, and
`x.device` is the CPU for all.

Source: `DeviceContext` in PyTorch's `torch/utils/_device.py`.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

from mini_triton.compat.driver import WARP, Clock, GPUTarget, cpu

PLACES = {
    "auto": "on the GPU if there is one, otherwise on the CPU",
    "cpu": "on the CPU",
    "cuda": "on the GPU",
}
"""Where CUDA tensors are, by the option's value."""
CAPABILITY = (9, 0)
"""The compute capability that programs see. The CPU supports what a GPU of this capability supports."""
LACKING = ("Torch not compiled with CUDA enabled", "Found no NVIDIA driver", "No CUDA GPUs are available")
"""Parts of PyTorch's messages about a missing GPU."""
LIBRARIES = ("torch", "mini_triton")
"""Packages that see the truth."""


def explain(error: BaseException) -> None:
    """If PyTorch's error says that there is no GPU, add the program's line and the way out."""
    if any(part in str(error) for part in LACKING):
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if is_program(frame)]
        where = place(frames[-1]) if frames else "the program"
        error.add_note(f"{where} needs a GPU, and this machine does not have one. mini-triton can keep CUDA tensors on")
        error.add_note("the CPU: do not pass --device cuda")


def is_program(frame: FrameType) -> bool:
    """Whether a frame belongs to the program, rather than to PyTorch or to mini_triton."""
    return frame.f_globals.get("__name__", "").partition(".")[0] not in LIBRARIES


def place(frame: FrameType) -> str:
    """The current line of a frame: "add.py:12"."""
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


class Notice:
    """Tells once, on standard error, that the program asked for a GPU."""

    def __init__(self, is_wanted: bool) -> None:
        self.is_wanted = is_wanted

    def __call__(self) -> None:
        if not self.is_wanted:
            return
        self.is_wanted = False
        frame: FrameType | None = sys._getframe(1)
        while frame and not is_program(frame):
            frame = frame.f_back
        where = place(frame) if frame else "the program"
        print(
            f"mini-triton: {where} asks for a GPU, and this machine does not have one: its CUDA tensors are on the CPU "
            "(--device cpu silences this line, --device cuda makes it an error)",
            file=sys.stderr,
        )


# --- stand-ins for torch.cuda


class Event(Clock.Event):
    """A point in time of the CPU."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def record(self, stream: Any = None) -> None:
        super().record()

    def query(self) -> bool:
        return True

    def synchronize(self, *_: Any) -> None:
        """Do nothing, because the event has happened."""

    wait = synchronize


class Stream(nullcontext[None]):
    """The CPU's only queue of work, which is always empty."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def query(self) -> bool:
        return True

    def synchronize(self, *_: Any) -> None:
        """Do nothing, because there is nothing to wait for."""

    wait_stream = wait_event = synchronize

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record()
        return event


def properties() -> SimpleNamespace:
    """The answer to `torch.cuda.get_device_properties`."""
    numbers = cpu.get_device_properties(0)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**34
    return SimpleNamespace(
        name=platform.processor() or platform.machine(),
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        multi_processor_count=numbers["multiprocessor_count"],
        regs_per_multiprocessor=numbers["max_num_regs"],
        shared_memory_per_block=numbers["max_shared_mem"],
        shared_memory_per_block_optin=numbers["max_shared_mem"],
        shared_memory_per_multiprocessor=numbers["max_shared_mem"],
        max_threads_per_multi_processor=1024,
        warp_size=WARP,
        total_memory=memory,
    )


def answers() -> Mapping[str, Any]:
    """What functions of `torch.cuda` return to the program."""
    described = properties()
    free = described.total_memory
    return {
        **{name: True for name in ("is_available", "is_initialized", "is_bf16_supported")},
        **{name: 0 for name in ("current_device", "memory_allocated", "memory_reserved")},
        **{name: 0 for name in ("max_memory_allocated", "max_memory_reserved")},
        **{name: None for name in ("init", "synchronize", "set_device", "empty_cache", "ipc_collect")},
        **{name: None for name in ("reset_peak_memory_stats", "reset_max_memory_allocated")},
        **{"device_count": 1, "is_current_stream_capturing": False, "mem_get_info": (free, free)},
        **{"get_device_name": described.name, "get_device_capability": CAPABILITY, "get_device_properties": described},
        **{"current_stream": Stream(), "default_stream": Stream()},
    }


def for_program(original: Callable[..., Any] | None, answer: Any) -> Callable[..., Any]:
    """A function that returns `answer` to the program, and the truth to PyTorch and mini_triton."""

    def ask(*arguments: Any, **keywords: Any) -> Any:
        return answer if original is None or is_program(sys._getframe(1)) else original(*arguments, **keywords)

    return ask


# --- devices


def replace(notice: Callable[[], None]) -> None:
    """From now on, programs that name a GPU use the CPU. `notice` is called if one does."""
    import torch
    from torch.overrides import TorchFunctionMode

    is_cuda, the_cpu = torch.Tensor.is_cuda.__get__, torch.device("cpu")

    def moved(value: Any) -> Any:
        """The CPU if the value is a GPU; otherwise the value."""
        if isinstance(value, str) and value.partition(":")[0] == "cuda":
            notice()
            return "cpu"
        if isinstance(value, torch.device) and value.type == "cuda":
            notice()
            return the_cpu
        return value

    class OnCpu(TorchFunctionMode):
        """Calls of PyTorch, with the CPU in place of the GPU."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function == is_cuda:
                return is_program(sys._getframe(1)) or function(*args)
            if function in (torch.Tensor.cuda, torch.Tensor.pin_memory):
                notice()
                return args[0]
            if function is torch.device:
                return moved(function(*args, **kwargs or {}))
            kwargs = {name: moved(value) for name, value in (kwargs or {}).items()}
            if kwargs.get("pin_memory"):
                kwargs["pin_memory"] = False
            if isinstance(kwargs.get("device"), int):  # the number of a GPU
                kwargs["device"] = moved(f"cuda:{kwargs['device']}")
            return function(*map(moved, args), **kwargs)

    for name, answer in answers().items():
        setattr(torch.cuda, name, for_program(getattr(torch.cuda, name, None), answer))
    target = GPUTarget("cuda", 10 * CAPABILITY[0] + CAPABILITY[1], WARP)
    vars(cpu)["get_current_target"] = for_program(cpu.get_current_target, target)
    replaced: dict[str, Any] = {"Event": Event, "Stream": Stream, "stream": nullcontext, "device": nullcontext}
    replaced |= dict.fromkeys(("manual_seed", "manual_seed_all"), torch.default_generator.manual_seed)
    replaced["get_rng_state"] = lambda *_: torch.get_rng_state()
    replaced["set_rng_state"] = lambda state, *_: torch.set_rng_state(state)
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    for module in (torch.cuda, torch.cpu):
        module.set_stream = lambda _: None
    OnCpu().__enter__()
