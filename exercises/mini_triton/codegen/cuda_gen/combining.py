"""Elements that are combined: those of a thread first, then those of a warp by shuffles, then through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mini_triton.codegen.axes import axis_of
from mini_triton.codegen.cuda_gen.layout import WARP, Layout
from mini_triton.codegen.cuda_gen.nest import ThreadPoint
from mini_triton.codegen.numba_gen.combining import in_any_order
from mini_triton.codegen.numba_gen.plan import Index, is_tensor
from mini_triton.codegen.numba_gen.scalars import kind, number
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter


def combination(emit: ThreadEmitter, operation: Operation, left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:  # fmt: skip
    """Lines that combine two elements, whose texts are given, and the texts of the results."""
    block = operation.regions[0].block
    assert block.terminator
    state = emit.lines, emit.operations, emit.depth, emit.commented
    emit.lines, emit.operations, emit.depth, emit.commented = [], [], 0, None
    emit.names.update(zip(block.arguments, [*left, *right], strict=True))
    for inner in block.operations[:-1]:
        if inner.name == "tt.assert":
            continue
        if inner.regions:
            emit.plan.schedule(block)
        for result in inner.results:
            emit.names.pop(result, None)
        last = inner is block.operations[-2] and not inner.regions and [inner.result] == list(block.terminator.operands)
        if last:
            emit.names[inner.result] = emit.elementwise(inner, [emit.text(o) for o in inner.operands])
        else:
            emit.operation(inner)
    texts, lines = [emit.text(value) for value in block.terminator.operands], emit.lines
    emit.lines, emit.operations, emit.depth, emit.commented = state
    return lines, texts


Reader = Callable[[Index], str]
"""The text of an element in shared memory."""
Combine = Callable[[Sequence[str], Sequence[str]], tuple[list[str], list[str]]]
"""Of the texts of two elements: lines that combine them, and the texts of the results."""


def exchange(distance: int, parts: Sequence[str], others: Sequence[str], ordered: bool, combine: Combine) -> list[str]:
    """Lines that combine, in each thread, `parts` with those of the thread at a distance, a power of two.

    Both threads of a pair get the same. `shuffle_xor(part, distance)` is what the other thread has; `others` are
    variables for it. Where the order of two elements matters (`ordered`), the thread with the lower number has the left
    one.
    """
    # Task 10.6: First all shuffles, then the lines of `combine`, then the new `parts`. `thread & distance` tells
    # whether this thread is the right one of its pair.
    raise NotImplementedError("Task 10.6: Threads for Numba")


def across_warp(steps: Sequence[int], parts: Sequence[str], others: Sequence[str], ordered: bool, combine: Combine) -> list[str]:  # fmt: skip
    """Lines after which every thread has the combination of all threads at these distances, in its own warp.

    `steps` are the distances of `Layout.steps`: those of 32 and more lead to other warps.
    """
    # Task 10.6: A tree: `exchange` at each distance within a warp, the smallest first.
    raise NotImplementedError("Task 10.6: Threads for Numba")


def reduce(emit: ThreadEmitter, operation: Operation) -> None:
    """A reduction: in each thread, in its warp, then among warps through shared memory."""
    shape, axis = shape_of(operation.operands[0].type), axis_of(operation)
    rows = [emit.arrays.get(f"work:{id(operation)}:{n}") or emit.array(v) for n, v in enumerate(operation.operands)]
    layout = emit.layout(shape)
    steps = layout.steps(axis)
    types = [kind(v.type) for v in operation.operands]
    ordered = not in_any_order(operation)[0]

    def combine(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
        return combination(emit, operation, left, right)

    parts = [emit.fresh(v.name or "part") for v in operation.results]
    others = [emit.fresh("other") for _ in parts]

    # in the thread: the registers along the axis are every `inner`-th of `inner * many`, after `kept` others
    many = 1 << len(steps.registers)
    inner = min(steps.registers, default=1)
    kept = layout.registers // many
    low, high, q = (emit.fresh(name) for name in ("low", "high", "step"))
    base = " + ".join(
        ([f"{high} * {inner * many}"] if kept > inner else []) + ([low] if inner > 1 and many > 1 else [])
    )
    if many == 1:
        base, inner = (high if kept > 1 else ""), 1
    lines = [f"{part} = {row}[{base or 0}]" for part, row in zip(parts, rows, strict=True)]
    if many > 1:
        at = f"{base} + {q} * {inner}" if base else f"{q} * {inner}" if inner > 1 else q
        combined, texts = combine(parts, [f"{row}[{at}]" for row in rows])
        round = [*combined, f"{', '.join(parts)} = {', '.join(texts)}"]
        lines += [f"for {q} in range(1, {many}):", *("    " + line for line in round)]

    wide = ["int32" if type in ("bool_", "int8", "int16") else "" for type in types]
    if any(wide):  # shuffles move at least 32 bits
        lines += [f"{p} = {w}({p})" for p, w in zip(parts, wide, strict=True) if w]

        def combine_wide(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
            found, texts = combination(
                emit, operation,
                *([f"{t}({x})" if w else x for x, t, w in zip(side, types, wide, strict=True)] for side in (left, right)),
            )  # fmt: skip
            return found, [f"{w}({x})" if w else x for x, w in zip(texts, wide, strict=True)]
    else:
        combine_wide = combine
    lines += across_warp(steps.threads, parts, others, ordered, combine_wide)
    lines += [f"{p} = {t}({p})" for p, t, w in zip(parts, types, wide, strict=True) if w]

    warps = [distance for distance in steps.threads if distance >= WARP]
    results = operation.results
    if not is_tensor(results[0]) and not warps:
        emit.emit(lines)
        for result, part in zip(results, parts, strict=True):
            emit.line(f"{emit.name(result)} = {part}")
        return
    through_shared_memory(emit, operation, layout, lines, parts, (high, low, inner, many, kept), warps, combine)


def through_shared_memory(
    emit: ThreadEmitter, operation: Operation, layout: Layout, lines: list[str], parts: list[str],
    registers: tuple[str, str, int, int, int], warps: list[int], combine: Combine,
) -> None:  # fmt: skip
    """One thread of each warp writes what its warp has found; then every thread reads what it needs."""
    results, axis = operation.results, axis_of(operation)
    high, low, inner, many, kept = registers
    shape = shape_of(results[0].type)
    size = layout.size // layout.shape[axis]
    types = ["uint8" if kind(r.type) == "bool_" else kind(r.type) for r in results]
    pools = [emit.pool(type, size * 2 ** len(warps)) for type in types]
    # which element of the result this is, and of which warp along the axis
    place = element_text(layout, axis, high if kept > inner or many == 1 and kept > 1 else "", low if inner > 1 else "", inner * many if many > 1 else 1)  # fmt: skip
    warp = " + ".join(f"thread // {d} % 2 * {size << n}" for n, d in enumerate(warps))
    where = " + ".join(text for text in (place, warp) if text) or "0"
    alone = 0
    for distance in layout.steps(axis).threads:
        alone |= distance if distance < WARP else 0
    tests = ([f"thread & {alone} == 0"] if alone else []) + ([emit.owns(layout)] if emit.owns(layout) else [])
    write = [f"{memory}[{at_text(where, start)}] = {part}" for (memory, start), part in zip(pools, parts, strict=True)]
    if tests:
        write = [f"if {' and '.join(f'({t})' for t in tests)}:", *("    " + line for line in write)]
    body = [*lines, *write]
    if inner > 1 and many > 1:
        body = [f"for {low} in range({inner}):", *("    " + line for line in body)]
    outer = kept // (inner if many > 1 else 1)
    if outer > 1:
        body = [f"for {high} in range({outer}):", *("    " + line for line in body)]
    emit.barrier()
    emit.emit(body)
    emit.barrier()

    others = [emit.fresh("other") for _ in parts]

    def read(flat: str, targets: Sequence[str]) -> list[str]:
        found = []
        for n in range(2 ** len(warps)):
            texts = [f"{memory}[{at_text(flat, start + n * size)}]" for memory, start in pools]
            texts = [f"({t} != 0)" if type == "uint8" else t for t, type in zip(texts, types, strict=True)]
            if n == 0:
                found += [f"{part} = {text}" for part, text in zip(parts, texts, strict=True)]
            else:
                found += [f"{other} = {text}" for other, text in zip(others, texts, strict=True)]
                combined, texts = combine(parts, others)
                found += [*combined, f"{', '.join(parts)} = {', '.join(texts)}"]
        return found + [f"{target} = {part}" for target, part in zip(targets, parts, strict=True)]

    if not is_tensor(results[0]):
        emit.emit(read("0", [emit.name(result) for result in results]))
        return
    own = emit.layout(shape)
    arrays = [emit.array(result) for result in results]
    from mini_triton.codegen.cuda_gen.program import flat

    emit.emit(emit.each(own, lambda at, r: read(flat(own, at), [f"{a}[{r}]" for a in arrays]), own=False))
    emit.ready.update(results)


def at_text(where: str, start: int) -> str:
    return where if not start else str(start) if where == "0" else f"{start} + {where}"


def element_text(layout: Layout, axis: int, high: str, low: str, stride: int) -> str:
    """The number of an element of the result, row by row, that a thread has reduced registers to."""
    from mini_triton.codegen.cuda_gen.layout import Place, bits_text, runs

    strides, size = {}, 1
    for other in reversed(range(len(layout.shape))):
        if other != axis:
            strides[other], size = size, size * layout.shape[other]

    def value(place: Place) -> int:
        return sum(i * strides[other] for other, i in enumerate(layout.index(place)) if other != axis)

    terms = []
    for name, shift in ((high, stride), (low, 1)):
        if name:
            bits = range((layout.registers - 1).bit_length())
            values = [value(Place(0, shift << bit)) for bit in bits if shift << bit < layout.registers]
            terms += [bits_text(name, first, last, 0, v) for first, last, v in runs(values)]
    values = [value(Place(1 << bit, 0)) for bit in range((layout.owners - 1).bit_length())]
    terms += [bits_text("thread", first, last, layout.threads, v) for first, last, v in runs(values)]
    return " + ".join(terms)


def scan(emit: ThreadEmitter, operation: Operation) -> None:
    """A scan in steps of 1, 2, 4, ...: every element is combined with the one so many places before it."""
    from mini_triton.codegen.cuda_gen.program import flat

    shape, axis = shape_of(operation.operands[0].type), axis_of(operation)
    layout, size = emit.layout(shape), shape[axis]
    rows = [emit.array(result) for result in operation.results]
    types = ["uint8" if kind(r.type) == "bool_" else kind(r.type) for r in operation.results]
    pools = [emit.pool(type, layout.size) for type in types]
    stride = 1
    for other in range(axis + 1, len(shape)):
        stride *= shape[other]
    backwards = bool(operation.attributes["reverse"])
    distance = emit.fresh("distance")

    def write(at: Index, register: str) -> list[str]:
        return [f"{m}[{flat(layout, at, start)}] = {row}[{register}]" for (m, start), row in zip(pools, rows, strict=True)]  # fmt: skip

    def step(at: Index, register: str) -> list[str]:
        there = f"{'+' if backwards else '-'} {distance} * {stride}"
        before = [f"{m}[{flat(layout, at, start)} {there}]" for m, start in pools]
        before = [f"({text} != 0)" if type == "uint8" else text for text, type in zip(before, types, strict=True)]
        lines, texts = combination(emit, operation, before, [f"{row}[{register}]" for row in rows])
        test = f"i{axis} + {distance} < {size}" if backwards else f"i{axis} >= {distance}"
        stores = f"{', '.join(f'{row}[{register}]' for row in rows)} = {', '.join(texts)}"
        return [f"if {test}:", *("    " + line for line in [*lines, stores])]

    if size > 1:
        emit.line(f"{distance} = 1")
        with emit.indented(f"while {distance} < {size}:"):
            emit.barrier()
            emit.emit(emit.each(layout, write))
            emit.barrier()
            emit.emit(emit.each(layout, step, own=False))
            emit.line(f"{distance} *= 2")
    emit.ready.update(operation.results)


def dot(emit: ThreadEmitter, operation: Operation) -> None:
    """A matrix product: both operands in shared memory, the result in registers."""
    a, b, c = operation.operands
    result = operation.result
    layout, shape = emit.layout(shape_of(result.type)), shape_of(result.type)
    inner = shape_of(a.type)[-1]
    left, right = (
        emit.put(emit.arrays.get(f"work:{id(operation)}:{n}") or emit.array(operand), operand)
        for n, operand in enumerate((a, b))
    )
    emit.barrier()
    target = emit.array(result)
    if emit.plan.is_zero(c):
        zero = emit.fresh("register")
        emit.emit([f"for {zero} in range({layout.registers}):", f"    {target}[{zero}] = {kind(result.type)}(0)"])
    if layout.vector > 1 and layout.fastest == len(shape) - 1 and kind(result.type) in ("float32", "float64"):
        emit.emit(product_of_vectors(emit, layout, target, left, right, inner, kind(result.type)))
    else:
        emit.emit(product_of_elements(emit, layout, target, left, right, inner, kind(result.type)))
    if number(result.type, "x") not in ("x", "int32(x)"):
        emit.emit(emit.each(layout, lambda at, r: [f"{target}[{r}] = {number(result.type, f'{target}[{r}]')}"], own=False))  # fmt: skip
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
    return [f"for {along} in range({inner}):", *("    " + line for line in body)]


def product_of_vectors(
    emit: ThreadEmitter, layout: Layout, target: str, left: Reader, right: Reader, inner: int, type: str
) -> list[str]:
    """The same, with several elements of both operands in registers.

    A thread holds a vector of a row of the result for each sweep. It loads as long a vector of some rows of the right
    operand once, and multiplies all of them by as many elements of a row of the left one.
    """
    widest = 16 // np.dtype(type).itemsize
    steps, vector = min(widest, inner), layout.vector
    width = min(widest, vector)
    along, step, k = emit.fresh("along"), emit.fresh("step"), emit.fresh("column")
    ours, theirs = emit.registers("left", steps, type), emit.registers("right", steps * vector, type)
    *outer, column = layout.texts()
    at = [f"i{axis}" if layout.shape[axis] > 1 else "0" for axis in range(len(outer))]
    load_right = [
        f"load_{width}({theirs}, {n * vector + first}, {address(right((*at[:-1], f'{along} + {n}', f'{column} + {first}')))})"
        for n in range(steps)
        for first in range(0, vector, width)
    ]  # fmt: skip
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
        body = [f"for sweep in range({layout.sweeps}):", *("    " + line for line in body)]
    body = [*([] if "sweep" in column or len(at) > 1 else load_right), *body]
    return [f"for {along} in range(0, {inner}, {steps}):", *("    " + line for line in body)]


def address(text: str) -> str:
    """`memory, at` of the text `memory[at]`."""
    memory, _, at = text.removesuffix("]").partition("[")
    return f"{memory}, {at}"


def histogram(emit: ThreadEmitter, operation: Operation) -> None:
    """Counts in shared memory."""
    from mini_triton.codegen.cuda_gen.program import flat

    (bins,) = shape_of(operation.result.type)
    layout = emit.layout(shape_of(operation.result.type))
    memory, start = emit.pool("int32", bins)
    point = ThreadPoint(emit, shape_of(operation.operands[0].type))
    value, _ = point.at(operation.operands[0], point.index)
    mask = f" and {point.at(operation.operands[1], point.index)[0]}" if len(operation.operands) > 1 else ""
    owner = emit.owns(point.layout)
    test = f"0 <= {value} < {bins}{mask}" + (f" and {owner}" if owner else "")
    point.write(2, f"if {test}:")
    point.write(2, f"    cuda.atomic.add({memory}, {start} + int64({value}), int32(1))")
    emit.barrier()
    emit.emit(emit.each(layout, lambda at, r: [f"{memory}[{flat(layout, at, start)}] = int32(0)"]))
    emit.barrier()
    emit.emit(point.lines())
    emit.barrier()
    counts = emit.array(operation.result)
    emit.emit(emit.each(layout, lambda at, r: [f"{counts}[{r}] = {memory}[{flat(layout, at, start)}]"], own=False))
    emit.ready.add(operation.result)
