"""Atomic operations: each thread updates its own elements; for a scalar, one thread acts for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.nest import ThreadPoint
from mini_triton.codegen.cuda_gen.scalars import kept_as
from mini_triton.codegen.numba_gen.plan import Unsupported, is_tensor
from mini_triton.codegen.numba_gen.scalars import held, narrow
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import FloatType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter


def call(emit: ThreadEmitter, operation: Operation, where: str, texts: list[str]) -> str:
    """The call that updates one element."""
    pointer, result = operation.operands[0], operation.result
    type = element_type(result.type)
    if narrow(type) or kept_as(type) not in ("int32", "int64", "float32", "float64"):
        raise Unsupported(f"{operation.name} of {type}")
    memory = emit.memory(pointer)
    if operation.name == "tt.atomic_cas":
        if isinstance(type, FloatType):
            raise Unsupported(f"tt.atomic_cas of {type}")
        return f"atomic_cas({memory}, {where}, {texts[0]}, {texts[1]})"
    name = str(operation.attributes["atomic_rmw_op"])
    if isinstance(type, FloatType) and name != "fadd":
        raise Unsupported(f"tt.atomic_rmw {name} of {type}")
    return f"atomic_{name}({memory}, {where}, {texts[0]})"


def atomic(emit: ThreadEmitter, operation: Operation) -> None:
    pointer, value, *rest = operation.operands
    result = operation.result
    others = [value, rest[0]] if operation.name == "tt.atomic_cas" else [value]
    masks = [] if operation.name == "tt.atomic_cas" else rest
    zero = held(result.type, "0")
    if not is_tensor(result):
        text = call(emit, operation, emit.text(pointer), [emit.text(v) for v in others])
        if masks:
            text = f"{text} if {emit.text(masks[0])} else {zero}"
        emit.told(result, ["cuda.threadfence()", f"{{0}} = {text}", "cuda.threadfence()"])
        return
    point = ThreadPoint(emit, shape_of(result.type))

    def at(value: Value) -> str:
        return point.at(value, point.index if is_tensor(value) else ())[0]

    where = at(pointer)
    text = call(emit, operation, where, [at(v) for v in others])
    tests = [at(mask) for mask in masks] + [emit.owns(point.layout)]
    test = " and ".join(f"({t})" for t in tests if t and t != "True")
    if result.uses:
        if emit.owns(point.layout):
            raise Unsupported("results of atomic operations on fewer elements than threads")
        target = f"{emit.array(result)}[{point.register}]"
        point.write(2, f"{target} = {text} if {test} else {zero}" if test else f"{target} = {text}")
    elif test:
        point.write(2, f"if {test}:")
        point.write(2, f"    {text}")
    else:
        point.write(2, text)
    emit.wait_for_shared()
    origin = {emit.leads[pointer]}
    emit.keep_order(emit.reads | origin, origin)
    emit.emit(point.lines())
    emit.ready.add(result)
