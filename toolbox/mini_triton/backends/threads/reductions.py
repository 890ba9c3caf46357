"""Reductions: first the elements of a thread, then those of a warp's lanes, then those of the warps.

Lanes exchange registers by shuffles. Warps exchange results through shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.backends.threads import words
from mini_triton.backends.threads.instructions import Register, size_of
from mini_triton.backends.threads.layouts import LANE_BITS, Layout, apply
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Block, Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import Type, shape_of

Elements = list[Register]
"""A register for each operand of a reduction: the elements at one index."""


@rule(ANCHORED, "tt.reduce")
def reduce(threads: Threads, operation: Operation) -> None:
    """Combine all elements along an axis."""
    axis, layout = axis_of(operation), threads.choice.of_source(operation)
    result = layout.without(axis)
    combination = operation.regions[0].block
    totals = of_thread(threads, operation, layout, result)
    for bit, vector in enumerate(layout.lanes):
        if vector[axis]:
            for number, elements in totals.items():
                others = [shuffle(threads, "bfly", element, 1 << bit) for element in elements]
                totals[number] = threads.inline(combination, elements + others)
    if any(vector[axis] for vector in layout.warps):
        types = [operand.type for operand in operation.operands]
        totals = of_warps(threads, combination, types, layout, axis, totals)
    for place, value in enumerate(operation.results):
        threads.hold(value, result, {number: totals[number][place] for number in result.distinct})


def of_thread(threads: Threads, operation: Operation, layout: Layout, result: Layout) -> dict[int, Elements]:
    """What each thread combines from its own registers, by the result's register."""
    totals: dict[int, Elements] = {}
    for number in layout.distinct:
        kept = result.first(number)
        elements = [threads.register(operand, layout, number) for operand in operation.operands]
        if kept in totals:
            elements = threads.inline(operation.regions[0].block, totals[kept] + elements)
        totals[kept] = elements
    return totals


def shuffle(threads: Threads, mode: str, register: Register, distance: int) -> Register:
    """The register of another lane: `distance` away ("up", "down"), or with these bits changed ("bfly")."""
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


class Slots:
    """Shared memory with a slot for each warp along an axis, beside those of the same elements along other axes."""

    def __init__(self, threads: Threads, types: Sequence[Type], layout: Layout, axis: int) -> None:
        self.threads, self.types, self.axis, self.layout = threads, types, axis, layout
        self.rest = layout.without(axis)
        shape = shape_of(types[0])
        self.shape = shape[:axis] + shape[axis + 1 :]
        self.bits = [bit for bit, vector in enumerate(layout.warps) if vector[axis]]
        self.count = 1 << len(self.bits)
        total = self.count
        for size in self.shape:
            total *= size
        self.starts = [threads.reserve(total * size_of(type)) for type in types]
        self.writes = [threads.room(s, total * size_of(t), True) for s, t in zip(self.starts, types, strict=True)]
        self.reads = [threads.room(s, total * size_of(t), False) for s, t in zip(self.starts, types, strict=True)]
        self.registers, lanes, warps = self.rest.flat(self.shape) if self.shape else ((), (), ())
        self.columns = lanes + warps

    @property
    def own(self) -> tuple[int, ...]:
        """The slot of a thread's warp as a linear function of the thread's number."""
        columns = [0] * (LANE_BITS + len(self.layout.warps))
        for slot, bit in enumerate(self.bits):
            columns[LANE_BITS + bit] = 1 << slot
        return tuple(columns)

    def put(self, number: int, elements: Elements, guard: Register | None) -> None:
        """Store a warp's elements in its slots."""
        own = self.own
        columns = tuple(x ^ self.count * y for x, y in zip(own, self.columns or own, strict=True))
        columns = columns if self.columns else own
        for type, element, start, room in zip(self.types, elements, self.starts, self.writes, strict=True):
            size = size_of(type)
            at = self.threads.shared_address(
                tuple(size * column for column in columns), size * self.count * apply(self.registers, number), start
            )
            words.store(self.threads, "shared", type, at, [element], guard, room)

    def get(self, number: int) -> list[Elements]:
        """The elements of all warps."""
        found = []
        for type, start, room in zip(self.types, self.starts, self.reads, strict=True):
            size, loaded = size_of(type), []
            together = min(self.count, words.WORD * 4 // size)
            for first in range(0, self.count, together):
                at = self.threads.shared_address(
                    tuple(size * self.count * column for column in self.columns),
                    size * (self.count * apply(self.registers, number) + first),
                    start,
                )
                loaded += words.load(self.threads, "shared", type, at, together, room=room)
            found.append(loaded)
        return [list(elements) for elements in zip(*found, strict=True)]


def of_warps(
    threads: Threads, combination: Block, types: Sequence[Type], layout: Layout, axis: int, totals: dict[int, Elements]
) -> dict[int, Elements]:
    """What all threads combine from the results of all warps."""
    slots = Slots(threads, types, layout, axis)
    silent = sum(1 << bit for bit, v in enumerate(layout.lanes) if v[axis] or not any(v))
    silent |= sum(32 << bit for bit, vector in enumerate(layout.warps) if not any(vector))
    first = threads.only_once(
        ("first", silent), lambda: threads.op("setp.eq.s32", threads.op("and.b32", threads.thread, silent), 0)
    )
    for number, elements in totals.items():
        slots.put(number, elements, first)
    combined = {}
    for number in totals:
        total, *others = slots.get(number)
        for elements in others:
            total = threads.inline(combination, total + elements)
        combined[number] = total
    return combined
