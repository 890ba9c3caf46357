"""Tiles: matrices in shared memory, such that tensor cores read them without bank conflicts.

A tile's rows lie along the axis whose elements are neighbors in memory, its *fast* axis. A row has 16 to 128 bytes; of
a wider matrix, each 128 bytes form a tile of their own, a *panel*.

Tensor cores read the same 16 bytes of eight rows at once. So the bytes at place p of row r, where a place has 16 bytes,
move to place p ^ (r % 8): they are in eight different groups of banks. That is the rule for rows of 128 bytes. Shorter
rows share lines of 128 bytes; then the rows of a line are swizzled alike, neighboring lines differently, and a
row's bytes stay in the row. Rows of 16 bytes stay where they are.

The swizzle is that of the copy engine and of Hopper's tensor cores (`CU_TENSOR_MAP_SWIZZLE_128B`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import renaming
from mini_triton.backends.threads.fragments import along
from mini_triton.backends.threads.instructions import Address, Register, Room, size_of
from mini_triton.backends.threads.layouts import Columns, Index, Layout, apply, blocked, compose, flatten
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.core import OpResult, Value
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.types import shape_of

HOPPER = 90
"""The compute capability whose tensor cores read shared memory by themselves, after this fence."""
LINE, CHUNK, SWIZZLED = 128, 16, 1024
"""Bytes of a line of shared memory, of a row that one thread hands to `ldmatrix`, and of eight lines."""


def in_matrix(index: Index) -> Index:
    """An index of a matrix, or of a vector, which is a matrix with one row."""
    return (0,) * (2 - len(index)) + index


@dataclass(frozen=True)
class Tile:
    """A matrix in shared memory."""

    shape: tuple[int, ...]
    size: int  # bytes of an element
    fast: int  # the axis whose elements are neighbors
    start: int  # the first byte in shared memory
    slot: Register | None = None  # the number of the tile in a ring of buffers, whose first one is at `start`
    room: Room | None = None  # of reads

    def at(self, slot: Register | None) -> Tile:
        """The tile in a slot of the ring of which this tile is the first."""
        return replace(self, slot=slot)

    @property
    def transposed(self) -> Tile:
        """The tile with its axes exchanged, in the same place."""
        return replace(self, shape=self.shape[::-1], fast=1 - self.fast)

    @property
    def bytes(self) -> int:
        """The size of the tile."""
        return math.prod(self.shape) * self.size

    @property
    def row(self) -> int:
        """Bytes of a row, which is a part of a line."""
        return min(LINE, self.shape[self.fast] * self.size)

    @property
    def panel(self) -> int:
        """Bytes from a panel to the next."""
        return self.shape[1 - self.fast] * self.row

    def place(self, index: Index) -> int:
        """The byte of an element, counted from the tile's start: panel after panel, and row after row in each."""
        # [task 14.2] Compute the byte.
        slow = index[1 - self.fast]
        panel, byte = divmod(index[self.fast] * self.size, self.row)
        place = slow * self.row + byte
        chunks = self.row // CHUNK
        return panel * self.panel + (place ^ place // LINE % chunks * CHUNK)
        # [end]

    @property
    def places(self) -> Columns:
        """The byte of an element as a linear function of its position in row-major order."""
        rows, columns = self.shape
        return (
            *(self.place((0, 1 << bit)) for bit in range(columns.bit_length() - 1)),
            *(self.place((1 << bit, 0)) for bit in range(rows.bit_length() - 1)),
        )

    def address(self, threads: Threads, vectors: Iterable[Index], index: Index) -> Address:
        """The address of an element: `vectors` are those for the bits of the thread's number, as in a layout."""
        columns = compose(self.places, tuple(flatten(in_matrix(vector), self.shape) for vector in vectors))
        place = apply(self.places, flatten(in_matrix(index), self.shape))
        address = threads.shared_address(columns, place, self.start)
        if not self.slot:
            return address
        key = ("slot", self.slot, self.bytes, address.base)
        if key not in threads.once:
            threads.once[key] = threads.op("mad.lo.s32", self.slot, self.bytes, address.base)
        return Address(threads.once[key], address.offset)


def matrices(tile: Tile, axis: int, warps: Sequence[Index]) -> list[Index]:
    """Vectors for the bits of a thread's number: where the row begins whose address a lane gives to `ldmatrix`.

    The instruction loads four matrices, each with eight rows of 16 bytes. Lanes 0 to 7 have the rows of the first one,
    which is at (0, 0), lanes 8 to 15 those of the second, and so on. The matrices become words, in the order in which
    `mma.sync` takes them (`factor_layout`): the four words of a first factor (`axis` is 0), or the two words of a
    second factor, and then those of the next eight columns. If the tile's fast axis is `axis`, elements have 2 bytes.

    `warps` are the vectors for the bits of the warp's number.
    """
    # [task 14.2] Return the vectors.
    rows = along(1 - tile.fast, [1, 2, 4])
    inner, outer = along(1 - axis, [CHUNK // tile.size]), along(axis, [8])
    return [*rows, *(inner + outer if axis else outer + inner), *warps]
    # [end]


def held_tile(threads: Threads, value: Value, changed: bool = False) -> Tile | None:
    """The tile that holds a value, or its transpose; if `changed`, or what elementwise operations change into it."""
    if value in threads.tiles or not isinstance(value, OpResult):
        return threads.tiles.get(value)
    is_transposed = value.owner.name == "tt.trans"
    if is_transposed or (changed and traits(value.owner).elementwise):
        for operand in value.owner.operands:
            if held := held_tile(threads, operand, changed):
                return held.transposed if is_transposed else held
    return None


def stage(threads: Threads, value: Value, axis: int) -> Tile:
    """Store a factor of a product in shared memory. `axis` is the axis that it has in common with the product.

    The tile's fast axis is the one along which a thread, or the lanes of a warp, hold neighbors. Tensor cores read
    elements that do not have 16 bits only along the other axis.
    """
    size, shape, held = size_of(value.type), shape_of(value.type), held_tile(threads, value, changed=True)
    layout = threads.choice.of_value(value)
    if held and size == 1 and held.fast == axis:  # a thread makes words of four bytes along the other axis
        layout = blocked(shape, (1 - axis, axis), {1 - axis: words.WORD, axis: CHUNK}, threads.warps)
    elif held:
        layout = blocked(shape, (held.fast, 1 - held.fast), {held.fast: CHUNK // held.size}, threads.warps)
    close = (vector.index(1) for vector in (*layout.registers[:1], *layout.lanes) if 1 in vector)
    fast = 1 - axis if size != 2 else next(close, 1)
    level, key = threads.level_of(value), ("tile", value, fast)
    if key in threads.once:
        return threads.once[key]
    bytes = math.prod(shape) * size
    lasts = level < threads.level  # for all iterations of a loop
    start = threads.keep(bytes, SWIZZLED) if lasts else threads.reserve(bytes, SWIZZLED)
    tile = Tile(shape, size, fast, start, room=threads.room(start, bytes, False))
    with threads.on(level):
        store_tile(threads, value, layout, tile)
        if threads.capability == HOPPER:
            threads.do("fence.proxy.async.shared::cta")
    if lasts:
        threads.once[key] = tile
    else:
        threads.in_use[start] = start + bytes
    return tile


def store_tile(threads: Threads, value: Value, layout: Layout, tile: Tile) -> None:
    """Store a matrix in shared memory. If it is in shared memory already, threads load neighbors there at once."""
    count, source = neighbors(layout, tile), layout
    if held := held_tile(threads, value, changed=True):
        source = replace(layout, registers=tuple(sorted(layout.registers, key=lambda vector: not vector[held.fast])))
    numbers = renaming(source, layout)
    room, speaker = threads.room(tile.start, tile.bytes, True), threads.speaker(layout)
    for first in layout.distinct[::count]:
        elements = [threads.register(value, source, numbers[number]) for number in range(first, first + count)]
        address = tile.address(threads, layout.threads, layout.index(first))
        words.store(threads, "shared", value.type, address, elements, speaker, room)


def neighbors(layout: Layout, tile: Tile) -> int:
    """How many elements of a thread, in registers 0, 1, 2, ..., lie side by side in 16 bytes of a tile: a power of two.

    In a tile with rows of 2-byte elements, they are 8 if registers 0 to 7 or more hold neighbors of a row, and 1 if
    register 1 has another row than register 0.
    """
    # [task 14.2] Count them.
    count = 1
    for vector in layout.registers:
        if vector not in along(tile.fast, [count]) or count * tile.size == CHUNK:
            break
        count *= 2
    return count
    # [end]
