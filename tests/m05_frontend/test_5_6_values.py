"""Task 5.6: what a name may hold, taken apart into its tensors and put together from others.

Values are written down as plain data: "fp32[4]" is a tensor, {"a": 1} something with fields, tuples are tuples, and
everything else is a `constexpr` of it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton import language as tl
from mini_triton.frontend.values import describe, flatten, rebuild
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Value
from mini_triton.ir.types import TensorType
from mini_triton.language.constexpr import RunTimeValue, constexpr
from mini_triton.language.context import building
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

    def others(self) -> list[Value]:
        """As many values again, of the same types."""
        return list(Block([handle.type for handle in self.handles]).arguments)

    def call(self, function: Callable[..., Any], *arguments: Any, says: str = "") -> described:
        """A call with this value as its first argument, in the words of its data."""
        return described(f"{function.__name__}({shown(self.data)}{says})", function, self.value, *arguments)

    def _made(self, data: Any) -> Any:
        if is_tensor(data):
            dtype = dtype_of(data)
            shape = shape_of(data)
            type = TensorType(shape, dtype.ir_type) if shape else dtype.ir_type
            return tensor(self.block.add_argument(type), dtype)
        if isinstance(data, tuple):
            return tuple(map(self._made, data))
        if isinstance(data, dict):
            return Box(**{name: self._made(field) for name, field in data.items()})
        return constexpr(data)


def is_tensor(data: Any) -> bool:
    return isinstance(data, str) and data.endswith("]")


def dtype_of(data: str) -> Any:
    name = data.partition("[")[0]
    return pointer_type(DTYPES[name[8:-1]]) if name.startswith("pointer<") else DTYPES[name]


def shape_of(data: str) -> tuple[int, ...]:
    return tuple(int(size) for size in data.partition("[")[2].removesuffix("]").split(",") if size)


def shown(data: Any) -> str:
    """The data as failures have it: tensors without quotes."""
    if is_tensor(data):
        return data
    if isinstance(data, tuple):
        return f"({', '.join(map(shown, data))})"
    if isinstance(data, dict):
        return f"Box({', '.join(f'{name}={shown(field)}' for name, field in data.items())})"
    return f"constexpr({data!r})"


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


# --- apart, and together


@given(data=values)
def test_the_tensors_of_a_value(data: Any) -> None:
    """From left to right, however deep; nothing else is a part."""
    written = Written(data)
    call = written.call(flatten)
    got = call.succeeds("its tensors")
    if not isinstance(got, list) or not all(isinstance(part, tensor) for part in got):
        call.fail("a list of tensors", got)
    if [part.handle for part in got] != written.handles:
        call.fail(f"[{', '.join(names(data))}]", got, "those are its tensors, from left to right")
    if [repr(part) for part in got] != list(names(data)):
        call.fail(f"[{', '.join(names(data))}]", got, "the parts are the tensors that are in the value")


@given(data=values)
def test_put_together_from_other_tensors(data: Any) -> None:
    """The same value, but its tensors have the other IR values; the old one is as it was."""
    written = Written(data)
    others = written.others()
    call = written.call(rebuild, iter(others), says=f", {len(others)} other IR values")
    got = call.succeeds("a value like it")
    same(call, data, written.value, got, iter(others))
    same(call, data, written.value, written.value, iter(written.handles))


@given(data=values)
def test_apart_and_together(data: Any) -> None:
    """`rebuild` is the opposite of `flatten`."""
    written = Written(data)
    handles = [part.handle for part in flatten(written.value)]
    call = written.call(rebuild, handles, says=", the handles of its own parts")
    same(call, data, written.value, call.succeeds("the same again"), iter(handles))


def test_a_tuple_of_carried_values() -> None:
    """So a loop does it: all the names at once, and their values again from the results of the operation."""
    data = ("fp32[4]", ("int32[]", 3, "pointer<fp32>[4]"), None, {"a": "uint8[2, 4]", "b": (8, "int1[8]")}, ())
    written = Written(data)
    first, (count, three, where), nothing, box, empty = rebuild(written.value, iter(written.others()))
    assert (repr(first), repr(count), repr(where)) == ("fp32[4]", "int32[]", "pointer<fp32>[4]")
    assert three.value == 3 and nothing.value is None and empty == ()
    assert type(box) is Box and box.a.dtype == tl.uint8 and box.b[0].value == 8 and box.c is None


def names(data: Any) -> Iterator[str]:
    """The tensors that are in the data."""
    if is_tensor(data):
        yield data
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, tuple) else ():
        yield from names(inner)


def same(call: described, data: Any, before: Any, got: Any, handles: Iterator[Value], where: str = "the value") -> None:
    """`got` is `before`, with these handles."""
    if is_tensor(data):
        if not isinstance(got, tensor) or got.handle is not next(handles):
            call.fail(f"as {where} a tensor with the IR value whose turn it is", got)
        if repr(got) != data:
            call.fail(f"as {where} {data}", got, "the IR does not know whether integers are signed: a tensor does")
    elif isinstance(data, tuple):
        if not isinstance(got, tuple) or len(got) != len(data):
            call.fail(f"as {where} a tuple of {len(data)} elements", got)
        for i, pair in enumerate(zip(data, before, got, strict=True)):
            same(call, *pair, handles, f"element {i} of {where}")
    elif isinstance(data, dict):
        if type(got) is not Box:
            call.fail(f"as {where} a Box", got)
        for name, field in data.items():
            same(call, field, getattr(before, name), getattr(got, name), handles, f"field {name} of {where}")
        if ("b" not in data and got.b != ()) or got.c is not None:
            call.fail("the other fields as they were", got)
    elif got is not before:
        call.fail(f"as {where} the very same {before!r}", got, "what the compiler knows crosses as it is")


@pytest.mark.parametrize("value", [None, "ieee", tl.float16, len, slice(None), "the language"])
def test_what_has_no_parts(value: Any) -> None:
    """What the compiler knows has no tensors in it, whatever it is, and stays."""
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


@given(data=values, other=values)
def test_spelled_alike(data: Any, other: Any) -> None:
    """What crosses together has the same structure, the same types, and the same constants in it."""
    if said(data) != said(other):
        assert describe(Written(data).value) != describe(Written(other).value), f"{shown(data)} and {shown(other)}"
    assert describe(Written(data).value) == describe(Written(data).value), f"twice {shown(data)}"


def test_a_block_pointer() -> None:
    """One of the language's own: its base, its offsets and sizes are tensors, the shape of its block is known."""
    block = Block([pointer_type(tl.float16).ir_type])
    builder = Builder()
    with building(builder), builder.at_end(block):
        base = tensor(block.arguments[0], pointer_type(tl.float16))
        rows = tl.make_block_ptr(base, (64, 32), (32, 1), (0, 0), (16, 32), (1, 0))
    assert [repr(part) for part in flatten(rows)] == ["pointer<fp16>[]"] + ["int64[]"] * 6
    ints = ", ".join(["(int64[], int64[])"] * 3)
    assert describe(rows) == f"block_pointer(pointer<fp16>[], {ints}, (16, 32))", describe(rows)
    handles = list(Block([part.handle.type for part in flatten(rows)]).arguments)
    again = rebuild(rows, handles)
    assert type(again) is type(rows) and again.block_shape == (16, 32)
    assert [part.handle for part in (again.base, *again.shape, *again.strides, *again.offsets)] == handles
