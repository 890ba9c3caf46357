"""What a name may hold, and how that crosses control flow.

A loop carries IR values, and a branch results in them. A name may hold more: a tuple of tensors, a block pointer with
its offsets. So a value is taken apart into its tensors on the way in, and put together again from others on the way
out. What the compiler knows has no tensors in it and crosses as it is.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
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
    if isinstance(value, tuple):
        return tuple(map(run_time, value))
    return to_tensor(value) if is_number(getattr(value, "value", None)) else value


def can_be_named(value: Any) -> bool:
    """Whether a kernel may give this a name: what it computes, dtypes, None, and tuples of these. (Given.)"""
    if isinstance(value, tuple):
        return all(map(can_be_named, value))
    return unwrap(value) is None or isinstance(unwrap(value), RunTimeValue | dtype | pointer_type)


def parts(value: Any) -> list[tensor]:
    """The tensors in a value, from left to right; none in what the compiler knows."""
    return list(_tensors(value))


def _inside(value: Any) -> Iterable[Any]:
    """What a value consists of."""
    return value if isinstance(value, tuple) else _fields(value).values() if isinstance(value, RunTimeValue) else ()


def _tensors(value: Any) -> Iterator[tensor]:
    if isinstance(value, tensor):
        yield value
    else:
        yield from itertools.chain.from_iterable(map(_tensors, _inside(value)))


def rebuilt(value: Any, handles: Iterable[Value]) -> Any:
    """A value like `value` whose tensors have other IR values: `handles`, one for each of its parts, in their order."""
    source = iter(handles)
    return _mapped(lambda old: tensor(next(source), old.dtype), value)


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    """`rebuilt`, taking as many of `handles` as there are tensors in `value`."""
    return rebuilt(value, handles)


def _mapped(function: Callable[[tensor], tensor], value: Any) -> Any:
    """The value with `function` applied to each of its tensors, from left to right."""
    if isinstance(value, tensor):
        return function(value)
    inside = [_mapped(function, element) for element in _inside(value)]
    if isinstance(value, tuple):
        return tuple(inside)
    return type(value)(*inside) if isinstance(value, RunTimeValue) else value


def spelled(value: Any) -> str:
    """The type of a value, as messages have it: `fp32[64]`; of what the compiler knows, the value.

    Two values of one name can cross control flow together if they are spelled alike.
    """
    if isinstance(value, tensor) or not isinstance(value, tuple | RunTimeValue):
        return repr(value)
    name = "" if isinstance(value, tuple) else type(value).__name__
    return f"{name}({', '.join(map(spelled, _inside(value)))})"


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name. (Given.)"""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
