"""Task 0.5: loads and stores touch memory only where the mask is true."""

import numpy as np
from first.slice import load, store
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import described

ANYWHERE = st.integers(-(2**31), 2**31 - 1)
SIZE = 10
DTYPES = st.sampled_from(["float32", "int32"])
# For each lane: None if its mask is true, else the offset of the masked-off lane.
places = st.lists(st.none() | ANYWHERE, min_size=1, max_size=12)


def drawn(masked: list[int | None], seed: int, shape: tuple[int, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and a mask; where the mask is true, no offset occurs twice."""
    inside = iter(np.random.default_rng(seed).permutation(len(masked) + SIZE))
    at = np.array([next(inside) if place is None else place for place in masked], np.int64)
    mask = np.array([place is None for place in masked])
    return at.reshape(shape or at.shape), mask.reshape(shape or mask.shape)


def memory(size: int, dtype: str) -> np.ndarray:
    """Elements of which several differ from others only if compared exactly: NaN, -0.0, infinities."""
    array = np.arange(-3, size - 3).astype(dtype)
    if dtype == "float32":
        array[:4] = np.array([np.nan, -np.inf, -0.0, np.inf])[: len(array)]
    return array


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two arrays have the same elements, bit by bit; NaN is equal to NaN, and -0.0 differs from 0.0."""
    signs = np.array_equal(np.signbit(got), np.signbit(expected)) if got.dtype.kind == "f" else True
    return np.array_equal(got, expected, equal_nan=got.dtype.kind == "f") and signs


@given(places, st.integers(0, 99), DTYPES)
@example([None, None, 10**6], 0, "float32")
@example([-1, None], 0, "int32")
@example([5, 5], 0, "float32")
@example([0, 1, 2, 3, 4], 0, "float32")
def test_load(masked: list[int | None], seed: int, dtype: str) -> None:
    at, mask = drawn(masked, seed)
    array = memory(SIZE + len(masked), dtype)
    before = array.copy()
    call = described(f"load({array.tolist()}, {at.tolist()}, {mask.tolist()})", load, array, at, mask)
    expected = np.array([array[i] if m else 0 for i, m in zip(at, mask, strict=True)], dtype)
    got = call.succeeds(str(expected.tolist()))
    if not isinstance(got, np.ndarray) or not same(got, expected):
        call.fail(str(expected.tolist()), got.tolist() if isinstance(got, np.ndarray) else got)
    if got.dtype != array.dtype:
        call.fail(f"an array of {array.dtype}", got.dtype, because="the result has the dtype of the memory")
    if not same(array, before):
        call.fail("unchanged memory", array.tolist(), because="a load does not write")


@given(places, st.integers(0, 99), DTYPES)
@example([None, None, 10**6], 0, "float32")
@example([-1, None], 0, "int32")
@example([5, 5], 0, "float32")
@example([0, None, None], 1, "float32")
def test_store(masked: list[int | None], seed: int, dtype: str) -> None:
    at, mask = drawn(masked, seed)
    array, value = memory(SIZE + len(masked), dtype), memory(len(masked), dtype)[::-1]
    words = f"store({array.tolist()}, {at.tolist()}, {value.tolist()}, {mask.tolist()})"
    expected = array.copy()
    for i, v, m in zip(at, value, mask, strict=True):
        if m:
            expected[i] = v
    call = described(words, store, array, at, value, mask)
    call.succeeds()
    if not same(array, expected):
        call.fail(f"{expected.tolist()} in memory after the store", array.tolist())


def test_blocks_of_several_programs() -> None:
    at, mask = np.arange(12).reshape(3, 4), (np.arange(12) % 5 > 0).reshape(3, 4)
    array = np.arange(100, 112, dtype=np.float32)
    because = "three programs with tiles of 4 access 3 by 4 elements, so `at` and `mask` may have two dimensions"
    call = described("load from 3 by 4 offsets", load, array, at, mask)
    expected = np.where(mask, array[at], 0)
    got = call.succeeds(str(expected.tolist()), because)
    if got.shape != (3, 4) or not np.array_equal(got, expected):
        call.fail(str(expected.tolist()), got.tolist(), because)
    call = described("store to 3 by 4 offsets", store, array, at, -at.astype(np.float32), mask)
    call.succeeds(because=because)
    expected = np.where(mask, -at, 100 + at).astype(array.dtype)
    if not np.array_equal(array.reshape(3, 4), expected):
        call.fail(f"{expected.tolist()} in memory after the store", array.reshape(3, 4).tolist())
