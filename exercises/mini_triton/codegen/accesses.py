"""Pointers, and the operations that access memory.

In generated code, a pointer is an offset, in elements, from its argument: `memory.load(x, offsets)`. If the argument is
unknown, as for a pointer that was loaded from memory, a pointer is an address in bytes: `addresses.load(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.analysis.axes import ALL_PROGRAMS
from mini_triton.codegen.emitter import ZERO, Emitter
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.storage import dtype_text, numpy_dtype
from mini_triton.ir.types import Type, is_pointer, shape_of

# --- pointers (given)


def bytes_of(type: Type) -> int:
    """The size, in bytes, of the element that a pointer points to."""
    return numpy_dtype(pointee(type)).itemsize


def memory_of(emit: Emitter, pointer: Value) -> str:
    """The source of the memory to which a pointer points: `x`, or `x.read_as(np.int8)` for a different element type."""
    origin, dtype = emit.origins[pointer], dtype_text(pointee(pointer.type))
    if origin is None:
        return f"programs.memory({dtype})"  # any memory of the launch
    same = dtype == dtype_text(pointee(origin.type))
    return emit.name(origin) if same else f"{emit.name(origin)}.read_as({dtype})"


def address(emit: Emitter, value: Value) -> str:
    """The source of a pointer's address in bytes."""
    origin = emit.origins[value]
    if origin is None:
        return emit.name(value)
    same = bytes_of(value.type) == bytes_of(origin.type)
    return f"{emit.name(origin) if same else memory_of(emit, value)}.address({emit.text(value)})"


def addptr(emit: Emitter, operation: Operation) -> None:
    pointer, offset = operation.operands
    if emit.origins[pointer] is None:
        scaled = f"np.int64({bytes_of(pointer.type)}) * {emit.name(offset)}"
        emit.assign(operation.result, f"{emit.text(pointer)} + {scaled}")
    elif emit.text(pointer) == ZERO:
        emit.assign(operation.result, f"{emit.name(offset)}.astype(np.int64)")  # in int32, later sums could wrap around
    else:
        emit.assign(operation.result, f"{emit.text(pointer)} + {emit.name(offset)}")


def int_to_ptr(emit: Emitter, operation: Operation) -> None:
    emit.assign(operation.result, emit.name(operation.operands[0]))


def ptr_to_int(emit: Emitter, operation: Operation) -> None:
    emit.assign(operation.result, address(emit, operation.operands[0]))


def bitcast(emit: Emitter, operation: Operation) -> None:
    (source,) = operation.operands
    if not is_pointer(source.type):
        emit.assign(operation.result, emit.expression(operation, str(meaning(operation))))
        return
    old, new = bytes_of(source.type), bytes_of(operation.result.type)
    scale = "" if old == new or emit.origins[source] is None else f" * {old} // {new}"
    emit.assign(operation.result, f"{emit.text(source)}{scale}")


def select(emit: Emitter, operation: Operation) -> None:
    condition, x, y = operation.operands
    result = operation.result
    rank = len(shape_of(result.type)) - len(shape_of(condition.type))
    mask = emit.lift(emit.text(condition), emit.axes[condition], rank)
    by_address = is_pointer(result.type) and emit.origins[result] is None
    texts = [address(emit, value) if by_address else emit.text(value) for value in (x, y)]
    around = operation.parent_op
    if emit.axes[condition] or (around and around.name in ("tt.reduce", "tt.scan")):  # combine functions take slices
        emit.assign(result, f"{emit.arrays}.where({mask}, {', '.join(texts)})")
        return
    x_text, y_text = (  # the condition is the same for all programs
        emit.repeat(text, result.type, emit.axes[value], emit.axes[result])
        for text, value in zip(texts, (x, y), strict=True)
    )
    emit.assign(result, f"{x_text} if {mask} else {y_text}")


# --- accesses


def mask_of(emit: Emitter, values: Sequence[Value], mask: Value | None) -> str:
    """The source of an access's mask, combined with the mask of active programs; "" if there is neither.

    `values` decide what the access does, and `mask` is among them; the first has the rank of the access. Where one
    access serves all active programs, the mask of active programs is omitted.
    """
    text = emit.text(mask) if mask is not None else ""
    if not emit.active:
        return text
    # Task 6.7: `emit.active` is the source of an array with an entry for each program. If this array is [True, False],
    # and `mask` is [True, True, False] in all programs, the result computes [[True, True, False], [False] * 3].
    raise NotImplementedError("Task 6.7: Divergent branches")


def library_of(emit: Emitter, pointer: Value, module: str = "memory") -> str:
    """The library module whose functions access memory through this pointer: `addresses` for an address. (Given.)"""
    return "addresses" if emit.origins[pointer] is None else module


def load(emit: Emitter, operation: Operation) -> None:
    """Write the line `x = memory.load(buffer, offset, mask, other=other)`; omit absent arguments."""
    pointer, *rest = operation.operands
    # Task 6.5: A load has up to three operands: `x`, `x + i, inside` or `x + i, inside, 0.0`. A branch may add a mask
    # to any of them (6.7), so ask `mask_of` for the line's mask. `library_of` says which library loads.
    raise NotImplementedError("Task 6.5: Straight-line code")


def store(emit: Emitter, operation: Operation) -> None:
    """Write the line `memory.store(buffer, offset, value, mask)`; omit an absent mask."""
    pointer, value, *rest = operation.operands
    # Task 6.5: Which operands decide what a store does? If two programs store different values through the same
    # pointer, only active programs may store.
    raise NotImplementedError("Task 6.5: Straight-line code")


# --- atomics (given): one access for each program and element, even if no operand varies


def atomic_rmw(emit: Emitter, operation: Operation) -> None:
    _, value, *rest = operation.operands
    atomic(emit, operation, "rmw", [repr(operation.attributes["atomic_rmw_op"])], [value], rest[0] if rest else None)


def atomic_cas(emit: Emitter, operation: Operation) -> None:
    _, expected, value = operation.operands
    atomic(emit, operation, "cas", [], [expected, value], None)


def atomic(
    emit: Emitter, operation: Operation, function: str, first: list[str], values: Sequence[Value], mask: Value | None
) -> None:
    """Write `old = atomics.rmw("add", buffer, offset, value, shape, mask)`; omit `old` if it is unused."""
    pointer, result = operation.operands[0], operation.result
    dimensions = frozenset(range(len(shape_of(result.type))))
    shape = emit.shape(result.type, emit.axes[result] | dimensions)
    arguments = [*first, memory_of(emit, pointer), emit.text(pointer), *map(emit.text, values), shape]
    taking_part = mask_of(emit, [result, pointer], mask)
    if taking_part:
        arguments.append(taking_part)
    module = library_of(emit, pointer, "atomics")
    if result.uses:
        emit.write(f"{emit.name(result)} = {module}.{function}({', '.join(arguments)})")
        return
    if (module, function) == ("atomics", "rmw"):
        arguments.append("result=False")
    emit.write(f"{module}.{function}({', '.join(arguments)})")
