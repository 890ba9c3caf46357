"""Task 3.3: operands of different shapes meet as in NumPy, by operations that real Triton has."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify

from tests.oracles import questions, records, triton
from tests.support.interpreter import BINARY, COMPARISONS
from tests.support.m03_builder.bench import MEMORY, Bench
from tests.support.m03_builder.modules import module_around
from tests.support.type_names import NUMBERS

Shape = tuple[int, ...]

POINTER = "!tt.ptr<f32>"
INT_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = ("oeq", "olt", "ole", "ogt", "oge", "une")

any_shape = st.sampled_from(questions.SHAPES)


@st.composite
def fitting(draw: st.DrawFn, least: int, most: int) -> list[Shape]:
    """Shapes that broadcast together: of one shape, dimensions in front are left out, and others shrunk to 1."""
    common = draw(any_shape)
    count = draw(st.integers(least, most))
    return [_narrowed(common, draw(st.integers(0, 3)), draw(st.integers(0, 7))) for _ in range(count)]


def _narrowed(shape: Shape, dropped: int, shrunk: int) -> Shape:
    return tuple(1 if shrunk >> i & 1 else dim for i, dim in enumerate(shape))[dropped:]


def several(least: int, most: int) -> Any:
    """Shapes, which fit more often than chance would have it."""
    return fitting(least, most) | st.lists(any_shape, min_size=least, max_size=most)


def together(arrays: Sequence[Any]) -> list[Any] | None:
    """NumPy's answer, or None if the shapes do not fit."""
    try:
        return [np.asarray(array) for array in np.broadcast_arrays(*arrays)]
    except ValueError:
        return None


# --- the three methods that change a shape


def test_expand_dims() -> None:
    """Wherever NumPy puts the new dimension, counted from the front or from the back."""
    for shape in questions.SHAPES:
        rank = len(shape)
        if not shape or np.prod(shape) > 16:
            continue
        for axis in range(-rank - 1, rank + 1):
            bench = Bench(("i32", shape))
            got = bench.call("expand_dims", bench.arguments[0], axis)
            bench.holds(got, np.expand_dims(bench.arrays[0], axis), f"expand_dims of shape {shape}, axis {axis}")
            assert bench.names == ["tt.expand_dims"], f"one operation is enough, got {bench.names}"
        for axis in (rank + 1, rank + 2, -rank - 2, -rank - 3):
            because = f"the result has {rank + 1} dimensions, so there is no axis {axis}"
            Bench(("i32", shape)).refuses(
                VerificationError, "expand_dims", Bench(("i32", shape)).arguments[0], axis, because=because
            )


def test_broadcast_to() -> None:
    """Every shape to every other: what fits is what real Triton's records say, what it gives is NumPy's answer."""
    for old, new in itertools.product(questions.SHAPES, repeat=2):
        bench = Bench(("i32", old))
        (x,) = bench.arguments
        asked = f"broadcast_to of shape {old} to {new}"
        answer = records.broadcast(old, new)
        if answer.error or answer.value != new:
            reason = answer.text or f"together they have shape {answer.value}"
            bench.refuses(ValueError, "broadcast_to", x, new, because=f"{old} does not become {new}: {reason}")
            continue
        got = bench.call("broadcast_to", x, new)
        bench.holds(got, np.broadcast_to(bench.arrays[0], new), asked)
        fewest(bench, old, new, asked)
        assert old != new or got is x, f"{asked}: it has that shape already, so it is the answer itself"


def fewest(bench: Bench, old: Shape, new: Shape, asked: str) -> None:
    """No more operations than needed: a splat; or an expand_dims a missing dimension, and perhaps one broadcast."""
    missing = len(new) - len(old)
    needed = missing + ((1,) * missing + old != new) if old else int(old != new)
    got = ", ".join(bench.names)
    assert len(bench.names) <= needed, f"{asked}\n  expected  {needed} operations at most\n  got       {got}"


def test_broadcast_to_a_list() -> None:
    """A shape may be any sequence."""
    bench = Bench(("i32", (4, 1)), ("i32", ()))
    column, scalar = bench.arguments
    bench.holds(bench.call("broadcast_to", column, [4, 2]), np.broadcast_to(bench.arrays[0], (4, 2)), "to a list")
    bench.holds(bench.call("broadcast_to", scalar, [4]), np.broadcast_to(bench.arrays[1], (4,)), "to a list")
    got = bench.call("broadcast_to", column, [4, 1])
    assert got is column, f"broadcast_to({column.type}, [4, 1])\n  expected  the value itself\n  got       {shown(got)}"


