"""Task 5.6: `parts` finds the tensors in a value, and `rebuild` makes the same value with other tensors.

Plain data stands for values: "fp32[4]" is a tensor, {"a": 1} is a value with fields, a tuple is a tuple, and any other
object is a `constexpr`.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton import language as tl
from mini_triton.frontend.values import describe, flatten, rebuild
from mini_triton.ir.core import Block, Value
from mini_triton.ir.types import TensorType
from mini_triton.language.constexpr import RunTimeValue, constexpr
from mini_triton.language.dtypes import DTYPES, pointer_type
from mini_triton.language.tensor import tensor

from tests.checks import described

TENSORS = ("fp32[]", "fp32[4]", "int32[]", "uint32[]", "uint8[2, 4]", "int1[8]", "pointer<fp32>[]", "pointer<int8>[4]")
NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, 2**32, 2**63, -(2**31) - 1, True, False, 1.5, 0.0, -2.5, 1e300, math.inf)
OTHERS = (None, "ieee")


@dataclasses.dataclass(frozen=True)
class Box(RunTimeValue):
    """A value with fields, as block pointers are."""

    a: Any
    b: Any = ()
    c: Any = None


def _inside(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.lists(values, min_size=1, max_size=2).map(lambda fields: dict(zip("ab", fields, strict=False)))
    return st.lists(values, max_size=4).map(tuple) | fields


values = st.recursive(st.sampled_from((*TENSORS, *NUMBERS, *OTHERS)), _inside, max_leaves=8)


class Written:
    """The value that plain data stands for. Its tensors are the arguments of a block, from left to right."""

    def __init__(self, data: Any) -> None:
        self.data, self.block = data, Block()
        self.value = self._made(data)

    @property
    def handles(self) -> list[Value]:
        return list(self.block.arguments)

    def call(self, function: Callable[..., Any], *arguments: Any, says: str = "") -> described:
        """A call with this value as its first argument, as its plain data."""
        return described(f"{function.__name__}({said(self.data)}{says})", function, self.value, *arguments)

    def _made(self, data: Any) -> Any:
        if is_tensor(data):
            name, _, sizes = data[:-1].partition("[")
            dtype = pointer_type(DTYPES[name[8:-1]]) if name.startswith("pointer<") else DTYPES[name]
            shape = tuple(int(size) for size in sizes.split(",") if size)
            return tensor(self.block.add_argument(TensorType(shape, dtype.ir_type) if shape else dtype.ir_type), dtype)
        if isinstance(data, tuple):
            return tuple(map(self._made, data))
        if isinstance(data, dict):
            return Box(**{name: self._made(field) for name, field in data.items()})
        return constexpr(data)


def is_tensor(data: Any) -> bool:
    return isinstance(data, str) and data.endswith("]")


def said(data: Any) -> str:
    """The type of the value in messages."""
    if is_tensor(data):
        return data
    if isinstance(data, tuple):
        return f"({', '.join(map(said, data))})"
    if isinstance(data, dict):
        fields = said(data["a"]), said(data["b"]) if "b" in data else "()", said(data["c"]) if "c" in data else "None"
        return f"Box({', '.join(fields)})"
    return repr(constexpr(data))


def leaves(value: Any, path: str = "the value") -> Iterator[tuple[str, Any]]:
    """Every part of a value, from left to right, with its path."""
    if isinstance(value, tuple):
        yield path, f"a tuple of {len(value)} elements"
        for i, element in enumerate(value):
            yield from leaves(element, f"element {i} of {path}")
    elif isinstance(value, Box):
        yield path, "a Box"
        for name in "abc":
            yield from leaves(getattr(value, name), f"field {name} of {path}")
    else:
        yield path, value


# --- taking apart, and putting together


@given(data=values)
def test_the_tensors_of_a_value(data: Any) -> None:
    """The tensors are found from left to right, at any depth."""
    written = Written(data)
    call = written.call(flatten)
    got = call.succeeds("its tensors")
    expected = [leaf for _, leaf in leaves(written.value) if isinstance(leaf, tensor)]
    if not isinstance(got, list) or not all(isinstance(part, tensor) for part in got):
        call.fail("a list of tensors", got)
    if [(repr(part), part.handle) for part in got] != [(repr(part), part.handle) for part in expected]:
        call.fail(str(expected), got, "these are its tensors, from left to right")


@given(data=values)
def test_put_together_from_other_tensors(data: Any) -> None:
    """`rebuild` returns an equal value with other IR values in its tensors, and does not change the old value."""
    written = Written(data)
    others = list(Block([handle.type for handle in written.handles]).arguments)
    call = written.call(rebuild, iter(others), says=f", {len(others)} other IR values")
    same(call, written.value, call.succeeds("a value like it"), others)
    same(call, written.value, written.value, written.handles)


def test_a_tuple_of_carried_values() -> None:
    """A loop rebuilds all its carried names at once, from the operation's results."""
    data = ("fp32[4]", ("int32[]", 3, "pointer<fp32>[4]"), None, {"a": "uint8[2, 4]", "b": (8, "int1[8]")}, ())
    written = Written(data)
    handles = [part.handle for part in flatten(written.value)]
    call = written.call(rebuild, handles, says=", the handles of its own parts")
    same(call, written.value, call.succeeds("the same again"), handles)


def same(call: described, before: Any, got: Any, handles: Iterable[Value]) -> None:
    """Require that `got` is `before` with these handles."""
    left = iter(handles)
    for (path, expected), (place, leaf) in zip_longest(leaves(before), leaves(got), fillvalue=("", "nothing")):
        if isinstance(expected, tensor):
            if not isinstance(leaf, tensor) or leaf.handle is not next(left):
                call.fail(f"as {path} a tensor with the next IR value", leaf)
            if repr(leaf) != repr(expected):
                call.fail(
                    f"as {path} {expected}", leaf, "the tensor keeps its dtype, because the IR's integers are signless"
                )
        elif path != place or leaf is not expected and not (isinstance(leaf, str) and leaf == expected):
            call.fail(f"as {path} the very same {expected!r}", leaf, "values that the compiler knows stay unchanged")


@pytest.mark.parametrize("value", [None, "ieee", tl.float16, len, slice(None), "the language"])
def test_values_without_tensors(value: Any) -> None:
    """A value that the compiler knows has no tensors in it, and stays unchanged."""
    value = tl if value == "the language" else value
    for known in (value, constexpr(value)):
        described(f"flatten({known!r})", flatten, known).returns([])
        call = described(f"rebuild({known!r}, [])", rebuild, known, [])
        if (got := call.succeeds()) is not known:
            call.fail("the very same object", got)


# --- how types are spelled


@given(data=values)
def test_types_in_messages(data: Any) -> None:
    written = Written(data)
    written.call(describe).returns(said(data))
