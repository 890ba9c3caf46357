"""Task 6.11: accesses that are slices, and chunks of a grid."""

import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.analysis.pointers import origins
from mini_triton.codegen import compile_module
from mini_triton.codegen import kernel as codegen
from mini_triton.codegen.library import memory
from mini_triton.codegen.library.lazy import Affine, Box
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.checks import described
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m06_codegen.accesses import Memory, judge_load, judge_store
from tests.support.m06_codegen.closeness import check
from tests.support.m06_codegen.kernels import about, addition, compiled, judge, judge_corpus, kernel, running
from tests.support.m06_codegen.lazy_arrays import MASKS, WINDOWS, Access, Axis, Sizes, accesses, elements

# --- accesses


COUNTS = st.sampled_from((0, 1, 24, 60, 90))
ORIGINS = st.sampled_from((0, 0, 5, 20))


def judge_access(access: Access, count: int, origin: int, value: Any, other: Any = None) -> None:
    """Require that a load and a store through a lazy array do what NumPy's indexing does."""
    __tracebackhide__ = True
    lazily = access.affine(), access.mask()

    def memory() -> Memory:
        around = elements((count + 16,), 1001)
        places = {at - origin: 8 + at for at in range(count)}
        return Memory(f"{count} elements, origin {origin}", Buffer("x", around[8 : 8 + count], origin), around, places)

    judge_load(memory(), access.offsets, access.used, other, lazily)
    judge_store(memory(), access.offsets, value, access.used, lazily)


@given(access=accesses(), other=st.none() | st.just(-5.5), alike=st.booleans(), count=COUNTS, origin=ORIGINS)
def test_accesses(access: Access, other: float | None, alike: bool, count: int, origin: int) -> None:
    """Loads and stores with any offsets and masks, in buffers that may be too small."""
    judge_access(access, count, origin, 4.5 if alike else elements(access.shape), other)


@pytest.mark.parametrize("origin", [0, 7])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str, origin: int) -> None:
    """Windows of a buffer: boxes, rows, negative strides, repeated elements, and masks that are false everywhere."""
    access = WINDOWS[name]
    for other in (None, elements(access.shape, -500)):
        judge_access(access, 70, origin, elements(access.shape), other)


@pytest.mark.parametrize("name", WINDOWS)
def test_one_element_too_few(name: str) -> None:
    """Buffers that lack the access's last element, or the one before its first element."""
    access = WINDOWS[name]
    used = access.offsets[access.used]
    most, least = used.max(initial=0), used.min(initial=70)
    for count, origin in ((most + 1, 0), (most, 0), (0, 0), (70, -least - 1)):
        judge_access(access, count, origin, elements(access.shape))


@pytest.mark.parametrize("text", MASKS)
def test_masks_are_used(text: str) -> None:
    """Only lanes whose mask is true are loaded. Some masks are false everywhere."""
    for sizes in (Sizes(), Sizes(n=-1), Sizes(n=15)):
        shape = (sizes.programs, sizes.rows, sizes.columns)
        offset = Affine(0, (sizes.rows * sizes.columns, sizes.columns, 1), shape, np.int64)
        buffer, mask = Buffer("x", elements(shape).ravel()), sizes.value(text, True)
        call = described(f"memory.load of {shape} elements, mask {text}, other -1\n  for {sizes}", memory.load, buffer)
        call.arguments, call.options = (buffer, offset, mask), {"other": -1.0}
        expected = np.where(sizes.value(text, False), elements(shape), -1.0)
        check(f"{call}: the result", call.succeeds("an array"), expected)


PARTS = {
    "a box": (Affine(100, (8, 1), (6, 8), np.int64), ((2, 4), (1, 5))),
    "backwards": (Affine(100, (-8, -1), (6, 8), np.int64), ((2, 4), (1, 5))),
    "starts": (Affine(np.array([[7], [40], [3], [90]]), (0, 2), (4, 8), np.int64), ((1, 3), (5, 8))),
    "one start for all": (Affine(np.array([[7]]), (3, 2), (4, 8), np.int64), ((1, 3), (5, 8))),
}


