"""Facts about memory, found before code generation: the argument of each pointer, and loops that wait.

In generated code, a pointer is an offset, in elements, from an argument that is known during code generation. If the
argument is unknown, because an address was loaded from memory or selected from two arguments, a pointer is an address
in bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from mini_triton.codegen.axes import flow
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.types import PointerType, element_type

Origins = dict[Value, Value | None]
WRITES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas")


def origins(function: Operation) -> Origins:
    """Map every pointer in a `tt.func` to its argument, or to None for an address. (Given.)"""
    found: dict[Value, set[Value | None]] = {}
    for argument in function.regions[0].block.arguments:
        if _is_pointer(argument):
            found[argument] = {argument}
    while True:
        before = {value: set(origin) for value, origin in found.items()}
        for operation in function.walk():
            for value, sources in _pointers_from(operation):
                unknown: set[Value | None] = {None} if sources is None else set()
                found.setdefault(value, set()).update(unknown, *(found.get(s, set()) for s in sources or ()))
        if found == before:
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
    return [place for place, value in enumerate(arguments) if _is_pointer(value) and value not in written]


def _written(function: Operation, leads: Origins) -> set[Value | None]:
    """The pointer parameters to which a kernel stores, and None if it stores to an address."""
    return {leads[operation.operands[0]] for operation in function.walk() if operation.name in WRITES}


def _is_pointer(value: Value) -> bool:
    return isinstance(element_type(value.type), PointerType)


def _pointers_from(operation: Operation) -> Iterator[tuple[Value, Sequence[Value] | None]]:
    """Pairs of a pointer and its possible sources, or None instead of the sources if the pointer is an address."""
    pairs: Iterable[tuple[Value, Sequence[Value] | None]] = flow(operation)
    if operation.name in ("tt.int_to_ptr", "tt.load"):
        pairs = [(operation.result, None)]
    elif not operation.regions:
        sources = [operand for operand in operation.operands if _is_pointer(operand)]
        pairs = [(result, sources) for result in operation.results]
    return (pair for pair in pairs if _is_pointer(pair[0]))


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
    # from `y` may not. What may change if they write to an address? Atomic operations read, too. Given: `WRITES`.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def needed(loop: Operation) -> set[Operation]:
    """The operations in a `while` on which its condition depends, in the same iteration or a later one. (Given.)"""
    end = loop.regions[0].block.terminator
    assert end is not None
    sources = dict(flow(loop))
    found: set[Operation] = set()
    seen: set[Value] = set()
    inside = set(loop.walk()) - {loop}
    left = [end.operands[0]]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in sources:
            left.extend(sources[value])
        elif isinstance(value, OpResult) and value.owner in inside:
            for operation in value.owner.walk():
                found.add(operation)
                left.extend(operation.operands)
    return found
