"""Scalar operations that take more than one expression: constants, ids, loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.numba_gen.nest import LoopBody
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter


def constant(emit: ProgramEmitter, operation: Operation) -> None:
    emit.known[operation.result] = emit.constant(operation)


def place_in_grid(emit: ProgramEmitter, operation: Operation) -> None:
    name = "pid" if operation.name == "tt.get_program_id" else "grid"
    emit.names[operation.result] = f"{name}_{operation.attributes['axis']}"


def load(emit: ProgramEmitter, operation: Operation) -> None:
    """A scalar load."""
    body = LoopBody(emit, ())
    emit.known[operation.result] = body.load(operation, ())
    emit.add(*body.statements())


def unsplat(emit: ProgramEmitter, operation: Operation) -> None:
    (source,) = operation.operands
    body = LoopBody(emit, shape_of(source.type))
    element = body.at(source, body.index)
    emit.add(*body.levels[0])
    emit.assign(operation.result, element)
