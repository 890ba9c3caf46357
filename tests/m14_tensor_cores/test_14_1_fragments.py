"""Task 14.1: layouts of fragments, compared with real Triton's vectors and with arithmetic."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.fragments import Arrangement, along, factor_layout, sum_layout
from mini_triton.backends.threads.layouts import Index, Layout

from tests.checks import calling
from tests.oracles import fragments

SUM_LANES = (*along(1, [2, 4]), *along(0, [1, 2, 4]))
ONE = Layout(((0, 1), (8, 0)), SUM_LANES, ())
FOUR = Layout(((0, 1), (8, 0), (0, 8), (16, 0)), SUM_LANES, ())

SUMS = [
    ((16, 8), Arrangement(1, 1), ONE, "one instruction computes it"),
    ((32, 16), Arrangement(1, 1), FOUR, "after one instruction comes the next eight columns, then the next 16 rows"),
    (
        (64, 32),
        Arrangement(2, 2),
        Layout(((0, 1), (8, 0), (0, 8), (16, 0)), SUM_LANES, ((32, 0), (0, 16))),
        "each of four warps has 32 x 16 sums; warp 1 has the next rows, warp 2 the next columns",
    ),
    (
        (64, 16),
        Arrangement(2, 2, copies=2),
        Layout(((0, 1), (8, 0), (16, 0)), SUM_LANES, ((32, 0), (0, 8), (0, 0))),
        "warps 4 to 7 hold the same as warps 0 to 3",
    ),
    (
        (128, 16),
        Arrangement(4, 1, groups=True),
        Layout(((0, 1), (8, 0), (0, 8), (64, 0)), SUM_LANES, ((16, 0), (32, 0))),
        "warp 1 has rows 16 to 31; rows 64 to 79 are warp 0's again",
    ),
    (
        (128, 32),
        Arrangement(8, 2, groups=True),
        Layout(((0, 1), (8, 0), (0, 8)), SUM_LANES, ((16, 0), (32, 0), (64, 0), (0, 16))),
        "eight warps have 16 rows each, warps 8 to 15 the other columns",
    ),
]


@pytest.mark.parametrize("shape, warps, expected, because", SUMS, ids=[f"{case[0]}, {case[1]}" for case in SUMS])
def test_sums(shape: Index, warps: Arrangement, expected: Layout, because: str) -> None:
    calling(sum_layout, shape, warps).returns(expected, because)


FACTORS = [
    (ONE, 0, 16, 2, ((0, 1), (8, 0), (0, 8)), (*along(1, [2, 4]), *along(0, [1, 2, 4])), "the figure of the chapter"),
    (ONE, 1, 16, 2, ((1, 0), (8, 0)), (*along(0, [2, 4]), *along(1, [1, 2, 4])), "the figure of the chapter"),
    (
        ONE,
        0,
        32,
        1,
        ((0, 1), (0, 2), (8, 0), (0, 16)),
        (*along(1, [4, 8]), *along(0, [1, 2, 4])),
        "a word has four elements of 8 bits",
    ),
    (ONE, 1, 8, 4, ((4, 0),), (*along(0, [1, 2]), *along(1, [1, 2, 4])), "a word is one element of 32 bits"),
    (
        FOUR,
        0,
        64,
        2,
        ((0, 1), (8, 0), (0, 8), (0, 16), (0, 32), (16, 0)),
        (*along(1, [2, 4]), *along(0, [1, 2, 4])),
        "after one instruction come those with the next columns of this matrix, then those of other rows",
    ),
    (
        FOUR,
        1,
        32,
        2,
        ((1, 0), (8, 0), (16, 0), (0, 8)),
        (*along(0, [2, 4]), *along(1, [1, 2, 4])),
        "after one instruction come those with the next rows of this matrix, then those of other columns",
    ),
]


@pytest.mark.parametrize(
    "layout, axis, depth, size, registers, lanes, because",
    FACTORS,
    ids=[f"axis {axis}, {depth} of {size} bytes, {len(layout.registers)}" for layout, axis, depth, size, *_ in FACTORS],
)
def test_factors(
    layout: Layout,
    axis: int,
    depth: int,
    size: int,
    registers: tuple[Index, ...],
    lanes: tuple[Index, ...],
    because: str,
) -> None:
    calling(factor_layout, layout, axis, depth, size).returns(Layout(registers, lanes, ()), because)


def test_warps_of_factors() -> None:
    """Warps with the same rows hold the same part of the first matrix."""
    layout = Layout(ONE.registers, SUM_LANES, ((16, 0), (0, 8), (0, 0)))
    lanes = (*along(0, [2, 4]), *along(1, [1, 2, 4]))
    first = Layout(((0, 1), (8, 0), (0, 8)), SUM_LANES, ((16, 0), (0, 0), (0, 0)))
    calling(factor_layout, layout, 0, 16, 2).returns(first, "warp 2 has the same rows as warp 0")
    second = Layout(((1, 0), (8, 0)), lanes, ((0, 0), (0, 8), (0, 0)))
    calling(factor_layout, layout, 1, 16, 2).returns(second, "warp 1 has the same columns as warp 0")


def test_real_tritons_layouts() -> None:
    for asked in fragments.products():
        warps = Arrangement(*asked.warps, groups=asked.version == 3)
        because = f"this is real Triton's linear layout for #ttg.nvidia_mma, version {asked.version}"
        if asked.operand < 0:
            calling(sum_layout, asked.shape, warps).returns(Layout(*asked.vectors), because)
        else:
            given = calling(sum_layout, asked.shape, warps).succeeds()
            calling(factor_layout, given, asked.operand, asked.depth, asked.size).returns(
                Layout(*asked.vectors), because
            )


def by_bits(place: Callable[[int, int, int], Index], registers: int, warps: int) -> Layout:
    """A layout from a function of the numbers of a register, a lane and a warp."""
    counts = (registers, 32, warps)
    parts = []
    for number, count in enumerate(counts):
        bits = range(count.bit_length() - 1)
        parts.append(tuple(place(*(1 << bit if other == number else 0 for other in range(3))) for bit in bits))
    return Layout(*parts)


@st.composite
def products(draw: st.DrawFn) -> tuple[Index, Arrangement]:
    """A shape and an arrangement; each warp has a few instructions along each axis."""
    groups = draw(st.booleans())
    rows = draw(st.sampled_from((4, 8) if groups else (1, 2, 4)))
    columns, copies, down, across = (1 << draw(st.integers(0, most)) for most in (2, 1, 2, 4))
    return (16 * rows * down, 8 * columns * across), Arrangement(rows, columns, copies, groups)


@given(asked=products(), size=st.sampled_from((2, 1, 4)), steps=st.sampled_from((1, 2, 4)))
def test_random_products(asked: tuple[Index, Arrangement], size: int, steps: int) -> None:
    shape, warps = asked
    down, across = shape[0] // warps.rows // 16, shape[1] // warps.columns // 8
    count = warps.rows * warps.columns * warps.copies
    word, depth = 4 // size, 32 // size * steps

    def row(block: int, warp: int) -> int:
        """The first row of a block of 16 rows."""
        warp %= warps.rows
        return 16 * (warp + warps.rows * block if warps.groups else down * warp + block)

    def column(block: int, warp: int) -> int:
        """The first column of a block of 8 columns."""
        return 8 * (warp // warps.rows % warps.columns * across + block)

    def sum_at(register: int, lane: int, warp: int) -> Index:
        block = register // 4
        inside = lane // 4 + register // 2 % 2 * 8, lane % 4 * 2 + register % 2
        return row(block // across, warp) + inside[0], column(block % across, warp) + inside[1]

    def inner_at(register: int, lane: int) -> int:
        """The place of a register's element along the axis of the sums. Registers of one row or column."""
        return register // word * 4 * word + lane % 4 * word + register % word

    def first_at(register: int, lane: int, warp: int) -> Index:
        block, register = divmod(register, 2 * depth // 4)
        low = register // word % 2  # rows 8 to 15
        register = register // (2 * word) * word + register % word
        return row(block, warp) + lane // 4 + 8 * low, inner_at(register, lane)

    def second_at(register: int, lane: int, warp: int) -> Index:
        block, register = divmod(register, depth // 4)
        return inner_at(register, lane), column(block, warp) + lane // 4

    sums = by_bits(sum_at, 4 * down * across, count)
    calling(sum_layout, shape, warps).returns(sums)
    calling(factor_layout, sums, 0, depth, size).returns(by_bits(first_at, 2 * down * depth // 4, count))
    calling(factor_layout, sums, 1, depth, size).returns(by_bits(second_at, across * depth // 4, count))
