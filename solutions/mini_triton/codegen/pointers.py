"""Which argument a pointer leads into. (Given.)

In generated code a pointer is an offset in elements, and the argument it started from is known when the code is
written. Where it is not, because an address was loaded from memory or one of two arguments was chosen, a pointer is a
whole address, in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, element_type

Origins = dict[Value, Value | None]
WRITES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas")


def origins(function: Operation) -> Origins:
    """For every pointer in a `tt.func` the argument that it leads into, or None for an address."""
    found: dict[Value, set[Value | None]] = {}
    for argument in function.regions[0].block.arguments:
        if _is_pointer(argument):
            found[argument] = {argument}
    while True:
        before = {value: set(origin) for value, origin in found.items()}
        for operation in function.walk():
            for value, sources in _flow(operation):
                if _is_pointer(value):
                    unknown: set[Value | None] = {None} if sources is None else set()
                    found.setdefault(value, set()).update(unknown, *(found.get(s, set()) for s in sources or ()))
        if found == before:
            return {value: next(iter(origin)) if len(origin) == 1 else None for value, origin in found.items()}


def stored_to(function: Operation, origins: Origins) -> list[str]:
    """The pointer parameters of a kernel that it may store to."""
    arguments = {origins[operation.operands[0]] for operation in function.walk() if operation.name in WRITES}
    return [argument.name for argument in function.regions[0].block.arguments if argument in arguments]


def _is_pointer(value: Value) -> bool:
    return isinstance(element_type(value.type), PointerType)


def _flow(operation: Operation) -> Iterator[tuple[Value, Sequence[Value] | None]]:
    """Pairs of a value and the values that it may be, or None if it is an address."""
    blocks = [region.block for region in operation.regions if region.blocks]
    ends = [block.terminator.operands if block.terminator else [] for block in blocks]
    match operation.name:
        case "tt.int_to_ptr" | "tt.load":
            yield operation.result, None
        case "scf.for":
            carried = blocks[0].arguments[1:]
            for argument, init, following, result in zip(
                carried, operation.operands[3:], ends[0], operation.results, strict=True
            ):
                yield argument, (init, following)
                yield result, (init, following)
        case "scf.while":
            for argument, init, following in zip(blocks[0].arguments, operation.operands, ends[1], strict=True):
                yield argument, (init, following)
            for argument, result, value in zip(blocks[1].arguments, operation.results, ends[0][1:], strict=True):
                yield argument, (value,)
                yield result, (value,)
        case "scf.if":
            if operation.results:
                for result, *pair in zip(operation.results, *ends, strict=True):
                    yield result, pair
        case _:
            for result in operation.results:
                yield result, [operand for operand in operation.operands if _is_pointer(operand)]
