"""Task 14.2: matrices in shared memory."""

from __future__ import annotations

from mini_triton.backends.threads.tiles import Tile

from tests.checks import described


def test_rows_of_a_line() -> None:
    tile = Tile((16, 64), 2, 1, 0)
    for row in range(16):
        for column in range(64):
            byte = 128 * row + (column // 8 ^ row % 8) * 16 + column % 8 * 2
            described(f"{tile}.place(({row}, {column}))", tile.place, (row, column)).returns(byte)
