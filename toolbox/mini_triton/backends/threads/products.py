"""Products of matrices, by multiplications and additions of single elements."""

from __future__ import annotations

import math

from mini_triton.backends.threads import tensor_cores, warp_groups
from mini_triton.backends.threads.elementwise import narrow, widen
from mini_triton.backends.threads.instructions import Register, is_float
from mini_triton.backends.threads.layouts import Layout
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import shape_of


@rule(ANCHORED, "tt.dot")
def dot(threads: Threads, operation: Operation) -> None:
    """A product and a sum of matrices."""
    arranged = threads.choice.arrangement(operation)
    if not arranged:
        by_elements(threads, operation)
    elif arranged.groups:
        warp_groups.multiply(threads, operation)
    else:
        tensor_cores.multiply(threads, operation)


def by_elements(threads: Threads, operation: Operation) -> None:
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
    bits = range(int(math.log2(depth)))
    further = tuple(tuple(1 << bit if other == axis else 0 for other in range(rank)) for bit in bits)
    return Layout(inner.registers + further, inner.lanes, inner.warps)


def factor(threads: Threads, value: Value, layout: Layout, number: int) -> Register:
    """An element of a factor, as wide as products are."""
    element = threads.register(value, layout, number)

    def make() -> Register:
        return widen(threads, value.type, element) if is_float(value.type) else threads.op("cvt.s32.s8", element)

    return threads.only_once(("factor", element), make, threads.level_of(value))
