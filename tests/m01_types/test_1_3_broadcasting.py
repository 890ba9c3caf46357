"""Task 1.3: the shape of `lhs op rhs`, or which dimension is in the way."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.types import broadcast_shapes

from tests.checks import calling
from tests.oracles import questions, records

Shape = tuple[int, ...]

shapes = st.sampled_from(questions.SHAPES)
sizes = st.integers(2, 2**31)


def agrees(lhs: Shape, rhs: Shape, sizes: dict[int, int], leading: Shape = (), trailing: Shape = ()) -> None:
    """Ask as real Triton was asked, but with other sizes, and with more dimensions, equal in both, around."""

    def resized(shape: Shape) -> Shape:
        return tuple(sizes[dim] for dim in shape)

    answer = records.broadcast(lhs, rhs)
    call = calling(broadcast_shapes, (*leading, *resized(lhs), *trailing), (*leading, *resized(rhs), *trailing))
    asked = f"real Triton, asked about {lhs} and {rhs}, says"
    if answer.ok:
        expected = (*leading, *resized(answer.value), *trailing)
        call.returns(expected, because=f"{asked} {answer.value}")
    else:
        index, left, right = map(int, re.findall(r"\d+", answer.text))
        fault = f"index {len(leading) + index}: {sizes[left]} and {sizes[right]}"
        call.raises(ValueError, fault, because=f"{asked} {answer.text!r}")


def test_a_scalar_fits_everything() -> None:
    for shape in questions.SHAPES:
        agrees((), shape, sizes={1: 1, 2: 2, 4: 4})
        agrees(shape, (), sizes={1: 1, 2: 2, 4: 4})


def test_equal_rank() -> None:
    for lhs, rhs in itertools.product(questions.SHAPES, repeat=2):
        if len(lhs) == len(rhs):
            agrees(lhs, rhs, sizes={1: 1, 2: 2, 4: 4})


def test_different_rank() -> None:
    for lhs, rhs in itertools.product(questions.SHAPES, repeat=2):
        if len(lhs) != len(rhs):
            agrees(lhs, rhs, sizes={1: 1, 2: 2, 4: 4})


@given(lhs=shapes, rhs=shapes, two=sizes, four=sizes)
def test_other_sizes(lhs: Shape, rhs: Shape, two: int, four: int) -> None:
    """All that matters of two sizes is whether they are equal, and whether one of them is 1."""
    agrees(lhs, rhs, sizes={1: 1, 2: two, 4: four + (two == four)})


@given(lhs=shapes, rhs=shapes, trailing=st.lists(sizes, max_size=4))
def test_more_dimensions(lhs: Shape, rhs: Shape, trailing: list[int]) -> None:
    """The same dimensions at the right end of both shapes stay, and change nothing else."""
    agrees(lhs, rhs, sizes={1: 1, 2: 2, 4: 4}, trailing=tuple(trailing))
