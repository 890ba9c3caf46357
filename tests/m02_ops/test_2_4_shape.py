"""Task 2.4: making tensors and changing their shape, as real Triton's verifier demands."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.ops.shape import broadcast, expand_dims, join, make_range, reshape, splat, split, trans

from tests.support.m02_ops.generic_form import tensor
from tests.support.m02_ops.rules import Call, judge
from tests.support.type_names import NUMBERS

SHAPES = ((1,), (2,), (8,), (1, 1), (1, 8), (8, 1), (2, 4), (4, 2), (2, 2, 2), (4, 1, 2), (1, 2, 4))
TENSORS = [tensor(shape, "f32") for shape in SHAPES]
ANY_SHAPE = (TypeError, ValueError)  # TensorType raises ValueError for a shape that no tensor may have

Shape = tuple[int, ...]
shapes = st.lists(st.sampled_from((1, 2, 4, 16)), min_size=1, max_size=4).map(tuple)
names = st.sampled_from((*NUMBERS, "!tt.ptr<f32>"))


def transposes(source: str, offers: Sequence[tuple[str, ...]], order: Sequence[int]) -> Call:
    """`trans` with this order."""
    return Call(trans, "tt.trans", (source,), offers, f"order = array<i32{':' * bool(order)} {str(order)[1:-1]}>")


def ranges(start: int, end: int, *offers: tuple[str, ...]) -> Call:
    """`make_range`, with result types that real Triton may accept and some that it refuses."""
    offers = (*offers, (f"tensor<{max(end - start, 1)}xi32>",), (f"tensor<{max(end - start, 1)}xi64>",))
    bounds = f"start = {start} : i32, end = {end} : i32"
    return Call(make_range, "tt.make_range", (), offers, bounds, refusals=ANY_SHAPE)


def test_ranges() -> None:
    ends = (0, 1, 2, 3, 4, 6, 8, 9, 12, 16)
    judge(ranges(start, end, ("i32",)) for start, end in itertools.product((0, 1, 4, 8), ends))
    why = "a range has at least one number"
    empty = (0, 0), (8, 8), (0, -8), (8, 4)
    judge(replace(ranges(*pair), refusals=(TypeError,), stricter=why) for pair in empty)


@given(start=st.integers(-(2**20), 2**20), power=st.integers(0, 21), off=st.sampled_from((0, 0, 0, 1, -1)))
def test_ranges_of_any_length(start: int, power: int, off: int) -> None:
    judge([ranges(start, start + 2**power + off)])


def test_splat() -> None:
    scalars = ("i1", "i32", "f16", "f32", "!tt.ptr<f32>", "!tt.ptr<f16>")
    results = [tensor(shape, name) for shape in ((), (1,), (8,), (2, 4)) for name in scalars]
    judge(Call(splat, "tt.splat", (s,), [(r,)], given=r) for s, r in itertools.product(scalars, results))


def test_only_scalars_are_splat() -> None:
    why = "real Triton's parser also takes tensors, but tt.broadcast is the operation that enlarges a tensor"
    pairs = itertools.product(TENSORS, repeat=2)
    judge(Call(splat, "tt.splat", (source,), (), given=result, stricter=why) for source, result in pairs)


@given(shape=shapes, name=names, axis=st.integers(0, 4))
def test_a_new_dimension(shape: Shape, name: str, axis: int) -> None:
    axis = min(axis, len(shape))
    offers = [(tensor((*shape[:i], 1, *shape[i:]), name),) for i in range(len(shape) + 1)]
    judge([Call(expand_dims, "tt.expand_dims", (tensor(shape, name),), offers, f"axis = {axis} : i32")])


def test_an_axis_out_of_range() -> None:
    why = "an axis counts from 0 to the rank; real Triton does not check it, and its process may die"
    for shape in SHAPES:
        for axis in (-3, -2, -1, len(shape) + 1, len(shape) + 2):
            source = (tensor(shape, "f32"),)
            judge([Call(expand_dims, "tt.expand_dims", source, (), f"axis = {axis} : i32", stricter=why)])
    judge([Call(expand_dims, "tt.expand_dims", ("f32",), [("tensor<1xf32>",)], "axis = 0 : i32")])


@pytest.mark.parametrize("rule", [broadcast, reshape])
def test_another_shape(rule: Callable[..., Any]) -> None:
    """Broadcasts and reshapes to a given shape."""
    results = [*TENSORS, "tensor<8x8xf32>", "tensor<8xi32>", "tensor<4x2x2xf32>", "f32"]
    results += [tensor(shape, f"!tt.ptr<{name}>") for shape in ((8, 1), (4, 8)) for name in ("f32", "i32")]
    pairs = itertools.product([*TENSORS, "f32", "tensor<1x8xi32>", "tensor<1x8x!tt.ptr<f32>>"], results)
    judge(Call(rule, f"tt.{rule.__name__}", (source,), [(result,)], given=result) for source, result in pairs)


def test_a_reshape_that_may_reorder() -> None:
    """The elements may come in any order, but their number and their type stay the same."""
    pairs = itertools.product(["tensor<4x8xf32>"], ["tensor<32xf32>", "tensor<16xf32>", "tensor<32xi32>"])
    judge(Call(reshape, "tt.reshape", (source,), [(result,)], "allow_reorder", result) for source, result in pairs)


@given(shape=shapes, name=names, all_axes=st.permutations(range(4)))
def test_transpose(shape: Shape, name: str, all_axes: list[int]) -> None:
    offers = [(tensor(other, name),) for other in sorted(set(itertools.permutations(shape)))]
    judge([transposes(tensor(shape, name), offers, [axis for axis in all_axes if axis < len(shape)])])


def test_every_order() -> None:
    why = "an order contains every axis from 0 to the last one once; real Triton may die of any other order"
    for shape, name in itertools.product(((8,), (2, 4), (4, 1, 2)), ("f32", "i8", "!tt.ptr<f32>")):
        axes = range(len(shape))
        offers = [(tensor(other, name),) for other in itertools.permutations(shape)]
        judge(
            replace(call, stricter="" if sorted(order) == [*axes] else why)
            for order in itertools.product(range(-len(shape), len(shape) + 1), repeat=len(shape))
            for call in [transposes(tensor(shape, name), offers, list(order))]
        )


@given(shape=shapes, order=st.lists(st.integers(-1, 3), max_size=4))
def test_orders_that_may_be_wrong(shape: Shape, order: list[int]) -> None:
    offers = [(tensor(other, "f32"),) for other in sorted(set(itertools.permutations(shape)))]
    judge([transposes(tensor(shape, "f32"), offers, order), *(transposes("f32", [("f32",)], o) for o in ([], [0]))])


def test_join() -> None:
    types = [(shape, name) for shape in ((), *SHAPES) for name in ("f32", "!tt.ptr<f32>")]
    judge(
        Call(join, "tt.join", (tensor(shape, name), tensor(*other)), [(tensor((*shape, 2), name),)])
        for (shape, name), other in itertools.product(types, repeat=2)
    )


def test_split() -> None:
    types = [(), *SHAPES, (4, 4, 2), (2, 2), (2, 1), (2, 2, 4), (1, 4, 2, 2)]
    judge(
        Call(split, "tt.split", (tensor(shape, name),), [(tensor(shape[:-1] or (1,), name),) * 2, (name, name)])
        for shape, name in itertools.product(types, ("f32", "i1", "!tt.ptr<i8>"))
    )


def test_tensors_have_a_largest_size() -> None:
    for size in (2**19, 2**20):
        type, pair = tensor((size,), "i8"), tensor((size, 2), "i8")
        judge([Call(join, "tt.join", (type, type), [(pair,)], refusals=ANY_SHAPE)])
