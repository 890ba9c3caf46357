"""Scans: a thread's own elements, then the lanes of a warp in log2(32) steps, then the warps.

In the layout of a scan, a thread holds neighbors along the axis, the next lane the next neighbors, and so on. For a
reversed scan, everything is counted from the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from mini_triton.backends.threads.elementwise import choose
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import LANE_BITS, Columns, Layout, counting
from mini_triton.backends.threads.reductions import Elements, Slots, shuffle
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.shape import axis_of

Combine = Callable[[Elements, Elements], Elements]


@rule(ANCHORED, "tt.scan")
def scan(threads: Threads, operation: Operation) -> None:
    """Combine each element with all elements before it along an axis; with those after it if `reverse`."""
    axis, layout = axis_of(operation), threads.choice.of_scan(operation)
    rest, reverse = layout.without(axis), bool(operation.attributes["reverse"])
    block = operation.regions[0].block
    rows: dict[int, list[int]] = defaultdict(list)  # registers in the order of the scan
    for number in sorted(layout.distinct, key=lambda number: layout.index(number)[axis], reverse=reverse):
        rows[rest.first(number)].append(number)
    one = OneScan(threads, layout, axis, reverse, lambda first, second: threads.inline(block, first + second))
    found: dict[int, Elements] = {}
    for numbers in rows.values():
        elements = [[threads.register(operand, layout, number) for operand in operation.operands] for number in numbers]
        found.update(zip(numbers, one.within_warp(elements), strict=True))
    if any(vector[axis] for vector in layout.warps):
        slots = Slots(threads, [operand.type for operand in operation.operands], layout, axis)
        for row, numbers in rows.items():
            slots.put(row, found[numbers[-1]], one.ends_warp())
        for row, numbers in rows.items():
            before = one.before_warp(slots.get(row), slots.own)
            for number in numbers:
                found[number] = one.after(before, found[number], one.position(slots.own))
    for place, value in enumerate(operation.results):
        threads.hold(value, layout, {number: elements[place] for number, elements in found.items()})


class OneScan:
    """The steps of a scan along an axis.

    `combine(first, second)` emits a combination. It is associative, but the order of its operands matters: `first` is
    earlier in the scan.
    """

    def __init__(self, threads: Threads, layout: Layout, axis: int, reverse: bool, combine: Combine) -> None:
        self.threads, self.reverse, self.combine = threads, reverse, combine
        self.bits = [bit for bit, vector in enumerate(layout.lanes) if vector[axis]]
        self.speaker = threads.speaker(layout)

    def position(self, columns: Columns) -> Register:
        """The position of this lane or warp in the order of the scan; a linear function counts them along the axis.

        The first one has position 0.
        """
        count = max(columns, default=0) * 2
        position = self.threads.linear(columns)
        return self.threads.op("sub.s32", count - 1, position) if self.reverse else position

    def lane(self) -> Register:
        """The position of this lane among those along the axis."""
        return self.position(counting(self.bits, LANE_BITS))

    def shifted(self, elements: Elements, distance: int) -> Elements:
        """The elements of the lane that is `distance` earlier along the axis; any elements if there is none."""
        return [shuffle(self.threads, "down" if self.reverse else "up", element, distance) for element in elements]

    def within_warp(self, elements: list[Elements]) -> list[Elements]:
        """Scan a row within a warp: each element becomes the combination of all elements up to itself.

        `elements` are those of this thread, in the order of the scan. The next lane along the axis has the next ones.
        `self.bits` are the bits of a lane's number that count lanes along the axis: bits 0, 1, 2 and so on, or none.
        For a sum over two lanes with two elements each:

            lane         0       1
            elements     1  2    3  4
            result       1  3    6 10

        With n elements in each of m lanes, emit at most 2n - 2 + log2(m) combinations, and at most 1 + log2(m) shuffles
        of each operand; log2(m) if n is 1. If m is 1, the axis has size 1, so n is 1 too.
        """
        # [task 13.12] Scan the row.
        for place in range(1, len(elements)):
            elements[place] = self.combine(elements[place - 1], elements[place])
        *inner, total = elements
        lane = self.lane()
        for place in range(len(self.bits)):
            total = self.after(self.shifted(total, 1 << place), total, lane, 1 << place)
        if inner:
            before = self.shifted(total, 1)
            inner = [self.after(before, one, lane) for one in inner]
        return [*inner, total]
        # [end]

    def after(self, before: Elements, elements: Elements, position: Register, least: int = 1) -> Elements:
        """`before` combined with `elements` in threads whose position is at least `least`; elsewhere, `elements`."""
        # [task 13.12] Combine where something comes before.
        is_after = self.threads.op("setp.ge.s32", position, least)
        combined = self.combine(before, elements)
        return [choose(self.threads, is_after, *pair) for pair in zip(combined, elements, strict=True)]
        # [end]

    def ends_warp(self) -> Register | None:
        """Whether this thread holds the last elements of its warp along the axis, and is the first of its copies."""
        last = self.threads.op("setp.eq.s32", self.lane(), (1 << len(self.bits)) - 1)
        return self.threads.both(last, self.speaker)

    def before_warp(self, totals: list[Elements], own: Columns) -> Elements:
        """The combination of the totals of all warps before this thread's warp; any elements for the first warp.

        `totals` has the total of each warp, by the warp's number along the axis. `own` counts these warps: it is a
        linear function of the thread's number (see `position`). For a sum over four warps, with each warp's result:

            totals               5  7  2  9
            result               ?  5 12 14
            with `reverse`      18 11  9  ?

        m warps cost m - 2 combinations.
        """
        # [task 13.12] Combine the totals of earlier warps.
        totals = totals[::-1] if self.reverse else totals
        position = self.position(own)
        running = chosen = totals[0]
        for place, total in enumerate(totals[1:-1], 2):
            running = self.combine(running, total)
            is_later = self.threads.op("setp.ge.s32", position, place)
            chosen = [choose(self.threads, is_later, *pair) for pair in zip(running, chosen, strict=True)]
        return chosen
        # [end]
