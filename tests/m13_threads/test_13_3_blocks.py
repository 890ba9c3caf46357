"""Task 13.3, blocked layouts: real Triton's vectors, and the place of each element by arithmetic."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import Index, Layout, blocked

from tests.checks import calling
from tests.oracles import linear_layouts
from tests.support.m13_threads.linear import along, powers

BLOCKED = [
    (
        (128,),
        (0,),
        {},
        4,
        Layout((), along(0, 1, 2, 4, 8, 16, rank=1), along(0, 32, 64, rank=1)),
        "128 threads hold an element each",
    ),
    (
        (512,),
        (0,),
        {0: 4},
        4,
        Layout(along(0, 1, 2, rank=1), along(0, 4, 8, 16, 32, 64, rank=1), along(0, 128, 256, rank=1)),
        "each thread holds four neighbors, so thread 1 begins with element 4",
    ),
    (
        (512,),
        (0,),
        {},
        4,
        Layout(along(0, 128, 256, rank=1), along(0, 1, 2, 4, 8, 16, rank=1), along(0, 32, 64, rank=1)),
        "thread 0 holds the elements 0, 128, 256 and 384",
    ),
    (
        (16, 64),
        (1, 0),
        {1: 4},
        4,
        Layout(
            (*along(1, 1, 2), *along(0, 8)), (*along(1, 4, 8, 16, 32), *along(0, 1)), along(0, 2, 4)
        ),
        "16 lanes hold a row",
    ),
    (
        (16, 64),
        (0, 1),
        {0: 4},
        4,
        Layout(
            (*along(0, 1, 2), *along(1, 32)), (*along(0, 4, 8), *along(1, 1, 2, 4)), along(1, 8, 16)
        ),
        "four lanes hold a column",
    ),
    (
        (32, 32),
        (1, 0),
        {0: 2, 1: 4},
        1,
        Layout((*along(1, 1, 2), *along(0, 2 - 1), *along(0, 8, 16)), (*along(1, 4, 8, 16), *along(0, 2, 4)), ()),
        "blocks have two rows of four elements, and their registers are counted along the rows first",
    ),
    (
        (8,),
        (0,),
        {},
        2,
        Layout((), along(0, 1, 2, 4, 0, 0, rank=1), along(0, 0, rank=1)),
        "eight threads suffice, so the other bits of a thread's number do not matter",
    ),
    (
        (4, 1),
        (1, 0),
        {1: 8},
        1,
        Layout((), (*along(0, 1, 2), *along(0, 0, 0, 0)), ()),
        "a block cannot have more elements than the axis",
    ),
    ((1,), (0,), {}, 1, Layout((), along(0, 0, 0, 0, 0, 0, rank=1), ()), "every thread holds the only element"),
]  # fmt: skip


@pytest.mark.parametrize(
    "shape, order, sizes, warps, expected, because",
    BLOCKED,
    ids=[f"{shape}, {order}, {sizes}, warps={warps}" for shape, order, sizes, warps, *_ in BLOCKED],
)
def test_layouts(shape: Index, order: Index, sizes: dict[int, int], warps: int, expected: Layout, because: str) -> None:
    calling(blocked, shape, order, sizes, warps).returns(expected, because)


def test_real_tritons_layouts() -> None:
    for (definition, shape), vectors in linear_layouts.vectors().items():
        parts = [tuple(map(int, part.split(", "))) for part in re.findall(r"= \[([\d, ]+)\]", definition)]
        sizes, _, warps, order = parts
        asked = calling(blocked, shape, order, dict(enumerate(sizes)), math.prod(warps))
        asked.returns(Layout(*vectors), f"this is real Triton's linear layout for {definition}")


def place_of(index: Index, shape: Index, order: Index, sizes: Mapping[int, int], threads: int) -> tuple[int, int]:
    """The register and the thread that hold an element."""
    inside = block = 0
    for axis in reversed(order):
        size = min(sizes.get(axis, 1), shape[axis])
        inside = inside * size + index[axis] % size
        block = block * (shape[axis] // size) + index[axis] // size
    size = math.prod(min(sizes.get(axis, 1), shape[axis]) for axis in order)
    return block // threads * size + inside, block % threads


@given(data=st.data(), rank=st.integers(1, 4))
def test_the_place_of_each_element(data: st.DataObject, rank: int) -> None:
    shape = tuple(data.draw(st.lists(powers({1: 9, 2: 6, 3: 4, 4: 3}[rank]), min_size=rank, max_size=rank)))
    order = tuple(data.draw(st.permutations(range(rank))))
    sizes = data.draw(st.dictionaries(st.integers(0, rank - 1), powers(4), max_size=rank))
    warps = data.draw(powers(3))
    check_places(shape, order, sizes, warps)


def check_places(shape: Index, order: Sequence[int], sizes: dict[int, int], warps: int) -> None:
    """Compare the places of all elements."""
    __tracebackhide__ = True
    asked = calling(blocked, shape, order, sizes, warps)
    layout = asked.succeeds("a layout")
    if [len(layout.lanes), 1 << len(layout.warps)] != [5, warps]:
        asked.fail(f"vectors for 5 bits of a lane, and for {int(math.log2(warps))} bits of a warp", layout)
    threads = 32 * warps
    blocks = math.prod(size // min(sizes.get(axis, 1), size) for axis, size in enumerate(shape))
    idle = threads - min(threads, blocks)
    if layout.idle != idle:
        because = f"the tensor has {blocks} blocks for {threads} threads"
        asked.fail(f"a layout in which the bits {idle:#b} of a thread's number do not matter", layout, because)
    for index in np.ndindex(*shape):
        register, thread = place_of(index, shape, tuple(order), sizes, threads)
        if register >= 1 << len(layout.registers) or (got := layout.index(register, thread)) != index:
            found = f"{layout}, where this place has {got if register < 1 << len(layout.registers) else 'no element'}"
            asked.fail(f"{index} in register {register} of thread {thread}", found)
    if len(layout.registers) != (each := math.prod(shape).bit_length() - 1 - (min(threads, blocks).bit_length() - 1)):
        asked.fail(f"vectors for {each} bits of a register", layout)
