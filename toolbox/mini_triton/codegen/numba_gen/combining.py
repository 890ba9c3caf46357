"""Operations that combine elements: reductions and scans as loops, dot products by BLAS, histograms, atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mini_triton.codegen.combining import UFUNCS
from mini_triton.codegen.library.combine import SHORT
from mini_triton.codegen.numba_gen.nest import Point
from mini_triton.codegen.numba_gen.plan import Index, Unsupported, is_tensor
from mini_triton.codegen.numba_gen.scalars import held, kind, loaded, narrow, number, stored
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import FloatType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter

EXACT_ANYHOW = ("arith.maxsi", "arith.minsi", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
"""Combinations whose result does not depend on the order, even for floats."""


def at_axis(rank: int, axis: int, along: str) -> Index:
    return tuple(along if i == axis else f"i{i}" for i in range(rank))


def around(shape: Sequence[int], axis: int, outer: list[str], inner: list[str]) -> list[str]:
    """Loops over the axes before `axis`, around `outer`; inside them, loops over later axes, around `inner`."""
    lines = list(inner)
    for i in range(len(shape) - 1, axis, -1):
        lines = [f"for i{i} in range({shape[i]}):", *("    " + line for line in lines)]
    result: list[str] = []
    for line in outer:
        if line.strip() == "<inner>":
            space = line[: line.index("<")]
            result.extend(space + text for text in lines)
        else:
            result.append(line)
    for i in range(axis - 1, -1, -1):
        result = [f"for i{i} in range({shape[i]}):", *("    " + line for line in result)]
    return result


def combination(
    emit: ProgramEmitter, operation: Operation, left: Sequence[str], right: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Lines that combine two elements, and the expressions of the results."""
    block = operation.regions[0].block
    assert block.terminator
    lines, depth, operations = emit.lines, emit.depth, emit.operations
    emit.lines, emit.depth, emit.operations = [], 0, []
    commented, emit.commented = emit.commented, None
    for argument, text in zip(block.arguments, [*left, *right], strict=True):
        emit.names.pop(argument, None)
        emit.assign(argument, text)
    for inner in block.operations[:-1]:
        if inner.name != "tt.assert":
            emit.operation_now = inner
            if inner.name in ("scf.if", "scf.for", "scf.while"):
                emit.plan.schedule(block)
            emit.operation(inner)
    texts = [emit.text(value) for value in block.terminator.operands]
    found, emit.lines, emit.depth, emit.operations = emit.lines, lines, depth, operations
    emit.commented = commented
    return found, texts


def in_any_order(operation: Operation) -> tuple[str, bool]:
    """The operation that combines elements, if there is only one, and whether its result is the same in any order."""
    block = operation.regions[0].block
    first = block.operations[0]
    if len(block.operations) != 2 or first.name not in UFUNCS or set(first.operands) != set(block.arguments):
        return "", False
    floats = isinstance(element_type(first.operands[0].type), FloatType)
    return first.name, not floats or first.name in EXACT_ANYHOW


