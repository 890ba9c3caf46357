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
from mini_triton.language.tensor import is_number, tensor, to_tensor


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
    # [task 5.3] A number is a `constexpr` whose value `is_number`; `to_tensor` takes it. Everything else stays.
    if isinstance(value, constexpr) and is_number(value.value):
        return to_tensor(value)
    if isinstance(value, tuple):
        return tuple(map(run_time, value))
    return value
    # [end]


def can_be_named(value: Any) -> bool:
    """Whether a kernel may give this a name: what it computes, dtypes, None, and tuples of these. (Given.)"""
    if isinstance(value, tuple):
        return all(map(can_be_named, value))
    return unwrap(value) is None or isinstance(unwrap(value), RunTimeValue | dtype | pointer_type)


def parts(value: Any) -> list[tensor]:
    """The tensors in a value, from left to right; none in what the compiler knows."""
    # [task 5.5] A tensor is its own only part. A tuple has those of its elements; so has a value of another class
    # derived from `RunTimeValue`, which is a dataclass: `_fields` lists its fields.
    if isinstance(value, tensor):
        return [value]
    if isinstance(value, tuple):
        return [part for element in value for part in parts(element)]
    if isinstance(value, RunTimeValue):
        return [part for field in _fields(value).values() for part in parts(field)]
    return []
    # [end]


def rebuilt(value: Any, handles: Iterable[Value]) -> Any:
    """A value like `value` whose tensors have other IR values: `handles`, one for each of its parts, in their order."""
    # [task 5.5] The opposite of `parts`. Let all levels draw from one iterator: `_fill` does, and you write that.
    return _fill(value, iter(handles))
    # [end]


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    """`rebuilt`, taking as many of `handles` as there are tensors in `value`."""
    # [task 5.5] `dataclasses.replace` copies a dataclass with other fields.
    if isinstance(value, tensor):
        return tensor(next(handles), value.dtype)
    if isinstance(value, tuple):
        return tuple(_fill(element, handles) for element in value)
    if isinstance(value, RunTimeValue):
        fields = {name: _fill(field, handles) for name, field in _fields(value).items()}
        return dataclasses.replace(value, **fields)  # type: ignore[type-var]
    return value
    # [end]


def spelled(value: Any) -> str:
    """The type of a value, as messages have it: `fp32[64]`; of what the compiler knows, the value.

    Two values of one name can cross control flow together if they are spelled alike.
    """
    # [task 5.5] A tensor's `repr` is its type. A tuple: its elements' types in parentheses, with ", " between them.
    # Other dataclasses: the name of the class, and the fields' types in parentheses. Everything else: its `repr`.
    if isinstance(value, tensor):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(spelled, value))})"
    if isinstance(value, RunTimeValue):
        return f"{type(value).__name__}({', '.join(map(spelled, _fields(value).values()))})"
    return repr(value)
    # [end]


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name. (Given.)"""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
