"""Products by tensor cores: each warp multiplies blocks of matrices by `mma.sync`.

A factor comes from shared memory, or from registers if they hold it in the right layout already: in attention, the
result of the first product is a factor of the second.
"""

from __future__ import annotations

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import renaming
from mini_triton.backends.threads.elementwise import narrow, widen
from mini_triton.backends.threads.fragments import factor_layout
from mini_triton.backends.threads.instructions import Register, size_of, width_of
from mini_triton.backends.threads.layouts import Index, Layout
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import Tile, held_tile, matrices, stage
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import element_type, shape_of

NAMES = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""What the instructions call element types."""


def multiply(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices, by `mma.sync`."""
    left, right, accumulator = operation.operands
    layout, type = threads.choice.of_product(operation), operation.result.type
    factors = [Factor(threads, value, layout, axis) for axis, value in enumerate((left, right))]
    totals = wide_sums(threads, accumulator, layout)
    form = "s32" if width_of(left.type) == 8 and "i" in str(element_type(type)) else "f32"
    names = [NAMES[str(element_type(value.type))] for value in (left, right)]
    opcode = f"mma.sync.aligned.m16n8k{32 // size_of(left.type)}.row.col.{form}.{names[0]}.{names[1]}.{form}"
    word, depth = 4 // size_of(left.type), shape_of(left.type)[1]
    for inner in range(0, depth, 8 * word):
        for row, column in (layout.index(number) for number in layout.distinct if not number & 3):
            first = tuple(factors[0].word((row + down, inner + on)) for on in (0, 4 * word) for down in (0, 8))
            second = tuple(factors[1].word((inner + on, column)) for on in (0, 4 * word))
            places = [(row + down, column + on) for down in (0, 8) for on in (0, 1)]
            results = tuple(threads.new("b32") for _ in places)
            threads.do(opcode, first, second, tuple(totals[place] for place in places), results=results)
            totals.update(zip(places, results, strict=True))
    hold_sums(threads, operation, layout, totals)


def wide_sums(threads: Threads, accumulator: Value, layout: Layout) -> dict[Index, Register]:
    """The matrix that is added, in 32-bit registers by their indices."""
    registers = threads.all_registers(accumulator, layout).items()
    return {layout.index(number): widen(threads, accumulator.type, register) for number, register in registers}


def hold_sums(threads: Threads, operation: Operation, layout: Layout, totals: dict[Index, Register]) -> None:
    """Keep a product in its registers."""
    type = operation.result.type
    held = {number: totals[layout.index(number)] for number in layout.distinct}
    if width_of(type) == 16:
        held = {number: narrow(threads, type, total) for number, total in held.items()}
    threads.hold(operation.result, layout, held)


class Factor:
    """A factor of a product: its registers of 32 bits, as `mma.sync` takes them. Each is loaded when it is needed."""

    def __init__(self, threads: Threads, value: Value, layout: Layout, axis: int) -> None:
        self.threads, self.type, self.axis = threads, value.type, axis
        self.count = 4 // size_of(self.type)  # elements in a register
        self.layout = factor_layout(layout, axis, shape_of(self.type)[1 - axis], size_of(self.type))
        self.tile = held_tile(threads, value)
        if not self.tile and not in_registers(threads, value, self.layout):
            self.tile = stage(threads, value, axis)
        self.words: dict[Index, Register] = {}
        self.elements: dict[Index, Register] = {}
        if not self.tile:
            held = threads.all_registers(value, self.layout)
            self.elements = {self.layout.index(number): register for number, register in held.items()}

    def word(self, index: Index) -> Register:
        """The register whose first element is at this index, in thread 0."""
        if index not in self.words:
            if self.tile and (self.tile.fast != self.axis or self.count == 2):
                self.load_matrices(self.tile, index)
            else:
                self.words[index] = self.packed(index)
        return self.words[index]

    def load_matrices(self, tile: Tile, index: Index) -> None:
        """Load four matrices of 8 x 8 words, or two if the warp needs no more: `ldmatrix`."""
        threads = self.threads
        vectors = matrices(tile, self.axis, self.layout.warps)
        wide = any(vector[self.axis] == 8 for vector in self.layout.registers)
        inner = 1 - self.axis
        corner = self.moved(index, -(index[self.axis] & (15 if wide else 7)), -(index[inner] % (8 * self.count)))
        steps = [(along, on) for on in (0, 4 * self.count) for along in (0, 8)]
        if self.axis:
            steps = [(along, on) for along in ((0, 8) if wide else (0,)) for on in (0, 4 * self.count)]
        loaded = [threads.new("b32") for _ in steps]
        transposed = ".trans" if tile.fast == self.axis else ""
        address = tile.address(threads, vectors, corner)
        opcode = f"ldmatrix.sync.aligned.m8n8.x{len(steps)}{transposed}.shared.b16"
        threads.do(opcode, address, results=loaded, room=tile.room)
        for (along, on), register in zip(steps, loaded, strict=True):
            self.words[self.moved(corner, along, on)] = register

    def moved(self, index: Index, along: int, on: int) -> Index:
        """An index, moved along the factor's axis, and along the axis of the sums."""
        row, column = index
        return (row + on, column + along) if self.axis else (row + along, column + on)

    def packed(self, index: Index) -> Register:
        """Neighbors along the axis of the sums, in one register."""
        places = [self.moved(index, 0, on) for on in range(self.count)]
        found = [self.elements[place] if not self.tile else self.element(self.tile, place) for place in places]
        return words.pack(self.threads, self.type, found)[0]

    def element(self, tile: Tile, index: Index) -> Register:
        """An element of a tile."""
        address = tile.address(self.threads, self.layout.threads, index)
        return words.load(self.threads, "shared", self.type, address, 1, room=tile.room)[0]


def in_registers(threads: Threads, value: Value, layout: Layout) -> bool:
    """Whether a thread already holds, or can compute, what it needs of a factor."""
    natural = threads.choice.natural(value)
    return natural is None or bool(renaming(natural, layout))

