"""Operations that combine elements: reductions and scans as loops, dot products by BLAS, histograms, atomics."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mini_triton.codegen.combining import UFUNCS
from mini_triton.codegen.library.combine import SHORT
from mini_triton.codegen.numba_gen.expressions import TRUE, Expression, Name, Number, Operand, apply, block, both
from mini_triton.codegen.numba_gen.nest import Point
from mini_triton.codegen.numba_gen.plan import Access, Unsupported, is_tensor
from mini_triton.codegen.numba_gen.scalars import constant, kind, loaded, narrow, number, stored
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import FloatType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter

EXACT_ANYHOW = ("arith.maxsi", "arith.minsi", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
"""Combinations whose result does not depend on the order, even for floats."""


def over(shape: Sequence[int], axes: Sequence[int], lines: Sequence[str]) -> list[str]:
    """Loops over some axes around lines."""
    for axis in reversed(axes):
        lines = block(f"for i{axis} in range({shape[axis]})", lines)
    return list(lines)


def combination(
    emit: ProgramEmitter, operation: Operation, left: Sequence[Expression], right: Sequence[Expression]
) -> tuple[list[str], list[Expression]]:
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


class Rows:
    """Rows of arrays along an axis, which an operation combines element by element. (For `tt.reduce`, `tt.scan`.)"""

    def __init__(self, emit: ProgramEmitter, operation: Operation) -> None:
        self.emit, self.operation = emit, operation
        self.shape, self.axis = shape_of(operation.operands[0].type), axis_of(operation)
        self.size = self.shape[self.axis]
        self.is_last = self.axis == len(self.shape) - 1

    @functools.cached_property
    def k(self) -> Name:
        """The index along the axis."""
        return Name(self.emit.fresh("k"))

    def element(self, row: str, along: Operand) -> Expression:
        """The element at an index along the axis."""
        return apply("[]", row, *(along if i == self.axis else f"i{i}" for i in range(len(self.shape))))

    def combine(
        self, targets: Sequence[Expression], left: Sequence[Expression], right: Sequence[Expression]
    ) -> list[str]:
        """Lines that combine elements."""
        lines, results = combination(self.emit, self.operation, left, right)
        return [*lines, *(f"{target} = {result}" for target, result in zip(targets, results, strict=True))]

    def inside(self, lines: Sequence[str]) -> list[str]:
        """Loops over the axes after the rows' axis."""
        return over(self.shape, range(self.axis + 1, len(self.shape)), lines)

    def write(self, lines: Sequence[str]) -> None:
        """Write loops over the axes before the rows' axis."""
        self.emit.emit(over(self.shape, range(self.axis), lines))


