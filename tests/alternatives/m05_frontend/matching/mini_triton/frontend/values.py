"""What a name may hold, and how that crosses control flow.

A loop carries IR values, and a branch results in them. A name may hold more: a tuple of tensors, a block pointer with
its offsets. So a value is taken apart into its tensors on the way in, and put together again from others on the way
out. What the compiler knows has no tensors in it and crosses as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from mini_triton.ir.core import Value
from mini_triton.language.constexpr import RunTimeValue, constexpr, unwrap
from mini_triton.language.dtypes import dtype, pointer_type
from mini_triton.language.tensor import tensor, to_tensor


def compile_time(value: Any) -> Any:
    """A value that Python computed, as kernels see it: numbers, texts and None as `constexpr`, also those in tuples.
    (Given.)"""
    if isinstance(value, constexpr) and isinstance(value.value, tuple):
        value = value.value
    if value is None or isinstance(value, bool | int | float | str):
        return constexpr(value)
    if isinstance(value, tuple | list):
        return tuple(map(compile_time, value))
    return value


def run_time(value: Any) -> Any:
    """The same value with its numbers as tensors, also those in tuples: as after an assignment."""
    match value:
        case constexpr(value=int() | float()):
            return to_tensor(value)
        case tuple():
            return tuple(run_time(element) for element in value)
        case _:
            return value


def can_be_named(value: Any) -> bool:
    """Whether a kernel may give this a name: what it computes, dtypes, None, and tuples of these. (Given.)"""
    if isinstance(value, tuple):
        return all(map(can_be_named, value))
    return unwrap(value) is None or isinstance(unwrap(value), RunTimeValue | dtype | pointer_type)


def parts(value: Any) -> list[tensor]:
    """The tensors in a value, from left to right; none in what the compiler knows."""
    match value:
        case tensor():
            return [value]
        case tuple():
            inside = value
        case RunTimeValue():
            inside = tuple(_fields(value).values())
        case _:
            inside = ()
    return [part for element in inside for part in parts(element)]


def rebuilt(value: Any, handles: Iterable[Value]) -> Any:
    """A value like `value` whose tensors have other IR values: `handles`, one for each of its parts, in their order."""
    return _fill(value, iter(handles))


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    """`rebuilt`, taking as many of `handles` as there are tensors in `value`."""
    match value:
        case tensor(dtype=dtype):
            return tensor(next(handles), dtype)
        case tuple():
            return tuple([_fill(element, handles) for element in value])
        case RunTimeValue():
            return type(value)(*[_fill(field, handles) for field in _fields(value).values()])
        case _:
            return value


def spelled(value: Any) -> str:
    """The type of a value, as messages have it: `fp32[64]`; of what the compiler knows, the value.

    Two values of one name can cross control flow together if they are spelled alike.
    """
    match value:
        case tuple():
            return "(" + ", ".join(spelled(element) for element in value) + ")"
        case RunTimeValue() if not isinstance(value, tensor):
            return type(value).__name__ + spelled(tuple(_fields(value).values()))
        case _:
            return repr(value)


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name. (Given.)"""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