@pytest.mark.parametrize("name", PARTS)
def test_part_of_an_affine(name: str) -> None:
    """The part inside a box is an `Affine` that has the box's sizes, and counts from the first element of memory."""
    offset, ranges = PARTS[name]
    box, buffer = Box(ranges, offset.shape), Buffer("x", np.zeros(160, np.int8), 17)
    call = described(f"indices(<origin 17>, {offset}, {box})", memory.indices, buffer, offset, box)
    got, expected = call.succeeds("an Affine"), (np.asarray(offset) + 17)[box.slices()]
    assert isinstance(got, Affine), f"{call}\n  expected  an Affine\n  got       {got!r}"
    described(f"The elements of {call}, which is {got}", lambda: np.asarray(got).tolist()).returns(expected.tolist())


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_view_shares_memory(dtype: Any) -> None:
    """The view has the elements at the indices; a change of the view changes memory."""
    data = np.arange(10, 20).astype(dtype)
    index = Affine(5, (-2, 1), (3, 2), np.int64)
    call = described(f"view(<{data.dtype} 10, 11, 12, ...>, {index})", memory.view, Buffer("x", data), index)
    got = call.succeeds("an array")
    elements = described(f"The elements of {call}", lambda: (got.dtype, got.tolist()))
    elements.returns((data.dtype, [[15.0, 16.0], [13.0, 14.0], [11.0, 12.0]]))
    got[1, 0] = 7
    described("Element 3 of memory after view[1, 0] = 7", lambda: float(data[3])).returns(7.0, "a view has no copy")


LARGE = {
    "all": Access((Axis(1024, 1024), Axis(1024)), masked=False),
    "a box": Access((Axis(1024, 1024, None, (1, 1024)), Axis(1024, 1, None, (0, 1000))), -1024),
    "starts": Access((Axis(1024, 0, tuple(1023 * 1024 - 1024 * i for i in range(1024))), Axis(1024)), masked=False),
}


@pytest.mark.parametrize("name", LARGE)
def test_no_lane_is_checked_if_all_are_inside(name: str) -> None:
    """An access to a million bytes needs less than four bytes a lane, so not an index for each lane."""
    access, buffer = LARGE[name], Buffer("x", np.zeros(2**20, np.int8))
    offset, mask = access.affine(), access.mask()
    for kind in ("load", "store"):
        operands = (buffer, offset, mask) if kind == "load" else (buffer, offset, np.int8(3), mask)
        getattr(memory, kind)(*operands)  # late imports should not count
        tracemalloc.start()
        try:
            getattr(memory, kind)(*operands)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 2**22, (
            f"memory for a {kind} of 2**20 bytes at {offset!r:.90}, mask {mask}\n  expected  less than 2**22 bytes\n"
            f"  got       {most} bytes\n  because   the bounds of the offsets show that no lane is out of bounds"
        )