class Reduction(Rows):
    """One `tt.reduce`."""

    def __init__(self, emit: ProgramEmitter, operation: Operation) -> None:
        super().__init__(emit, operation)
        count = range(len(operation.operands))
        self.rows = [emit.row(operation, n) for n in count]
        self.others = [f"i{i}" for i in range(len(self.shape)) if i != self.axis]
        self.targets = [
            apply("[]", emit.array(r), *self.others) if is_tensor(r) else Name(emit.name(r)) for r in operation.results
        ]
        self.own = [emit.work(operation, n) for n in count]

    def emit_lines(self) -> None:
        """Write the reduction."""
        name, is_free = in_any_order(self.operation)
        is_sum = name in ("arith.addf", "arith.mulf") and not narrow(self.operation.operands[0].type)
        if is_sum and not (self.is_last and self.size in SHORT):
            if name == "arith.addf" and self.is_last and self.size > 1:
                self.call("pairwise_sum")
            else:
                self.one_by_one("+" if name == "arith.addf" else "*")
        elif self.size == 1:
            self.start(self.rows)
        elif is_free and self.is_last and self.size >= 8 and name in EXACT_ANYHOW[2:]:
            self.call(f"row_{name.removeprefix('arith.')}")
        elif is_free:
            self.in_order()
        else:
            self.in_pairs()
        self.emit.give_back(self.own)
        self.emit.ready.update(filter(is_tensor, self.operation.results))

    def call(self, function: str) -> None:
        """A call for each row."""
        row = apply("[]", self.rows[0], *self.others) if self.others else Name(self.rows[0])
        self.write([f"{self.targets[0]} = {apply(function, row)}"])

    def along(self, lines: Sequence[str]) -> list[str]:
        """A loop along the axis, from the second element on."""
        return block(f"for {self.k} in range(1, {self.size})", lines)

    def start(self, rows: Sequence[str]) -> None:
        """The first elements."""
        self.write(self.inside([f"{t} = {self.element(row, 0)}" for t, row in zip(self.targets, rows, strict=True)]))

    def one_by_one(self, sign: str) -> None:
        """The sum or the product of floats."""
        (target,), (row,) = self.targets, self.rows
        first = self.element(row, 0)
        first = apply("+", constant(self.operation.operands[0].type), first) if sign == "+" else first
        self.write(self.inside([f"{target} = {first}"]))
        self.write(self.along(self.inside([f"{target} = {apply(sign, target, self.element(row, self.k))}"])))

    def in_order(self) -> None:
        """One element after the other."""
        (target,), (row,) = self.targets, self.rows
        if not self.is_last:
            self.start(self.rows)
            self.write(self.along(self.inside(self.combine([target], [target], [self.element(row, self.k)]))))
            return
        best = Name(self.emit.fresh(self.operation.result.name or "t"))
        lines = self.along(self.combine([best], [best], [self.element(row, self.k)]))
        self.write([f"{best} = {self.element(row, 0)}", *lines, f"{target} = {best}"])

    def in_pairs(self) -> None:
        """Neighbors, then neighbors of the results, and so on."""
        n, half = self.emit.fresh("n"), list(self.shape)
        half[self.axis] //= 2
        halves = [
            mine or self.emit.allocate("half", half, kind(operand.type))
            for mine, operand in zip(self.own, self.operation.operands, strict=True)
        ]

        def level(source: Sequence[str]) -> list[str]:
            double = apply("*", 2, self.k)
            left, right = ([self.element(row, at) for row in source] for at in (double, apply("+", double, 1)))
            return self.inside(self.combine([self.element(row, self.k) for row in halves], left, right))

        start = self.size
        if None in self.own:
            start = self.size // 2
            self.write(block(f"for {self.k} in range({start})", level(self.rows)))
        if start > 1:
            lines = [f"{n} //= 2", *block(f"for {self.k} in range({n})", level(halves))]
            self.write([f"{n} = {start}", *block(f"while {n} > 1", lines)])
        self.start(halves)


def reduce(emit: ProgramEmitter, operation: Operation) -> None:
    """A reduction along an axis."""
    Reduction(emit, operation).emit_lines()


def scan(emit: ProgramEmitter, operation: Operation) -> None:
    """A scan along an axis: one element after the other, or in steps with the distances 1, 2, 4, ..."""
    rows = Rows(emit, operation)
    k, size, arrays = rows.k, rows.size, [emit.array(result) for result in operation.results]
    name, _ = in_any_order(operation)
    in_turn = bool(name) and not narrow(operation.operands[0].type)
    distance: Expression = Number(1) if in_turn else Name(emit.fresh("distance"))

    def elements(along: Expression) -> list[Expression]:
        place = apply("-", size - 1, along) if operation.attributes["reverse"] else along
        return [rows.element(array, place) for array in arrays]

    step = rows.inside(rows.combine(elements(k), elements(apply("-", k, distance)), elements(k)))
    if in_turn:
        rows.write(block(f"for {k} in range(1, {size})", step))
    else:
        lines = [*block(f"for {k} in range({size - 1}, {distance} - 1, -1)", step), f"{distance} *= 2"]
        rows.write([f"{distance} = 1", *block(f"while {distance} < {size}", lines)])
    emit.ready.update(operation.results)


