"""Scalar operations that take more than one expression: constants, ids, loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.numba_gen.expressions import apply
from mini_triton.codegen.numba_gen.nest import Point
from mini_triton.codegen.numba_gen.plan import Access
from mini_triton.codegen.numba_gen.scalars import constant as constant_of
from mini_triton.codegen.numba_gen.scalars import loaded
from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter


def constant(emit: ProgramEmitter, operation: Operation) -> None:
    emit.known[operation.result] = emit.constant(operation)


def program_id(emit: ProgramEmitter, operation: Operation) -> None:
    emit.names[operation.result] = f"pid_{operation.attributes['axis']}"


def num_programs(emit: ProgramEmitter, operation: Operation) -> None:
    emit.names[operation.result] = f"grid_{operation.attributes['axis']}"


def load(emit: ProgramEmitter, operation: Operation) -> None:
    """A scalar load."""
    point = Point(emit, ())
    pointer, *rest = operation.operands
    point.guard(Access.of(operation), ())
    element = loaded(operation.result.type, emit.element(pointer, emit.text(pointer)))
    if rest:
        other = emit.text(rest[1]) if len(rest) > 1 else constant_of(operation.result.type)
        element = apply("if", emit.text(rest[0]), element, other)
    emit.add(*point.levels[0])
    emit.assign(operation.result, element)


def unsplat(emit: ProgramEmitter, operation: Operation) -> None:
    (source,) = operation.operands
    point = Point(emit, shape_of(source.type))
    element = point.at(source, point.index)
    emit.add(*point.levels[0])
    emit.assign(operation.result, element)
