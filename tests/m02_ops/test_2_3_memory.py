"""Task 2.3: pointers, and reading and writing through them, as real Triton's verifier demands."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.formats import FLOATS
from mini_triton.ir.ops.memory import addptr, atomic_cas, atomic_rmw, load, pointee, store

from tests.support.m02_ops.generic_form import segments, tensor, type_of
from tests.support.m02_ops.rules import Call, applying, judge
from tests.support.type_names import NUMBERS

SHAPES = ((), (8,), (1,), (2, 4))
ELEMENTS = ("f32", "i32", "i8")  # two of one width
POINTERS = tuple(tensor(shape, f"!tt.ptr<{name}>") for shape in SHAPES for name in ELEMENTS)
VALUES = tuple(tensor(shape, name) for shape in SHAPES for name in ELEMENTS)
MASKS = tuple(tensor(shape, name) for shape in SHAPES for name in ("i1", "i32"))
ATOMICS = ("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch")  # numbered from 1
ORDER = "sem = 4 : i32, scope = 1 : i32"
ONE_SHAPE = "pointer and offset must have the same shape: a type rule does not broadcast"

Shape = tuple[int, ...]
shapes = st.lists(st.sampled_from((1, 2, 4, 8)), max_size=3).map(tuple)
names = st.sampled_from(NUMBERS)


def size_of(type: str) -> str:
    """The dimensions in the spelling of a type; empty for a scalar."""
    return type.rpartition("x")[0]


def loads(ptr: str, mask: str | None = None, other: str | None = None) -> Call:
    """`load`, with every result type to ask real Triton about."""
    present = segments(True, mask is not None, other is not None)
    return Call(load, "tt.load", (ptr, mask, other), [(value,) for value in VALUES], present)


def atomic(name: str, ptr: str, value: str, mask: str | None, stricter: str = "") -> Call:
    """`atomic_rmw` of this name."""
    attributes = f"atomic_rmw_op = {1 + ATOMICS.index(name)} : i32, {ORDER}"
    return Call(atomic_rmw, "tt.atomic_rmw", (ptr, value, mask), [(value,)], attributes, stricter=stricter)


@given(shape=shapes, name=names)
def test_what_a_pointer_points_to(shape: Shape, name: str) -> None:
    for depth in range(3):
        behind, ptr = ("!tt.ptr<" * d + name + ">" * d for d in (depth, depth + 1))
        call = applying(pointee, type_of(tensor(shape, ptr)))
        call.returns(type_of(tensor(shape, behind)), because="the shape stays, and the element type is the pointee's")
    wrong = tensor(shape, name)
    applying(pointee, type_of(wrong)).raises(TypeError, wrong, because=f"{name} is not a pointer")


def test_pointer_arithmetic() -> None:
    offsets = [tensor(shape, name) for shape in SHAPES for name in ("i8", "i16", "i32", "i64", "f32", "!tt.ptr<f32>")]
    judge(
        Call(addptr, "tt.addptr", (ptr, offset), [(ptr,)], because=ONE_SHAPE if size_of(ptr) != size_of(offset) else "")
        for ptr, offset in itertools.product(POINTERS + VALUES, offsets)
    )
    why = "a sign-extended true is -1: the front end widens booleans first, so that they are never offsets"
    for shape in SHAPES:
        pair = tensor(shape, "!tt.ptr<f32>"), tensor(shape, "i1")
        judge([Call(addptr, "tt.addptr", pair, (), stricter=why)])


def test_load() -> None:
    """Loads without a mask, with a mask, and with values for masked-off elements."""
    judge(loads(ptr) for ptr in POINTERS + VALUES)
    judge(loads(*pair) for pair in itertools.product(POINTERS, MASKS))
    pairs = itertools.product(POINTERS, VALUES)
    judge(loads(ptr, f"{size_of(ptr)}xi1>" if size_of(ptr) else "i1", other) for ptr, other in pairs)


@given(shape=shapes, name=names, mask=shapes, filling=st.tuples(shapes, names), same=st.booleans())
def test_loads_of_any_type(shape: Shape, name: str, mask: Shape, filling: tuple[Shape, str], same: bool) -> None:
    if same:
        mask, filling = shape, (shape, name)
    operands = tensor(shape, f"!tt.ptr<{name}>"), tensor(mask, "i1"), tensor(*filling)
    offers = [(tensor(shape, name),), (tensor(*filling),)]
    judge([Call(load, "tt.load", operands, offers, segments(True, True, True))])


def test_store() -> None:
    judge(Call(store, "tt.store", pair, [()]) for pair in itertools.product(POINTERS + VALUES, VALUES))
    masked = [(tensor(shape, "!tt.ptr<f32>"), tensor(shape, "f32"), mask) for shape in SHAPES for mask in MASKS]
    judge(Call(store, "tt.store", operands, [()]) for operands in masked)


def test_the_message_says_what_was_expected() -> None:
    ptr, value, mask = (type_of(tensor((8,), element)) for element in ("!tt.ptr<f32>", "i8", "i32"))
    wrong = "the {} does not fit, and the message should name its type"
    applying(load, ptr, mask).raises(TypeError, "tensor<8xi32>", because=wrong.format("mask"))
    applying(store, ptr, value).raises(TypeError, "tensor<8xi8>", because=wrong.format("value"))


def test_atomics_on_tensors() -> None:
    values = ("tensor<8xi32>", "tensor<8xf32>", "tensor<4xi32>", "i32")
    masks = (None, "i1", "tensor<8xi1>", "tensor<4xi1>", "tensor<8xi32>")
    judge(
        atomic(name, "tensor<8x!tt.ptr<i32>>", value, mask)
        for name, value, mask in itertools.product(("add", "umax", "exch"), values, masks)
    )
    judge(
        atomic("fadd", "tensor<8x!tt.ptr<f32>>", value, mask)
        for value, mask in itertools.product(("tensor<8xf32>", "tensor<4xf32>", "f32"), masks)
    )


def test_which_atomics_take_which_elements() -> None:
    why = "fadd takes floats, exch takes both, and all others take integers: real Triton parses more than it compiles"
    judge(
        atomic(name, f"!tt.ptr<{value}>", value, "i1", stricter=why if mixed else "")
        for name, value in itertools.product(ATOMICS, (*NUMBERS, "!tt.ptr<f32>"))
        if (name, value[0]) != ("exch", "!")  # Triton 3.9 does not exchange pointers any more
        for mixed in [name != "exch" and (value not in FLOATS if name == "fadd" else value[0] != "i")]
    )


def test_compare_and_swap() -> None:
    values = VALUES[:6]
    judge(
        Call(atomic_cas, "tt.atomic_cas", (ptr, cmp, val), [(val,)], ORDER)
        for ptr, cmp, val in itertools.product(POINTERS[:6], values, values)
    )
