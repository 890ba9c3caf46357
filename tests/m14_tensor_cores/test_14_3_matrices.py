"""Task 14.3: words of factors, loaded from tiles by `ldmatrix`. The judge is arithmetic: an element is its position."""

from random import Random

import numpy as np
import pytest
from mini_triton.backends.threads.fragments import Arrangement, sum_layout
from mini_triton.backends.threads.layouts import Index
from mini_triton.backends.threads.tensor_cores import Factor
from mini_triton.backends.threads.tiles import Tile, store_tile
from mini_triton.ir.types import shape_of

from tests.checks import described
from tests.support.m13_threads.probing import look, threads_of

TEXT = """module {{ tt.func public @k(%out: !tt.ptr<i64>) {{
  %0 = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %1 = tt.reshape %0 : tensor<{count}xi32> -> tensor<{shape}xi32>
  {change}
  tt.return
}} }}"""
CHANGE = "%2 = arith.trunci %1 : tensor<{shape}xi32> to tensor<{shape}xi{bits}>"


def factor_of(shape: Index, size: int, fast: int, axis: int, warps: Arrangement, width: int) -> Factor:
    """A factor in a tile; the product has `width` rows or columns along the other axis."""
    text = f"{shape[0]}x{shape[1]}"
    change = CHANGE.format(shape=text, bits=8 * size) if size < 4 else ""
    count = shape[0] * shape[1]
    threads, (*_, value) = threads_of(
        TEXT.format(count=count, shape=text, change=change), warps.rows * warps.columns * warps.copies
    )
    threads.shared = count * size + 1024
    tile = Tile(shape, size, fast, 1024, room=threads.room(1024, count * size, False))
    store_tile(threads, value, threads.choice.default(value.type), tile)
    threads.tiles[value] = tile
    return Factor(threads, value, sum_layout((width, shape[1]) if axis else (shape[0], width), warps), axis)


def starts(factor: Factor) -> list[Index]:
    """The indices of the first elements of thread 0's words."""
    return [factor.layout.index(number) for number in factor.layout.distinct[:: factor.count]]


def check(factor: Factor, indices: list[Index], loads: int, because: str = "") -> None:
    """Ask for words in this order. Require the elements of all threads, and the number of loads."""
    before = len(factor.threads.lists[0])
    words = [factor.word(index) for index in indices]
    opcodes = [made.opcode for made in factor.threads.lists[0][before:] if made.opcode.startswith("ldmatrix")]
    call = described(f"the words of thread 0 at {indices}, of {factor.tile}, axis {factor.axis}", lambda: None)
    if len(opcodes) != loads:
        call.fail(f"{loads} ldmatrix", f"{len(opcodes)}: {opcodes}", because)
    found, report = look(factor.threads, words)
    if report.errors:
        call.fail("no error on the emulator", str(report.errors[0]))
    shape, size = shape_of(factor.type), 4 // factor.count
    for thread in range(found.shape[1]):
        lane = np.array(factor.layout.index(0, thread))
        for number, index in enumerate(indices):
            places = [np.add(lane, factor.moved(index, 0, on)) for on in range(factor.count)]
            expected = [int(row * shape[1] + column) % (1 << 8 * size) for row, column in places]
            got = [
                int(found[0, thread, number]) >> 8 * size * part & (1 << 8 * size) - 1 for part in range(len(places))
            ]
            if got != expected:
                words_of = f"elements {{}} in the word of thread {thread} for the index {index}"
                call.fail(words_of.format(expected), words_of.format(got), because)


CASES = [
    # shape, size, fast, axis, warps, width, loads
    ((16, 16), 2, 1, 0, Arrangement(1, 1), 8, 1),
    ((16, 16), 2, 0, 0, Arrangement(1, 1), 8, 1),
    ((16, 8), 2, 1, 1, Arrangement(1, 1), 16, 1),
    ((16, 8), 2, 0, 1, Arrangement(1, 1), 16, 1),
    ((16, 16), 2, 1, 1, Arrangement(1, 1), 16, 1),
    ((32, 16), 2, 0, 1, Arrangement(1, 1), 16, 2),
    ((64, 32), 2, 1, 0, Arrangement(2, 1), 8, 4),
    ((32, 64), 2, 1, 1, Arrangement(2, 2), 32, 4),
    ((32, 32), 2, 0, 0, Arrangement(2, 1, 2), 8, 2),
    ((32, 64), 1, 1, 0, Arrangement(1, 2), 16, 4),
    ((64, 16), 1, 0, 1, Arrangement(2, 1), 32, 2),
    ((64, 8), 1, 0, 1, Arrangement(2, 1), 32, 2),
    ((16, 16), 4, 1, 0, Arrangement(1, 1), 8, 2),
    ((16, 16), 4, 0, 1, Arrangement(1, 2), 16, 2),
]


@pytest.mark.parametrize("shape, size, fast, axis, warps, width, loads", CASES)
def test_all_words(shape: Index, size: int, fast: int, axis: int, warps: Arrangement, width: int, loads: int) -> None:
    factor = factor_of(shape, size, fast, axis, warps, width)
    check(factor, starts(factor), loads)


@pytest.mark.parametrize("shape, size, fast, axis, warps, width, loads", CASES)
def test_any_order(shape: Index, size: int, fast: int, axis: int, warps: Arrangement, width: int, loads: int) -> None:
    """Each instruction loads a block of words, whichever of them is asked for first."""
    factor = factor_of(shape, size, fast, axis, warps, width)
    indices = starts(factor)
    Random(len(indices)).shuffle(indices)
    check(factor, indices[::-1], loads)


def test_only_what_is_needed() -> None:
    """A word that nobody asks for is not loaded, except beside others."""
    factor = factor_of((64, 64), 2, 1, 0, Arrangement(1, 1), 8)
    check(factor, [(40, 24), (32, 16)], 1, "both are in rows 32 to 47 and columns 16 to 31")
