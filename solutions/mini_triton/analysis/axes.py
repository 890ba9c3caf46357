"""The axes along which values vary.

Many programs run at once. A value that depends on the program's id gets a leading *program axis*; any other value is
computed once for all programs. A tensor's dimensions are treated in a similar way: all elements of a splat are equal,
so one element is enough, and NumPy broadcasts it.

Therefore, the array for an IR value of shape (M, N) has the shape (M, N), or (P, M, N) if the value varies between
programs. The size is 1 instead of M or N if the value is constant along that dimension. A value that varies along no
axis is a scalar.

Source: divergence analysis (Karrenberg and Hack, "Improving Performance of OpenCL on CPUs", 2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mini_triton.analysis.flow import flow, until_stable
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.definition import definitions
from mini_triton.ir.ops.shape import axis_of, order_of
from mini_triton.ir.types import shape_of

PROGRAM = -1
Axes = frozenset[int]
"""A set of dimensions of a value; it may also contain `PROGRAM`."""

NONE: Axes = frozenset()
ALL_PROGRAMS: Axes = frozenset({PROGRAM})

MIXING = frozenset(name for name, declared in definitions().items() if declared.mixes)
"""Operations that move or combine elements. Their results vary along all dimensions, but see `CONSTANT_STAYS`."""
CONSTANT_STAYS = frozenset(name for name in MIXING if definitions()[name].moves and definitions()[name].is_unary)
"""Operations that only move elements of one operand. If this operand varies along no axis, not even `PROGRAM`, the
results do not vary either."""


class Varying:
    """Finds the axes of every value in a `tt.func`: passes axes from operands to results until nothing changes."""

    def __init__(self, function: Operation) -> None:
        self.axes: dict[Value, Axes] = {}
        for operation in function.walk():
            for region in operation.regions:
                for block in region.blocks:
                    self.axes.update(dict.fromkeys(block.arguments, NONE))
        until_stable(self.axes, function, self.visit)  # a carried value's axes depend on the loop's body

    def of(self, *values: Value) -> Axes:
        """All axes along which any of these values is known to vary."""
        return NONE.union(*(self.axes.get(value, NONE) for value in values))

    def visit(self, operation: Operation) -> None:
        """Add the axes of an operation's results, and of the block arguments of its regions."""
        for value, axes in self.found(operation):
            self.axes[value] = self.axes.get(value, NONE) | axes

    def found(self, operation: Operation) -> Iterable[tuple[Value, Axes]]:
        """The results of an operation and the block arguments of its regions, each with its axes."""
        match operation.name:
            case "scf.for" | "scf.while":
                return self.loop(operation)
            case "scf.if":
                return [(result, self.of(*operation.operands, *pair)) for result, pair in flow(operation)]
        axes = self.result_axes(operation)
        return [(result, axes) for result in operation.results]

    def result_axes(self, operation: Operation) -> Axes:
        """The axes of the results of an operation without control flow."""
        axes = self.of(*operation.operands)
        # [task 6.4] The results of most operations vary along `axes`. The exceptions are `tt.get_program_id`,
        # `tt.make_range`, `tt.expand_dims`, `tt.trans`, `tt.reduce`, `tt.scan`, `tt.unsplat`, `tt.atomic_rmw`,
        # `tt.atomic_cas`, and the operations in `MIXING`; for these, the docstrings above say what counts as varying.
        # An operation may have no results, or two.
        match operation.name:
            case "tt.get_program_id":
                return ALL_PROGRAMS
            case "tt.make_range":
                return frozenset({0})
            case "tt.expand_dims":
                at = axis_of(operation)
                return frozenset(axis if axis < at else axis + 1 for axis in axes)
            case "tt.trans":
                order = order_of(operation)
                return frozenset(i for i, axis in enumerate(order) if axis in axes) | axes & ALL_PROGRAMS
            case "tt.reduce":
                at = axis_of(operation)
                return frozenset(axis if axis < at else axis - 1 for axis in axes if axis != at)
            case "tt.scan":
                return axes | {axis_of(operation)}
            case "tt.atomic_rmw" | "tt.atomic_cas":
                return frozenset(range(len(shape_of(operation.result.type)))) | ALL_PROGRAMS
            case "tt.unsplat":
                return axes & ALL_PROGRAMS
            case name if name in MIXING and (axes or name not in CONSTANT_STAYS):
                dimensions = range(len(shape_of(operation.results[0].type)))
                return frozenset(dimensions) | axes & ALL_PROGRAMS
        return axes
        # [end]

    def loop(self, operation: Operation) -> Iterator[tuple[Value, Axes]]:
        """The arguments of a loop's regions, and its results, each with its axes."""
        block = operation.regions[0].block
        assert block.terminator is not None
        # [task 6.8] Yield pairs of a value and its axes; no value varies without need. When a program leaves the loop,
        # a carried value of a `for`, or an argument of the second region of a `while`, becomes the program's result,
        # so these values vary like the results. The arrays of an induction variable, and of the arguments of the first
        # region of a `while`, cover only programs that are still in the loop. Given: `flow`, which yields all these
        # values except the induction variable, each with the values from which it may come.
        still: Sequence[Value] = ()
        if operation.name == "scf.for":
            lower, upper, step, *_ = operation.operands
            yield block.arguments[0], self.of(lower, step)
            trips = self.of(lower, upper, step)
        else:
            still = block.arguments
            trips = self.of(block.terminator.operands[0])
        for value, sources in flow(operation):
            yield value, self.of(*sources) | (NONE if value in still else trips)
        # [end]
