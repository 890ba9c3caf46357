"""Operations, other than accesses and control flow, that a template cannot describe. (Given.)"""

from __future__ import annotations

from mini_triton.analysis.axes import NONE
from mini_triton.codegen.emitter import ZERO, Emitter
from mini_triton.ir.core import Operation
from mini_triton.ir.interpreter import GPUS_ONLY
from mini_triton.ir.ops.shape import axis_of, order_of
from mini_triton.ir.storage import dtype_text
from mini_triton.ir.types import shape_of


def constant(emit: Emitter, operation: Operation) -> None:
    value, dtype = operation.attributes["value"], dtype_text(operation.result.type)
    finite = not isinstance(value, float) or abs(value) < float("inf")
    number = f"{dtype}({value})" if finite else f'{dtype}("{value}")'
    emit.assign(operation.result, emit.repeat(number, operation.result.type, NONE, emit.axes[operation.result]))


def poison(emit: Emitter, operation: Operation) -> None:
    """Write an arbitrary value."""
    number = f"{dtype_text(operation.result.type)}(0)"
    emit.assign(operation.result, emit.repeat(number, operation.result.type, NONE, emit.axes[operation.result]))


def program_id(emit: Emitter, operation: Operation) -> None:
    emit.assign(operation.result, f"programs.id({'xyz'.index(str(operation.attributes['axis']))})")


def num_programs(emit: Emitter, operation: Operation) -> None:
    emit.assign(operation.result, f"programs.count({'xyz'.index(str(operation.attributes['axis']))})")


# --- tiles


def make_range(emit: Emitter, operation: Operation) -> None:
    bounds = f"{operation.attributes['start']}, {operation.attributes['end']}"
    dtype = "" if emit.arrays == "lazy" else ", dtype=np.int32"
    emit.assign(operation.result, f"{emit.arrays}.arange({bounds}{dtype})")


def splat(emit: Emitter, operation: Operation) -> None:
    (source,), result = operation.operands, operation.result
    if emit.origins.get(source) is source:
        emit.assign(result, ZERO)
        return
    text = emit.lift(emit.text(source), emit.axes[source], len(shape_of(result.type)))
    emit.assign(result, emit.repeat(text, result.type, emit.axes[source], emit.axes[result]))


def unsplat(emit: Emitter, operation: Operation) -> None:
    (source,) = operation.operands
    text = emit.text(source)
    if emit.axes[source]:
        text = f"{text}.reshape({'P' if emit.varies(source) else '()'})"
    emit.assign(operation.result, text)


def broadcast(emit: Emitter, operation: Operation) -> None:
    """Write nothing, unless an axis of size 1 counts as varying. Elements must be repeated along such an axis."""
    (source,), result = operation.operands, operation.result
    sizes = zip(shape_of(source.type), shape_of(result.type), strict=True)
    longer = {axis for axis, (before, after) in enumerate(sizes) if before != after}
    emit.assign(result, emit.repeat(emit.text(source), result.type, emit.axes[source] - longer, emit.axes[result]))


def expand_dims(emit: Emitter, operation: Operation) -> None:
    (source,) = operation.operands
    keys = [":"] * len(shape_of(source.type))
    keys.insert(axis_of(operation), "None")
    if emit.varies(source):
        keys.insert(0, ":")
    text = emit.text(source)
    emit.assign(operation.result, f"{text}[{', '.join(keys)}]" if emit.axes[source] else text)


def trans(emit: Emitter, operation: Operation) -> None:
    (source,) = operation.operands
    order = order_of(operation)
    if emit.varies(source):
        order = (0, *(axis + 1 for axis in order))
    text = emit.text(source)
    emit.assign(operation.result, f"np.transpose({text}, {order})" if emit.axes[source] else text)


def reshape(emit: Emitter, operation: Operation) -> None:
    (source,), result = operation.operands, operation.result
    shape = emit.shape(result.type, emit.axes[result])
    emit.assign(result, f"{emit.full(source)}.reshape({shape})" if emit.axes[source] else emit.text(source))


def join(emit: Emitter, operation: Operation) -> None:
    x, y = (emit.full(operand, emit.varies(operation.result)) for operand in operation.operands)
    emit.assign(operation.result, f"np.stack(({x}, {y}), axis=-1)")


def cat(emit: Emitter, operation: Operation) -> None:
    x, y = (emit.full(operand, emit.varies(operation.result)) for operand in operation.operands)
    emit.assign(operation.result, f"np.concatenate(({x}, {y}), axis=-1)")


def split(emit: Emitter, operation: Operation) -> None:
    (source,) = operation.operands
    for i, result in enumerate(operation.results):
        emit.assign(result, f"{emit.full(source)}[..., {i}]" if emit.axes[source] else emit.text(source))


def gather(emit: Emitter, operation: Operation) -> None:
    source, indices = (emit.full(operand, emit.varies(operation.result)) for operand in operation.operands)
    axis = axis_of(operation) - len(shape_of(operation.result.type))
    emit.assign(operation.result, f"np.take_along_axis({source}, {indices}, axis={axis})")


# --- effects


def print_values(emit: Emitter, operation: Operation) -> None:
    values = "".join(f"{emit.full(operand, program=True)}, " for operand in operation.operands)
    emit.write(f"programs.show({dict(operation.attributes)!r}, ({values}), {emit.active or None})")


def assert_true(emit: Emitter, operation: Operation) -> None:
    """Write an assertion; omit it in combine functions, whose elements do not belong to a single program."""
    (condition,), parent = operation.operands, operation.parent_op
    if parent and parent.name in ("tt.reduce", "tt.scan"):
        return
    message, active = repr(operation.attributes["message"]), emit.active or None
    emit.write(f"programs.check({emit.full(condition, program=True)}, {message}, {active})")


def leave_out(emit: Emitter, operation: Operation) -> None:
    """Omit an assumption or a barrier.

    An assumption computes nothing. A barrier is unnecessary, because each line finishes before the next one starts.
    """


def refuse(emit: Emitter, operation: Operation) -> None:
    """Write a line that raises an error on the CPU. A GPU can still run the module, without this line."""
    loc = operation.loc
    place = (loc.file, loc.line, loc.column) if loc else ()
    emit.write(f"programs.refuse({GPUS_ONLY!r}, {place})")
