"""Loops and branches, written in Python. A carried value becomes a variable or an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mini_triton.codegen.numba_gen.expressions import TRUE, ZERO, Expression, Name, apply
from mini_triton.codegen.numba_gen.plan import Next, is_tensor
from mini_triton.codegen.numba_gen.scalars import kind
from mini_triton.codegen.numba_gen.statements import Assign, AssignAll, Break, For, If, Statement, While
from mini_triton.ir.core import Block, Operation, OpResult, Value

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter


def pairs_of(emit: ProgramEmitter, targets: Sequence[Value], sources: Sequence[Value]) -> None:
    """The assignment `a, b = c, d` for the scalars."""
    pairs = [(Name(emit.name(t)), emit.text(s)) for t, s in zip(targets, sources, strict=True) if not is_tensor(t)]
    pairs = [(t, apply("int64", s) if s == ZERO else s) for t, s in pairs if s != t]
    if pairs:
        emit.add(AssignAll([t for t, _ in pairs], [s for _, s in pairs]))


def swap(emit: ProgramEmitter, targets: Sequence[Value]) -> None:
    """Make the arrays just written the arrays of the carried values, by exchanging the names."""
    for target in targets:
        name = emit.arrays.get(Next(target))
        if name and name != emit.array(target):
            pair = Name(emit.array(target)), Name(name)
            emit.add(AssignAll(pair, pair[::-1]))


def end_of(block: Block) -> Sequence[Value]:
    assert block.terminator
    return block.terminator.operands


def if_(emit: ProgramEmitter, operation: Operation) -> None:
    blocks = [region.block for region in operation.regions if region.blocks]
    for result in operation.results:
        if not is_tensor(result):
            emit.name(result)
    bodies: list[list[Statement]] = []
    for block in blocks:
        with emit.body() as body:
            emit.block(block)
            pairs_of(emit, operation.results, end_of(block))
        bodies.append(body)
    emit.add(If(emit.text(operation.operands[0]), *bodies))


def for_(emit: ProgramEmitter, operation: Operation) -> None:
    lower, upper, step, *inits = operation.operands
    block = operation.regions[0].block
    variable, *carried = block.arguments
    for value, result in zip(carried, operation.results, strict=True):
        if value in emit.plan.growing:
            step_so_far = Name(emit.fresh(f"{value.name or 't'}_step"))
            emit.steps[value] = emit.steps[result] = step_so_far
            emit.add(Assign(step_so_far, apply(kind(value.type), 0)))
        elif is_tensor(value):
            emit.ready.add(value)
        else:
            emit.names[result] = emit.name(value)
    pairs_of(emit, carried, inits)
    counter = Name(emit.fresh("count"))
    bounds = [emit.text(bound) for bound in (lower, upper, step)]
    with emit.body() as body:
        emit.assign(variable, apply(kind(variable.type), counter))
        emit.block(block)
        for value in carried:
            if value in emit.plan.growing:
                steps = apply("+", emit.steps[value], *(step_of(emit, step) for step in emit.plan.growing[value][1]))
                emit.add(Assign(emit.steps[value], apply(kind(value.type), steps)))
        pairs_of(emit, carried, end_of(block))
        swap(emit, carried)
    emit.add(For(counter, bounds, body))


def step_of(emit: ProgramEmitter, value: Value) -> Expression:
    if is_tensor(value):
        assert isinstance(value, OpResult)
        return emit.constant(value.owner)
    return emit.text(value)


def while_(emit: ProgramEmitter, operation: Operation) -> None:
    before, after = (region.block for region in operation.regions)
    for value in (*before.arguments, *after.arguments):
        if not is_tensor(value):
            emit.name(value)
    for value, result in zip(after.arguments, operation.results, strict=True):
        if not is_tensor(value):
            emit.names[result] = emit.names[value]
    pairs_of(emit, before.arguments, operation.operands)
    emit.ready.update(v for v in (*before.arguments, *after.arguments) if is_tensor(v))
    with emit.body() as body:
        emit.block(before)
        condition, *forwarded = end_of(before)
        going = Name(emit.fresh("going"))
        emit.add(Assign(going, emit.text(condition)))
        pairs_of(emit, after.arguments, forwarded)
        swap(emit, after.arguments)
        emit.add(If(apply("not", going), [Break()]))
        emit.block(after)
        pairs_of(emit, before.arguments, end_of(after))
        swap(emit, before.arguments)
    emit.add(While(TRUE, body))
