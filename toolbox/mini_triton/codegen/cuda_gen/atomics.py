"""Atomic operations: each thread updates its own elements; for a scalar, one thread acts for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.nest import ThreadBody
from mini_triton.codegen.cuda_gen.scalars import kept_as
from mini_triton.codegen.numba_gen.expressions import TRUE, Expression, apply, both
from mini_triton.codegen.numba_gen.plan import Access, Unsupported, is_tensor
from mini_triton.codegen.numba_gen.scalars import constant, narrow
from mini_triton.ir.core import Operation
from mini_triton.ir.types import FloatType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter


def call(emit: ThreadEmitter, operation: Operation, where: Expression, values: list[Expression]) -> Expression:
    """The call that updates one element."""
    pointer, result = operation.operands[0], operation.result
    type = element_type(result.type)
    if narrow(type) or kept_as(type) not in ("int32", "int64", "float32", "float64"):
        raise Unsupported(f"{operation.name} of {type}")
    memory = emit.memory(pointer)
    if operation.name == "tt.atomic_cas":
        if isinstance(type, FloatType):
            raise Unsupported(f"tt.atomic_cas of {type}")
        return apply("atomic_cas", memory, where, *values)
    name = str(operation.attributes["atomic_rmw_op"])
    if isinstance(type, FloatType) and name != "fadd":
        raise Unsupported(f"tt.atomic_rmw {name} of {type}")
    return apply(f"atomic_{name}", memory, where, *values)


def atomic(emit: ThreadEmitter, operation: Operation) -> None:
    access, result = Access.of(operation), operation.result
    others = [value for value in operation.operands[1:] if value is not access.mask]
    zero = constant(result.type)
    if not is_tensor(result):
        update = call(emit, operation, emit.text(access.pointer), [emit.text(value) for value in others])
        if access.mask is not None:
            update = apply("if", emit.text(access.mask), update, zero)
        emit.computed_once(result, ["cuda.threadfence()", f"{{0}} = {update}", "cuda.threadfence()"])
        return
    body = ThreadBody(emit, shape_of(result.type))
    where = body.at(access.pointer, body.index)
    update = call(emit, operation, where, [body.at(value, body.index) for value in others])
    owner = emit.owns(body.layout)
    mask = body.at(access.mask, body.index) if access.mask is not None else TRUE
    tests = [test for test in (mask, owner) if test != TRUE]
    if result.uses:
        if owner != TRUE:
            raise Unsupported("results of atomic operations on fewer elements than threads")
        update = apply("if", both(*tests), update, zero) if tests else update
        body.write(2, f"{emit.array(result)}[{body.register}] = {update}")
    elif tests:
        body.write(2, f"if {both(*tests)}:")
        body.write(2, f"    {update}")
    else:
        body.write(2, str(update))
    emit.wait_for_shared()
    origin = {emit.leads[access.pointer]}
    emit.keep_order(emit.reads | origin, origin)
    emit.emit(body.lines())
    emit.ready.add(result)