def reduce(emit: ProgramEmitter, operation: Operation) -> None:
    shape, axis = shape_of(operation.operands[0].type), int(operation.attributes["axis"])  # type: ignore[arg-type]
    size, rank = shape[axis], len(shape)
    own = [emit.work(operation, n) for n in range(len(operation.operands))]
    rows = [mine or emit.array(operand) for mine, operand in zip(own, operation.operands, strict=True)]
    name, free = in_any_order(operation)
    rest = tuple(f"i{i}" for i in range(rank) if i != axis)
    results = [emit.array(r) if is_tensor(r) else emit.name(r) for r in operation.results]
    targets = [
        f"{r}[{', '.join(rest)}]" if is_tensor(v) else r for r, v in zip(results, operation.results, strict=True)
    ]

    def element(row: str, along: str) -> str:
        return f"{row}[{', '.join(at_axis(rank, axis, along))}]"

    def first_of(rows: Sequence[str]) -> list[str]:
        return [f"{target} = {element(row, '0')}" for target, row in zip(targets, rows, strict=True)]

    last = axis == rank - 1
    if name in ("arith.addf", "arith.mulf") and not narrow(operation.operands[0].type) and not (last and size in SHORT):
        if name == "arith.addf" and last and size > 1:
            row = f"{rows[0]}[{', '.join(rest)}]" if rest else rows[0]
            emit.emit(around(shape, axis, [f"{targets[0]} = pairwise_sum({row})"], []))
        else:
            k = emit.fresh("k")
            step = f"{targets[0]} = {targets[0]} {'+' if name == 'arith.addf' else '*'} {element(rows[0], k)}"
            neutral = f"{kind(operation.operands[0].type)}(0) + " if name == "arith.addf" else ""
            emit.emit(around(shape, axis, ["<inner>"], [f"{targets[0]} = {neutral}{element(rows[0], '0')}"]))
            emit.emit(around(shape, axis, [f"for {k} in range(1, {size}):", "    <inner>"], [step]))
    elif size == 1:
        emit.emit(around(shape, axis, ["<inner>"], first_of(rows)))
    elif free and last and size >= 8 and name in EXACT_ANYHOW[2:]:
        row = f"{rows[0]}[{', '.join(rest)}]" if rest else rows[0]
        emit.emit(around(shape, axis, [f"{targets[0]} = row_{name.removeprefix('arith.')}({row})"], []))
    elif free:
        k = emit.fresh("k")
        best = emit.fresh(operation.result.name or "t") if last else targets[0]
        lines, texts = combination(emit, operation, [best], [element(rows[0], k)])
        once = [*lines, f"{best} = {texts[0]}"]
        if last:
            outer = [
                f"{best} = {element(rows[0], '0')}",
                f"for {k} in range(1, {size}):",
                *("    " + line for line in once),
            ]
            emit.emit(around(shape, axis, [*outer, f"{targets[0]} = {best}"], []))
        else:
            emit.emit(around(shape, axis, ["<inner>"], first_of(rows)))
            emit.emit(around(shape, axis, [f"for {k} in range(1, {size}):", "    <inner>"], once))
    else:
        n, k = emit.fresh("n"), emit.fresh("k")
        half = tuple(size // 2 if i == axis else length for i, length in enumerate(shape))
        halves = [
            mine or emit.allocate("half", half, kind(operand.type))
            for mine, operand in zip(own, operation.operands, strict=True)
        ]

        def level(source: Sequence[str]) -> list[str]:
            left, right = ([element(row, where) for row in source] for where in (f"2 * {k}", f"2 * {k} + 1"))
            lines, texts = combination(emit, operation, left, right)
            return [*lines, *(f"{element(row, k)} = {text}" for row, text in zip(halves, texts, strict=True))]

        start = size
        if None in own:
            start = size // 2
            emit.emit(around(shape, axis, [f"for {k} in range({start}):", "    <inner>"], level(rows)))
        if start > 1:
            outer = [
                f"{n} = {start}",
                f"while {n} > 1:",
                f"    {n} //= 2",
                f"    for {k} in range({n}):",
                "        <inner>",
            ]
            emit.emit(around(shape, axis, outer, level(halves)))
        emit.emit(around(shape, axis, ["<inner>"], first_of(halves)))
    emit.give_back(own)
    emit.ready.update(v for v in operation.results if is_tensor(v))


def scan(emit: ProgramEmitter, operation: Operation) -> None:
    shape, axis = shape_of(operation.operands[0].type), int(operation.attributes["axis"])  # type: ignore[arg-type]
    size, rank = shape[axis], len(shape)
    rows = [emit.array(result) for result in operation.results]
    name, _ = in_any_order(operation)
    k = emit.fresh("k")
    backwards = bool(operation.attributes["reverse"])

    def element(row: str, along: str) -> str:
        return f"{row}[{', '.join(at_axis(rank, axis, f'{size - 1} - ({along})' if backwards else along))}]"

    in_turn = bool(name) and not narrow(operation.operands[0].type)
    d = "1" if in_turn else emit.fresh("distance")
    lines, texts = combination(emit, operation, [element(r, f"{k} - {d}") for r in rows], [element(r, k) for r in rows])
    step = [*lines, *(f"{element(row, k)} = {text}" for row, text in zip(rows, texts, strict=True))]
    if in_turn:
        outer = [f"for {k} in range(1, {size}):", "    <inner>"]
    else:
        outer = [
            f"{d} = 1",
            f"while {d} < {size}:",
            f"    for {k} in range({size - 1}, {d} - 1, -1):",
            "        <inner>",
            f"    {d} *= 2",
        ]
    emit.emit(around(shape, axis, outer, step))
    emit.ready.update(operation.results)


def dot(emit: ProgramEmitter, operation: Operation) -> None:
    own = [emit.work(operation, n) for n in range(2)]
    a, b = (mine or emit.array(operand) for mine, operand in zip(own, operation.operands[:2], strict=True))
    c, result = operation.operands[2], operation.result
    target, shape = emit.array(result), shape_of(result.type)
    zero = emit.plan.is_zero(c)
    element = kind(result.type)
    product = target
    if element == "int32":
        product = emit.allocate("product", shape, "float64")
    gemm = "sgemm" if element == "float32" else "dgemm"
    beta = 0 if zero or product != target else 1
    if len(shape) == 3:
        emit.emit([f"for i0 in range({shape[0]}):", f"    {gemm}({a}[i0], {b}[i0], {product}[i0], {beta})"])
    else:
        emit.line(f"{gemm}({a}, {b}, {product}, {beta})")
    index = ", ".join(f"i{i}" for i in range(len(shape)))
    if product != target:
        before = f"{target}[{index}] + " if not zero else ""
        emit.emit(over(shape, f"{target}[{index}] = int32({before}int32({product}[{index}]))"))
    elif narrow(result.type):
        emit.emit(over(shape, f"{target}[{index}] = {number(result.type, f'{target}[{index}]')}"))
    emit.give_back(own)
    emit.ready.add(result)


def over(shape: Sequence[int], line: str) -> list[str]:
    lines = [line]
    for i in range(len(shape) - 1, -1, -1):
        lines = [f"for i{i} in range({shape[i]}):", *("    " + text for text in lines)]
    return lines


def histogram(emit: ProgramEmitter, operation: Operation) -> None:
    point = Point(emit, shape_of(operation.operands[0].type))
    value, _ = point.at(operation.operands[0], point.index)
    mask = f" and {point.at(operation.operands[1], point.index)[0]}" if len(operation.operands) > 1 else ""
    (bins,) = shape_of(operation.result.type)
    counts = emit.array(operation.result)
    point.write(len(point.variables), f"if 0 <= {value} < {bins}{mask}:")
    point.write(len(point.variables), f"    {counts}[{value}] += 1")
    emit.emit([f"{counts}[:] = 0", *point.lines()])
    emit.ready.add(operation.result)


# --- atomics

ATOMIC = {
    **dict.fromkeys(("add", "fadd"), "{0} + {1}"),
    **{"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}"},
    **{"max": "max({0}, {1})", "min": "min({0}, {1})"},
    **{"umax": "exact.maxui({0}, {1})", "umin": "exact.minui({0}, {1})", "exch": "{1}"},
}


def atomic(emit: ProgramEmitter, operation: Operation) -> None:
    """Update memory for each lane in turn. The results are the values read before each update."""
    is_cas = operation.name == "tt.atomic_cas"
    pointer, value, *rest = operation.operands
    result = operation.result
    shape = shape_of(result.type)
    point = Point(emit, shape)
    index = point.index if is_tensor(result) else ()
    where, _ = point.at(pointer, index)
    texts = [point.at(v, index if is_tensor(v) else ())[0] for v in ((value, rest[0]) if is_cas else (value,))]
    masks = [] if is_cas else rest
    mask = point.at(masks[0], index if is_tensor(masks[0]) else ())[0] if masks else "True"
    guard(emit, point, pointer, masks[0] if masks else None, index)
    element = element_type(result.type)
    place = f"{emit.memory(pointer)}[uint64({where})]"
    old = emit.fresh("old")
    if is_cas:
        raw = loaded(result.type, place)
        same = f"{old} == {texts[0]}"
        if isinstance(element, FloatType):
            same = f"bits_of({old}) == bits_of({texts[0]})"
        update = [f"{old} = {raw}", f"if {same}:", f"    {place} = {stored(result.type, texts[1])}"]
    else:
        name = str(operation.attributes["atomic_rmw_op"])
        if isinstance(element, FloatType) and name in ("max", "min"):
            raise Unsupported("atomic max of floats needs the NumPy back end")
        text = ATOMIC[name].format(old, texts[0])
        if name != "exch":
            text = number(result.type, text)
        if kind(result.type) == "bool_" and name == "add":
            raise Unsupported("atomics on booleans need the NumPy back end")
        update = [f"{old} = {loaded(result.type, place)}", f"{place} = {stored(result.type, text)}"]
    if mask != "True":
        update = [f"{old} = {held(result.type, '0')}", f"if {mask}:", *("    " + line for line in update)]
    target = f"{emit.array(result)}[{', '.join(index)}]" if is_tensor(result) else emit.name(result)
    if result.uses:
        update.append(f"{target} = {old}")
    deepest = len(point.variables)
    for line in update:
        point.write(deepest, line)
    if deepest:
        emit.emit(point.lines())
    else:
        emit.emit(point.levels[0])
    if is_tensor(result):
        emit.ready.add(result)


def guard(emit: ProgramEmitter, point: Point, pointer: Value, mask: Value | None, index: Index) -> None:
    """Guard an atomic operation like a store."""

    class Access:
        name = "tt.load"
        operands = (pointer, mask) if mask is not None else (pointer,)

    point.guard(Access(), index)  # type: ignore[arg-type]
