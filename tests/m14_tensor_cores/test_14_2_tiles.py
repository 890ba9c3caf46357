"""Task 14.2: places of elements in a tile, compared with real Triton's layouts and with arithmetic."""

import numpy as np
import pytest
from mini_triton.backends.threads.layouts import Index
from mini_triton.backends.threads.tiles import Tile

from tests.checks import calling, described
from tests.oracles import fragments


def placing(tile: Tile, index: Index) -> calling:
    """A call of `place`."""
    return described(f"{tile}.place({index})", tile.place, index)


@pytest.mark.parametrize(
    "shape, size, fast, index, expected, because",
    [
        ((16, 64), 2, 1, (0, 0), 0, ""),
        ((16, 64), 2, 1, (0, 9), 18, "row 0 is not swizzled"),
        ((16, 64), 2, 1, (1, 0), 128 + 16, "row 1 exchanges places 0 and 1"),
        ((16, 64), 2, 1, (1, 9), 128 + 2, "column 9 is at place 1, byte 2, and 1 ^ 1 is 0"),
        ((16, 64), 2, 1, (6, 24), 6 * 128 + 5 * 16, "place 3 ^ 6"),
        ((16, 64), 2, 1, (9, 0), 9 * 128 + 16, "9 % 8 is 1"),
        ((64, 16), 2, 0, (9, 1), 128 + 2, "rows lie along axis 0"),
        ((16, 128), 2, 1, (1, 64), 16 * 128 + 128 + 16, "columns 64 to 127 are a panel, after 16 rows of 128 bytes"),
        ((16, 32), 2, 1, (1, 0), 64, "rows 0 and 1 share a line, whose number is 0"),
        ((16, 32), 2, 1, (2, 0), 128 + 16, "row 2 begins line 1"),
        ((16, 32), 2, 1, (8, 0), 4 * 128, "line 4: a row has four places, so 4 % 4 is the swizzle"),
        ((16, 16), 2, 1, (4, 0), 128 + 16, "four rows share a line; row 4 begins line 1"),
        ((16, 16), 2, 1, (8, 8), 256 + 16, "line 2: a row has two places"),
        ((16, 8), 2, 1, (15, 7), 254, "a row of 16 bytes has one place"),
        ((32, 128), 1, 1, (3, 16), 3 * 128 + 2 * 16, "place 1 ^ 3"),
        ((32, 32), 4, 1, (3, 5), 3 * 128 + 2 * 16 + 4, "place 1 ^ 3, element 1 of four"),
        ((64, 32), 4, 0, (40, 2), 32 * 128 + 256 + 0 * 16, "panel 1, row 2; place 2 ^ 2"),
    ],
)
def test_places(shape: Index, size: int, fast: int, index: Index, expected: int, because: str) -> None:
    placing(Tile(shape, size, fast, 0), index).returns(expected, because)


def test_a_place_is_counted_from_the_tiles_start() -> None:
    placing(Tile((16, 64), 2, 1, 4096), (1, 0)).returns(144, "`address` adds the start")


def test_real_tritons_layouts() -> None:
    for asked in fragments.tiles():
        tile = Tile(asked.shape, asked.size, asked.fast, 0)
        for bit, index in enumerate(asked.indices):
            because = f"real Triton's #ttg.nvmma_shared<swizzlingByteWidth = {asked.row}> has element 2^{bit} there"
            placing(tile, index).returns(asked.size << bit, because)


SHAPES = [(8, 16), (16, 16), (64, 32), (16, 64), (32, 128), (16, 256)]


@pytest.mark.parametrize("fast", [0, 1])
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_elements(shape: Index, size: int, fast: int) -> None:
    """Each element has bytes of its own, eight rows' places are in different banks, and `place` is linear."""
    tile = Tile(shape if fast else shape[::-1], size, fast, 0)
    known = {index: placing(tile, index).succeeds() for index in np.ndindex(*tile.shape)}
    if sorted(known.values()) != list(range(0, tile.bytes, size)):
        described(f"the places of {tile}", lambda: None).fail("each multiple of the size once", f"{known}"[:200])
    for place in range(0, shape[1], max(1, 16 // size)):
        for first in range(0, shape[0], 8):
            rows = [known[(row, place) if fast else (place, row)] for row in range(first, first + 8)]
            if len({byte // 16 % 8 for byte in rows}) < 8:
                call = described(
                    f"the places of rows {first} to {first + 7} of {tile}, at element {place}", lambda: None
                )
                call.fail("eight different groups of four banks", f"the bytes {rows}")
    for row, column in known:
        if known[row, column] != known[row, 0] ^ known[0, column]:
            placing(tile, (row, column)).fail(f"{known[row, 0]} ^ {known[0, column]}", known[row, column])
