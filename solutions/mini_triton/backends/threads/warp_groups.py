"""Products by warp groups: on Hopper GPUs, four warps multiply matrices in shared memory by `wgmma`.

The instruction multiplies 64 rows by up to 256 columns, and returns before it has finished. It reads the factors where
they are, as a *descriptor* of 64 bits tells; only the first factor may be in registers.

    bits 0 to 13    the address of the matrix, divided by 16
    bits 16 to 29   the distance of two panels along the fast axis, divided by 16
    bits 32 to 45   the distance of eight rows and the next eight, divided by 16
    bits 62, 63     the swizzle: 1, 2 or 3 for rows of 128, 64 or 32 bytes

Source: "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions" in NVIDIA's "PTX ISA"; Triton's
`DotOpToLLVM/WGMMA.cpp`.
"""

from __future__ import annotations

from mini_triton.backends.threads.elementwise import FLOATS
from mini_triton.backends.threads.fragments import GROUP
from mini_triton.backends.threads.instructions import Operand, Register, Room, kind_of, size_of
from mini_triton.backends.threads.layouts import LANE_BITS, Index, Layout
from mini_triton.backends.threads.tensor_cores import NAMES, Factor, hold_sums, wide_sums
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import Tile
from mini_triton.ir.core import BlockArgument, Operation, Value
from mini_triton.ir.types import element_type, shape_of

ROWS, MOST_COLUMNS = 64, 256
SWIZZLES = {128: 1, 64: 2, 32: 3}


def multiply(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices, by `wgmma`."""
    left, right, accumulator = operation.operands
    layout, size = threads.choice.of_product(operation), size_of(left.type)
    factors = [Factor(threads, value, layout, axis) for axis, value in enumerate((left, right))]
    first, second = (Described(threads, f.tile, layout, f.axis) if f.tile else None for f in factors)
    assert second
    totals = own_sums(threads, operation, layout)
    numbers = layout.distinct
    indices = [layout.index(number) for number in numbers]
    columns = min(MOST_COLUMNS, 4 * len([index for index in indices if index[0] == 0]))
    names = [NAMES[str(element_type(value.type))] for value in (left, right)]
    form = "s32" if names[0] == "s8" else "f32"
    opcode = f"wgmma.mma_async.sync.aligned.m64n{columns}k{32 // size}.{form}.{names[0]}.{names[1]}"
    true = threads.op("setp.eq.s32", 0, 0)
    signs: list[Operand] = [] if form == "s32" else [1, 1]
    if size == 2:
        signs += [int(f.tile.fast == f.axis) for f in factors if f.tile]
    threads.do("wgmma.fence.sync.aligned", room=second.tile.room)
    word = 4 // size
    for start in range(0, len(numbers), columns // 2):
        row, column = indices[start]
        added = tuple(totals[index] for index in indices[start : start + columns // 2])
        for inner in range(0, shape_of(left.type)[1], 8 * word):
            a: Operand = (
                first.descriptor((row, inner))
                if first
                else tuple(factors[0].word((row + down, inner + on)) for on in (0, 4 * word) for down in (0, 8))
            )
            b = second.descriptor((inner, column))
            threads.do(opcode, added, a, b, true, *signs, room=first.tile.room if first else None)
    threads.do("wgmma.commit_group.sync.aligned")
    if not operation.attributes.get("ttng.isAsync"):
        threads.do("wgmma.wait_group.sync.aligned", 0)
    hold_sums(threads, operation, layout, totals)


def own_sums(threads: Threads, operation: Operation, layout: Layout) -> dict[Index, Register]:
    """Registers with the matrix that is added, which the instruction may overwrite."""
    accumulator = operation.operands[2]
    totals = wide_sums(threads, accumulator, layout)
    if kind_of(accumulator.type) == "b32" and is_last_use(accumulator, operation):
        return totals
    copies = {index: threads.new("b32") for index in totals}
    for index, register in totals.items():
        threads.copy(copies[index], register)
    return copies


def is_last_use(value: Value, user: Operation) -> bool:
    """Whether an operation is the only user of a value that has registers of its own, in the same block."""
    alone = len(value.uses) == 1 and value.parent_block is user.parent
    return alone and (isinstance(value, BlockArgument) or value.owner.name in ("tt.dot", *FLOATS))  # type: ignore


class Described:
    """A factor in shared memory, with its descriptors."""

    def __init__(self, threads: Threads, tile: Tile, layout: Layout, axis: int) -> None:
        self.threads, self.tile = threads, tile
        bits = LANE_BITS + GROUP.bit_length() - 1
        nothing = ((0, 0),) * bits
        groups = tuple((0, v[1]) if axis else (v[0], 0) for v in layout.warps[GROUP.bit_length() - 1 :])
        address = tile.at(None).address(threads, nothing + groups, (0, 0))
        base = address.base
        if any(map(any, groups)):  # the same in all lanes, as the assembler must know
            base = threads.only_once(
                ("uniform", base), lambda: threads.op("shfl.sync.idx.b32", address.base, 0, 31, -1)
            )
        start = threads.op("add.s32", base, address.offset)
        if tile.slot:
            start = threads.op("add.s32", start, tile.slot)
        unit = threads.op("and.b32", threads.op("shr.u32", start, 4), (1 << 14) - 1)
        self.base = threads.op("cvt.u64.u32", unit)
        panel, eight = tile.panel >> 4, 8 * tile.row >> 4
        self.fields = SWIZZLES[tile.row] << 62 | eight << 32 | panel << 16

    def descriptor(self, index: Index) -> Register:
        """The descriptor of the matrix that begins at this index."""
        fields = self.fields + (self.tile.place(index) >> 4)
        return self.threads.op("add.s64", self.base, fields - (1 << 64) if fields >> 63 else fields)
