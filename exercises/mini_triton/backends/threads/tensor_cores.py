"""Products by tensor cores: each warp multiplies blocks of matrices by `mma.sync`.

A factor comes from shared memory, or from registers if they hold it in the right layout already: in attention, the
result of the first product is a factor of the second.

Source: Triton's `DotOpToLLVM/MMAv2.cpp`.
"""

from __future__ import annotations

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import renaming
from mini_triton.backends.threads.elementwise import narrow, widen
from mini_triton.backends.threads.fragments import factor_layout
from mini_triton.backends.threads.instructions import Register, is_float, size_of, width_of
from mini_triton.backends.threads.layouts import Index, Layout
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import Tile, held_tile, matrices, stage
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import element_type, shape_of

NAMES = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""What the instructions call element types."""
Sums = dict[Index, Register]
"""32-bit registers with the elements of a product, by their indices in thread 0."""


def multiply(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices, by `mma.sync`.

    The lanes of a warp together multiply 16 x k by k x 8 elements, and add 16 x 8 sums. For 16-bit floats, k is 16:

        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {4 results}, {4 words}, {2 words}, {4 sums};

    with the words of the first and of the second factor, and what is added. Each operand is in the order of the
    registers in its layout (`fragments.py`). A warp needs (rows / 16) * (columns / 8) * (depth / k) instructions for
    its block of the product.
    """
    left, right, accumulator = operation.operands
    layout = threads.choice.of_product(operation)
    first, second = (Factor(threads, value, layout, axis) for axis, value in enumerate((left, right)))
    sums, depth, count = wide_sums(threads, accumulator, layout), shape_of(left.type)[1], first.count
    opcode = f"mma.sync.aligned.m16n8k{8 * count}.row.col.{types_of(operation)}.{form_of(operation)}"
    # Task 14.3: Emit the instructions. At the end, `sums` has the product.
    raise NotImplementedError("Task 14.3: Products")
    hold_sums(threads, operation, layout, sums)


def form_of(operation: Operation) -> str:
    """The type of the sums."""
    return "f32" if is_float(operation.result.type) else "s32"


def types_of(operation: Operation) -> str:
    """The types of the sums and of both factors."""
    return ".".join([form_of(operation), *(NAMES[str(element_type(value.type))] for value in operation.operands[:2])])


def wide_sums(threads: Threads, accumulator: Value, layout: Layout) -> Sums:
    """The matrix that is added to a product."""
    registers = threads.all_registers(accumulator, layout).items()
    return {layout.index(number): widen(threads, accumulator.type, register) for number, register in registers}


def hold_sums(threads: Threads, operation: Operation, layout: Layout, sums: Sums) -> None:
    """Keep a product in registers, as wide as its elements are."""
    type = operation.result.type
    held = {number: sums[layout.index(number)] for number in layout.distinct}
    if width_of(type) == 16:
        held = {number: narrow(threads, type, total) for number, total in held.items()}
    threads.hold(operation.result, layout, held)


class Factor:
    """A factor of a product, in registers of 32 bits. A register is loaded when it is first needed.

    `axis` is the axis that the factor has in common with the product: 0 for the first factor. A group of warps reads
    the second factor, and what is not in registers, from shared memory; unless an element has 16 bits, along rows.
    """

    def __init__(self, threads: Threads, value: Value, layout: Layout, axis: int, in_group: bool = False) -> None:
        self.threads, self.type, self.axis = threads, value.type, axis
        self.count = 4 // size_of(self.type)  # elements in a register, along the other axis
        self.layout = factor_layout(layout, axis, shape_of(self.type)[1 - axis], size_of(self.type))
        self.tile = held_tile(threads, value)
        self.elements: dict[Index, Register] = {}
        self.words: dict[Index, Register] = {}
        if self.tile:
            is_readable = self.count == 2 or self.tile.fast != axis or (self.count == 1 and not in_group)
        elif is_readable := (axis == 0 or not in_group) and in_registers(threads, value, self.layout):
            held = threads.all_registers(value, self.layout).items()
            self.elements = {self.layout.index(number): register for number, register in held}
        if not is_readable:
            self.tile = stage(threads, value, axis)

    def word(self, index: Index) -> Register:
        """The register whose first element is at this index, in thread 0."""
        if index not in self.words:
            if self.tile and (self.tile.fast != self.axis or self.count == 2):
                self.load_matrices(self.tile, index)
            else:
                places = [self.moved(index, 0, on) for on in range(self.count)]
                self.words[index] = words.pack(self.threads, self.type, list(map(self.element, places)))[0]
        return self.words[index]

    def load_matrices(self, tile: Tile, index: Index) -> None:
        """Load the word for an index, and its neighbors, by one instruction; put them into `words`.

            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {4 words}, [address];

        loads four matrices of 8 rows of 16 bytes, the words of one `mma.sync` of the first factor, or of two of the
        second. If a warp has only 8 columns of a product, `.x2` loads two matrices. Blocks of words lie side by side,
        from (0, 0) on: the same block is loaded, whichever of its words is asked for first.

        Each lane has the address of one row (`matrices`, which also says in which order the words are). The instruction
        gives a thread neighbors in a row of the tile; `.trans` gives it neighbors in a column, if they have 16 bits.
        The back end puts barriers where the instruction's `room`, that of the tile, needs them.
        """
        # Task 14.3: Load the registers.
        raise NotImplementedError("Task 14.3: Products")

    def moved(self, index: Index, along: int, on: int) -> Index:
        """An index, moved `along` the factor's axis and `on` along the other."""
        row, column = index
        return (row + on, column + along) if self.axis else (row + along, column + on)

    def element(self, index: Index) -> Register:
        """An element, in a register of its own."""
        if not self.tile:
            return self.elements[index]
        address = self.tile.address(self.threads, self.layout.threads, index)
        return words.load(self.threads, "shared", self.type, address, 1, room=self.tile.room)[0]


def in_registers(threads: Threads, value: Value, layout: Layout) -> bool:
    """Whether each thread already holds what it needs of a factor, or can compute it."""
    natural = threads.choice.natural(value)
    return natural is None or bool(renaming(natural, layout))
