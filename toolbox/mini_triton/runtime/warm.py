"""Fast launches: a launch of fast code that resembles an earlier launch must take almost no time.

Binding and specializing argument by argument takes longer than a small kernel runs. Therefore, a function is generated
for each kernel. It binds as any Python function does, and specializes without regard to annotations and decorators. Two
launches with equal specializations can use the same compiled kernel.

Source: `create_function_from_signature` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from mini_triton.runtime.binding import REQUIRED, Parameter
from mini_triton.runtime.compiled_kernel import CompiledKernel
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.keys import Reference
from mini_triton.runtime.specialization import ALIGNMENT, specialize_constant, specialize_number

Values = tuple[Any, ...]

PLAIN = frozenset((int, bool, str, type(None)))
"""Types of compile-time values for which only type and equality matter."""

known_number = functools.lru_cache(2**14, typed=True)(specialize_number)


class WarmLaunches:
    """The launches of a kernel so far: on GPUs, and with Numba on the CPU."""

    def __init__(self, kernel: str, parameters: Sequence[Parameter], references: Mapping[Any, Reference]) -> None:
        self.kernel = kernel
        self.references = references  # what the kernel reads from outside
        self.names = [parameter.name for parameter in parameters]
        self.bind = generate_binder(parameters)
        self.launches: dict[Values, tuple[CompiledKernel, Callable[..., Any], Callable[[Values], Values]]] = {}

    def repeat(self, grid: Any, arguments: Values, keywords: Mapping[str, Any]) -> CompiledKernel | None:
        """Launch as before, and return the kernel; None if there was no such launch, or something has changed since."""
        for reference in self.references.values():
            if reference.has_changed():
                return None
        try:
            specialized, values = self.bind(*arguments, **keywords)
            kernel, launcher, passed = self.launches[specialized]
        except (TypeError, KeyError, OverflowError):
            return None
        done = launcher(self.sizes(grid, values), passed(values))
        return None if done is False else kernel

    def sizes(self, grid: Any, values: Values) -> tuple[int, int, int]:
        """The number of programs along each axis."""
        if callable(grid):
            return grid_of(self.kernel, grid, dict(zip(self.names, values, strict=True)))
        is_plain = grid.__class__ is tuple and {*map(type, grid)} == {int}
        return known_grid(self.kernel, grid) if is_plain else grid_of(self.kernel, grid, {})

    def remember(self, kernel: CompiledKernel, arguments: Values, keywords: Mapping[str, Any]) -> None:
        """Take note of a launch of this kernel that has succeeded, unless its arguments are unusual."""
        try:
            specialized, values = self.bind(*arguments, **keywords)
        except TypeError:
            return
        devices = {value.get_device() for value in values if hasattr(value, "get_device")}
        if len(devices) != 1 or not devices <= kernel.launchers.keys():
            return
        (device,) = devices
        places = [self.names.index(name) for name in kernel.parameters]
        passed = operator.itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)
        self.launches[specialized] = kernel, kernel.launchers[device], passed


def generate_binder(parameters: Sequence[Parameter]) -> Callable[..., tuple[Values, Values]]:
    """A function with these parameters, which returns how its arguments and options are specialized, and their values.

    It raises `TypeError` for arguments that cannot be bound, and for arguments that need a closer look.
    """
    defaults = {f"_default_{p.name}": p.default for p in parameters if p.default is not REQUIRED}
    signature = [f"{p.name}=_default_{p.name}" if p.default is not REQUIRED else p.name for p in parameters]
    notes = [f"_constant({p.name})" if p.constexpr else f"_argument({p.name})" for p in parameters]
    names = [parameter.name for parameter in parameters]
    source = (
        f"def bind({', '.join([*signature, '**_options'])}):\n"
        f"    return ({', '.join([*notes, '*_options.items()'])},), ({', '.join([*names, ''])})\n"
    )
    scope = {"_constant": quick_constant, "_argument": quick_argument, **defaults}
    exec(compile(source, "<bind>", "exec"), scope)
    return scope["bind"]


def quick_constant(value: Any) -> Hashable:
    """The specialization of a compile-time value."""
    return (value.__class__, value) if value.__class__ in PLAIN else specialize_constant(value)


def quick_argument(value: Any) -> Hashable:
    """The specialization of a number; for a tensor, its device, and everything on which its specialization depends."""
    kind = value.__class__
    if kind is int:
        return known_number(value)
    if kind is float or kind is bool:
        return kind
    try:
        return value.dtype, value.data_ptr() % ALIGNMENT, value.get_device()
    except AttributeError:
        raise TypeError("neither a number nor a tensor") from None


@functools.lru_cache(2**10)
def known_grid(kernel: str, grid: tuple[int, ...]) -> tuple[int, int, int]:
    """`grid_of` for a grid that is a tuple of integers."""
    return grid_of(kernel, grid, {})
