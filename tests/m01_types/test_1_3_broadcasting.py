"""Task 1.3: the shape of `lhs op rhs`, or the dimension in which the two shapes do not match."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.types import F32, TensorType, broadcast_shapes

from tests.checks import calling
from tests.oracles import questions, records

Shape = tuple[int, ...]

shapes = st.sampled_from(questions.SHAPES)
sizes = st.integers(2, 2**31)


def agrees(lhs: Shape, rhs: Shape) -> None:
    """Compare with real Triton's answer for shapes of at most three dimensions, of sizes 1, 2 and 4.

    This answer suffices: broadcasting depends only on whether two sizes are equal, and whether one of them is 1.
    Trailing dimensions that both shapes share do not affect the dimensions before them.
    """
    more = max(len(lhs) - 3, len(rhs) - 3, 0)
    others = {*lhs, *rhs} - {1}
    sizes = [1, 2, 4] if others <= {2, 4} else [1, *sorted(others)]

    def asked(shape: Shape) -> Shape:
        return tuple((1, 2, 4)[sizes.index(dim)] for dim in shape[: len(shape) - more])

    def here(dim: int) -> int:
        return sizes[(1, 2, 4).index(dim)]

    answer = records.broadcast(asked(lhs), asked(rhs))
    call = calling(broadcast_shapes, lhs, rhs)
    if answer.ok:
        expected = (*map(here, answer.value), *lhs[len(lhs) - more :])
        call.returns(expected, because="real Triton broadcasts such shapes to this shape")
    else:
        index, left, right = map(int, re.findall(r"\d+", answer.text))
        fault = f"index {index}: {here(left)} and {here(right)}"
        call.raises(ValueError, fault, because="real Triton refuses such shapes, and names these dimensions")


@pytest.mark.parametrize("ranks", ["a scalar", "equal", "different"])
def test_ranks(ranks: str) -> None:
    for lhs, rhs in itertools.product(questions.SHAPES, repeat=2):
        if ranks == ("a scalar" if not lhs or not rhs else "equal" if len(lhs) == len(rhs) else "different"):
            agrees(lhs, rhs)


@given(lhs=shapes, rhs=shapes, two=sizes, four=sizes)
def test_other_sizes(lhs: Shape, rhs: Shape, two: int, four: int) -> None:
    size = {1: 1, 2: two, 4: four}
    agrees(tuple(size[dim] for dim in lhs), tuple(size[dim] for dim in rhs))


@given(lhs=shapes, rhs=shapes, trailing=st.lists(st.sampled_from((1, 2, 4)), max_size=4))
def test_more_dimensions(lhs: Shape, rhs: Shape, trailing: list[int]) -> None:
    agrees((*lhs, *trailing), (*rhs, *trailing))


@pytest.mark.parametrize("lhs, rhs", [((4, 1), (8,)), ((2, 1, 4), (1, 8, 1)), ((), (4,))])
def test_types_of_the_result(lhs: Shape, rhs: Shape) -> None:
    """NumPy's integers are right in a shape only if `TensorType` takes them."""
    call = calling(broadcast_shapes, lhs, rhs)
    calling(TensorType, call.succeeds(), F32).succeeds("a type", because=f"this shape is {call}")