def dot(emit: ProgramEmitter, operation: Operation) -> None:
    """A matrix product by BLAS, in floats."""
    a, b = emit.row(operation, 0), emit.row(operation, 1)
    c, result = operation.operands[2], operation.result
    target, shape = emit.array(result), shape_of(result.type)
    zero = emit.plan.is_zero(c)
    product = emit.allocate("product", shape, "float64") if kind(result.type) == "int32" else target
    gemm = "sgemm" if kind(result.type) == "float32" else "dgemm"
    beta = 0 if zero or product != target else 1
    batch = ["i0"] if len(shape) == 3 else []
    matrices = [apply("[]", matrix, *batch) if batch else matrix for matrix in (a, b, product)]
    emit.emit(over(shape, range(len(batch)), [str(apply(gemm, *matrices, beta))]))
    place, computed = (apply("[]", array, *emit.plan.index(shape)) for array in (target, product))
    if product != target:
        value = apply("int32", computed)
        value = apply("int32", value if zero else apply("+", place, value))
        emit.emit(over(shape, range(len(shape)), [f"{place} = {value}"]))
    elif narrow(result.type):
        emit.emit(over(shape, range(len(shape)), [f"{place} = {number(result.type, place)}"]))
    emit.give_back([emit.work(operation, 0), emit.work(operation, 1)])
    emit.ready.add(result)


def histogram(emit: ProgramEmitter, operation: Operation) -> None:
    point = Point(emit, shape_of(operation.operands[0].type))
    value, *masks = (point.at(operand, point.index) for operand in operation.operands)
    (bins,) = shape_of(operation.result.type)
    counts = emit.array(operation.result)
    point.levels[-1] += block(f"if {both(apply('between', 0, value, bins), *masks)}", [f"{counts}[{value}] += 1"])
    emit.emit([f"{counts}[:] = 0", *point.lines()])
    emit.ready.add(operation.result)


# --- atomics

ATOMIC: dict[str, Callable[[Expression, Expression], Expression]] = {
    **dict.fromkeys(("add", "fadd"), functools.partial(apply, "+")),
    **{name: functools.partial(apply, sign) for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))},
    **{name: functools.partial(apply, name) for name in ("max", "min")},
    **{f"u{name}": functools.partial(apply, f"exact.{name}ui") for name in ("max", "min")},
}


def atomic(emit: ProgramEmitter, operation: Operation) -> None:
    """Update memory for each lane in turn. The results are the values read before each update."""
    access, result = Access.of(operation), operation.result
    point = Point(emit, shape_of(result.type))
    index = point.index
    where = point.at(access.pointer, index)
    values = [point.at(v, index) for v in operation.operands[1:] if v is not access.mask]
    mask = point.at(access.mask, index) if access.mask is not None else TRUE
    point.guard(access, index)
    place, old = emit.element(access.pointer, where), Name(emit.fresh("old"), len(point.variables))
    update = [f"{old} = {loaded(result.type, place)}"]
    if operation.name == "tt.atomic_cas":
        update += compare_and_swap(operation, place, old, *values)
    else:
        update.append(f"{place} = {stored(result.type, combined(operation, old, *values))}")
    if mask != TRUE:
        update = [f"{old} = {constant(result.type)}", *block(f"if {mask}", update)]
    target = apply("[]", emit.array(result), *index) if is_tensor(result) else Name(emit.name(result))
    if result.uses:
        update.append(f"{target} = {old}")
    point.levels[-1] += update
    emit.emit(point.lines())
    if is_tensor(result):
        emit.ready.add(result)


def compare_and_swap(
    operation: Operation, place: Expression, old: Expression, expected: Expression, value: Expression
) -> list[str]:
    """Lines that store a value if the old one is the expected one, bit by bit."""
    sides = [old, expected]
    if isinstance(element_type(operation.result.type), FloatType):
        sides = [apply("bits_of", side) for side in sides]
    return block(f"if {apply('==', *sides)}", [f"{place} = {stored(operation.result.type, value)}"])


def combined(operation: Operation, old: Expression, value: Expression) -> Expression:
    """The value that an atomic operation stores."""
    type, name = operation.result.type, str(operation.attributes["atomic_rmw_op"])
    if isinstance(element_type(type), FloatType) and name in ("max", "min"):
        raise Unsupported("atomic max of floats needs the NumPy back end")
    if kind(type) == "bool_" and name == "add":
        raise Unsupported("atomics on booleans need the NumPy back end")
    return value if name == "exch" else number(type, ATOMIC[name](old, value))