def shown(value: Any) -> str:
    return f"another value, of type {value.type}" if isinstance(value, Value) else repr(value)


@given(shapes=several(1, 4))
def test_broadcast(shapes: list[Shape]) -> None:
    """Any number of values, all to one shape; those that have it stay themselves."""
    bench = Bench(*(("i32", shape) for shape in shapes))
    expected = together(bench.arrays)
    if expected is None:
        bench.refuses(ValueError, "broadcast", *bench.arguments, because="NumPy does not broadcast these shapes either")
        return
    got = bench.call("broadcast", *bench.arguments)
    assert len(got) == len(shapes), f"broadcast of {len(shapes)} values gives {len(got)}"
    for value, array, old, new in zip(got, expected, bench.arguments, shapes, strict=True):
        bench.holds(value, array, f"broadcast of the shapes {shapes}: the value of shape {new}")
        assert new != array.shape or value is old, f"a value of shape {new} has the common shape already"


# --- elementwise operations


@given(shapes=several(2, 2), name=st.sampled_from(["arith.addi", "arith.xori", "arith.maxsi", "arith.subi"]))
def test_elementwise(shapes: list[Shape], name: str) -> None:
    bench = Bench(*(("i32", shape) for shape in shapes))
    expected = together(bench.arrays)
    if expected is None:
        bench.refuses(ValueError, "elementwise", name, *bench.arguments, because="these shapes do not broadcast")
        return
    got = bench.call("elementwise", name, *bench.arguments)
    bench.holds(got, BINARY[name](*expected), f"elementwise({name!r}) of the shapes {shapes}")


@given(shapes=fitting(3, 3))
def test_elementwise_with_other_operands(shapes: list[Shape]) -> None:
    """Three operands, and an attribute."""
    bench = Bench(("i1", shapes[0]), ("f32", shapes[1]), ("f32", shapes[2]))
    condition, x, y = bench.arguments
    got = bench.call("elementwise", "arith.select", condition, x, y)
    bench.holds(got, np.where(*bench.arrays), f"elementwise('arith.select') of the shapes {shapes}")
    got = bench.call("elementwise", "arith.cmpf", x, y, predicate="olt")
    bench.holds(got, np.less(*bench.arrays[1:]), f"elementwise('arith.cmpf', predicate='olt') of {shapes[1:]}")


@given(shapes=fitting(2, 2), name=st.sampled_from(["add", "sub", "mul"]), element=st.sampled_from(["i8", "i32", "f32"]))
def test_arithmetic(shapes: list[Shape], name: str, element: str) -> None:
    """`add`, `sub`, `mul`: operation for integers and floats, in this order of operands."""
    bench = Bench(*((element, shape) for shape in shapes))
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name]
    got = bench.call(name, *bench.arguments)
    with np.errstate(over="ignore"):
        expected = function(*bench.arrays)
    bench.holds(got, expected, f"{name} of {element} in the shapes {shapes}")


def test_every_float_is_added_and_compared_as_one() -> None:
    for element, shape in itertools.product(NUMBERS, ((), (4,))):
        bench = Bench((element, shape), (element, shape))
        for name in ("add", "sub", "mul"):
            bench.call(name, *bench.arguments)
        bench.call("compare", "eq" if element[0] == "i" else "oeq", *bench.arguments)
        kind = "i" if element[0] == "i" else "f"
        expected = [f"arith.{name}{kind}" for name in ("add", "sub", "mul", "cmp")]
        assert bench.names == expected, f"add, sub, mul, compare of {element}: {expected}, not {bench.names}"


@given(
    shapes=fitting(2, 2),
    case=st.sampled_from([("i32", p) for p in INT_PREDICATES] + [("f32", p) for p in FLOAT_PREDICATES]),
)
def test_compare(shapes: list[Shape], case: tuple[str, str]) -> None:
    element, predicate = case
    bench = Bench(*((element, shape) for shape in shapes))
    got = bench.call("compare", predicate, *bench.arguments)
    arrays = [array.view("uint32") if predicate[0] == "u" and element == "i32" else array for array in bench.arrays]
    bench.holds(got, COMPARISONS[predicate](*arrays), f"compare {predicate!r} of {element} in the shapes {shapes}")


# --- memory