# --- kernels


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 997])
def test_vector_addition(count: int) -> None:
    x, y = elements((count,)).astype(np.float32), elements((count,), 7).astype(np.float32)
    programs = -(-count // 16) + 2  # the last programs have nothing to do
    judge(addition(), (programs,), [x, y, 0 * x, count], [x, y, x + y, count], mode="fast")


COPY = """
    rows = tl.program_id(1) * 4 + tl.arange(0, 4)[:, None]
    columns = tl.program_id(0) * 8 + tl.arange(0, 8)[None, :]
    mask = (rows < m) & (columns < n)
    tl.store(out + rows * n + columns, tl.load(x + rows * sm + columns * sn, mask=mask), mask=mask)
"""


def judge_copy(text: str, x: np.ndarray, grid: tuple[int, ...]) -> None:
    """Copy the part of a matrix that the grid's tiles cover, from an array with any strides to a contiguous one."""
    __tracebackhide__ = True
    (rows, columns), reach = x.shape, (*grid, 1, 1)
    around = np.full(rows * columns + 8, -7, np.float32)
    wanted, size = around.copy(), rows * columns
    if 0 not in grid:
        part = slice(0, reach[1] * 4), slice(0, reach[0] * 8)
        wanted[4 : 4 + size].reshape(rows, columns)[part] = x[part]
    strides = [stride // x.itemsize for stride in x.strides]
    buffers = [Buffer.of("x", x), Buffer.of("out", around[4 : 4 + size])]
    launch = compile_module(parse_module(text), "fast")
    words = f"Over the grid {grid}, %x of the shape {x.shape} with strides {strides}"
    call = about(words, text, launch, grid, [*buffers, rows, columns, *strides])
    call.succeeds("all programs run")
    check(f"{call}: %out, with 4 elements before it and 4 after it", around, wanted)


@pytest.mark.parametrize("grid", [(3, 2), (1, 1), (9, 1, 2), (0, 4)])
def test_tiles(grid: tuple[int, ...]) -> None:
    """Rectangles of a matrix with strides; elements outside the matrix are masked off."""
    text = compiled(COPY, x="*fp32", out="*fp32", m="i32", n="i32", sm="i32", sn="i32")
    for rows, columns in ((0, 5), (1, 1), (7, 13), (11, 16), (5, 3)):
        x = elements((rows, columns)).astype(np.float32)
        for view in (x, x[::-1], x[:, : columns // 2], x.T[:, ::2]):
            judge_copy(text, view, grid)


def test_the_error_names_program_and_line() -> None:
    """The mask allows one element too many, in a late chunk of the grid."""
    count = 1000 * 16 - 3
    arguments = [np.zeros(count, np.float32)] * 3
    call = running(addition(), (1000,), [*arguments, count + 1], mode="fast")
    call.raises(OutOfBounds, f"x[{count}]", "(999, 0, 0)", ".py:9")


def test_the_error_of_programs_that_a_mask_chooses() -> None:
    """The second program whose mask is true reads out of bounds."""
    lines = """
        mask = tl.load(flags + tl.program_id(0)) != 0
        p = x + (tl.program_id(0) - 2) * 4 + tl.arange(0, 4)
        tl.store(p, tl.load(p, mask=mask), mask=mask)
    """
    text = compiled(lines, x="*fp32", flags="*i32")
    call = running(text, (6,), [np.zeros(8, np.float32), np.array([0, 0, 1, 0, 1, 1], np.int32)], mode="fast")
    call.raises(OutOfBounds, "x[8]", "(4, 0, 0)")


# --- chunks


def fill(block: int) -> str:
    """Each program writes its number plus 0, 1, 2, ... into its own part of `out`."""
    pid, lanes = "tl.program_id(0)", f"tl.arange(0, {block})"
    return compiled(f"tl.store(out + {pid} * {block} + {lanes}, {pid} + {lanes})", out="*i32")


def test_how_many_programs_at_once() -> None:
    """A chunk has as many programs as fit into `CHUNK` elements, but at least one. A kernel without tiles also runs."""
    compile_module(parse_module(kernel("n: i32")), "fast")((3,), [1])
    for block, programs in ((1, codegen.CHUNK), (16, codegen.CHUNK // 16), (codegen.CHUNK, 1), (2 * codegen.CHUNK, 1)):
        chunk = compile_module(parse_module(fill(block)), "fast").chunk
        assert chunk == programs, (
            f"a kernel whose largest tile has {block} elements runs {chunk} programs at once\n"
            f"  expected  {programs}\n  because   {codegen.CHUNK} elements fit in a cache"
        )


def test_the_largest_tile() -> None:
    """It may have two axes and no access, or exist only in a loop's body, or in a branch inside this body."""
    tile = "lanes = tl.arange(0, 64)\n{0}tl.store(x + lanes, lanes)"
    for lines in (
        "rows = tl.arange(0, 4)\ntl.store(x + rows, tl.sum(rows[:, None] * tl.arange(0, 16)[None, :], 1))",
        "for i in range(0, n):\n    " + tile.format("    "),
        "for i in range(0, n):\n    if i > 3:\n        " + tile.format("        "),
    ):
        text = compiled(f"tl.store(x + tl.arange(0, 4), n)\n{lines}", x="*i32", n="i32")
        (function,) = parse_module(text).body.operations
        call = about("chunk_size(function, …)", text, codegen.chunk_size, function, origins(function))
        call.returns(codegen.CHUNK // 64, "the largest tile has 64 elements")


IDS = """
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    lanes = tl.arange(0, 16)
    tl.store(out + number * 16 + lanes, (z * 100 + y) * 100 + x + lanes)
"""


@pytest.mark.parametrize("chunk", [1, 16, 48, 160, 10**6])
def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A grid with three axes gives the same results for any chunk size."""
    monkeypatch.setattr(codegen, "CHUNK", chunk)
    for grid in ((37,), (3, 5), (2, 3, 4), (1, 1, 7), (5, 0, 2)):
        judge(compiled(IDS, out="*i32"), grid, [np.full(16 * 37 + 3, -7, np.int32)], mode="fast")


def test_memory_of_a_large_grid() -> None:
    """No array ever has an entry for each of two million programs."""
    programs = 2_000_000
    out = np.zeros(4 * programs, np.int32)
    launch = compile_module(parse_module(fill(4)), "fast")
    launch((10,), [Buffer.of("out", out)])
    tracemalloc.start()
    try:
        launch((programs,), [Buffer.of("out", out)])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = np.add.outer(np.arange(programs, dtype=np.int32), np.arange(4, dtype=np.int32)).ravel()
    assert np.array_equal(out, expected), "each program should write its number plus 0, 1, 2 and 3"
    assert most < 24e6, f"expected  less than 24 MB, for one chunk at a time\ngot       {most / 1e6:.0f} MB"


NAMES = "dropout_low_memory adam add_kernel gather_rows pairwise transpose rotary creation".split()


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in NAMES], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """The results equal a GPU's recorded results."""
    judge_corpus(case, "fast")
