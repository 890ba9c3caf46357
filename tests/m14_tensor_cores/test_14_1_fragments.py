"""Task 14.1: layouts of fragments."""

from __future__ import annotations

from mini_triton.backends.threads.fragments import Arrangement, along, factor_layout, sum_layout
from mini_triton.backends.threads.layouts import Layout

from tests.checks import calling

LANES = (*along(1, [2, 4]), *along(0, [1, 2, 4]))


def test_one_instruction() -> None:
    layout = Layout(((0, 1), (8, 0)), LANES, ())
    calling(sum_layout, (16, 8), Arrangement(1, 1)).returns(layout)
    first = Layout(((0, 1), (8, 0), (0, 8)), LANES, ())
    calling(factor_layout, layout, 0, 16, 2).returns(first)
    second = Layout(((1, 0), (8, 0)), (*along(0, [2, 4]), *along(1, [1, 2, 4])), ())
    calling(factor_layout, layout, 1, 16, 2).returns(second)
