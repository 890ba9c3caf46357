"""Task 3.3: operands of different shapes are broadcast as in NumPy, with Triton's operations."""

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import VerificationError
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify

from tests.oracles import questions, records, triton
from tests.support.m03_builder.bench import Bench, Term, grown, in_shape, module_around, term
from tests.support.type_names import NUMBERS

Shape = tuple[int, ...]

POINTER = "!tt.ptr<f32>"
INT_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = ("oeq", "olt", "ole", "ogt", "oge", "une")

any_shape = st.sampled_from(questions.SHAPES)


@st.composite
def fitting(draw: st.DrawFn, least: int, most: int) -> list[Shape]:
    """Shapes that broadcast together: copies of one shape, without leading dimensions or with some sizes set to 1."""
    common = draw(any_shape)
    count = draw(st.integers(least, most))
    return [_narrowed(common, draw(st.integers(0, 3)), draw(st.integers(0, 7))) for _ in range(count)]


def _narrowed(shape: Shape, dropped: int, shrunk: int) -> Shape:
    return tuple(1 if shrunk >> i & 1 else dim for i, dim in enumerate(shape))[dropped:]


def several(least: int, most: int) -> Any:
    """Shapes that broadcast together more often than random shapes do."""
    return fitting(least, most) | st.lists(any_shape, min_size=least, max_size=most)


def together(*shapes: Shape) -> Shape | None:
    """The shape that NumPy broadcasts the shapes to, or None if NumPy refuses them."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def meeting(bench: Bench, shape: Shape) -> list[Term]:
    """The terms of the arguments, broadcast to this shape."""
    return [grown(argument, shape) for argument in bench.arguments]


# --- the three methods that change a shape


def test_expand_dims() -> None:
    """The new dimension stands where NumPy puts it, counted from the front or from the back."""
    for shape in questions.SHAPES:
        rank = len(shape)
        if not shape or np.prod(shape) > 16:
            continue
        bench = Bench(("i32", shape))
        for axis in range(-rank - 1, rank + 1):
            got = bench.call("expand_dims", bench.arguments[0], axis)
            new = np.expand_dims(np.empty(shape), axis).shape
            bench.holds(got, ("reshape", "%0", in_shape(new, "i32")), f"expand_dims of shape {shape}, axis {axis}")
        assert set(bench.names) == {"tt.expand_dims"} and len(bench.names) == 2 * rank + 2, "one operation is enough"
        for axis in (rank + 1, rank + 2, -rank - 2, -rank - 3):
            because = f"the result has {rank + 1} dimensions, so there is no axis {axis}"
            bench.refuses(VerificationError, "expand_dims", bench.arguments[0], axis, because=because)


def test_broadcast_to() -> None:
    """Every shape is broadcast to every other, or refused as in real Triton's records, with the fewest operations."""
    for old, new in itertools.product(questions.SHAPES, repeat=2):
        bench = Bench(("i32", old))
        (x,) = bench.arguments
        asked = f"broadcast_to of shape {old} to {new}"
        answer = records.broadcast(old, new)
        if answer.error or answer.value != new:
            reason = answer.text or f"together they have shape {answer.value}"
            bench.refuses(ValueError, "broadcast_to", x, new, because=f"{old} cannot be broadcast to {new}: {reason}")
            continue
        bench.holds(bench.call("broadcast_to", x, list(new)), grown(x, new), asked)
        missing = len(new) - len(old)
        needed = missing + ((1,) * missing + old != new) if old else int(old != new)
        got = ", ".join(bench.names)
        assert len(bench.names) <= needed, f"{asked}\n  expected  {needed} operations at most\n  got       {got}"
    for old, new in (((), (3,)), ((4,), (3, 4)), ((1024,), (2048, 1024))):
        bench = Bench(("i32", old))
        bench.refuses(ValueError, "broadcast_to", *bench.arguments, new, because=f"no tensor has the shape {new}")


@given(shapes=several(0, 4))
def test_broadcast(shapes: list[Shape]) -> None:
    """Any number of values are broadcast to one shape; values that have this shape are returned unchanged."""
    bench = Bench(*(("i32", shape) for shape in shapes))
    common = together(*shapes)
    if common is None:
        bench.refuses(ValueError, "broadcast", *bench.arguments, because="NumPy does not broadcast these shapes either")
        return
    got = bench.call("broadcast", *bench.arguments)
    assert len(got) == len(shapes), f"broadcast of {len(shapes)} values gives {len(got)}"
    for value, expected, shape in zip(got, meeting(bench, common), shapes, strict=True):
        bench.holds(value, expected, f"broadcast of the shapes {shapes}: the value of shape {shape}")


# --- elementwise operations


