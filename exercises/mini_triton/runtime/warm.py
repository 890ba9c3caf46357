"""A launch on a GPU that is like one before must cost next to nothing. (Given.)

Binding and specialization, argument by argument, take longer than a small kernel runs. So a function is generated for
each kernel: it binds as any Python function does, and notes of each argument just as much as could lead to another
kernel. What it notes of two launches is the same only if one compiled kernel does for both.

Source: `create_function_from_signature` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from mini_triton.runtime.binding import REQUIRED, Parameter
from mini_triton.runtime.compiled import CompiledKernel
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.keys import Reference
from mini_triton.runtime.specialization import ALIGNMENT, constant, integer_type

Values = tuple[Any, ...]
Bound = Callable[..., tuple[Values, Values]]

PLAIN = frozenset((int, bool, str, type(None)))
"""Types of compile-time values whose equality is all that there is to know."""


class WarmLaunches:
    """The launches of a kernel on GPUs so far."""

    def __init__(self, kernel: str, parameters: Sequence[Parameter], references: Mapping[Any, Reference]) -> None:
        self.kernel = kernel
        self.references = references  # what the kernel reads from outside
        self.names = [parameter.name for parameter in parameters]
        self.bound = bound(parameters)
        self.known: dict[Values, tuple[CompiledKernel, Callable[..., None], Callable[[Values], Values]]] = {}

    def repeat(self, grid: Any, arguments: Values, keywords: Mapping[str, Any]) -> CompiledKernel | None:
        """Launch as before, and return the kernel; None if there was no such launch, or something has changed since."""
        for reference in self.references.values():
            if reference.has_changed():
                return None
        try:
            noted, values = self.bound(*arguments, **keywords)
            kernel, launcher, passed = self.known[noted]
        except (TypeError, KeyError):
            return None
        named = dict(zip(self.names, values, strict=True)) if callable(grid) else {}
        launcher(grid_of(self.kernel, grid, named), passed(values))
        return kernel

    def remember(self, kernel: CompiledKernel, arguments: Values, keywords: Mapping[str, Any]) -> None:
        """A launch of this kernel, which has succeeded. Those of which there is more to note are not remembered."""
        try:
            noted, values = self.bound(*arguments, **keywords)
        except TypeError:
            return
        (gpu,) = {value.get_device() for value in values if hasattr(value, "get_device")}
        if gpu not in kernel.launchers:  # this time it ran on the CPU
            return
        places = [self.names.index(name) for name in kernel.parameters]
        passed = operator.itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)
        self.known[noted] = kernel, kernel.launchers[gpu], passed


def bound(parameters: Sequence[Parameter]) -> Bound:
    """A function with these parameters, which returns what it notes of them, and their values.

    It raises `TypeError` for what cannot be bound, and for arguments that must be looked at more closely.
    """
    defaults = {f"_default_{p.name}": p.default for p in parameters if p.default is not REQUIRED}
    signature = [f"{p.name}=_default_{p.name}" if p.default is not REQUIRED else p.name for p in parameters]
    notes = [f"_constant({p.name})" if p.constexpr else f"_argument({p.name})" for p in parameters]
    names = [parameter.name for parameter in parameters]
    source = (
        f"def bound({', '.join([*signature, '**_options'])}):\n"
        f"    return ({', '.join([*notes, '*_options.items()'])},), ({', '.join([*names, ''])})\n"
    )
    scope = {"_constant": noted_constant, "_argument": noted_argument, **defaults}
    exec(compile(source, "<bound>", "exec"), scope)
    return scope["bound"]


def noted_constant(value: Any) -> Hashable:
    """Of a compile-time value all that matters."""
    return (value.__class__, value) if value.__class__ in PLAIN else constant(value)


def noted_argument(value: Any) -> Hashable:
    """Of a number its type, whether it is 1 or a multiple of 16; of a tensor its dtype, its address's, and its GPU."""
    kind = value.__class__
    if kind is int:
        if -(2**31) <= value < 2**31:
            return "1" if value == 1 else value % ALIGNMENT == 0
        return integer_type(value), value % ALIGNMENT == 0
    if kind is float or kind is bool:
        return kind
    try:
        return value.dtype, value.data_ptr() % ALIGNMENT == 0, value.get_device()
    except AttributeError:
        raise TypeError("neither a number nor a tensor") from None
