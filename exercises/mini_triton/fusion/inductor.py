"""PyTorch's own compiler on top of ours: mini_triton compiles every Triton kernel that Inductor writes.

    from mini_triton.fusion import inductor

    inductor.enable()
    fast = torch.compile(model)

On a GPU, our compiler replaces real Triton's front end. Without a GPU, Inductor writes Triton kernels for CPU tensors,
and NumPy or Numba runs them. This tests our compiler on kernels that its authors have never seen, and PyTorch's own
results show whether our compiler is correct.
"""

from __future__ import annotations

import atexit
import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch

from mini_triton.frontend.adopted import AdoptedSource
from mini_triton.fusion import inductor_private
from mini_triton.runtime.jit import JITFunction


class AdoptedKernel(AdoptedSource, JITFunction):
    """A kernel decorated with real Triton's `@jit`. We launch it, and we compile the functions that it calls."""


class InductorKernel:
    """A kernel written by Inductor. The generated program calls `run` with tensors and sizes."""

    def __init__(self, function: Any, configs: list[Any], facts: Mapping[str, Any], meta: dict[str, Any]) -> None:
        self.function = AdoptedKernel(function.fn)
        self.configs, self.facts, self.meta = configs, facts, meta
        self.function.parameters = tuple(
            dataclasses.replace(parameter, type=self.scalar_type(parameter.name) or parameter.type)
            for parameter in self.function.parameters
        )
        constants = facts["constants"]  # a program's launch may set constants that no configuration sets
        own = {x.name: constants[x.name] for x in self.function.parameters if x.constexpr and x.name in constants}
        for config in configs:
            config.kwargs = own | config.kwargs
        self.chosen: Any = configs[0] if len(configs) == 1 else None
        kernels.append(self)

    def scalar_type(self, name: str) -> str | None:
        """The type that Inductor declares for a scalar, such as "i64"; None for pointers and constants. (Given.)"""
        type = self.facts["signature"].get(name, "constexpr")
        return None if type.startswith("*") or type == "constexpr" else type

    def run(self, *arguments: Any, stream: Any = None, **_: Any) -> None:
        """Launch the kernel. The first launch chooses a configuration."""
        arguments = inductor_private.split(self.meta, arguments)
        if self.chosen is None:
            self.chosen = self.choose(arguments)
        self.launch(self.chosen, arguments)

    def bind(self, config: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The value of each parameter, by name, if the program passes `arguments` and runs the kernel as in `config`.

        These are launches of a kernel with the parameters in_ptr0, out_ptr0, xnumel and XBLOCK. The last columns show
        values of the result; the value of out_ptr0 is always y.

            config.kwargs           facts["constants"]   arguments     in_ptr0   xnumel   XBLOCK
            XBLOCK=64               -                    x, y, 1000    x         1000     64
            XBLOCK=64, YBLOCK=1     -                    x, y, 1000    x         1000     64
            XBLOCK=64, in_ptr0=x    -                    y, 1000       x         1000     64
            XBLOCK=64               in_ptr0=None         -1, y, 1000   None      1000     64
        """
        # Task 12.7: `self.function.parameters` lists the parameters in order; each has a `name`.
        raise NotImplementedError("Task 12.7: PyTorch's compiler on yours")

    def launch(self, config: Any, arguments: tuple[Any, ...]) -> None:
        """Launch the kernel as in `config`. `arguments` are those of `bind`.

        If `config` is `Config({"XBLOCK": 64}, num_warps=2, num_stages=5)`, a kernel for 1000 elements has a grid of 16
        programs, and is compiled for 2 warps and 5 stages.
        """
        # Task 12.7: Given: `inductor_private.grid_for`.
        raise NotImplementedError("Task 12.7: PyTorch's compiler on yours")

    def choose(self, arguments: tuple[Any, ...]) -> Any:
        """The fastest configuration on a GPU, the first on a CPU. Trials leave memory unchanged. (Given.)"""
        if not any(x.is_cuda for x in arguments if isinstance(x, torch.Tensor)):
            return self.configs[0]
        named = self.bind(self.configs[0], arguments)
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
"""The kernels from Inductor that our compiler has compiled in this process."""

_open: list[AbstractContextManager[None]] = []


def enable(cpu_backend: str = "triton") -> None:
    """Make our compiler compile the Triton kernels of `torch.compile` from now on.

    With the CPU back end "cpp", Inductor itself writes C++ for CPU tensors, and only programs contain Triton kernels.
    """
    if not _open:
        _open.append(inductor_private.replaced(InductorKernel, cpu_backend))
        _open[-1].__enter__()
        atexit.register(disable)


def disable() -> None:
    """Make real Triton compile Inductor's kernels again."""
    while _open:
        _open.pop().__exit__(None, None, None)
