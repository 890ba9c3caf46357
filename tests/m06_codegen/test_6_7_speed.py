"""Task 6.7: positions and masks that are not stored, accesses that are slices, and chunks of a grid."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen import compile_module
from mini_triton.codegen import kernel as kernels
from mini_triton.codegen.library import memory
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.lazy import Affine, Box
from mini_triton.codegen.library.memory import OutOfBounds
from mini_triton.ir.parser import parse_module

from tests.checks import calling, described
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.oracles import modules, values
from tests.support.m06_codegen import closeness, lazy_arrays
from tests.support.m06_codegen import tile_kernels as tiles
from tests.support.m06_codegen.grids import about, running
from tests.support.m06_codegen.lazy_arrays import Access, Sizes, accesses, elements
from tests.support.m06_codegen.windows import WINDOWS, judge_load, judge_store, same

# --- positions and masks


def judge_expression(text: str, sizes: Sizes) -> Any:
    """The expression has the same elements, dtype and shape as with NumPy's arrays. Returns the lazy value."""
    __tracebackhide__ = True
    call = described(f"{text}\n  for {sizes}", sizes.value, text, True)
    lazily = call.succeeds("an array")
    got, expected = call_stored(call, lazily), np.asarray(sizes.value(text, False))
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        described(f"The dtype and the shape of {text}\n  for {sizes}", lambda: (got.dtype, got.shape)).returns(
            (expected.dtype, expected.shape), "it is computed as NumPy does"
        )
    if not np.array_equal(got, expected):
        at = tuple(map(int, np.argwhere(got != expected)[0]))
        shown = lazily if isinstance(lazily, (Affine, Box)) else got
        element = described(f"Element {at} of {text}\n  for {sizes}\n  which is {shown!r},", lambda: got[at].item())
        element.returns(expected[at].item(), "a lazy array has the elements that NumPy would compute, wrapped around")
    return lazily


def call_stored(call: described, value: Any) -> np.ndarray:
    """The elements of a value that may be lazy."""
    __tracebackhide__ = True
    return described(f"The elements of {call}, which is {value!r}", np.asarray, value).succeeds("an array")


@given(text=lazy_arrays.expressions, sizes=lazy_arrays.sizes)
def test_positions(text: str, sizes: Sizes) -> None:
    """Any arithmetic, on program ids, ranges, numbers, and what was loaded."""
    judge_expression(text, sizes)


@given(text=lazy_arrays.masks, sizes=lazy_arrays.sizes)
def test_masks(text: str, sizes: Sizes) -> None:
    """Comparisons of positions, and several joined."""
    judge_expression(text, sizes)


POSITIONS = (
    "columns + 3",
    "3 + columns",
    "100 - columns",
    "columns * n",
    "np.int32(5) * columns",
    "columns + columns",
    "columns - rows",
    "pid * 64 + columns",
    "pid * 64 + rows * n + columns",
    "loaded * n + columns",
    "each - columns * 2",
    "(pid * 64 + columns) % 99999",
    "(pid * 16 + columns).astype(np.int64) * 1048576",
)
MASKS = (
    "columns < n",
    "columns <= n",
    "n > columns",
    "3 <= columns",
    "columns * 3 < n",
    "100 - columns * 5 >= 60",
    "pid * 16 + columns < 1000000",
    "pid * 16 + columns < 0",
    "columns <= columns",
    "later > columns",
    "loaded < columns + 100",
    "(rows < 3) & (columns >= n)",
    "(rows < 3) & (columns >= n) & (pid < 3)",
    "(columns < 3) & (columns > 5)",
    "(columns < n) & (columns >= 3) & (100 - columns > 90)",
)


@pytest.mark.parametrize("text", POSITIONS)
def test_positions_stay_lazy(text: str) -> None:
    """A start for all, or for each along some axes, and a stride along the others."""
    for sizes in (Sizes(), Sizes(programs=1, first=11), Sizes(columns=1), Sizes(first=2**10, width=2**11)):
        got = judge_expression(text, sizes)
        assert isinstance(got, Affine), (
            f"{text}\n  for {sizes}\n  expected  an Affine\n  got       {type(got).__name__}"
        )


@pytest.mark.parametrize("text", MASKS)
def test_masks_stay_lazy(text: str) -> None:
    """One comparison along one axis is a box, or one that is the same everywhere; and boxes intersect in a box."""
    for sizes in (Sizes(), Sizes(n=0), Sizes(n=-1), Sizes(n=15), Sizes(n=16, rows=1)):
        got = judge_expression(text, sizes)
        assert isinstance(got, Box), f"{text}\n  for {sizes}\n  expected  a Box\n  got       {type(got).__name__}"