@given(shapes=several(2, 2), offset=st.sampled_from(["i8", "i32", "i64"]))
def test_addptr(shapes: list[Shape], offset: str) -> None:
    """One pointer with many offsets, many pointers with one: either side grows."""
    bench = Bench((POINTER, shapes[0]), (offset, shapes[1]))
    expected = together(bench.arrays)
    if expected is None:
        bench.refuses(ValueError, "addptr", *bench.arguments, because="these shapes do not broadcast")
        return
    bench.holds(bench.call("addptr", *bench.arguments), expected[0] + expected[1], f"addptr of the shapes {shapes}")


@given(shapes=several(1, 3))
def test_load(shapes: list[Shape]) -> None:
    """Pointer and mask are broadcast together; `other` is broadcast to their shape."""
    operands = len(shapes)
    bench = Bench(*zip((POINTER, "i1", "f32"), shapes, strict=False))
    called = f"load with {', '.join(('ptr', 'mask', 'other')[:operands])} of the shapes {shapes}"
    because = "the pointer and the mask do not broadcast together"
    try:
        pointers, mask = np.broadcast_arrays(bench.arrays[0], bench.arrays[1] if operands > 1 else True)
        because = "`other` must fit what pointer and mask are together, and may not make them grow"
        other = np.broadcast_to(bench.arrays[2] if operands > 2 else np.float32(0), pointers.shape)
    except ValueError:
        bench.refuses(ValueError, "load", *bench.arguments, because=because)
        return
    got = bench.call("load", *bench.arguments)
    bench.holds(got, np.where(mask, MEMORY[pointers], other), called)
    assert len(bench.block.operations[-1].operands) == operands, f"{called}: tt.load takes {operands} operands"


def test_no_other_without_a_mask() -> None:
    for shape in ((), (4,)):
        bench = Bench((POINTER, shape), ("f32", shape))
        because = "without a mask every element is read"
        bench.refuses(ValueError, "load", bench.arguments[0], other=bench.arguments[1], because=because)


@given(shapes=several(2, 3))
def test_store(shapes: list[Shape]) -> None:
    """Value and mask are broadcast to the pointer's shape; a pointer is never repeated."""
    operands = len(shapes)
    bench = Bench(*zip((POINTER, "f32", "i1"), shapes, strict=False))
    called = f"store with {', '.join(('ptr', 'value', 'mask')[:operands])} of the shapes {shapes}"
    pointers = bench.arrays[0]
    try:
        value = np.broadcast_to(bench.arrays[1], pointers.shape)
        mask = np.broadcast_to(bench.arrays[2] if operands > 2 else True, pointers.shape)
    except ValueError:
        bench.refuses(ValueError, "store", *bench.arguments, because="only value and mask grow, to the pointer's shape")
        return
    assert bench.call("store", *bench.arguments) is None, "a store has no result"
    expected = MEMORY.copy()
    expected[pointers[mask]] = value[mask]
    got = bench.run().memory
    assert np.array_equal(got, expected), f"{called} writes other elements than it should:\n{bench.text}"
    assert len(bench.block.operations[-1].operands) == operands, f"{called}: tt.store takes {operands} operands"


# --- real Triton


@given(shapes=fitting(5, 5), axis=st.integers(-3, 2))
def test_real_triton_accepts(shapes: list[Shape], axis: int) -> None:
    """A block of everything, in drawn shapes, as one module for real Triton's parser and verifier."""
    kinds = (POINTER, "i32", "i32", "f32", "f32")
    bench = Bench(*zip(kinds, shapes, strict=True))
    pointer, i, j, x, y = bench.arguments
    offset = bench.call("mul", bench.call("add", i, j), i)
    mask = bench.call("compare", "slt", offset, j)
    moved = bench.call("addptr", pointer, offset)
    read = bench.call("load", bench.call("broadcast", moved, x, y)[0], mask, y)
    total = bench.call("sub", bench.call("add", x, y), read)
    bench.call("store", bench.call("broadcast", moved, total, mask)[0], total, mask)
    if x.type != read.type and shapes[3]:
        bench.call("expand_dims", x, axis if -len(shapes[3]) - 1 <= axis <= len(shapes[3]) else 0)
    module = module_around(bench.block)
    verify(module)
    text = print_module(module)
    answer = triton.accepts(text)
    assert answer, f"real Triton refuses what the builder built: {answer.diagnostic}\n{text}"
