"""Products of matrices by multiplications and additions, gathers and histograms."""

from __future__ import annotations

import math

from mini_triton.backends.threads import words
from mini_triton.backends.threads.conversions import groups
from mini_triton.backends.threads.elementwise import narrow, widen
from mini_triton.backends.threads.instructions import Register, is_float, size_of, width_of
from mini_triton.backends.threads.layouts import Layout, flatten
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of


@rule(ANCHORED, "tt.dot")
def dot(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices. A thread holds whole rows of the first matrix, and whole columns of the second.

    They are those rows and columns that its elements of the product need.
    """
    left, right, accumulator = operation.operands
    layout, type = threads.choice.of_product(operation), operation.result.type
    rank, depth = len(shape_of(type)), shape_of(left.type)[-1]
    rows, columns = operand_layout(layout, rank - 1, depth), operand_layout(layout, rank - 2, depth)
    outer = len(layout.registers)
    totals: dict[int, Register] = {}
    for number in layout.distinct:
        total = threads.register(accumulator, layout, number)
        totals[number] = widen(threads, type, total) if is_float(type) else total
    for inner in range(depth):
        for number in layout.distinct:
            first = factor(threads, left, rows, number | inner << outer)
            second = factor(threads, right, columns, number | inner << outer)
            opcode = {"b64": "fma.rn.f64", "b32": "fma.rn.f32"}[first.kind] if is_float(type) else "mad.lo.s32"
            totals[number] = threads.op(opcode, first, second, totals[number])
    if is_float(type):
        totals = {number: narrow(threads, type, total) for number, total in totals.items()}
    threads.hold(operation.result, layout, totals)


def operand_layout(layout: Layout, axis: int, depth: int) -> Layout:
    """The layout of a factor whose index along `axis` counts products: all of it in further registers."""
    inner = layout.map(lambda vector: (*vector[:axis], 0, *vector[axis + 1 :]))
    rank = len(inner.lanes[0])
    further = tuple(tuple(1 << bit if other == axis else 0 for other in range(rank)) for bit in range(int(math.log2(depth))))
    return Layout(inner.registers + further, inner.lanes, inner.warps)


def factor(threads: Threads, value: Value, layout: Layout, number: int) -> Register:
    """An element of a factor, as wide as products are."""
    number = layout.first(number)
    key = ("factor", value, layout, number)
    if key not in threads.once:
        element = threads.register(value, layout, number)
        with threads.on(threads.level_of(value)):
            if is_float(value.type):
                threads.once[key] = widen(threads, value.type, element)
            else:
                threads.once[key] = threads.op("cvt.s32.s8", element)
    return threads.once[key]


@rule(ANCHORED, "tt.gather")
def gather(threads: Threads, operation: Operation) -> None:
    """Elements at indices along an axis, from shared memory in row-major order."""
    source, indices = operation.operands
    axis, shape, size = axis_of(operation), shape_of(source.type), size_of(source.type)
    layout = threads.choice.natural(operation.result)
    assert layout
    start = in_row_major_order(threads, source)
    room = threads.room(start, size * math.prod(shape), False)
    stride = size * math.prod(shape[axis + 1 :])
    others = layout.map(lambda vector: (*vector[:axis], 0, *vector[axis + 1 :]))
    columns = tuple(size * flatten(vector, shape) for vector in others.threads)
    found = {}
    for number in layout.distinct:
        index = threads.register(indices, layout, number)
        if width_of(indices.type) != 32:
            index = threads.op(f"cvt.s32.s{width_of(indices.type)}", index)
        base = threads.shared_address(columns, size * flatten(others.index(number), shape), start)
        address = base._replace(base=threads.op("mad.lo.s32", index, stride, base.base))
        (found[number],) = words.load(threads, "shared", source.type, address, 1, room=room)
    threads.hold(operation.result, layout, found)


def in_row_major_order(threads: Threads, value: Value) -> int:
    """Store a tensor to shared memory in row-major order. Returns the first byte."""
    shape, size = shape_of(value.type), size_of(value.type)
    layout = threads.choice.natural(value) or threads.choice.default(value.type)
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
    layout = threads.choice.natural(source) or threads.choice.default(source.type)
    for number in layout.distinct:
        index = threads.register(source, layout, number)
        if width_of(source.type) != 32:
            index = threads.op(f"cvt.{'s' if width_of(source.type) < 32 else 'u'}32.{'s' if width_of(source.type) < 32 else 'u'}{width_of(source.type)}", index)
        guard = threads.both(threads.op("setp.lt.u32", index, bins), threads.speaker(layout))
        for mask in masks:
            guard = threads.both(guard, threads.register(mask, layout, number))
        base = threads.shared_address((), 0, start)
        address = base._replace(base=threads.op("mad.lo.s32", index, 4, base.base))
        threads.do("atom.shared.add.u32", address, 1, results=(threads.new("b32"),), guard=guard, room=count)
    threads.hold(
        operation.result,
        result,
        {
            numbers[0]: words.load(threads, "shared", type, threads.shared_address(columns, at, start), 1, room=read)[0]
            for numbers, at, columns in places
        },
    )
