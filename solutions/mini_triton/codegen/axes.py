"""Along which axes a value varies.

A program is one of many, and all of them run at once. What depends on the program's id gets a leading *program axis*;
what does not is kept once for all. The same question is asked of a tensor's own dimensions: a splat is the same all
along, so one element will do, and NumPy's broadcasting does the rest.

So an IR value of shape (M, N) is held in an array of shape (M, N), or (P, M, N) if it varies from program to program,
with 1 in place of every dimension along which it is constant. A value that varies along none is a scalar.
"""

from __future__ import annotations

from collections.abc import Iterable

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import shape_of

PROGRAM = -1
Axes = frozenset[int]
"""Dimensions of a value, and `PROGRAM`."""

MIXING = ("tt.reshape", "tt.split", "tt.cat", "tt.gather", "tt.histogram", "tt.join", "tt.dot")
"""Operations whose elements move: the result varies along all of its dimensions."""
ONLY_IF_VARYING = MIXING[:2]  # these leave a constant constant


def varying_axes(function: Operation, batched: bool) -> dict[Value, Axes]:
    """The axes of every value in a `tt.func`. Unless it is `batched`, programs run one by one and no value varies."""
    axes: dict[Value, Axes] = {}

    def of(values: Iterable[Value]) -> Axes:
        return frozenset().union(*(axes.get(value, frozenset()) for value in values))

    changed = True

    def widen(value: Value, more: Axes) -> None:
        nonlocal changed
        wider = axes.get(value, frozenset()) | more
        changed |= wider != axes.get(value)
        axes[value] = wider

    while changed:  # a loop's carried values depend on what the body makes of them
        changed = False
        for operation in function.walk():
            for value, more in _step(operation, of, batched):
                widen(value, more)
    return axes


def _step(operation: Operation, of, batched: bool):
    """What an operation says about the axes of values, given what is known of others."""
    program = frozenset({PROGRAM})
    match operation.name:
        case "tt.get_program_id":
            return [(operation.result, program if batched else frozenset())]
        case "tt.make_range":
            return [(operation.result, frozenset({0}))]
        case "tt.expand_dims":
            at = operation.attributes["axis"]
            return [(operation.result, frozenset(a if a < at else a + 1 for a in of(operation.operands)))]
        case "tt.trans":
            axes, order = of(operation.operands), operation.attributes["order"]
            return [(operation.result, frozenset(i for i, a in enumerate(order) if a in axes) | axes & program)]
        case "tt.reduce":
            at = operation.attributes["axis"]
            axes = frozenset(a if a < at else a - 1 for a in of(operation.operands) if a != at)
            return [(result, axes) for result in operation.results]
        case "tt.scan":
            axes = of(operation.operands) | {operation.attributes["axis"]}
            return [(result, axes) for result in operation.results]
        case "tt.atomic_rmw" | "tt.atomic_cas":
            return [(operation.result, of(operation.operands) | (program if batched else frozenset()))]
        case "scf.for":
            return _for(operation, of)
        case "scf.while":
            return _while(operation, of)
        case "scf.if":
            yields = zip(*(region.block.terminator.operands for region in operation.regions if region.blocks))
            return [(r, of([operation.operands[0], *pair])) for r, pair in zip(operation.results, yields)]
    axes = of(operation.operands)
    if operation.name in MIXING and (axes or operation.name not in ONLY_IF_VARYING):
        return [(r, frozenset(range(len(shape_of(r.type)))) | axes & program) for r in operation.results]
    return [(result, axes) for result in operation.results]


def _for(operation: Operation, of):
    lower, upper, step, *inits = operation.operands
    block = operation.regions[0].block
    variable, *carried = block.arguments
    trips = of([lower, upper, step])
    yield variable, of([lower, step])
    for argument, init, following, result in zip(carried, inits, block.terminator.operands, operation.results):
        axes = of([init, following]) | trips
        yield argument, axes
        yield result, axes


def _while(operation: Operation, of):
    before, after = (region.block for region in operation.regions)
    condition, *forwarded = before.terminator.operands
    program = of([condition])
    for argument, init, following in zip(before.arguments, operation.operands, after.terminator.operands):
        yield argument, of([init, following]) | program
    for argument, result, value in zip(after.arguments, operation.results, forwarded):
        axes = of([value]) | program
        yield argument, axes
        yield result, axes
