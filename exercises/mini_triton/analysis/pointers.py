"""Facts about memory, found before code generation: the argument of each pointer, and loops that wait.

In generated code, a pointer is an offset, in elements, from an argument that is known during code generation. If the
argument is unknown, because an address was loaded from memory or selected from two arguments, a pointer is an address
in bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from mini_triton.analysis.flow import flow, reached, until_stable
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import READS, definitions
from mini_triton.ir.types import is_pointer

Origins = dict[Value, Value | None]
WRITES = frozenset(name for name, declared in definitions().items() if declared.accesses and declared.effects != READS)
"""Operations that write to the memory behind their first operand."""


def origins(function: Operation) -> Origins:
    """Map every pointer in a `tt.func` to its argument, or to None for an address. (Given.)"""
    nothing: frozenset[Value | None] = frozenset()
    arguments = function.regions[0].block.arguments
    found: dict[Value, frozenset[Value | None]] = {
        argument: nothing | {argument} for argument in arguments if is_pointer(argument.type)
    }

    def visit(operation: Operation) -> None:
        for value, sources in _pointers_from(operation):
            origins = [{None}] if sources is None else [found.get(source, nothing) for source in sources]
            found[value] = found.get(value, nothing).union(*origins)

    until_stable(found, function, visit)
    return {value: next(iter(origin)) if len(origin) == 1 else None for value, origin in found.items()}


def stored_to(function: Operation, leads: Origins) -> list[str]:
    """The names of the pointer parameters to which a kernel may store. (Given.)"""
    written = _written(function, leads)
    return [argument.name for argument in function.regions[0].block.arguments if argument in written]


def constants(function: Operation, leads: Origins) -> list[int]:
    """The positions of the pointer parameters to which a kernel does not store. (Given.)"""
    written, arguments = _written(function, leads), function.regions[0].block.arguments
    if None in written:
        return []
    return [place for place, value in enumerate(arguments) if is_pointer(value.type) and value not in written]


def _written(function: Operation, leads: Origins) -> set[Value | None]:
    """The pointer parameters to which a kernel stores, and None if it stores to an address."""
    return {leads[operation.operands[0]] for operation in function.walk() if operation.name in WRITES}


def _pointers_from(operation: Operation) -> Iterator[tuple[Value, Sequence[Value] | None]]:
    """Pairs of a pointer and its possible sources, or None instead of the sources if the pointer is an address."""
    pairs: Iterable[tuple[Value, Sequence[Value] | None]] = flow(operation)
    if operation.name in ("tt.int_to_ptr", "tt.load"):
        pairs = [(operation.result, None)]
    elif not operation.regions:
        sources = [operand for operand in operation.operands if is_pointer(operand.type)]
        pairs = [(result, sources) for result in operation.results]
    return (pair for pair in pairs if is_pointer(pair[0].type))


# --- loops that wait for another program


def waits(function: Operation, leads: Origins) -> bool:
    """Whether programs of a kernel may wait for one another. Such programs must not run at once.

    while tl.load(flag) == 0:
        pass
    """
    return bool(waiting_loops(function, leads))


def waiting_loops(function: Operation, leads: Origins) -> list[Operation]:
    """The `while`s whose conditions depend on memory that programs write.

    A loop does not wait if its condition depends only on memory to which no program writes.
    """
    written = _written(function, leads)
    loops = (loop for loop in function.walk() if loop.name == "scf.while")
    return [loop for loop in loops if may_change(needed(loop), leads, written)]


def may_change(operations: Iterable[Operation], leads: Origins, written: Collection[Value | None]) -> bool:
    """Whether the results of these operations may depend on what other programs write.

    `leads[pointer]` is the argument of a pointer, or None for an address, which may point anywhere. `written` contains
    the arguments to which programs write, and None if they write to an address.
    """
    # Task 6.9: If programs write only to the argument `x`, a load from `x` or from an address may change, but a load
    # from `y` may not. What may change if they write to an address? Atomic operations read and write, but a store has
    # no result that could change. Given: `WRITES`.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def needed(loop: Operation) -> set[Operation]:
    """The operations in a `while` on which its condition depends, in the same iteration or a later one. (Given.)"""
    end = loop.regions[0].block.terminator
    assert end is not None
    inside = set(loop.walk()) - {loop}
    found: set[Operation] = set()

    def sources(value: Value) -> Sequence[Value]:
        if isinstance(value, OpResult) and value.owner in inside:
            found.update(value.owner.walk())
            return [operand for operation in value.owner.walk() for operand in operation.operands]
        return dict(flow(loop)).get(value, ())

    reached([end.operands[0]], sources)
    return found
