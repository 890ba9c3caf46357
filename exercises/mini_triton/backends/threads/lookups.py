"""Lookups in shared memory: gathers and histograms.

A layout cannot say which thread needs an element whose index is known only when the kernel runs. So all threads store
the tensor to shared memory in row-major order, and each thread computes the addresses of the elements that it needs.
"""

from __future__ import annotations

import math

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import groups
from mini_triton.backends.threads.elementwise import as_word
from mini_triton.backends.threads.instructions import size_of
from mini_triton.backends.threads.layouts import flatten
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of


@rule(ANCHORED, "tt.gather")
def gather(threads: Threads, operation: Operation) -> None:
    """Look up elements along an axis, and hold the result in its natural layout.

    An element of the result is the element of the first operand at the same index, except that the second operand,
    `indices`, gives the place along the axis:

        source [10 20 30 40], indices [3 3 0]: result [40 40 10]

    `indices` and the result have the same shape, whose size along the axis may differ from the source's. Places are in
    bounds, and may have any width (`as_word`). One load from shared memory gives one element to a thread;
    `in_row_major_order` stores the source.
    """
    source, indices = operation.operands
    axis, shape, size = axis_of(operation), shape_of(source.type), size_of(source.type)
    layout = threads.choice.of_value(operation.result)
    # Task 13.12: Look up the elements, and keep them in registers.
    raise NotImplementedError("Task 13.12: Scans and lookups")


def in_row_major_order(threads: Threads, value: Value) -> int:
    """Store a tensor to shared memory in row-major order: the element at `index` is the element of the position
    `flatten(index, shape)`. Returns the first byte.
    """
    shape, size = shape_of(value.type), size_of(value.type)
    layout = threads.choice.of_value(value)
    start = threads.reserve(size * math.prod(shape))
    room, speaker = threads.room(start, size * math.prod(shape), True), threads.speaker(layout)
    identity = tuple(1 << bit for bit in range(int(math.log2(math.prod(shape)))))
    for (number,), at, columns in groups(value.type, layout, identity, []):
        address = threads.shared_address(columns, at, start)
        words.store(threads, "shared", value.type, address, [threads.register(value, layout, number)], speaker, room)
    return start


@rule(ANCHORED, "tt.histogram")
def histogram(threads: Threads, operation: Operation) -> None:
    """Counters in shared memory, which atomic additions increment."""
    source, *masks = operation.operands
    type, (bins,) = operation.result.type, shape_of(operation.result.type)
    start, result = threads.reserve(4 * bins), threads.choice.default(type)
    write, count, read = (threads.room(start, 4 * bins, writes) for writes in (True, True, False))
    zero = threads.bits("b32", 0)
    places = groups(type, result, tuple(1 << bit for bit in range(int(math.log2(bins)))), [])
    for _, at, columns in places:
        address = threads.shared_address(columns, at, start)
        words.store(threads, "shared", type, address, [zero], threads.speaker(result), write)
    layout = threads.choice.of_value(source)
    for number in layout.distinct:
        index = as_word(threads, source.type, threads.register(source, layout, number))
        guard = threads.both(threads.op("setp.lt.u32", index, bins), threads.speaker(layout))
        for mask in masks:
            guard = threads.both(guard, threads.register(mask, layout, number))
        base = threads.shared_address((), 0, start)
        address = base._replace(base=threads.op("mad.lo.s32", index, 4, base.base))
        threads.do("atom.shared.add.u32", address, 1, results=(threads.new("b32"),), guard=guard, room=count)
    found = {}
    for (number,), at, columns in places:
        address = threads.shared_address(columns, at, start)
        (found[number],) = words.load(threads, "shared", type, address, 1, room=read)
    threads.hold(operation.result, result, found)
