"""Fragments: layouts of the matrices that a tensor core multiplies.

All threads of a warp together multiply matrices by one instruction, `mma.sync`: 16 x k times k x 8, where a row of k
elements has 32 bytes. The instruction prescribes which register of which lane holds which element. With elements of 16
bits, these are the vectors of the first matrix, for registers and lanes:

    (0, 1) (8, 0) (0, 8)     (0, 2) (0, 4) (1, 0) (2, 0) (4, 0)

A 32-bit register holds neighbors along k: two 16-bit elements, four 8-bit elements, or one TF32 number. With any
element, each lane has the same bytes of a matrix. Registers 0 and 1 of the sums are neighbors in a row. A larger
product takes several instructions; each warp computes a block of it.

Source: "Matrix Fragments for mma.m16n8k16" in NVIDIA's "PTX ISA"; Triton's `LinearLayoutConversions.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mini_triton.backends.threads.layouts import Index, Layout

ROWS, COLUMNS, DEPTH = 16, 8, 32
"""The rows and columns of the sum of one instruction, and the bytes of a row of its first matrix."""
GROUP = 4
"""Warps that compute together, by one instruction of Hopper GPUs: 64 rows."""


class Arrangement(NamedTuple):
    """How the warps of a program share a product: `rows` * `columns` blocks, each in `copies` warps."""

    rows: int
    columns: int
    copies: int = 1
    groups: bool = False  # four warps at a time compute 64 neighboring rows


def doubled(start: int, stop: int) -> list[int]:
    """Powers of two from `start` to before `stop`: `doubled(8, 64)` is [8, 16, 32]."""
    return [1 << bit for bit in range(start.bit_length() - 1, stop.bit_length() - 1)]


def along(axis: int, steps: Iterable[int]) -> list[Index]:
    """Vectors along an axis of a matrix: `along(1, [8, 16])` is [(0, 8), (0, 16)]."""
    return [((step, 0), (0, step))[axis] for step in steps]


def sum_layout(shape: Sequence[int], warps: Arrangement) -> Layout:
    """The layout of a product, and of the matrix that is added to it.

    Each warp has a block of neighboring rows and columns. If `warps.groups`, 16 rows follow each other from warp to
    warp; after the last warp, the first one has the next 16 rows. Each warp has at least 16 rows and 8 columns.
    Registers and warps are in the order of these examples:

        shape      Arrangement                 registers                       warps
        (64, 32)   (2, 2)                      (0, 1) (8, 0) (0, 8) (16, 0)    (32, 0) (0, 16)
        (64, 16)   (2, 2, copies=2)            (0, 1) (8, 0) (16, 0)           (32, 0) (0, 8) (0, 0)
        (128, 32)  (4, 2, groups=True)         (0, 1) (8, 0) (0, 8) (64, 0)    (16, 0) (32, 0) (0, 16)
    """
    # [task 14.1] Return the layout.
    rows, columns = shape
    height = ROWS if warps.groups else rows // warps.rows
    width, reach = columns // warps.columns, height * warps.rows
    lanes = (*along(1, [2, 4]), *along(0, [1, 2, 4]))
    below = [*doubled(ROWS, height), *doubled(reach, rows)]
    registers = ((0, 1), (8, 0), *along(1, doubled(COLUMNS, width)), *along(0, below))
    copies = [(0, 0)] * len(doubled(1, warps.copies))
    return Layout(registers, lanes, (*along(0, doubled(height, reach)), *along(1, doubled(width, columns)), *copies))
    # [end]


def factor_layout(layout: Layout, axis: int, depth: int, size: int) -> Layout:
    """The layout of the first (`axis` is 0) or the second (1) matrix of a product whose layout is `layout`.

    `axis` is the axis that the matrix has in common with the product; along the other, it has `depth` elements of
    `size` bytes: 1, 2 or 4. Each warp holds what its block of the product needs.

    Registers are in the order of these examples, for the factors of 32 x 16 sums of one warp:

        axis 0, depth 64, size 2     (0, 1) (8, 0) (0, 8) (0, 16) (0, 32) (16, 0)
        axis 1, depth 32, size 2     (1, 0) (8, 0) (16, 0) (0, 8)
    """
    # [task 14.1] Return the layout.
    inner, word = 1 - axis, 4 // size
    steps = [vector[axis] for vector in layout.registers[1:] if vector[axis]]  # register 1 is a neighbor in a row
    early = 1 if axis == 0 else 0  # rows 8 to 15 belong to the same instruction
    registers = (
        *along(inner, doubled(1, word)),
        *along(axis, steps[:early]),
        *along(inner, doubled(DEPTH // size // 2, depth)),
        *along(axis, steps[early:]),
    )
    lanes = (*along(inner, [word, 2 * word]), *along(axis, [1, 2, 4]))
    warps = tuple((0, vector[1]) if axis else (vector[0], 0) for vector in layout.warps)
    return Layout(registers, lanes, warps)
    # [end]
