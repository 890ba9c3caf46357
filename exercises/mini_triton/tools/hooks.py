"""What a run changes in PyTorch, when the program imports it. (Given.)"""

from __future__ import annotations

import functools
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import mini_triton
from mini_triton.tools import cuda


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
    prepare_compiler(has_gpu and way != "cpu")


def prepare_compiler(on_gpu: bool) -> None:
    """Prepare PyTorch's compiler at the first `torch.compile`: it does not trace into mini_triton.

    On a GPU, mini_triton compiles the kernels that it writes, because `triton` in their source is mini_triton.
    """
    import torch

    original = torch.compile

    @functools.wraps(original)
    def compile(*arguments: Any, **keywords: Any) -> Any:
        from torch._dynamo import trace_rules

        torch.compile = original
        for package in pkgutil.iter_modules(mini_triton.__path__, "mini_triton."):
            if package.name != __package__:  # PyTorch traces the stand-ins in `cuda`
                trace_rules.add(package.name)
        if on_gpu:
            from mini_triton.fusion import inductor

            inductor.enable()
        return original(*arguments, **keywords)

    torch.compile = compile
