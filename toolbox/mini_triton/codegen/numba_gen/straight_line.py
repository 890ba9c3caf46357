"""Scalar operations that take more than one expression: constants, ids, loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.numba_gen.nest import Point
from mini_triton.codegen.numba_gen.scalars import held, loaded
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter


def constant(emit: ProgramEmitter, operation: Operation) -> None:
    emit.names[operation.result] = emit.constant(operation)


def program_id(emit: ProgramEmitter, operation: Operation) -> None:
    emit.names[operation.result] = f"pid_{operation.attributes['axis']}"


def num_programs(emit: ProgramEmitter, operation: Operation) -> None:
    emit.names[operation.result] = f"grid_{operation.attributes['axis']}"


def load(emit: ProgramEmitter, operation: Operation) -> None:
    """A scalar load."""
    point = Point(emit, ())
    pointer, *rest = operation.operands
    point.guard(operation, ())
    text = loaded(operation.result.type, f"{emit.memory(pointer)}[uint64({emit.text(pointer)})]")
    if rest:
        other = emit.text(rest[1]) if len(rest) > 1 else held(operation.result.type, "0")
        text = f"{text} if {emit.text(rest[0])} else {other}"
    emit.emit([*point.levels[0], f"{emit.name(operation.result)} = {text}"])


def unsplat(emit: ProgramEmitter, operation: Operation) -> None:
    (source,) = operation.operands
    point = Point(emit, shape_of(source.type))
    text, _ = point.at(source, point.index)
    emit.emit([*point.levels[0], f"{emit.name(operation.result)} = {text}"])
