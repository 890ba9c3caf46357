"""A rewrite of TTIR for threads: in a loop, all pointers of a tile share one step. (Given.)

    p = x + offsets                         base = x
    for k in range(n):                      for k in range(n):
        total += load(p)                        total += load(base + offsets)
        p += 64                                 base += 64

A thread with 32 pointers would carry 32 registers of 64 bits, and add to each of them. The offsets, of 32 bits, stay
the same, and an addition to `base` is one instruction.

Source: LLVM's `SeparateConstOffsetFromGEP.cpp` and `LoopStrengthReduce.cpp`, which do this for single pointers.
"""

from __future__ import annotations

from typing import Any

from mini_triton.analysis.flow import carried_by
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.types import TensorType
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import insert, terminator


def share_bases(module: Operation) -> None:
    """Let all loops of a module carry one address instead of a tensor of pointers, where that is possible."""
    for loop in [operation for operation in module.walk() if operation.name == "scf.for"]:
        for place, carried in enumerate(list(carried_by(loop))):
            share_base(loop, place, *carried)


def share_base(loop: Operation, place: int, argument: Value, result: Value, initial: Value, following: Value) -> None:
    """Let a loop carry the base of pointers, if they are a base and offsets, and all move by the same number."""
    pointers, step = owner(initial, "tt.addptr"), owner(following, "tt.addptr")
    if not pointers or not step or step.operands[0] is not argument:
        return
    splat, distance = owner(pointers.operands[0], "tt.splat"), scalar_of(step)
    if not splat or not distance:
        return
    (base,), offsets, block = splat.operands, pointers.operands[1], loop.regions[0].block
    for value, first in ((argument, block.operations[0]), (result, after(loop))):
        uses, tensor, value.type = list(value.uses), value.type, base.type
        again = emit(first, "tt.addptr", emit(first, "tt.splat", value, result=tensor), offsets)
        for user, number in uses:
            user.set_operand(number, again)
    loop.set_operand(place + 3, base)
    end = terminator(block)
    end.set_operand(place, emit(end, "tt.addptr", argument, distance))


def owner(value: Value, name: str) -> Operation | None:
    """The operation with this name whose result a value is."""
    return value.owner if isinstance(value, OpResult) and value.owner.name == name else None


def scalar_of(step: Operation) -> Value | None:
    """The number by which `tt.addptr` moves all pointers; None if it may differ between pointers."""
    offsets = step.operands[1]
    if splat := owner(offsets, "tt.splat"):
        return splat.operands[0]
    if (number := constant_of(offsets)) is None or not isinstance(offsets.type, TensorType):
        return None
    return emit(step, "arith.constant", value=number, result=offsets.type.element)


def after(operation: Operation) -> Operation:
    """The next operation in the same block."""
    assert operation.parent
    operations = operation.parent.operations
    return operations[operations.index(operation) + 1]


def emit(place: Operation, name: str, *operands: Value, **attributes: Any) -> Value:
    """Insert an operation before `place`, and return its result."""
    operation = create(name, *operands, loc=place.loc, **attributes)
    insert(operation, place)
    return operation.result
