"""What a run changes in PyTorch, when the program imports it. (Given.)"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import mini_triton
from mini_triton.tools import cuda
from mini_triton.tuning.autotuner import Autotuner


class Hook(MetaPathFinder):
    """Calls a function after the first import of a module."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.then()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(name: str, then: Callable[[], None]) -> None:
    """Call a function after the first import of a module, or now if it has been imported."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, Hook(name, then))


def prepare_torch(way: str) -> None:
    """Prepare PyTorch for kernels that run on mini_triton. `way`, one of `cuda.PLACES`, says where CUDA tensors are."""
    import torch

    has_gpu = torch.cuda.is_available()
    if way == "cpu" or way == "auto" and not has_gpu:
        cuda.replace(cuda.Notice(is_wanted=way == "auto"))
    prepare_compiler()


def prepare_compiler() -> None:
    """Prepare PyTorch's compiler at the first `torch.compile`: it does not trace into mini_triton.

    mini_triton compiles all Triton kernels, because `triton` in their source is mini_triton.
    """
    import torch

    original = torch.compile

    @functools.wraps(original)
    def compile(*arguments: Any, **keywords: Any) -> Any:
        from torch._dynamo import trace_rules

        torch.compile = original
        for package in pkgutil.iter_modules(mini_triton.__path__, "mini_triton."):
            if package.name not in (__package__, "mini_triton.frontend"):  # PyTorch traces stand-ins, and `cdiv`
                trace_rules.add(package.name)
        from mini_triton.fusion import inductor

        inductor.enable(cpu_backend="cpp")
        answer_stores()
        return original(*arguments, **keywords)

    torch.compile = compile


def answer_stores() -> None:
    """Tell PyTorch's compiler to which of its tensors a kernel stores.

    PyTorch asks real Triton's C++. Without it, PyTorch logs a warning, and assumes that a kernel stores to all.
    """
    from torch._higher_order_ops import triton_kernel_wrap

    names = ("identify_accessed_tensors", "identify_mutated_tensors")  # since PyTorch 2.12, and before
    name = next(name for name in names if hasattr(triton_kernel_wrap, name))
    assume = getattr(triton_kernel_wrap, name)
    triton_kernel_wrap.log.addFilter(lambda record: "every input is mutated" not in record.getMessage())

    def identify(kernel: Any, arguments: Mapping[str, Any], *others: Any) -> Any:
        assumed = assume(kernel, arguments, *others)
        stored = stored_by(kernel, arguments)
        if isinstance(assumed, list):
            return [name for name in assumed if name in stored]
        writes = assumed.read_writes.writes
        writes = type(writes)(write for write in writes if write.name in stored)
        return dataclasses.replace(assumed, read_writes=dataclasses.replace(assumed.read_writes, writes=writes))

    setattr(triton_kernel_wrap, name, identify)


def stored_by(kernel: Any, arguments: Mapping[str, Any]) -> Collection[str]:
    """The names of the tensors to which a launch stores: the compiled program knows them.

    A tensor without data is known by its dtype, and a size that PyTorch does not know stands for any number.
    """
    import sympy
    import torch

    def known(value: Any) -> Any:
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool | sympy.Expr):
            return 2
        return getattr(value, "dtype", value)

    values = {name: known(value) for name, value in arguments.items()}
    if isinstance(kernel, Autotuner):
        kernel, values = kernel.fn, values | kernel.configs[0].kwargs
    return kernel.warmup(**values, grid=(1,)).program.stored