@pytest.mark.parametrize("text", MASKS)
def test_masks_are_used(text: str) -> None:
    """What they let through is loaded, also if it is nothing."""
    for sizes in (Sizes(), Sizes(n=-1), Sizes(n=15)):
        shape = (sizes.programs, sizes.rows, sizes.columns)
        offset = Affine(0, (sizes.rows * sizes.columns, sizes.columns, 1), shape, np.int64)
        buffer, mask = Buffer("x", elements(shape).ravel()), sizes.value(text, True)
        call = described(f"memory.load of {shape} elements, mask {text}, other -1\n  for {sizes}", memory.load, buffer)
        call.arguments, call.options = (buffer, offset, mask), {"other": -1.0}
        expected = np.where(sizes.value(text, False), elements(shape), -1.0)
        same("the result", call, call.succeeds("an array"), expected)


def test_rows_of_programs() -> None:
    """A mask of the programs that take part is stored; joined to a box it is a box in these rows."""
    for text in (
        "(loaded > 0) & (columns < n)",
        "(columns >= 2) & (loaded > 0) & (each < 100 + columns)",
        "(loaded > 0) & (columns < n) & (loaded != 5)",
        "(loaded > 0) & (columns < n) & (loaded < 5)",
        "(columns < n) & (loaded < 5)",
    ):
        got = judge_expression(text, Sizes())
        assert isinstance(got, Box), f"{text}\n  expected  a Box with rows\n  got       {type(got).__name__}"


def test_a_sum_that_needs_all_elements_is_stored() -> None:
    """Where the start has elements of its own along an axis, there is no stride along it."""
    for text in ("each + rows", "loaded + pid * 2", "rows * columns", "columns * columns + 1", "pid * columns - rows"):
        judge_expression(text, Sizes())


def test_nothing_is_stored() -> None:
    """A million positions and their mask, in a few bytes."""
    sizes = Sizes(programs=1000, width=10**6, columns=1000)
    sizes.value("pid + columns < n", True)  # what is imported late is not counted
    tracemalloc.start()
    try:
        sizes.value("(pid * 1000 + columns - 5 >= 0 - n) & (columns + 3 < 900) & (pid * 2 < 1500)", True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200_000, f"a mask for a million lanes\n  expected  some hundred bytes\n  got       {most} bytes"


@given(access=accesses())
def test_bounds(access: Access) -> None:
    """The smallest and the largest element."""
    array = access.affine()
    offsets = [access.offset(lane) for lane in access.lanes()]
    because = "the smallest and the largest of its elements, as integers of Python"
    calling(getattr, array, "bounds").returns((min(offsets), max(offsets)), because)


@pytest.mark.parametrize("strides", [(2**62, 1), (-(2**62), 2**62), (2**70, -(2**70))])
def test_bounds_of_large_numbers(strides: tuple[int, int]) -> None:
    """They may be larger than any integer of NumPy's: so one notices that the elements would wrap around."""
    array = Affine(7, strides, (5, 3), np.int64)
    ends = [7 + strides[0] * i + strides[1] * j for i in range(5) for j in range(3)]
    calling(getattr, array, "bounds").returns((min(ends), max(ends)), "they are integers of Python")


# --- accesses


COUNTS = st.sampled_from((0, 1, 24, 60, 90))


@given(access=accesses(), other=st.none() | st.just(-5.5), count=COUNTS, origin=st.sampled_from((0, 0, 5, 20)))
def test_loads(access: Access, other: float | None, count: int, origin: int) -> None:
    """Any offsets and masks, into buffers that may be too small."""
    judge_load(access, other, count, origin)


@given(access=accesses(), alike=st.booleans(), count=COUNTS, origin=st.sampled_from((0, 0, 5, 20)))
def test_stores(access: Access, alike: bool, count: int, origin: int) -> None:
    judge_store(access, 4.5 if alike else elements(access.shape), count, origin)


@pytest.mark.parametrize("origin", [0, 7])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str, origin: int) -> None:
    """The same, one by one: loaded and stored."""
    access = WINDOWS[name]
    judge_load(access, None, 70, origin)
    judge_load(access, elements(access.shape, -500), 70, origin)
    judge_store(access, elements(access.shape), 70, origin)


@pytest.mark.parametrize("name", WINDOWS)
def test_one_element_too_few(name: str) -> None:
    """Buffers that end, or begin, one element too early."""
    access = WINDOWS[name]
    used = [access.offset(lane) for lane in access.lanes() if access.takes_part(lane)]
    for count in {max(used, default=0) + 1, max(used, default=0), 0}:
        judge_load(access, None, count, 0)
        judge_store(access, elements(access.shape), count, 0)
    if used:
        judge_load(access, None, 70, -min(used) - 1)
        judge_store(access, elements(access.shape), 70, -min(used) - 1)


