"""Mark memory as uninitialized when it is allocated, by `torch.empty`, `np.empty` and similar functions. (Given.)"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from mini_triton.ir.storage import as_numpy
from mini_triton.sanitizer.memory import mark
from mini_triton.sanitizer.reports import wanted

NUMPY = ("empty", "empty_like")
NUMBERS = "biufV"  # kinds of NumPy's dtypes; V for those that only PyTorch and `ml_dtypes` have


@contextmanager
def track_allocations() -> Iterator[None]:
    """Inside the `with`, count the memory that `torch.empty`, `np.empty` and similar functions return as uninitialized.

    If PyTorch is imported later, its allocations are tracked from the next `@triton.jit` on.

    NumPy's functions are replaced until the `with` ends; a module that imported one of them by name keeps the original.
    """
    with ExitStack() as stack:
        for name in NUMPY:
            stack.callback(setattr, np, name, getattr(np, name))
            setattr(np, name, tracked(getattr(np, name)))
        if torch_mode := torch_allocations():
            stack.enter_context(torch_mode)
        yield


def tracked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that marks its result, unless our own modules call it."""

    @functools.wraps(function)
    def allocate(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        ours = sys._getframe(1).f_globals.get("__name__", "").startswith("mini_triton.")
        return result if ours else mark_fresh(result)

    return allocate


calls: list[Any] = []
"""Calls of PyTorch in progress. If two of our modes are active, only the outer one marks a result."""


def torch_allocations() -> Any:
    """A context in which PyTorch's functions mark their results; None if the program has not imported PyTorch."""
    if "torch" not in sys.modules:
        return None
    import torch
    from torch.overrides import TorchFunctionMode

    names = ("empty", "empty_like", "empty_strided", "empty_permuted")
    functions = {getattr(torch, name) for name in names} | {torch.Tensor.new_empty, torch.Tensor.new_empty_strided}

    class Allocations(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
            calls.append(function)
            try:
                result = function(*arguments, **(keywords or {}))
            finally:
                calls.pop()
            is_fresh = function in functions and "out" not in (keywords or {}) and not calls
            return mark_fresh(result) if is_fresh and not torch.compiler.is_compiling() else result

    return Allocations()


def mark_fresh(memory: Any) -> Any:
    """The array or tensor itself, marked as uninitialized if a kernel can use it on the CPU."""
    if "uninitialized" in wanted() and getattr(memory, "is_cpu", True):
        try:
            array = as_numpy(memory)
        except (RuntimeError, TypeError):  # for example, a tensor without memory
            return memory
        if array.size and array.dtype.kind in NUMBERS and array.dtype.names is None and array.itemsize <= 8:
            mark(memory)
    return memory


def track_torch() -> None:
    """If the program has imported PyTorch, track its allocations as long as `MINI_TRITON_SANITIZE` asks for it."""
    if "torch" in sys.modules:
        push_mode()


@functools.cache
def push_mode() -> None:
    """Let PyTorch's functions mark their results from now on.

    The mode must not be on top of the stack: if we are in the `with` of another one, the end of the `with` removes the
    mode on top. Only the mode of `torch.set_default_device` must stay below, because it is removed from the bottom.
    """
    import torch
    from torch._C import _len_torch_function_stack
    from torch.overrides import _pop_mode, _push_mode

    default = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    modes = [_pop_mode() for _ in range(_len_torch_function_stack())][::-1]
    first = int(default is not None and default in modes)
    for mode in [*modes[:first], torch_allocations(), *modes[first:]]:
        _push_mode(mode)
