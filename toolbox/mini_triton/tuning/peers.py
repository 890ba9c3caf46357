"""Peers for a comparison: in this process, or in a process of their own; and the steps that a call takes. (Given.)"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import mini_triton
from mini_triton.compat import driver
from mini_triton.runtime.arguments import is_memory
from mini_triton.runtime.binding import bind
from mini_triton.runtime.compiled_kernel import CompiledKernel
from mini_triton.runtime.jit import COMPILE_ONLY, JITFunction
from mini_triton.runtime.pipeline import last_module
from mini_triton.runtime.tuples import flatten_arguments
from mini_triton.sanitizer.facts import facts_of
from mini_triton.tuning.closeness import as_array
from mini_triton.tuning.comparison import Call, Memory, Peer, Step, median_time, solve
from mini_triton.tuning.memory import base_of

WARMUP, REP = 5, 20
"""Milliseconds of a turn. Turns repeat, so a turn may be short."""
FILLS = ("copy_", "fill_", "zero_", "bernoulli_", "uniform_", "normal_", "random_")
"""Operators of PyTorch that write to a tensor without reading it."""


def here(name: str, make: Callable[[], Call], with_steps: bool = True) -> Peer:
    """A peer in this process. `make` draws new inputs."""
    return Peer(
        name,
        lambda: solve(make()),
        lambda: median_time(driver.active, make(), WARMUP, REP),
        (lambda: steps_of(make().run)) if with_steps else None,
    )


class Elsewhere:
    """Another process with its own environment variables: real Triton reads TRITON_INTERPRET when it is imported."""

    def __init__(self, **environment: str) -> None:
        self.pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        ours = str(Path(mini_triton.__file__).parents[1])
        with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "path", [ours, *sys.path]):
            self.pool.submit(int).result()  # the process starts, with a copy of both

    def peer(self, name: str, make: Callable[..., Call], *arguments: Any) -> Peer:
        """A peer in the other process, whose inputs `make(*arguments)` draws there. Both must be importable there."""
        return Peer(
            name,
            lambda: self.pool.submit(solved, make, arguments).result(),
            lambda: self.pool.submit(timed, make, arguments).result(),
        )

    def close(self) -> None:
        """End the process."""
        self.pool.shutdown(cancel_futures=True)


def solved(make: Callable[..., Call], arguments: tuple[Any, ...]) -> list[np.ndarray]:
    """The results as arrays, which can travel between processes."""
    return [as_array(result) for result in solve(make(*arguments))]


def timed(make: Callable[..., Call], arguments: tuple[Any, ...]) -> float:
    """The time, measured in the process that works."""
    return median_time(driver.active, make(*arguments), WARMUP, REP)


# --- steps


def steps_of(run: Callable[[], Any]) -> list[Step]:
    """The kernels that a call launches through mini_triton, and the operators of PyTorch that it calls, in order.

    Operators that only make another view of a tensor, or allocate one, are not steps. The first run may prepare
    something, so only the second run counts.
    """
    run()
    steps: list[Step] = []
    with launches_into(steps), operators_into(steps):
        run()
    return steps


@contextmanager
def launches_into(steps: list[Step]) -> Iterator[None]:
    """A context that lists all launches."""
    original = JITFunction.launch

    def launch(kernel: JITFunction, grid: Any, /, *arguments: Any, **keywords: Any) -> CompiledKernel:
        compiled = original(kernel, grid, *arguments, **keywords)
        if grid is not COMPILE_ONLY and not flatten_arguments(kernel, arguments, keywords):
            values, _ = bind(kernel.fn.__name__, kernel.parameters, arguments, keywords)
            steps.append(step_of(compiled, values))
        return compiled

    with mock.patch.object(JITFunction, "launch", launch):
        yield


def step_of(kernel: CompiledKernel, values: dict[str, Any]) -> Step:
    """A launch of a kernel, which reads the arrays that it loads from and writes those that it stores to."""
    facts = facts_of(str(kernel.texts[last_module().name]))

    def arrays(names: Any) -> list[Memory]:
        bases = {name: base_of(values[name.partition(".")[0]]) for name in names}
        return [place_of(base) for base in bases.values() if is_memory(base)]

    return Step(kernel.name, arrays(facts.read), arrays(facts.stored))


@contextmanager
def operators_into(steps: list[Step]) -> Iterator[None]:
    """A context that lists all operators of PyTorch that touch memory."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    def tensors(*trees: Any) -> list[torch.Tensor]:
        return [leaf for leaf in tree_leaves(trees) if isinstance(leaf, torch.Tensor)]

    class OperatorRecorder(TorchDispatchMode):
        _should_skip_dynamo = classmethod(lambda cls: False)  # skipping its frames would load the compiler of PyTorch

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            named = dict(zip((one.name for one in function._schema.arguments), args, strict=False)) | (kwargs or {})
            changes = [one.name for one in function._schema.arguments if one.alias_info and one.alias_info.is_write]
            name = function.overloadpacket.__name__
            only_written = name in FILLS or "out" in changes
            read = tensors(*[value for key, value in named.items() if not (only_written and key in changes)])
            known = {tensor.untyped_storage().data_ptr() for tensor in tensors(args, kwargs)}
            made = [tensor for tensor in tensors(result) if tensor.untyped_storage().data_ptr() not in known]
            written = tensors(*[named[key] for key in changes if key in named]) + made
            if written and "empty" not in name:
                steps.append(Step(name, [*map(place_of, read)], [*map(place_of, written)]))
            return result

    with OperatorRecorder():
        yield


def place_of(array: Any) -> Memory:
    """The memory of an array or a tensor."""
    if isinstance(array, np.ndarray):
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return Memory(array.ctypes.data, array.shape, strides, array.itemsize)
    return Memory(array.data_ptr(), tuple(array.shape), tuple(array.stride()), array.element_size())
