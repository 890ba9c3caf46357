"""Functions that zero, copy and restore arrays and tensors, for trials and comparisons. (Given.)"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.compat import driver
from mini_triton.errors import TritonError
from mini_triton.ir.described import Described, describe
from mini_triton.ir.storage import as_numpy
from mini_triton.runtime.arguments import is_descriptor, is_memory
from mini_triton.runtime.jit import BACKEND
from mini_triton.runtime.options import DEFAULTS
from mini_triton.tuning.results import jit_function

if TYPE_CHECKING:
    from mini_triton.tuning.autotuner import Autotuner, Config


def array_of(memory: Any) -> Any:
    """An array or a tensor itself; an array over memory that another object describes."""
    return as_numpy(memory) if isinstance(describe(memory), Described) else memory


def zero(memory: Any) -> None:
    """Set all elements of an array or a tensor to 0."""
    memory = array_of(memory)
    if isinstance(memory, np.ndarray):
        memory[...] = 0
    else:
        memory.detach().zero_()


def copy_of(memory: Any) -> Any:
    """A copy of an array or a tensor."""
    memory = array_of(memory)
    return memory.copy() if isinstance(memory, np.ndarray) else memory.detach().clone()


def copies_in(result: Any) -> list[Any]:
    """Copies of the arrays, tensors and numbers in a result: in a tuple or a list, in order, or the result itself."""
    if isinstance(result, tuple | list):
        return [copy for part in result for copy in copies_in(part)]
    if isinstance(result, Number):
        return [np.asarray(result)]
    return [copy_of(result)] if is_memory(result) else []


def put_back(memory: Any, copy: Any) -> None:
    """Restore the elements of an array or a tensor from a copy."""
    memory = array_of(memory)
    if isinstance(memory, np.ndarray):
        memory[...] = copy
    else:
        memory.detach().copy_(copy)


def device_of(arguments: Mapping[str, Any]) -> str:
    """The device that runs a launch with these arguments: "cuda" if any memory is on a GPU, otherwise "cpu".

    If the back end is not the device's default, the back end's name follows: "cpu, numba".
    """
    device = "cuda" if any(getattr(value, "is_cuda", False) for value in arguments.values()) else "cpu"
    backend = arguments.get("backend") or os.environ.get(BACKEND) or DEFAULTS.backend
    return device if backend == DEFAULTS.backend else f"{device}, {backend}"


def benchmarker_for(arguments: Mapping[str, Any]) -> Any:
    """`do_bench` for the device that runs a launch with these arguments."""
    return (driver.active if device_of(arguments).startswith("cuda") else driver.cpu).get_benchmarker()


@contextmanager
def spared(
    tuner: Autotuner, configs: Sequence[Config], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[None]:
    """A context that, at its end, restores all memory that a tuner's kernel writes.

    Real Triton leaves memory as the last trial changed it, unless `restore_value` names the argument.
    """
    if jit_function(tuner.fn) is None:
        yield
        return
    stored: set[str] = set()
    for config in configs:
        with suppress(TritonError):  # the trial will report the error
            kernel = tuner.fn.run(*args, **{**kwargs, **config.all_kwargs(), "warmup": True})
            stored.update(name.partition(".")[0] for name in kernel.program.stored)
    arguments = {**tuner.nargs, **kwargs}
    kept = [base_of(arguments[name]) for name in sorted(stored) if name in arguments]
    copies = [(memory, copy_of(memory)) for memory in kept if is_memory(memory)]
    try:
        yield
    finally:
        for memory, copy in copies:
            put_back(memory, copy)


def base_of(argument: Any) -> Any:
    """The memory behind an argument."""
    return argument.base if is_descriptor(argument) else argument
