"""Masks that are a box, except in a few rows, and accesses through them."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.library import memory
from mini_triton.codegen.library.lazy import Affine, Patched, arange, where
from mini_triton.ir.storage import Buffer

from tests.support.m06_codegen.accesses import Memory, judge_load, judge_store
from tests.support.m06_codegen.lazy_arrays import Sizes, elements

MASKS = {
    "pid * 16 + columns < 70": [4],
    "n <= pid * 16 + columns": [0],
    "loaded * 16 + columns >= -40": [0],
    "(pid * 16 + columns < 70) & (columns < n)": [4],
    "(columns < n) & (pid * 16 + columns < 70)": [4],
    "(pid * 16 + columns < 70) & (pid * 4 + rows >= 2)": [0, 4],
    "pid * 16 + rows >= columns": [0],
    "columns <= pid * 9 + rows": [0, 1],
}
"""Masks, and the programs whose rows differ from the box."""


@pytest.mark.parametrize("text", MASKS)
def test_a_few_rows_differ(text: str) -> None:
    """The elements are NumPy's, also of some rows only."""
    got, expected = Sizes().value(text, True), Sizes().value(text, False)
    assert isinstance(got, Patched)
    assert got.at.tolist() == MASKS[text]
    np.testing.assert_array_equal(np.asarray(got), expected)
    for chosen in ([], [0], [1, 3], [0, 4], [1, 2, 3, 4], range(5)):
        rows = np.array(chosen, int)
        np.testing.assert_array_equal(np.asarray(got.only(rows)), expected[rows])


@pytest.mark.parametrize("text", MASKS)
def test_choices(text: str) -> None:
    """`where` gives NumPy's result, and does not change its operands."""
    got, expected = Sizes().value(text, True), np.broadcast_to(Sizes().value(text, False), (5, 4, 16))
    x = elements((5, 4, 16))
    for other in (np.float64(-1), elements((5, 1, 1), 9000), elements((16,), 9000)):
        for mask in (got, np.array(got)):
            np.testing.assert_array_equal(where(mask, x, other), np.where(expected, x, other))
    np.testing.assert_array_equal(x, elements((5, 4, 16)))


def test_a_mask_of_programs_alone_is_a_box() -> None:
    """A row with one element is either full or empty."""
    assert not isinstance(Sizes(columns=1).value("pid * 16 + columns < 70", True), Patched)


@given(
    programs=st.integers(2, 7),
    width=st.integers(1, 8),
    stride=st.integers(0, 10),
    limit=st.integers(0, 60),
    narrow=st.integers(0, 8),
    count=st.integers(0, 70),
    shuffled=st.booleans(),
    alike=st.booleans(),
    other=st.none() | st.just(-5.5),
)
def test_accesses(
    programs: int,
    width: int,
    stride: int,
    limit: int,
    narrow: int,
    count: int,
    shuffled: bool,
    alike: bool,
    other: float | None,
) -> None:
    """Loads and stores are NumPy's indexing; an error names the first lane, and precedes every write."""
    shape, columns = (programs, width), arange(0, width)[None, :]
    order = np.arange(programs)[:, None] * (3 if shuffled else 1) % programs
    start = order * stride if shuffled else 0
    offset = Affine(start, (0 if shuffled else stride, 1), shape, np.int64)
    mask = (Affine(0, (width, 1), shape, np.int64) < limit) & (columns < narrow)
    used = (np.arange(programs * width).reshape(shape) < limit) & (np.arange(width) < narrow)

    def memory() -> Memory:
        around = elements((count + 16,), 1001)
        return Memory(f"{count} elements", Buffer("x", around[8 : 8 + count]), around, {n: 8 + n for n in range(count)})

    judge_load(memory(), np.asarray(offset), used, other, (offset, mask))
    if stride >= width:  # otherwise, lanes may write different values to the same element
        judge_store(memory(), np.asarray(offset), 4.5 if alike else elements(shape), used, (offset, mask))


@pytest.mark.parametrize("kind", ["load", "store"])
def test_full_rows_need_no_indices(kind: str) -> None:
    """An access to almost a million bytes needs less than four bytes a lane, so not an index for each lane."""
    offset = Affine(0, (1024, 1), (1024, 1024), np.int64)
    buffer, mask = Buffer("x", np.zeros(2**20 - 7, np.int8)), offset < np.int64(2**20 - 7)
    value = [np.int8(3)] if kind == "store" else []
    getattr(memory, kind)(buffer, offset, *value, mask)  # late imports should not count
    tracemalloc.start()
    try:
        getattr(memory, kind)(buffer, offset, *value, mask)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**22
