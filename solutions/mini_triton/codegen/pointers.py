"""Which argument a pointer leads into.

In generated code a pointer is an offset in elements, and the argument it started from is known when the code is
written. Where it is not, because an address was loaded from memory or one of two arguments was chosen, a pointer is a
whole address, in bytes.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, element_type


def origins(function: Operation) -> dict[Value, Value | None]:
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
                    more = {None} if sources is None else set().union(*(found.get(s, set()) for s in sources))
                    found.setdefault(value, set()).update(more)
        if found == before:
            return {value: origin.copy().pop() if len(origin) == 1 else None for value, origin in found.items()}


def _is_pointer(value: Value) -> bool:
    return isinstance(element_type(value.type), PointerType)


def _flow(operation: Operation):
    """Pairs of a value and the values that it may be, or None if it is an address."""
    regions = operation.regions
    match operation.name:
        case "tt.int_to_ptr" | "tt.load":
            yield operation.result, None
        case "scf.for":
            carried, yielded = regions[0].block.arguments[1:], regions[0].block.terminator.operands
            for argument, init, following, result in zip(carried, operation.operands[3:], yielded, operation.results):
                yield argument, (init, following)
                yield result, (init, following)
        case "scf.while":
            before, after = (region.block for region in regions)
            for argument, init, following in zip(before.arguments, operation.operands, after.terminator.operands):
                yield argument, (init, following)
            for argument, result, value in zip(after.arguments, operation.results, before.terminator.operands[1:]):
                yield argument, (value,)
                yield result, (value,)
        case "scf.if":
            if operation.results:
                yields = zip(*(region.block.terminator.operands for region in regions))
                for result, pair in zip(operation.results, yields):
                    yield result, pair
        case _:
            for result in operation.results:
                yield result, [operand for operand in operation.operands if _is_pointer(operand)]
