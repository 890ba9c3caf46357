"""The builder of the kernel being compiled, which the functions of the language use. (Given.)

`tl.load` is an ordinary Python function without a parameter for the builder. Instead, the compiler sets a *current*
builder while it compiles a kernel:

    with building(builder):
        x = tl.arange(0, 64) * 2
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from mini_triton.ir.builder import Builder
from mini_triton.language.constexpr import unwrap

__all__: list[str] = []

F = TypeVar("F", bound=Callable[..., Any])

_builder: ContextVar[Builder] = ContextVar("builder")
_warps: ContextVar[int] = ContextVar("warps", default=4)
_debugging: ContextVar[tuple[bool, bool]] = ContextVar("debugging", default=(False, False))


@contextmanager
def building(builder: Builder) -> Iterator[None]:
    """Inside the `with`, the functions of the language build with `builder`."""
    token = _builder.set(builder)
    try:
        yield
    finally:
        _builder.reset(token)


def current() -> Builder:
    """The builder of the kernel being compiled. Raises `RuntimeError` outside a kernel."""
    builder = _builder.get(None)
    if builder is None:
        raise RuntimeError("the functions of mini_triton.language work only inside a kernel: is there a @jit missing?")
    return builder


@contextmanager
def running_on(warps: int) -> Iterator[None]:
    """Inside the `with`, kernels are compiled for this many warps."""
    token = _warps.set(warps)
    try:
        yield
    finally:
        _warps.reset(token)


def warps() -> int:
    """The number of GPU warps that run a program."""
    return _warps.get()


@contextmanager
def debugging(wanted: bool, overflow: bool = True) -> Iterator[None]:
    """Inside the `with`, device assertions are built if `wanted`, and overflow checks if `wanted` and `overflow`."""
    token = _debugging.set((wanted, wanted and overflow))
    try:
        yield
    finally:
        _debugging.reset(token)


def is_debugging() -> bool:
    """Whether device assertions are built."""
    return _debugging.get()[0]


def is_checking_overflow() -> bool:
    """Whether integer arithmetic is checked for overflow."""
    return _debugging.get()[1]


def builtin(function: F) -> F:
    """Mark a function as part of the language: kernels may call it, and it receives compile-time arguments unwrapped.

    In `tl.arange(0, BLOCK)`, BLOCK is a `constexpr`, but `arange` receives an int, such as 64.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return function(*map(unwrap, arguments), **{name: unwrap(value) for name, value in keywords.items()})

    vars(call)["is_builtin"] = True
    return call  # type: ignore[return-value]


def is_builtin(function: Any) -> bool:
    """Whether `function` is part of the language."""
    return getattr(function, "is_builtin", False) is True
