"""Task 14.2: rows for `ldmatrix`, and neighbors of a thread. The judges are the emulator and arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.fragments import Arrangement, factor_layout, sum_layout
from mini_triton.backends.threads.instructions import size_of
from mini_triton.backends.threads.layouts import Index, Layout, blocked
from mini_triton.backends.threads.tiles import Tile, matrices, neighbors
from mini_triton.ir.types import BF16, F16, F32, I8, Type

from tests.checks import calling, described
from tests.support.m14_tensor_cores.instructions import loaded, stored

# --- rows for ldmatrix


@pytest.mark.parametrize(
    "shape, size, fast, axis, expected, because",
    [
        (
            (16, 64),
            2,
            1,
            0,
            [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8)],
            "word 1 is eight rows further, word 2 16 bytes",
        ),
        ((64, 16), 2, 1, 1, [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8)], "rows lie along axis 0, which is that of sums"),
        ((64, 16), 2, 0, 1, [(0, 1), (0, 2), (0, 4), (8, 0), (0, 8)], "each column is a row of the tile"),
        ((16, 64), 2, 0, 0, [(0, 1), (0, 2), (0, 4), (8, 0), (0, 8)], "each column is a row of the tile"),
        ((16, 64), 1, 1, 0, [(1, 0), (2, 0), (4, 0), (8, 0), (0, 16)], "16 bytes are 16 elements"),
        ((64, 16), 4, 0, 1, [(0, 1), (0, 2), (0, 4), (4, 0), (0, 8)], "16 bytes are 4 elements"),
    ],
)
def test_matrices(shape: Index, size: int, fast: int, axis: int, expected: list[Index], because: str) -> None:
    tile = Tile(shape, size, fast, 0)
    calling(matrices, tile, axis, []).returns(expected, because)
    warps = [(16, 0), (0, 0)]
    calling(matrices, tile, axis, warps).returns([*expected, *warps], "then come the bits of the warp's number")


@pytest.mark.parametrize("columns", [8, 16, 32, 64, 128])
@pytest.mark.parametrize("fast", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_loaded_words(axis: int, fast: int, columns: int) -> None:
    """One `ldmatrix` loads the words of an instruction, without bank conflicts. Rows have 32 to 256 bytes."""
    check((128, columns) if axis else (columns, 128), F16, axis, fast)


@pytest.mark.parametrize("type", [I8, BF16, F32], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_loaded_words_of_other_types(axis: int, type: Type) -> None:
    check((64, 16) if axis else (16, 64), type, axis, 1 - axis)


def check(shape: Index, type: Type, axis: int, fast: int) -> None:
    """Load the words at two corners by all warps, and compare them with the layout of the factor."""
    __tracebackhide__ = True
    warps = Arrangement(1, 2) if axis else Arrangement(2, 1)
    width = shape[axis] // 2  # of a warp
    if width < (8, 16)[1 - axis]:
        warps, width = Arrangement(1, 1, copies=2), shape[axis]
    if width < (8, 16)[1 - axis]:
        return
    sums = sum_layout((16 * warps.rows, shape[1]) if axis else (shape[0], 8 * warps.columns), warps)
    size, words = size_of(type), 2 if width == 8 else 4
    layout = factor_layout(sums, axis, shape[1 - axis], size)
    tile = Tile(shape, size, fast, 2048)
    vectors = calling(matrices, tile, axis, layout.warps).succeeds()
    for start in (0, shape[1 - axis] - 32 // size):
        corner = (start, 0) if axis else (0, start)
        got, report = loaded(tile, vectors, corner, words, fast == axis, 2)
        call = described(f"ldmatrix from {tile}, where a lane's row is at {corner} ^ {vectors}", lambda: None)
        if report.errors:
            call.fail("no errors", str(report.errors[0]))
        if report.total.bank_ways != report.total.shared:
            call.fail("no bank conflicts", f"{report.total.bank_ways} cycles for {report.total.shared} accesses")
        for thread, word in np.ndindex(got.shape[:2]):
            bits = (word % 2, word // 2) if axis else (word // 2, word % 2)
            ahead = bits[0] * 16 // size, bits[1] * 8  # of the matrix: along the sums, and along the axis
            row, column = layout.index(0, thread)
            move = ahead if axis else ahead[::-1]
            first = corner[0] + row + move[0], corner[1] + column + move[1]
            on = (1, 0) if axis else (0, 1)
            wanted = [(first[0] + n * on[0]) * shape[1] + first[1] + n * on[1] for n in range(4 // size)]
            if list(got[thread, word]) != [number % (1 << 8 * size) for number in wanted]:
                call.fail(f"elements {wanted} in word {word} of thread {thread}", f"{list(got[thread, word])}")


# --- neighbors


@pytest.mark.parametrize(
    "layout, tile, expected, because",
    [
        (blocked((16, 64), (1, 0), {1: 8}, 1), Tile((16, 64), 2, 1, 0), 8, "16 bytes of a row"),
        (blocked((16, 64), (1, 0), {1: 4}, 1), Tile((16, 64), 2, 1, 0), 4, "a thread has four neighbors"),
        (blocked((16, 64), (1, 0), {1: 8}, 1), Tile((16, 64), 4, 1, 0), 4, "16 bytes are four elements"),
        (blocked((16, 64), (1, 0), {1: 16}, 1), Tile((16, 64), 1, 1, 0), 16, "16 bytes are 16 elements"),
        (blocked((16, 64), (1, 0), {1: 8}, 1), Tile((16, 64), 2, 0, 0), 1, "they are neighbors along the other axis"),
        (blocked((16, 64), (0, 1), {0: 8}, 1), Tile((16, 64), 2, 0, 0), 8, "16 bytes of a column"),
        (blocked((16, 64), (1, 0), {0: 2, 1: 4}, 1), Tile((16, 64), 2, 1, 0), 4, "register 4 has the next row"),
        (blocked((16, 64), (0, 1), {0: 2, 1: 4}, 1), Tile((16, 64), 2, 1, 0), 1, "register 1 has the next row"),
        (Layout(((0, 1), (0, 4)), ((0, 2),) * 5, ()), Tile((16, 64), 2, 1, 0), 2, "registers 2 and 3 are four further"),
        (Layout(((0, 2), (0, 1)), ((0, 4),) * 5, ()), Tile((16, 64), 2, 1, 0), 1, "register 1 is two further"),
        (Layout(((1, 1),), ((0, 2),) * 5, ()), Tile((16, 64), 2, 1, 0), 1, "register 1 is in another row, too"),
        (Layout((), ((0, 1),) * 5, ()), Tile((16, 64), 2, 1, 0), 1, "a thread has one element"),
        (sum_layout((16, 64), Arrangement(1, 1)), Tile((16, 64), 2, 1, 0), 2, "a fragment's lane has two neighbors"),
    ],
)
def test_neighbors(layout: Layout, tile: Tile, expected: int, because: str) -> None:
    calling(neighbors, layout, tile).returns(expected, because)


@given(data=st.data(), size=st.sampled_from((2, 1, 4)), fast=st.sampled_from((1, 0)))
def test_random_neighbors(data: st.DataObject, size: int, fast: int) -> None:
    shape = tuple(1 << data.draw(st.integers(4, 6)) for _ in range(2))
    order = tuple(data.draw(st.permutations((0, 1))))
    layout = blocked(shape, order, {axis: 1 << data.draw(st.integers(0, 5)) for axis in (0, 1)}, 2)
    expected, count = 1, 1
    while count < 1 << len(layout.registers) and count * 2 * size <= 16:
        count *= 2
        indices = [(number, 0) if fast == 0 else (0, number) for number in range(count)]
        if [layout.index(number) for number in range(count)] == indices:
            expected = count
    calling(neighbors, layout, Tile(shape, size, fast, 0)).returns(expected)


@pytest.mark.parametrize("fast", [0, 1])
@pytest.mark.parametrize("type", [F16, I8, F32], ids=str)
@pytest.mark.parametrize("order", [(1, 0), (0, 1)], ids=str)
def test_stored_tiles(order: tuple[int, int], type: Type, fast: int) -> None:
    """Threads store a matrix; an instruction moves a thread's neighbors."""
    shape, along = (32, 64), order[0]
    layout = blocked(shape, order, {along: 16 // size_of(type)}, 2)
    tile = Tile(shape, size_of(type), fast, 1024)
    bytes, stores, report = stored(tile, type, layout)
    call = described(f"store_tile of {shape} elements of {type} in the layout\n  {layout}\ninto {tile}", lambda: None)
    if report.errors:
        call.fail("no errors", str(report.errors[0]))
    each = 16 // size_of(type) if fast == along else 1
    if stores != len(layout.distinct) // each:
        call.fail(f"{len(layout.distinct) // each} instructions, with {each} elements each", f"{stores} instructions")
    for row, column in np.ndindex(*shape):
        got, wanted = bytes[tile.place((row, column)) // tile.size], (row * 64 + column) % (1 << 8 * tile.size)
        if got != wanted:
            call.fail(f"element {(row, column)}, which is {wanted}, at byte {tile.place((row, column))}", f"{got}")
