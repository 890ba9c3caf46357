"""Products by warp groups: on Hopper GPUs, four warps together multiply matrices by `wgmma`.

The instruction multiplies 64 rows by up to 256 columns, and returns before it has finished. It reads the factors where
they are in shared memory; only the first one may be in registers. A *descriptor* of 64 bits tells where a matrix is:

    bits 0 to 13     the address of its first element
    bits 16 to 29    the distance from a panel to the next
    bits 32 to 45    the distance from a row to the eighth row after it
    bits 62, 63      the swizzle: 1, 2 or 3 for rows of 128, 64 or 32 bytes

Address and distances are bytes, divided by 16.

Source: "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions" in NVIDIA's "PTX ISA"; Triton's
`DotOpToLLVM/WGMMA.cpp`.
"""

from __future__ import annotations

from mini_triton.backends.threads.elementwise import FLOATS
from mini_triton.backends.threads.fragments import GROUP
from mini_triton.backends.threads.instructions import Operand, Register, size_of, width_of
from mini_triton.backends.threads.layouts import LANE_BITS, Index, Layout
from mini_triton.backends.threads.tensor_cores import Factor, Sums, form_of, hold_sums, types_of, wide_sums
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import Tile, held_tile
from mini_triton.ir.core import BlockArgument, Operation, OpResult, Value
from mini_triton.ir.types import shape_of
from mini_triton.transforms.rewriting import constant_of

MOST_COLUMNS = 256
SWIZZLES = {128: 1, 64: 2, 32: 3}
UNIT_BITS = 4
"""A descriptor counts units of 16 bytes."""


