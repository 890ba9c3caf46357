"""Operations that combine elements: reductions and scans as loops, dot products, histograms, atomics."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mini_triton.codegen.combining import UFUNCS
from mini_triton.codegen.library.combine import SHORT
from mini_triton.codegen.numba_gen.expressions import TRUE, ZERO, Expression, Name, Number, Operand, apply, both
from mini_triton.codegen.numba_gen.nest import LoopBody
from mini_triton.codegen.numba_gen.plan import Access, Unsupported, is_tensor
from mini_triton.codegen.numba_gen.scalars import constant, kind, loaded, narrow, number, stored
from mini_triton.codegen.numba_gen.statements import Assign, Call, For, If, Statement, While
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import FloatType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter

EXACT_ANYHOW = ("arith.maxsi", "arith.minsi", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
"""Combinations whose result does not depend on the order, even for floats."""


def over(shape: Sequence[int], axes: Sequence[int], statements: Sequence[Statement]) -> list[Statement]:
    """Loops over some axes around statements."""
    for axis in reversed(axes):
        statements = [For(Name(f"i{axis}"), [shape[axis]], statements)]
    return list(statements)


def combination(
    emit: ProgramEmitter, operation: Operation, left: Sequence[Expression], right: Sequence[Expression]
) -> tuple[list[Statement], list[Expression]]:
    """Statements that combine two elements, and the expressions of the results."""
    block = operation.regions[0].block
    assert block.terminator
    commented, emit.commented = emit.commented, None
    with emit.body() as body:
        for argument, element in zip(block.arguments, [*left, *right], strict=True):
            emit.names.pop(argument, None)
            emit.assign(argument, element)
        for inner in block.operations[:-1]:
            if inner.name != "tt.assert":
                if inner.name in ("scf.if", "scf.for", "scf.while"):
                    emit.plan.schedule(block)
                emit.operation(inner)
    emit.commented = commented
    return body, [emit.text(value) for value in block.terminator.operands]


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
    ) -> list[Statement]:
        """Statements that combine elements."""
        body, results = combination(self.emit, self.operation, left, right)
        return [*body, *map(Assign, targets, results)]

    def inside(self, statements: Sequence[Statement]) -> list[Statement]:
        """Loops over the axes after the rows' axis."""
        return over(self.shape, range(self.axis + 1, len(self.shape)), statements)

    def write(self, *statements: Statement) -> None:
        """Write loops over the axes before the rows' axis."""
        self.emit.add(*over(self.shape, range(self.axis), statements))


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

    def write_loops(self) -> None:
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

    def call(self, function: str) -> None:
        """A call for each row."""
        row = apply("[]", self.rows[0], *self.others) if self.others else Name(self.rows[0])
        self.write(Assign(self.targets[0], apply(function, row)))

    def along(self, statements: Sequence[Statement]) -> Statement:
        """A loop along the axis, from the second element on."""
        return For(self.k, [1, self.size], statements)

    def start(self, rows: Sequence[str]) -> None:
        """The first elements."""
        self.write(*self.inside([Assign(t, self.element(row, 0)) for t, row in zip(self.targets, rows, strict=True)]))

    def one_by_one(self, sign: str) -> None:
        """The sum or the product of floats."""
        (target,), (row,) = self.targets, self.rows
        first = self.element(row, 0)
        first = apply("+", constant(self.operation.operands[0].type), first) if sign == "+" else first
        self.write(*self.inside([Assign(target, first)]))
        self.write(self.along(self.inside([Assign(target, apply(sign, target, self.element(row, self.k)))])))

    def in_order(self) -> None:
        """One element after the other."""
        (target,), (row,) = self.targets, self.rows
        if not self.is_last:
            self.start(self.rows)
            self.write(self.along(self.inside(self.combine([target], [target], [self.element(row, self.k)]))))
            return
        best = Name(self.emit.fresh(self.operation.result.name or "t"))
        loop = self.along(self.combine([best], [best], [self.element(row, self.k)]))
        self.write(Assign(best, self.element(row, 0)), loop, Assign(target, best))

    def in_pairs(self) -> None:
        """Neighbors, then neighbors of the results, and so on."""
        n, half = Name(self.emit.fresh("n")), list(self.shape)
        half[self.axis] //= 2
        halves = [
            mine or self.emit.allocate("half", half, kind(operand.type))
            for mine, operand in zip(self.own, self.operation.operands, strict=True)
        ]

        def level(source: Sequence[str], count: Operand) -> Statement:
            double = apply("*", 2, self.k)
            left, right = ([self.element(row, at) for row in source] for at in (double, apply("+", double, 1)))
            body = self.inside(self.combine([self.element(row, self.k) for row in halves], left, right))
            return For(self.k, [count], body)

        start = self.size
        if None in self.own:
            start = self.size // 2
            self.write(level(self.rows, start))
        if start > 1:
            halve = [Assign(n, Number(2), "//="), level(halves, n)]
            self.write(Assign(n, Number(start)), While(apply(">", n, 1), halve))
        self.start(halves)