# --- kernels


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 997])
def test_vector_addition(count: int) -> None:
    x, y = elements((count,)).astype(np.float32), elements((count,), 7).astype(np.float32)
    programs = -(-count // tiles.BLOCK) + 2  # the last ones have nothing to do
    tiles.judge(tiles.ADDITION, (programs,), [x, y, np.zeros(count, np.float32), count], {2: x + y})


@pytest.mark.parametrize("grid", [(3, 2), (1, 1), (9, 1, 2), (0, 4)])
def test_tiles(grid: tuple[int, ...]) -> None:
    """Rectangles out of a matrix with strides, and what lies outside of it masked off."""
    for rows, columns in ((0, 5), (1, 1), (7, 13), (11, 16), (5, 3)):
        x = elements((rows, columns)).astype(np.float32)
        tiles.judge_copy(x, grid)
        tiles.judge_copy(x[::-1], grid)
        tiles.judge_copy(x[:, : columns // 2], grid)
        tiles.judge_copy(x.T[:, ::2], grid)


def test_the_error_names_program_and_line() -> None:
    """The mask allows one element too many; far into a grid of several chunks."""
    count = 1000 * tiles.BLOCK - 3
    x = np.zeros(count, np.float32)
    arguments = [Buffer.of(name, array) for name, array in (("x", x), ("y", x.copy()), ("out", x.copy()))]
    kernel = compile_module(parse_module(tiles.ADDITION), "fast")
    words = f"Over the grid (1000,), %n is {count + 1}, arrays have {count} elements"
    call = about(words, tiles.ADDITION, kernel, (1000,), [*arguments, count + 1])
    call.raises(OutOfBounds, f"x[{count}]", "(999, 0, 0)", "tiles.py:12")


def test_the_error_of_programs_that_a_mask_chooses() -> None:
    """The second program whose mask is true reads what is not there."""
    x, flags = np.zeros(8, np.float32), np.array([0, 0, 1, 0, 1, 1], np.int32)
    kernel = compile_module(parse_module(tiles.CHOSEN), "fast")
    arguments = [Buffer.of("x", x), Buffer.of("flags", flags)]
    call = about(f"Flags are {flags.tolist()}, %x has 8 elements", tiles.CHOSEN, kernel, (6,), arguments)
    call.raises(OutOfBounds, "x[8]", "(4, 0, 0)")


# --- chunks


def test_how_many_programs_at_once() -> None:
    """As many as fit, and one at least."""
    for block, programs in ((1, kernels.CHUNK), (16, kernels.CHUNK // 16), (kernels.CHUNK, 1), (2 * kernels.CHUNK, 1)):
        kernel = compile_module(parse_module(tiles.fill(block)), "fast")
        call = described(f"`most()` of a kernel whose largest tile has {block} elements", kernel.most)
        call.returns(programs, f"{kernels.CHUNK} elements fit")


@pytest.mark.parametrize("chunk", [1, 16, 48, 160, 10**6])
def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A grid of three axes, cut at any place."""
    monkeypatch.setattr(kernels, "CHUNK", chunk)
    for grid in ((37,), (3, 5), (2, 3, 4), (1, 1, 7), (5, 0, 2)):
        tiles.judge_ids(grid)


def test_memory_of_a_large_grid() -> None:
    """Two million programs: what is computed is never there for all of them at once."""
    programs = 2_000_000
    out = np.zeros(4 * programs, np.int32)
    kernel = compile_module(parse_module(tiles.fill(4)), "fast")
    kernel((10,), [Buffer.of("out", out)])
    tracemalloc.start()
    try:
        kernel((programs,), [Buffer.of("out", out)])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = np.add.outer(np.arange(programs, dtype=np.int32), np.arange(4, dtype=np.int32)).ravel()
    assert np.array_equal(out, expected), "each program writes its number, plus 0, 1, 2 and 3"
    assert most < 24e6, f"expected  a few megabytes at a time\ngot       {most / 1e6:.0f} MB for the whole grid"


NAMES = "dropout_low_memory adam add_kernel gather_rows pairwise transpose rotary creation shapes".split()


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in NAMES], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """Beside what a GPU has computed."""
    text, expected = modules.text(case), values.corpus(case)
    arguments, hidden = inputs(case, values.SEED)
    call = running(text, case.grid, arguments, "fast", hidden)
    got = dict(buffers(case, call.succeeds()))
    for name in expected:
        closeness.check(f"{name} of {case}", got[name], expected[name], closeness.rounding(parse_module(text)))
