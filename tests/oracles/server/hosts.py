"""Call host functions of the kernels' modules, with real Triton as their compiler. Tests use `tests.oracles.hosts`.

The server's process must have KERNELS_COMPILER=triton. It imports Triton and torch.
"""

import functools
import importlib
import sys
from importlib.util import spec_from_file_location
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

SPECS: dict[str, Any] = {}  # specifications of the modules of `kernels`
FINDER: Any = SimpleNamespace(find_spec=lambda name, path=None, target=None: SPECS.get(name))
NO_GPU = SimpleNamespace(  # the part of the driver that Triton needs before it compiles
    get_current_target=lambda: GPUTarget("cuda", 90, 32),
    get_current_device=lambda: 0,
    get_current_stream=lambda device: 0,
)
sys.meta_path.insert(0, FINDER)


def call(files: dict[str, str], module: str, function: str, values: str, device: str) -> None:
    """Call `function` with the contents of the file `values`: a list of arguments and a dictionary of options.

    Afterwards, the file has the result. During the call, tensors are on `device`. With the device "none", kernels are
    compiled for a GPU that need not exist, and do not run, so the result has no meaning.
    """
    arguments, options = torch.load(values, weights_only=True)
    place = "cpu" if device == "none" else device
    arguments, options = moved(arguments, place), moved(options, place)
    called = getattr(imported(tuple(files.items()), module), function)
    if device == "none":
        run = triton.JITFunction.run
        driver.set_active(NO_GPU)
        warm = lambda self, *given, **keywords: run(self, *given, **keywords | {"warmup": True})  # noqa: E731
        with mock.patch.object(triton.JITFunction, "run", warm):
            called(*arguments, **options)
        return
    result = called(*arguments, **options)
    torch.save(moved(result, "cpu"), values)


@functools.lru_cache
def imported(files: tuple[tuple[str, str], ...], module: str) -> Any:
    """A module of `kernels` from these files, also if another version was imported before."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]
    for name, file in sorted(files):  # packages come before their modules
        spec = spec_from_file_location(name, file)
        assert spec and spec.loader
        SPECS[name] = spec
    return importlib.import_module(module)


def moved(value: Any, device: str) -> Any:
    """A value with all of its tensors on a device, with the same strides."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return type(value)(moved(item, device) for item in value)
    if isinstance(value, dict):
        return {name: moved(item, device) for name, item in value.items()}
    return value
