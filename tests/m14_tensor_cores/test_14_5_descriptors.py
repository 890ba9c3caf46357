"""Task 14.5, descriptors: written by hand, looked up in registers, and compared with real Triton's."""

import pytest
from mini_triton.backends.threads.fragments import Arrangement
from mini_triton.backends.threads.layouts import Index
from mini_triton.backends.threads.tiles import Tile
from mini_triton.backends.threads.warp_groups import fields

from tests.checks import calling, described
from tests.support.m14_tensor_cores.groups import descriptors

GROUP = Arrangement(4, 1, groups=True)
PANELS = 0x3FFF << 16
"""The field with the distance from a panel to the next."""

FIELDS = [
    ((64, 64), 2, 1, 0x4000004002000000, "8 rows have 1024 bytes, and the only panel 8192: 64 and 512 units"),
    ((64, 32), 2, 1, 0x8000002001000000, "8 rows have 512 bytes, and the only panel 4096; a row of 64 bytes is 2"),
    ((64, 16), 2, 1, 0xC000001000800000, "8 rows have 256 bytes, and the only panel 2048; a row of 32 bytes is 3"),
    ((128, 256), 2, 1, 0x4000004004000000, "each of four panels has 128 rows of 128 bytes"),
    ((128, 32), 2, 0, 0x4000004001000000, "rows lie along axis 0; each of two panels has 32 rows of 128 bytes"),
    ((64, 128), 1, 1, 0x4000004002000000, "a row has 128 elements of one byte"),
    ((64, 16), 4, 1, 0x8000002001000000, "a row has 16 elements of four bytes"),
]


@pytest.mark.parametrize("shape, size, fast, expected, because", FIELDS)
def test_fields(shape: Index, size: int, fast: int, expected: int, because: str) -> None:
    calling(fields, Tile(shape, size, fast, 1024)).returns(expected, because)


def check(tile: Tile, axis: int, warps: Arrangement, index: Index, group: int, expected: int, because: str) -> None:
    """Require a descriptor in all threads of a group."""
    found = descriptors(tile, axis, warps, [index])[128 * group : 128 * group + 128, 0]
    call = described(f"`descriptor({index})` of factor {axis}, {tile}, by {warps}, group {group}", lambda: None)
    wrong = [hex(value) for value in map(int, found) if value != expected]
    if wrong:
        call.fail(hex(expected), wrong[0], because)


PARTS = [
    ((64, 64), 1, 0, 0, GROUP, (0, 16), 0, 0x4000004002000002, "column 16 is 32 bytes after column 0"),
    ((64, 64), 1, 0, 2048, GROUP, (0, 48), 0, 0x4000004002000086, "the tile begins at byte 2048, which is unit 0x80"),
    ((128, 64), 1, 0, 0, GROUP, (64, 16), 0, 0x4000004004000202, "64 rows of 128 bytes are 0x200 units"),
    ((64, 128), 1, 0, 0, GROUP, (0, 80), 0, 0x4000004002000202, "column 64 begins the second panel"),
    ((64, 32), 1, 0, 0, GROUP, (0, 16), 0, 0x8000002001000002, "rows of 64 bytes"),
    ((32, 64), 1, 1, 0, GROUP, (16, 0), 0, 0x4000004001000080, "16 rows of 128 bytes are 0x80 units"),
    ((32, 64), 0, 1, 0, GROUP, (16, 0), 0, 0x8000002001000002, "rows lie along axis 0"),
    (
        (128, 64), 1, 0, 0, Arrangement(8, 1, groups=True), (0, 16), 1, 0x4000004004000202,
        "group 1 has rows 64 to 127",
    ),
    (
        (32, 128), 1, 1, 0, Arrangement(4, 2, groups=True), (16, 0), 1, 0x4000004001000180,
        "group 1 has columns 64 to 127, which are the second panel, 0x100 units after the first",
    ),
]  # fmt: skip


@pytest.mark.parametrize("shape, fast, axis, start, warps, index, group, expected, because", PARTS)
def test_parts(
    shape: Index,
    fast: int,
    axis: int,
    start: int,
    warps: Arrangement,
    index: Index,
    group: int,
    expected: int,
    because: str,
) -> None:
    check(Tile(shape, 2, fast, start), axis, warps, index, group, expected, because)


TRITONS = [
    ((64, 64), 1, 0, [(0, 0), (0, 16), (0, 32), (0, 48)], 0x4000004000000000, [0, 2, 4, 6]),
    ((64, 64), 0, 0, [(0, 0), (0, 16), (0, 32), (0, 48)], 0x4000004000000000, [0, 0x80, 0x100, 0x180]),
    ((64, 32), 1, 0, [(0, 0), (0, 16)], 0x8000002000000000, [0, 2]),
    ((64, 16), 1, 0, [(0, 0)], 0xC000001000000000, [0]),
    ((128, 64), 1, 0, [(0, 0), (0, 48), (64, 0), (64, 48)], 0x4000004000000000, [0, 6, 0x200, 0x206]),
    ((128, 64), 0, 0, [(0, 0), (0, 48), (64, 0), (64, 48)], 0x4000004000000000, [0, 0x180, 0x200, 0x380]),
    ((64, 128), 1, 0, [(0, 48), (0, 64), (0, 112)], 0x4000004000000000, [6, 0x200, 0x206]),
    ((32, 32), 1, 1, [(0, 0), (16, 0)], 0x8000002000000000, [0, 0x40]),
    ((64, 128), 1, 1, [(0, 0), (16, 0), (32, 0), (48, 0)], 0x4000004002000000, [0, 0x80, 0x100, 0x180]),
    ((64, 128), 0, 1, [(0, 0), (16, 0), (32, 0), (48, 0)], 0x4000004000000000, [0, 2, 4, 6]),
]
"""Tiles, the first elements of parts, and the constants in the PTX of Triton 3.7.1 for them. Triton leaves the distance
of panels 0 where an instruction stays in one."""


@pytest.mark.parametrize("shape, fast, axis, indices, constant, units", TRITONS)
def test_real_tritons_constants(
    shape: Index, fast: int, axis: int, indices: list[Index], constant: int, units: list[int]
) -> None:
    tile = Tile(shape, 2, fast, 0)
    mask = -1 if constant & PANELS else ~PANELS
    found = descriptors(tile, axis, GROUP, indices)[0]
    call = described(f"the descriptors of factor {axis}, {tile}, at {indices}", lambda: None)
    got, expected = [int(value) & mask for value in found], [constant + unit for unit in units]
    if got != expected:
        call.fail(str([*map(hex, expected)]), str([*map(hex, got)]), "these are real Triton's, as far as they count")