@given(shapes=several(2, 2), name=st.sampled_from(["arith.addi", "arith.xori", "arith.subi", "tt.addptr"]))
def test_elementwise(shapes: list[Shape], name: str) -> None:
    """Either operand is broadcast: one pointer with many offsets, or many pointers with one offset."""
    kind = POINTER if name == "tt.addptr" else "i32"
    call = ("addptr",) if name == "tt.addptr" else ("elementwise", name)
    bench = Bench((kind, shapes[0]), ("i32", shapes[1]))
    common = together(*shapes)
    if common is None:
        bench.refuses(ValueError, *call, *bench.arguments, because="these shapes do not broadcast")
        return
    expected = (name, *meeting(bench, common), in_shape(common, kind))
    bench.holds(bench.call(*call, *bench.arguments), expected, f"{name} of the shapes {shapes}")


@given(shapes=fitting(3, 3))
def test_elementwise_with_three_operands(shapes: list[Shape]) -> None:
    bench = Bench(("i1", shapes[0]), ("f32", shapes[1]), ("f32", shapes[2]))
    common = np.broadcast_shapes(*shapes)
    expected: Term = ("arith.select", *meeting(bench, common), in_shape(common, "f32"))
    got = bench.call("elementwise", "arith.select", *bench.arguments)
    bench.holds(got, expected, f"elementwise('arith.select') of the shapes {shapes}")


@given(shapes=fitting(2, 2), element=st.sampled_from(NUMBERS), number=st.integers(0, 9))
def test_arithmetic_and_comparisons(shapes: list[Shape], element: str, number: int) -> None:
    """`add`, `sub`, `mul` and `compare` emit the operation for integers or floats, and keep the operands' order."""
    bench = Bench(*((element, shape) for shape in shapes))
    common = np.broadcast_shapes(*shapes)
    kind, predicates = ("i", INT_PREDICATES) if element[0] == "i" else ("f", FLOAT_PREDICATES)
    operands = meeting(bench, common)
    type = in_shape(common, element)
    for name in ("add", "sub", "mul"):
        expected: Term = (f"arith.{name}{kind}", *operands, type)
        bench.holds(bench.call(name, *bench.arguments), expected, f"{name} of {element} in the shapes {shapes}")
    predicate = predicates[number % len(predicates)]
    expected = (f"arith.cmp{kind}", *operands, predicate, in_shape(common, "i1"))
    got = bench.call("compare", predicate, *bench.arguments)
    bench.holds(got, expected, f"compare {predicate!r} of {element} in the shapes {shapes}")


# --- memory


@given(shapes=several(1, 3))
def test_load(shapes: list[Shape]) -> None:
    """Pointer and mask are broadcast together; `other` is broadcast to their shape."""
    bench = Bench(*zip((POINTER, "i1", "f32"), shapes, strict=False))
    called = f"load with {', '.join(('ptr', 'mask', 'other')[: len(shapes)])} of the shapes {shapes}"
    common = together(*shapes[:2])
    if common is None or together(common, *shapes[2:]) != common:
        why = "pointer and mask are broadcast together; `other` is broadcast to their shape, and must not enlarge it"
        bench.refuses(ValueError, "load", *bench.arguments, because=why)
        return
    if len(shapes) == 3:
        ptr, _, other = bench.arguments
        bench.refuses(ValueError, "load", ptr, other=other, because="without a mask every element is read")
    expected = ("tt.load", *meeting(bench, common), in_shape(common, "f32"))
    bench.holds(bench.call("load", *bench.arguments), expected, called)


@given(shapes=several(2, 3))
def test_store(shapes: list[Shape]) -> None:
    """Value and mask are broadcast to the pointer's shape; a pointer is never broadcast."""
    bench = Bench(*zip((POINTER, "f32", "i1"), shapes, strict=False))
    if together(*shapes) != shapes[0]:
        bench.refuses(ValueError, "store", *bench.arguments, because="only value and mask are broadcast")
        return
    assert bench.call("store", *bench.arguments) is None, "a store has no result"
    *_, stored = bench.block.operations
    got, expected = (stored.name, *map(term, stored.operands)), ("tt.store", *meeting(bench, shapes[0]))
    called = f"store with {', '.join(('ptr', 'value', 'mask')[: len(shapes)])} of the shapes {shapes}"
    assert got == expected, f"{called}\n  expected  {expected}\n  got       {got}"


# --- real Triton


@given(shapes=fitting(5, 5), axis=st.integers(-3, 2))
def test_real_triton_accepts(shapes: list[Shape], axis: int) -> None:
    """Real Triton's parser and verifier accept a module with every operation in random shapes."""
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
    assert answer, triton.refusal("what the builder built", text, answer.diagnostic)
