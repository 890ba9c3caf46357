"""Find, move and replace operations in structured control flow. (Given.)

terminator(block)              the last operation of a block
is_inside(value, loop)         whether a value is defined in a block of an operation, or deeper
splice(loop, block, values)    replace an operation by the operations of one of its blocks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mini_triton.ir.core import Block, BlockArgument, Operation, OpResult, Value

LOOPS = ("scf.for", "scf.while")
STRUCTURED = (*LOOPS, "scf.if")


def blocks_of(operation: Operation) -> Iterator[Block]:
    """The blocks of an operation's regions, in order."""
    return (block for region in operation.regions for block in region.blocks)


def terminator(block: Block) -> Operation:
    """The last operation of a block, which must have one."""
    assert block.terminator is not None
    return block.terminator


def holder_of(block: Block | None) -> Operation | None:
    """The operation whose region contains a block."""
    return block.parent.parent if block and block.parent else None


def source_of(value: OpResult | BlockArgument) -> Operation:
    """The operation that defines a value, as a result or as a block argument."""
    source = value.owner if isinstance(value, OpResult) else holder_of(value.owner)
    assert source is not None
    return source


def is_inside(place: Value | Operation, around: Operation | Block) -> bool:
    """Whether a value or an operation is in `around`: in the block, in a block of the operation, or deeper."""
    block = place.parent_block if isinstance(place, Value) else place.parent
    while block is not None:
        holder = holder_of(block)
        if around is block or around is holder:
            return True
        block = holder.parent if holder else None
    return False


def insert(operation: Operation, place: Operation) -> None:
    """Insert an operation before `place`. The operation must not be in a block yet."""
    assert place.parent is not None
    place.parent.insert(place.parent.operations.index(place), operation)


def move(operation: Operation, place: Operation) -> None:
    """Move an operation to just before `place`."""
    assert operation.parent is not None
    operation.parent.operations.remove(operation)
    operation.parent = None
    insert(operation, place)


def splice(operation: Operation, block: Block, arguments: Sequence[Value]) -> None:
    """Replace an operation by the operations of one of its blocks, with these values for the block's arguments."""
    for argument, value in zip(block.arguments, arguments, strict=True):
        argument.replace_all_uses_with(value)
    for inner in block.operations[:-1]:
        move(inner, operation)
    replace_by(operation, terminator(block).operands)


def replace_by(operation: Operation, values: Sequence[Value]) -> None:
    """Replace an operation's results by these values, and erase it. Values without names get the results' names."""
    for result, value in zip(operation.results, values, strict=True):
        value.name = value.name or result.name
        result.replace_all_uses_with(value)
    operation.erase()
