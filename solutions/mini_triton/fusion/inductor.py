"""PyTorch's own compiler on this one: every Triton kernel that Inductor writes is compiled here.

    from mini_triton.fusion import inductor

    inductor.enable()
    fast = torch.compile(model)

On a GPU this replaces real Triton's front end; without one, Inductor writes Triton kernels for tensors on the CPU, and
NumPy or Numba runs them. Programs that no one here has seen go through the compiler in this way, and what they compute
must be what PyTorch computes.
"""

from __future__ import annotations

import atexit
import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch

from mini_triton.frontend.given.adopted import AdoptedSource
from mini_triton.fusion.given import inductor_private
from mini_triton.runtime.jit import JITFunction


class AdoptedKernel(AdoptedSource, JITFunction):
    """A kernel that real Triton's `@jit` has marked: it is launched here, and the functions it calls are ours too."""


class InductorKernel:
    """A kernel of Inductor's: the generated program calls `run` with tensors and sizes."""

    def __init__(self, function: Any, configs: list[Any], facts: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        self.function = AdoptedKernel(function.fn)
        self.configs, self.facts, self.meta = configs, facts, meta
        self.function.parameters = tuple(
            dataclasses.replace(parameter, type=self.scalar_type(parameter.name) or parameter.type)
            for parameter in self.function.parameters
        )
        self.chosen: Any = configs[0] if len(configs) == 1 else None
        kernels.append(self)

    def scalar_type(self, name: str) -> str | None:
        """The type that Inductor gives a number, such as "i64"; None for pointers and constants. (Given.)"""
        type = self.facts["signature"].get(name, "constexpr")
        return None if type.startswith("*") or type == "constexpr" else type

    def run(self, *arguments: Any, stream: Any = None, **_: Any) -> None:
        """Launch it: choose a configuration at the first time."""
        if self.chosen is None:
            self.chosen = self.choose(arguments)
        self.launch(self.chosen, arguments)

    def launch(self, config: Any, arguments: tuple[Any, ...]) -> None:
        """Launch it with a configuration.

        `arguments` are those of the parameters that the configuration does not set, in order. `config.kwargs` has the
        values of the others, `config.num_warps` and `config.num_stages` are options.
        """
        # [task 12.7] `self.function.parameters` are in order, and all are passed by name. A configuration may also set
        # what this kernel does not have. `inductor_private.grid_for` says how many programs there are.
        parameters = [parameter.name for parameter in self.function.parameters]
        names = [name for name in parameters if name not in config.kwargs]
        values = dict(zip(names, arguments, strict=False))
        constants = {name: value for name, value in config.kwargs.items() if name in parameters}
        grid = inductor_private.grid_for(self.meta, config, values)
        self.function[grid](**values, **constants, num_warps=config.num_warps, num_stages=config.num_stages)
        # [end]

    def choose(self, arguments: tuple[Any, ...]) -> Any:
        """The fastest configuration on a GPU, the first one on a CPU. What a trial overwrites is put back. (Given.)"""
        named = dict(zip((parameter.name for parameter in self.function.parameters), arguments, strict=False))
        if not any(x.is_cuda for x in arguments if isinstance(x, torch.Tensor)):
            return self.configs[0]
        overwritten = [named[name] for name in self.meta.get("mutated_arg_names", ()) if name in named]
        before = [x.clone() for x in overwritten]
        times = []
        for config in self.configs:
            self.launch(config, arguments)
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(20):
                self.launch(config, arguments)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
            for x, values in zip(overwritten, before, strict=True):
                x.copy_(values)
        return self.configs[times.index(min(times))]


kernels: list[InductorKernel] = []
"""The kernels of Inductor's that were compiled here."""

_open: list[AbstractContextManager[None]] = []


def enable() -> None:
    """From now on, what `torch.compile` compiles runs on this compiler."""
    if not _open:
        _open.append(inductor_private.replaced(InductorKernel))
        _open[-1].__enter__()
        atexit.register(disable)


def disable() -> None:
    """Real Triton compiles Inductor's kernels again."""
    while _open:
        _open.pop().__exit__(None, None, None)
