"""Task 13.2, layouts: which thread holds which element, compared with the threads of a real GPU."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import SCALAR, Layout

from tests import oracles
from tests.checks import calling, described
from tests.oracles import linear_layouts
from tests.oracles.records import FOLDER

ROWS = Layout(
    registers=((0, 1), (0, 2)), lanes=((0, 4), (0, 8), (1, 0), (2, 0), (4, 0)), warps=((8, 0), (0, 0))
)  # fmt: skip
"""A tensor of 16 x 16 elements; threads hold four neighbors of a row."""


@pytest.mark.parametrize(
    "register, thread, expected, because",
    [
        (0, 0, (0, 0), "every layout begins with the first element"),
        (1, 0, (0, 1), ""),
        (3, 0, (0, 3), "(0, 1) and (0, 2)"),
        (3, 1, (0, 7), "(0, 1), (0, 2) and (0, 4)"),
        (0, 4, (1, 0), "bit 2 of the lane is for the next row"),
        (2, 31, (7, 14), "the last lane"),
        (0, 32, (8, 0), "thread 32 is lane 0 of warp 1"),
        (1, 63, (15, 13), ""),
        (0, 64, (0, 0), "warp 2 holds the same as warp 0"),
        (3, 127, (15, 15), ""),
    ],
)
def test_places(register: int, thread: int, expected: tuple[int, ...], because: str) -> None:
    described(f"ROWS.index({register}, thread={thread}), where\nROWS = {ROWS}\n", ROWS.index, register, thread).returns(
        expected, because
    )


def test_vectors_may_share_bits() -> None:
    swizzled = Layout(((1, 1),), ((0, 1), (0, 3), (1, 1), (2, 2), (4, 0)), ())
    because = "(0, 1) ^ (0, 3) ^ (1, 1): an index is an xor, not a sum"
    calling(swizzled.index, 0, 7).returns((1, 3), because)
    calling(swizzled.index, 1, 4).returns((0, 0), "(1, 1) ^ (1, 1)")


def test_scalars() -> None:
    calling(SCALAR.index, 0).returns((), "a scalar has the index ()")


def test_layouts_without_registers() -> None:
    lanes = tuple((1 << bit,) for bit in range(5))
    calling(Layout((), lanes, ()).index, 0, 19).returns((19,))


@given(data=st.data(), rank=st.integers(1, 3))
def test_index_is_linear(data: st.DataObject, rank: int) -> None:
    vectors = st.tuples(*[st.integers(0, 31)] * rank)
    parts = [tuple(data.draw(st.lists(vectors, min_size=size, max_size=size))) for size in (2, 5, 2)]
    layout = Layout(*parts)
    bits = [data.draw(st.lists(st.booleans(), min_size=size, max_size=size)) for size in (2, 7)]
    register, thread = (sum(1 << bit for bit, is_one in enumerate(part) if is_one) for part in bits)
    expected = np.zeros(rank, int)
    for vector, is_one in zip([*parts[0], *parts[1], *parts[2]], [*bits[0], *bits[1]], strict=True):
        if is_one:
            expected ^= np.array(vector)
    because = f"the bits that are 1 are {bits[0]} of the register and {bits[1]} of the thread, from the lowest"
    calling(layout.index, register, thread).returns(tuple(map(int, expected)), because)


def recorded() -> list[dict[str, Any]]:
    file = json.loads((FOLDER / "threads.json").read_text(encoding="utf-8"))
    oracles.note("triton", f"records {file['machine']['triton']}")
    return file["tensors"]


def test_threads_of_a_real_gpu() -> None:
    known = linear_layouts.vectors()
    for entry in recorded():
        shape = tuple(entry["shape"])
        layout = Layout(*known[entry["layout"], shape])
        threads = np.reshape(entry["threads"], shape)
        for register in layout.distinct:
            for thread in range(1 << len(layout.threads)):
                index = layout.index(register, thread)
                first = thread & ~layout.idle  # of the threads that hold the element
                if threads[index] != first:
                    held = [tuple(map(int, at)) for at in np.argwhere(threads == first)]
                    because = f"the thread of an H200 held these elements; real Triton's layout: {entry['layout']}"
                    calling(layout.index, register, thread).fail(f"one of {held}", index, because)
