"""Loops that wait for what another program writes, though their condition reads no memory itself. (Given.)

    seen = tl.load(flag)
    while seen == 0:
        seen = tl.load(flag)

The condition depends on a load in the body, by way of what the loop carries. If the kernel writes that memory, too, one
program may be waiting for another. A search in memory that nobody writes does not wait.
"""

from __future__ import annotations

from mini_triton.codegen.pointers import WRITES, origins
from mini_triton.ir.core import Operation, OpResult, Value


def hands_on_a_wait(function: Operation) -> bool:
    """Whether the condition of a `while` depends on memory that its body reads and the kernel writes."""
    loops = [operation for operation in function.walk() if operation.name == "scf.while"]
    if not loops:
        return False
    leads = origins(function)
    written = {leads[operation.operands[0]] for operation in function.walk() if operation.name in WRITES}
    for operation in set().union(*map(needed, loops)):
        if operation.name in WRITES:
            return True
        if operation.name == "tt.load" and (leads[operation.operands[0]] in written or None in written):
            return True
    return False


def needed(loop: Operation) -> set[Operation]:
    """The operations in the body of a `while` that its condition depends on, in the same round or a later one."""
    before, after = (region.block for region in loop.regions)
    assert before.terminator is not None and after.terminator is not None
    condition, *forwarded = before.terminator.operands
    sources: dict[Value, Value] = dict(zip(after.arguments, forwarded, strict=True))
    sources |= dict(zip(before.arguments, after.terminator.operands, strict=True))
    found: set[Operation] = set()
    seen: set[Value] = set()
    inside = set(loop.walk()) - {loop}
    left = [condition]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in sources:
            left.append(sources[value])
        elif isinstance(value, OpResult) and value.owner in inside:
            for operation in value.owner.walk():
                found.add(operation)
                left.extend(operation.operands)
    return found