def reduce(emit: ProgramEmitter, operation: Operation) -> None:
    """A reduction along an axis."""
    Reduction(emit, operation).write_loops()


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
        rows.write(For(k, [1, size], step))
    else:
        loop = For(k, [size - 1, apply("-", distance, 1), -1], step)
        body = [loop, Assign(distance, Number(2), "*=")]
        rows.write(Assign(distance, Number(1)), While(apply("<", distance, size), body))


def dot(emit: ProgramEmitter, operation: Operation) -> None:
    """A matrix product."""
    a, b = (
        (emit.work(operation, number) or emit.array(factor)) + ".T" * is_transposed
        for number, (factor, is_transposed) in enumerate(emit.plan.factors(operation))
    )
    c, result = operation.operands[2], operation.result
    target, shape = emit.array(result), shape_of(result.type)
    batch = ["i0"] if len(shape) == 3 else []
    matrices = [apply("[]", matrix, *batch) if batch else matrix for matrix in (a, b, target)]
    product = apply("add_product", *matrices, *shape[-2:], 0 if emit.plan.is_zero(c) else 1)
    emit.add(*over(shape, range(len(batch)), [Call(product)]))
    if narrow(result.type):
        place = apply("[]", target, *emit.plan.index(shape))
        emit.add(*over(shape, range(len(shape)), [Assign(place, number(result.type, place))]))
    emit.give_back([emit.work(operation, 0), emit.work(operation, 1)])


def histogram(emit: ProgramEmitter, operation: Operation) -> None:
    body = LoopBody(emit, shape_of(operation.operands[0].type))
    value, *masks = (body.at(operand, body.index) for operand in operation.operands)
    (bins,) = shape_of(operation.result.type)
    counts = emit.array(operation.result)
    count = Assign(apply("[]", counts, value), Number(1), "+=")
    body.write(-1, If(both(apply("between", 0, value, bins), *masks), [count]))
    emit.add(Assign(apply("[]", counts, ":"), ZERO), *body.statements())


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
    body = LoopBody(emit, shape_of(result.type))
    index = body.index
    values = [body.at(v, index) for v in operation.operands[1:] if v is not access.mask]
    mask = body.at(access.mask, index) if access.mask is not None else TRUE
    where = body.guard(access, index)
    assert where is not None
    place, old = emit.element(access.pointer, where), Name(emit.fresh("old"), len(body.variables))
    update: list[Statement] = [Assign(old, loaded(result.type, place))]
    if operation.name == "tt.atomic_cas":
        update.append(compare_and_swap(operation, place, old, *values))
    else:
        update.append(Assign(place, stored(result.type, combined(operation, old, *values))))
    if mask != TRUE:
        update = [Assign(old, constant(result.type)), If(mask, update)]
    target = apply("[]", emit.array(result), *index) if is_tensor(result) else Name(emit.name(result))
    if result.uses:
        update.append(Assign(target, old))
    body.write(-1, *update)
    emit.add(*body.statements())


def compare_and_swap(
    operation: Operation, place: Expression, old: Expression, expected: Expression, value: Expression
) -> Statement:
    """A statement that stores a value if the old one is the expected one, bit by bit."""
    sides = [old, expected]
    if isinstance(element_type(operation.result.type), FloatType):
        sides = [apply("bits_of", side) for side in sides]
    return If(apply("==", *sides), [Assign(place, stored(operation.result.type, value))])


def combined(operation: Operation, old: Expression, value: Expression) -> Expression:
    """The value that an atomic operation stores."""
    type, name = operation.result.type, str(operation.attributes["atomic_rmw_op"])
    if isinstance(element_type(type), FloatType) and name in ("max", "min"):
        raise Unsupported("atomic max of floats")
    if kind(type) == "bool_" and name == "add":
        raise Unsupported("atomics on booleans")
    return value if name == "exch" else number(type, ATOMIC[name](old, value))
