"""The values of names, and how they cross control flow.

Loops carry IR values, and branches return them. A name may hold a larger value: a tuple of tensors, or a block pointer
with its offsets. Therefore, a value is flattened into its tensors on the way in, and rebuilt around the new tensors on
the way out. Compile-time values contain no tensors and cross unchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from mini_triton.ir.core import Value
from mini_triton.language.constexpr import RunTimeValue, constexpr, unwrap
from mini_triton.language.dtypes import dtype, pointer_type
from mini_triton.language.tensor import block_type, is_number, tensor, to_tensor


def like(value: tuple[Any, ...], elements: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple with new elements; a named tuple of the same class if `value` is a named tuple. (Given.)"""
    return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)


def to_compile_time(value: Any) -> Any:
    """Convert a value that Python computed: numbers, strings and None, even in tuples, become `constexpr`. (Given.)"""
    if isinstance(value, constexpr) and isinstance(value.value, tuple):
        value = value.value
    if value is None or isinstance(value, bool | int | float | str):
        return constexpr(value)
    if isinstance(value, tuple):
        return like(value, map(to_compile_time, value))
    if isinstance(value, list):
        return tuple(map(to_compile_time, value))
    return value


def to_run_time(value: Any) -> Any:
    """Convert a value for an assignment: numbers, even in tuples, become tensors; all other values stay unchanged."""
    # [task 5.4] `(constexpr(1), "a")` becomes a tuple of an int32 scalar and "a". Given: `is_number`, `to_tensor`, and
    # `like`, which makes a tuple of the same class.
    if isinstance(value, constexpr) and is_number(value.value):
        return to_tensor(value)
    if isinstance(value, tuple):
        return like(value, map(to_run_time, value))
    return value
    # [end]


def can_be_named(value: Any) -> bool:
    """Whether a kernel may bind this value to a name: computed values, types, None, and tuples of these. (Given.)"""
    if isinstance(value, tuple):
        return all(map(can_be_named, value))
    return unwrap(value) is None or isinstance(unwrap(value), RunTimeValue | dtype | pointer_type | block_type)


def flatten(value: Any) -> list[tensor]:
    """The tensors in a value, from left to right; [] for a compile-time value."""
    # [task 5.6] For `(x, constexpr(1), (y, z))`, the result is `[x, y, z]`. A `RunTimeValue` that is not a tensor, such
    # as a block pointer, is a dataclass. Given: `_fields`.
    if isinstance(value, tensor):
        return [value]
    if isinstance(value, tuple):
        return [part for element in value for part in flatten(element)]
    if isinstance(value, RunTimeValue):
        return [part for field in _fields(value).values() for part in flatten(field)]
    return []
    # [end]


def rebuild(value: Any, handles: Iterable[Value]) -> Any:
    """A copy of `value` in which each tensor has the next of `handles`, in the order of `flatten`.

    Tensors keep their dtypes. `value` itself does not change; compile-time values are not copied.
    """
    # [task 5.6] For `(x, constexpr(1), y)` and two handles, the result is a tuple of a tensor with the first handle,
    # `constexpr(1)`, and a tensor with the second handle. Given: `like`, `_fields`, `dataclasses.replace`.
    handles = iter(handles)
    if isinstance(value, tensor):
        return tensor(next(handles), value.dtype)
    if isinstance(value, tuple):
        return like(value, [rebuild(element, handles) for element in value])
    if isinstance(value, RunTimeValue):
        fields = {name: rebuild(field, handles) for name, field in _fields(value).items()}
        return dataclasses.replace(value, **fields)  # type: ignore[type-var]
    return value
    # [end]


def describe(value: Any) -> str:
    """The type of a value, for messages: `fp32[64]`, `(fp32[], int32[])`, `block_pointer(pointer<fp16>[], ...)`.

    For a compile-time value, it is the `repr`.

    Control flow can join two values of a name if their descriptions are equal.
    """
    # [task 5.6] `(x, constexpr(3))`, with an fp32 scalar `x`, is described as `(fp32[], constexpr[3])`. Given: the
    # `repr` of a tensor; `_fields`.
    if isinstance(value, tensor):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    if isinstance(value, RunTimeValue):
        return f"{type(value).__name__}({', '.join(map(describe, _fields(value).values()))})"
    return repr(value)
    # [end]


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name. (Given.)"""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
