"""Operations that make tensors, or only move elements.

If an operation moves elements, the trait `moves` says where from. For sizes that are powers of two, the answer is a
linear function of the index, so it turns the layout of the result into a layout of the operand.
"""

from __future__ import annotations

from mini_triton.backends.threads.elementwise import choose
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import SCALAR, Index, Layout
from mini_triton.backends.threads.threads import PLACED, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import traits


@rule(PLACED, "arith.constant", "ub.poison")
def constant(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """A constant, whose elements share a register. An undefined value is 0."""
    value, type = operation.attributes.get("value", 0), operation.results[0].type
    key = ("constant", type, repr(value))
    return threads.only_once(key, lambda: threads.constant(type, value))


@rule(PLACED, "tt.get_program_id", "tt.get_num_programs")
def program(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """A program's number, or the number of programs, along one axis of the grid."""
    register = "ctaid" if operation.name == "tt.get_program_id" else "nctaid"
    return threads.op("mov.u32", f"%{register}.{operation.attributes['axis']}")


@rule(PLACED, "tt.make_range")
def arrange(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """A number of a range."""
    start = operation.attributes["start"]
    assert isinstance(start, int)
    index = threads.coordinate(layout, 0, number)
    return threads.op("add.s32", index, start) if start else index


@rule(PLACED, "tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.trans", "tt.reshape")
def view(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """The operand's register with the element, from `threads.register`. This costs no instruction.

    `source` says where an element comes from. A scalar result, such as that of `tt.unsplat`, has the layout `SCALAR`,
    which does not determine a layout of the operand. Then take the operand in `threads.choice.of_value(operand)`.
    """
    # Task 13.4: Return the operand's register.
    raise NotImplementedError("Task 13.4: Coordinates")


def source(operation: Operation, index: Index, result: int = 0) -> tuple[int, Index]:
    """The number of the operand that has an element of a result, and the element's index there."""
    moves = traits(operation).moves
    assert moves is not None
    return moves(operation, result, index)


@rule(PLACED, "tt.split")
def split(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """An element of one half: in the operand's layout, one more bit of the register's number selects the half."""
    longer = Layout(*(tuple((*v, 0) for v in part) for part in (layout.registers, layout.lanes, layout.warps)))
    rank = len(longer.lanes[0])
    both = Layout((*longer.registers, (0,) * (rank - 1) + (1,)), longer.lanes, longer.warps)
    return threads.register(operation.operands[0], both, number | result << len(longer.registers))


@rule(PLACED, "tt.join", "tt.cat")
def join(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """A register with an element of one of two operands. `source` names the operand, and the element's place there.

    If all threads take their element from the same operand, this costs no instruction. Otherwise, each thread selects
    the element from one of two registers (`choose`); the condition is computed once for all registers of a layout.
    """
    # Task 13.4: Return a register with the element.
    raise NotImplementedError("Task 13.4: Coordinates")
