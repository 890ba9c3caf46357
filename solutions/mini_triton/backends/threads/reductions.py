"""Reductions: first the elements of a thread, then those of a warp's lanes, then those of the warps.

A combination is a block with two arguments for each operand: an element of each, then another element of each. The
operands of its terminator are the combined elements. It is associative and commutative, so any order is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mini_triton.backends.threads import words
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Register, size_of
from mini_triton.backends.threads.layouts import LANE_BITS, Columns, Layout, apply, counting
from mini_triton.backends.threads.swizzles import WIDEST
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Block, Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import Type, shape_of

Elements = list[Register]
"""A register for each operand of a reduction: the elements at one index."""


@rule(ANCHORED, "tt.reduce")
def reduce(threads: Threads, operation: Operation) -> None:
    """Combine all elements along an axis, and hold the results, one for each operand, in layout `result`.

    Every thread that holds elements of a row gets the row's results. (A row: all elements that differ only along the
    axis.) For each row, a thread shuffles each of its operands at most once for each bit of the lane's number along the
    axis. If warps share rows, they exchange their totals by `of_warps`; otherwise no shared memory is used.
    `threads.inline` combines elements, and `threads.hold` holds results.
    """
    axis, layout = axis_of(operation), threads.choice.of_source(operation)
    result = layout.without(axis)
    # [task 13.10] Combine the elements, and hold the results.
    combination = operation.regions[0].block
    totals: dict[int, Elements] = {}
    for number in layout.distinct:
        elements = [threads.register(operand, layout, number) for operand in operation.operands]
        kept = result.first(number)
        totals[kept] = threads.inline(combination, totals[kept] + elements) if kept in totals else elements
    for bit, vector in enumerate(layout.lanes):
        if vector[axis]:
            for number, elements in totals.items():
                others = [shuffle(threads, "bfly", element, 1 << bit) for element in elements]
                totals[number] = threads.inline(combination, elements + others)
    if any(vector[axis] for vector in layout.warps):
        types = [operand.type for operand in operation.operands]
        totals = of_warps(threads, combination, types, layout, axis, totals)
    for place, value in enumerate(operation.results):
        threads.hold(value, result, {number: elements[place] for number, elements in totals.items()})
    # [end]


def shuffle(threads: Emitter, mode: str, register: Register, distance: int) -> Register:
    """The register of another lane: of the lane `distance` before ("up") or after ("down") this one, or whose number
    differs in the bits of `distance` ("bfly"). Where there is no such lane, it is the lane's own register.

    The register can be of any kind, but PTX has shuffles only for 32 bits. The clamp is 0 for "up", otherwise 31:

        shfl.sync.up.b32 register, distance, clamp, -1
    """
    # [task 13.10] Return a register with the other lane's element.
    clamp = 0 if mode == "up" else 31
    if register.kind == "b32":
        return threads.op(f"shfl.sync.{mode}.b32", register, distance, clamp, -1)
    if register.kind == "b64":
        halves = threads.new("b32"), threads.new("b32")
        threads.do("mov.b64", register, results=halves)
        return threads.op("mov.b64", tuple(shuffle(threads, mode, half, distance) for half in halves))
    if register.kind == "b16":
        wide = threads.op("cvt.u32.u16", register)
        return threads.op("cvt.u16.u32", shuffle(threads, mode, wide, distance))
    number = shuffle(threads, mode, threads.op("selp.b32", 1, 0, register), distance)
    return threads.op("setp.ne.s32", number, 0)
    # [end]


class Slots:
    """Shared memory with the results of all warps: for each warp along an axis, those at each index of other axes."""

    def __init__(self, threads: Threads, types: Sequence[Type], layout: Layout, axis: int) -> None:
        self.threads, self.types = threads, types
        shape = tuple(size for other, size in enumerate(shape_of(types[0])) if other != axis)
        self.size = math.prod(shape)  # of a warp's part, in elements
        self.bits = [bit for bit, vector in enumerate(layout.warps, LANE_BITS) if vector[axis]]
        registers, lanes, warps = layout.without(axis).flat(shape)
        units = [column for column in (*lanes, *warps, *registers) if column]  # neighboring lanes, neighboring places
        place_of = {0: 0} | {unit: 1 << position for position, unit in enumerate(units)}
        self.registers = tuple(place_of[column] for column in registers)
        self.columns = tuple(place_of[column] for column in lanes + warps) or (0,) * len(layout.threads)
        bytes = [-(-(self.size * size_of(type) << len(self.bits)) // WIDEST) * WIDEST for type in types]
        start = threads.reserve(sum(bytes))
        self.starts = [start + sum(bytes[:number]) for number in range(len(bytes))]
        self.writes, self.reads = (
            [threads.room(start, size, writes) for start, size in zip(self.starts, bytes, strict=True)]
            for writes in (True, False)
        )

    @property
    def own(self) -> Columns:
        """The number of a thread's warp along the axis, as a linear function of the thread's number."""
        return counting(self.bits, len(self.columns))

    def put(self, number: int, elements: Elements, guard: Register | None) -> None:
        """Store this warp's elements of the result's register `number`, by threads in which the guard is true."""
        columns = [one * self.size ^ other for one, other in zip(self.own, self.columns, strict=True)]
        for type, element, start, room in zip(self.types, elements, self.starts, self.writes, strict=True):
            at = self.address(type, columns, apply(self.registers, number), start)
            words.store(self.threads, "shared", type, at, [element], guard, room)

    def get(self, number: int) -> list[Elements]:
        """The elements of all warps along the axis, for the result's register `number`."""
        found = []
        for type, start, room in zip(self.types, self.starts, self.reads, strict=True):
            loaded: list[Register] = []
            together = min(1 << len(self.bits), WIDEST // size_of(type)) if self.size == 1 else 1
            for warp in range(0, 1 << len(self.bits), together):
                at = self.address(type, self.columns, warp * self.size + apply(self.registers, number), start)
                loaded += words.load(self.threads, "shared", type, at, together, room=room)
            found.append(loaded)
        return [list(elements) for elements in zip(*found, strict=True)]

    def address(self, type: Type, columns: Sequence[int], constant: int, start: int) -> Address:
        """The address of an element."""
        size = size_of(type)
        return self.threads.shared_address(tuple(size * column for column in columns), size * constant, start)


def of_warps(
    threads: Threads, combination: Block, types: Sequence[Type], layout: Layout, axis: int, totals: dict[int, Elements]
) -> dict[int, Elements]:
    """The combined totals of all warps, in all threads, by the number of the result's register.

    `totals` has the totals of this thread's warp, which all of the warp's lanes hold. `Slots` has a place for each
    total of each warp; of the threads that hold the same total of the same warp, only the first stores it.
    """
    slots = Slots(threads, types, layout, axis)
    # [task 13.10] Exchange the totals of all warps, and combine them.
    rows = tuple((*vector[:axis], 0, *vector[axis + 1 :]) for vector in layout.lanes)
    speaker = threads.speaker(Layout((), rows, layout.warps))
    for number, elements in totals.items():
        slots.put(number, elements, speaker)
    combined = {}
    for number in totals:
        total, *others = slots.get(number)
        for elements in others:
            total = threads.inline(combination, total + elements)
        combined[number] = total
    return combined
    # [end]