def multiply(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices, by as few `wgmma` as possible.

    For 16-bit floats, an instruction is

        wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {128 sums}, %d0, %d1, %p0, 1, 1, 0, 1;

    with the sums, which it changes; a descriptor of the first factor, or its four words; a descriptor of the second;
    and a condition, under which the old sums count. Then follow two signs, unless the elements are integers; and for
    16-bit elements in shared memory, for each factor, whether its fast axis is the one that the product has, too.

    A thread's sums of an instruction are in the order of the registers in the product's layout, and the four words are
    those that `mma.sync` takes. Only instructions change `sums`, so the next product may find them where they are.
    """
    left, right, accumulator = operation.operands
    layout = threads.choice.of_product(operation)
    if threads.level_of(left) == threads.level and not held_tile(threads, left) and may_still_run(operation):
        threads.do("wgmma.wait_group.sync.aligned", 0)  # registers of the first factor must not change while it runs
    first, second = (Factor(threads, value, layout, axis, True) for axis, value in enumerate((left, right)))
    a, b = (Matrix(threads, factor.tile, layout, factor.axis) if factor.tile else None for factor in (first, second))
    assert b
    is_zero = constant_of(accumulator) == 0
    sums, depth, count = own_sums(threads, operation, layout, not is_zero), shape_of(left.type)[1], first.count
    numbers = layout.distinct
    columns = min(MOST_COLUMNS, 4 * sum(layout.index(number)[0] == 0 for number in numbers))
    opcode = f"wgmma.mma_async.sync.aligned.m64n{columns}k{8 * count}.{types_of(operation)}"
    counts = [threads.op("setp.eq.s32", 0, int(unused)) for unused in (is_zero, False)]
    last: list[Operand] = [] if form_of(operation) == "s32" else [1, 1]
    if size_of(left.type) == 2:
        last += [int(matrix.tile.fast == matrix.axis) for matrix in (a, b) if matrix]
    if not a:  # registers must not change between the fence and the instructions
        for number in first.layout.distinct[::count]:
            first.word(first.layout.index(number))
    threads.do("wgmma.fence.sync.aligned", room=b.tile.room)
    # Task 14.5: Emit the instructions. `a` and `b` are the factors in shared memory; `a` is None if the words of the
    # first factor are in registers, as `first.word(index)`. `counts` are the conditions of the first instruction
    # for a sum and of all others, and `last` is what follows. An instruction that reads `a` has its tile's `room`.
    raise NotImplementedError("Task 14.5: Warp groups")
    threads.do("wgmma.commit_group.sync.aligned")
    will_change = any(matrix and not matrix.tile.slot for matrix in (a, b))  # in the next iteration
    if will_change or not operation.attributes.get("ttng.isAsync"):
        threads.do("wgmma.wait_group.sync.aligned", 0)
    hold_sums(threads, operation, layout, sums)


def own_sums(threads: Threads, operation: Operation, layout: Layout, copied: bool) -> Sums:
    """Registers for a product. Unless not even `copied`, they hold the matrix that is added to it.

    They are those of the value that the product becomes in the next iteration, if it is still running then; those that
    hold the matrix, if nothing else needs these; otherwise new ones.
    """
    accumulator = operation.operands[2]
    sums = wide_sums(threads, accumulator, layout) if copied else {}
    if operation.attributes.get("ttng.isAsync"):
        own = wide_sums(threads, next_value(operation), layout)
    elif sums and width_of(accumulator.type) == 32 and is_last_use(accumulator, operation):
        return sums
    else:
        own = {layout.index(number): threads.new("b32") for number in layout.distinct}
    for index, register in sums.items():
        if own[index] != register:
            threads.copy(own[index], register)
    return own


def may_still_run(operation: Operation) -> bool:
    """Whether the previous iteration's product may still run when a loop comes to the same product again."""
    assert operation.parent
    products = [other for other in operation.parent.operations if other.name == "tt.dot"]
    return all(other.attributes.get("ttng.isAsync") for other in products[: products.index(operation) + 1])


def next_value(operation: Operation) -> Value:
    """The argument of a loop's block that is a product's result in the next iteration; only the loop's end takes it."""
    # Task 14.6: Find the argument.
    raise NotImplementedError("Task 14.6: In flight")


def is_last_use(value: Value, user: Operation) -> bool:
    """Whether an instruction for `user` may change the registers that hold one of its operands, a value.

    It may if nobody would notice. Each element must have a register of its own: so it is for arguments of a block, for
    products, and for results of the operations in `FLOATS`. Elements of other values may share one: a splat has only
    one.
    """
    # Task 14.5: Decide whether it may.
    raise NotImplementedError("Task 14.5: Warp groups")


class Matrix:
    """A factor in shared memory, and the descriptors of its parts."""

    def __init__(self, threads: Threads, tile: Tile, layout: Layout, axis: int) -> None:
        self.threads, self.tile, self.axis = threads, tile, axis
        alike = LANE_BITS + GROUP.bit_length() - 1  # bits of a thread's number in its group
        groups = [(0, vector[1]) if axis else (vector[0], 0) for vector in layout.threads[alike:]]
        address = tile.at(None).address(threads, [(0, 0)] * alike + groups, (0, 0))
        start = address.base
        if any(map(any, groups)):  # the assembler must see that the lanes of a warp have the same
            start = threads.only_once(
                ("uniform", start), lambda: threads.op("shfl.sync.idx.b32", address.base, 0, 31, -1)
            )
        high, low = divmod(fields(tile), 1 << 32)
        low += address.offset >> UNIT_BITS
        half = threads.only_once(
            ("descriptor", start, low),
            lambda: threads.op("add.s32", threads.op("shr.u32", start, UNIT_BITS), low),
        )
        if tile.slot:
            half = threads.op("mad.lo.s32", tile.slot, tile.bytes >> UNIT_BITS, half)
        self.start = threads.op("mov.b64", (half, threads.op("mov.b32", high)))

    def descriptor(self, index: Index) -> Register:
        """The descriptor of the part whose first element is at an index, by one instruction.

        The index is that for the first group of warps. `start`, a register of 64 bits, is the descriptor of the part
        of this thread's group whose first element is at (0, 0).
        """
        # Task 14.5: Compute the descriptor.
        raise NotImplementedError("Task 14.5: Warp groups")


def fields(tile: Tile) -> int:
    """The fields of a tile's descriptors, without the address: a number of 64 bits.

    For a tile of 64 rows of 128 bytes, that is one panel, it is 0x4000004002000000.
    """
    # Task 14.5: Put the fields together.
    raise NotImplementedError("Task 14.5: Warp groups")
