"""Call host functions of the kernels' modules, with real Triton as their compiler. For the server: ask `hosts`.

The server's process must have KERNELS_COMPILER=triton. It imports Triton and torch.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import spec_from_file_location
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver


def call(files: dict[str, str], module: str, function: str, values: str, device: str) -> None:
    """Call `function` with what is in the file `values`: a list of arguments, a dictionary of options.

    Then the file has the result. Tensors are on `device` meanwhile. With the device "none" kernels are compiled for a
    GPU that need not be there, and not run: the result means nothing.
    """
    arguments, options = torch.load(values, weights_only=True)
    place = "cpu" if device == "none" else device
    arguments, options = moved(arguments, place), moved(options, place)
    called = getattr(imported(tuple(files.items()), module), function)
    if device == "none":
        with compiling_only():
            called(*arguments, **options)
        return
    result = called(*arguments, **options)
    torch.save(moved(result, "cpu"), values)


@functools.lru_cache
def imported(files: tuple[tuple[str, str], ...], module: str) -> Any:
    """A module of `kernels` from these files, whatever was imported before."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]
    for name, file in sorted(files):  # packages come before what is in them
        spec = spec_from_file_location(name, file)
        assert spec and spec.loader
        Finder.specs[name] = spec
    return importlib.import_module(module)


class Finder:
    """Finds the modules of `kernels` by their files."""

    specs: dict[str, Any] = {}

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        return cls.specs.get(name)


sys.meta_path.insert(0, Finder)


def moved(value: Any, device: str) -> Any:
    """A value with all tensors in it on a device; their strides stay as they are."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return type(value)(moved(item, device) for item in value)
    if isinstance(value, dict):
        return {name: moved(item, device) for name, item in value.items()}
    return value


@contextmanager
def compiling_only() -> Iterator[None]:
    """Launches of kernels only compile them, down to a cubin for an H100."""
    run = triton.JITFunction.run
    active = driver.active if torch.cuda.is_available() else None
    driver.set_active(NoGPU())
    triton.JITFunction.run = lambda self, *arguments, **options: run(self, *arguments, **options | {"warmup": True})
    try:
        yield
    finally:
        triton.JITFunction.run = run
        if active:
            driver.set_active(active)


class NoGPU:
    """What Triton asks of a driver before it compiles."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0
