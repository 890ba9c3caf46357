"""Combining elements of many threads through shared memory: scans, matrix products, histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mini_triton.codegen.cuda_gen.layout import Layout, flat, indented
from mini_triton.codegen.cuda_gen.nest import ThreadBody
from mini_triton.codegen.cuda_gen.reduction import combination
from mini_triton.codegen.numba_gen.expressions import TRUE, Index, Name, apply, both
from mini_triton.codegen.numba_gen.scalars import kind, narrow, number
from mini_triton.codegen.numba_gen.statements import While
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter

Reader = Callable[[Sequence[object]], str]
"""The source of an element in shared memory."""


def scan(emit: ThreadEmitter, operation: Operation) -> None:
    """A scan in steps with the distances 1, 2, 4, ... Each step combines elements at one distance."""
    shape, axis = shape_of(operation.operands[0].type), axis_of(operation)
    layout, size, stride = emit.layout(shape), shape[axis], math.prod(shape[axis + 1 :])
    rows = [emit.array(result) for result in operation.results]
    pools = [emit.pool_of(result.type, layout.size) for result in operation.results]
    backwards = bool(operation.attributes["reverse"])
    distance = emit.fresh("distance")

    def write(index: Index, register: str) -> list[str]:
        at = flat(shape, index)
        return [f"{pool.at(at)} = {pool.kept(f'{row}[{register}]')}" for pool, row in zip(pools, rows, strict=True)]

    def step(index: Index, register: str) -> list[str]:
        there = f"{flat(shape, index)} {'+' if backwards else '-'} {distance} * {stride}"
        own = [f"{row}[{register}]" for row in rows]
        lines, texts = combination(emit, operation, [pool.read(there) for pool in pools], own)
        test = f"i{axis} + {distance} < {size}" if backwards else f"i{axis} >= {distance}"
        return [f"if {test}:", *indented([*lines, f"{', '.join(own)} = {', '.join(map(str, texts))}"])]

    if size > 1:
        emit.line(f"{distance} = 1")
        with emit.body() as body:
            emit.barrier()
            emit.emit(emit.each(layout, write))
            emit.barrier()
            emit.emit(emit.each(layout, step, own=False))
            emit.line(f"{distance} *= 2")
        emit.add(While(apply("<", distance, size), body))
    emit.ready.update(operation.results)


def dot(emit: ThreadEmitter, operation: Operation) -> None:
    """A matrix product, with both operands in shared memory and the result in registers."""
    a, b, c = operation.operands
    result = operation.result
    layout, shape = emit.layout(shape_of(result.type)), shape_of(result.type)
    inner = shape_of(a.type)[-1]
    left, right = (emit.put(emit.row(operation, n), operand) for n, operand in enumerate((a, b)))
    emit.barrier()
    target = emit.array(result)
    if emit.plan.is_zero(c):
        zero = emit.fresh("register")
        emit.emit([f"for {zero} in range({layout.registers}):", f"    {target}[{zero}] = {kind(result.type)}(0)"])
    if layout.vector > 1 and layout.fastest == len(shape) - 1 and kind(result.type) in ("float32", "float64"):
        emit.emit(product_of_vectors(emit, layout, target, left, right, inner, kind(result.type)))
    else:
        emit.emit(product_of_elements(emit, layout, target, left, right, inner, kind(result.type)))
    if narrow(result.type):
        place = "{0}[{1}]".format

        def rounded(_: Index, register: str) -> list[str]:
            return [f"{place(target, register)} = {number(result.type, Name(place(target, register)))}"]

        emit.emit(emit.each(layout, rounded, own=False))
    emit.ready.add(result)


def product_of_elements(
    emit: ThreadEmitter, layout: Layout, target: str, left: Reader, right: Reader, inner: int, type: str
) -> list[str]:
    """The loop along the inner axis, element by element."""
    along = emit.fresh("along")

    def product(at: Index, register: str) -> list[str]:
        x, y = left((*at[:-1], along)), right((*at[:-2], along, at[-1]))
        if type != "int32":
            return [f"{target}[{register}] = {target}[{register}] + {x} * {y}"]
        return [f"{target}[{register}] = int32({target}[{register}] + int32({x}) * int32({y}))"]

    body = emit.each(layout, product, own=False)
    return [f"for {along} in range({inner}):", *indented(body)]


def product_of_vectors(
    emit: ThreadEmitter, layout: Layout, target: str, left: Reader, right: Reader, inner: int, type: str
) -> list[str]:
    """The loop along the inner axis, with several elements of both operands in registers.

    For each sweep, a thread holds a vector of a row of the result. It loads vectors of the same length from some rows
    of the right operand once, and multiplies each by an element from a row of the left operand.
    """
    widest = 16 // np.dtype(type).itemsize
    steps, vector = min(widest, inner), layout.vector
    width = min(widest, vector)
    along, step, k = emit.fresh("along"), emit.fresh("step"), emit.fresh("column")
    ours, theirs = emit.registers("left", steps, type), emit.registers("right", steps * vector, type)
    *outer, column = layout.texts()
    at = [str(i) for i in emit.plan.index(layout.shape[:-1])]
    theirs_at = [right((*at[:-1], f"{along} + {n}", column)) for n in range(steps)]
    load_right = [
        f"load_{width}({theirs}, {n * vector + first}, {address(text)} + {first})"
        for n, text in enumerate(theirs_at)
        for first in range(0, vector, width)
    ]
    element = address(left((*at, along)))
    load_left = f"load_{steps}({ours}, 0, {element})" if steps > 1 else f"{ours}[0] = {left((*at, along))}"
    place = f"sweep * {vector} + {k}" if layout.sweeps > 1 else k
    body = [
        *(f"{i} = {text}" for i, text in zip(at, outer, strict=True) if i != "0"),
        *(load_right if "sweep" in column or len(at) > 1 else []),
        load_left,
        f"for {step} in range({steps}):",
        f"    for {k} in range({vector}):",
        f"        {target}[{place}] = {target}[{place}] + {ours}[{step}] * {theirs}[{step} * {vector} + {k}]",
    ]
    if layout.sweeps > 1:
        body = [f"for sweep in range({layout.sweeps}):", *indented(body)]
    body = [*([] if "sweep" in column or len(at) > 1 else load_right), *body]
    return [f"for {along} in range(0, {inner}, {steps}):", *indented(body)]


def address(text: str) -> str:
    """The source `memory, at` for `memory[at]`."""
    memory, _, at = text.removesuffix("]").partition("[")
    return f"{memory}, {at}"


def histogram(emit: ThreadEmitter, operation: Operation) -> None:
    """A histogram, counted in shared memory."""
    shape = shape_of(operation.result.type)
    layout, pool = emit.layout(shape), emit.pool_of(operation.result.type, shape[0])
    body = ThreadBody(emit, shape_of(operation.operands[0].type))
    value, *masks = (body.at(operand, body.index) for operand in operation.operands)
    tests = [apply("between", 0, value, shape[0]), *masks, emit.owns(body.layout)]
    body.write(2, f"if {both(*(test for test in tests if test != TRUE))}:")
    body.write(2, f"    cuda.atomic.add({pool.memory}, {pool.start} + int64({value}), int32(1))")
    emit.barrier()
    emit.emit(emit.each(layout, lambda index, _: [f"{pool.at(flat(shape, index))} = int32(0)"]))
    emit.barrier()
    emit.emit(body.lines())
    emit.barrier()
    counts = emit.array(operation.result)
    emit.emit(emit.each(layout, lambda index, r: [f"{counts}[{r}] = {pool.read(flat(shape, index))}"], own=False))
    emit.ready.add(operation.result)
