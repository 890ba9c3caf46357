"""Which layout each tensor has.

Loads, stores, scans and products require layouts, and everything else follows: elementwise operations and reductions
keep the layout of an operand, and ranges and constants fit every layout. A tensor that control flow carries has the
layout of its next or initial value; if these fit every layout, it has the one that its nearest user requires.

Source: Triton's `Coalesce.cpp` and `RemoveLayoutConversions.cpp`.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence

from mini_triton.analysis.axis_info import AxisAnalysis
from mini_triton.analysis.flow import flow, sources_of
from mini_triton.backends.threads.arrangements import arrange
from mini_triton.backends.threads.fragments import Arrangement, sum_layout
from mini_triton.backends.threads.layouts import SCALAR, Index, Layout, blocked
from mini_triton.ir.core import Module, Operation, OpResult, Value
from mini_triton.ir.moves import view_of
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import I1, TensorType, Type, element_type, shape_of
from mini_triton.transforms.coalescing import Access, accesses


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Axes from the last, along which neighbors in a row are, to the first."""
    return tuple(reversed(range(len(shape))))


class Choice:
    """The layouts of a module's tensors, for programs of `warps` warps."""

    def __init__(self, module: Module, warps: int, capability: int = 0) -> None:
        self.warps, self.capability = warps, capability  # 0: a GPU without tensor cores
        self.arrangements: dict[Operation, Arrangement | None] = {}
        self.accesses: dict[Operation, Access] = {access.operation: access for access in accesses(module, warps)}
        self.carried: dict[Value, Layout] = {}  # by values of control flow
        self.known: dict[Value, Layout | None] = {}
        self.facts = AxisAnalysis(module)
        self.differing: dict[tuple[Value, Layout], int] = {}  # bits of registers of a mask that matter

    # --- layouts that operations require

    def default(self, type: Type) -> Layout:
        """A layout for any tensor: neighbors along the last axis in neighboring threads."""
        shape = shape_of(type)
        return blocked(shape, row_major(shape), {}, self.warps) if shape else SCALAR

    def of_access(self, operation: Operation) -> Layout:
        """The layout for a load or a store: a thread's block has `elements(access)` neighbors in memory.

        They are neighbors along the access's axis (`Access.axis`). Threads lie along this axis, too; beyond its end,
        they continue along the other axes, from the last to the first.
        """
        pointers = operation.operands[0].type
        access = self.accesses.get(operation)
        if access is None:
            return SCALAR  # of a number
        # [task 13.3] Return the layout.
        shape = shape_of(pointers)
        order = (access.axis, *(axis for axis in row_major(shape) if axis != access.axis))
        return blocked(shape, order, {access.axis: self.elements(access)}, self.warps)
        # [end]

    def elements(self, access: Access) -> int:
        """The number of neighbors that a thread holds along an access's axis.

        For a store, this is what one instruction moves (`Access.bytes`). For a load, it is the largest such number of
        all accesses of the module to tensors of the same shape along the same axis, even of those that the load's
        elements do not reach. So if there is a store of fp16, a load of fp32 holds eight elements, and needs two
        instructions of 16 bytes, but the elements need not change threads before the store.
        """
        # [task 13.3] Return the number of neighbors.
        own = access.bytes // access.element
        if access.operation.name == "tt.store":
            return own
        shape = shape_of(access.operation.operands[0].type)
        alike = (
            other.bytes // other.element
            for other in self.accesses.values()
            if shape_of(other.operation.operands[0].type) == shape and other.axis == access.axis
        )
        return max(own, *alike)
        # [end]

    def of_scan(self, operation: Operation) -> Layout:
        """The layout in which a scan takes its operands.

        Threads lie first along the scan's axis, then along the other axes from the last to the first. If the tensor has
        one axis, all threads of the program share it. If there are more axes, as in the shape (1, 256), the lanes of
        one warp hold the whole axis. In both cases, a thread holds as few neighbors along the axis as this allows.
        """
        # [task 13.3] Return the layout.
        shape, axis = shape_of(operation.operands[0].type), axis_of(operation)
        threads = 32 * (self.warps if len(shape) == 1 else 1)
        order = (axis, *(other for other in row_major(shape) if other != axis))
        return blocked(shape, order, {axis: max(1, shape[axis] // threads)}, self.warps)
        # [end]

    def of_product(self, operation: Operation) -> Layout:
        """The layout of a product of matrices, and of the matrix that is added to it."""
        if arranged := self.arrangement(operation):
            return sum_layout(shape_of(operation.results[0].type), arranged)
        return self.by_elements(operation)

    def arrangement(self, operation: Operation) -> Arrangement | None:
        """How warps share a product by tensor cores; None if tensor cores cannot compute it."""
        if operation not in self.arrangements:
            self.arrangements[operation] = arrange(operation, self.warps, self.capability, self.accesses)
        return self.arrangements[operation]

    def by_elements(self, operation: Operation) -> Layout:
        """A thread holds a block of a product, at most 4 x 4."""
        shape = shape_of(operation.results[0].type)
        sizes, left = {}, max(1, operation.results[0].type.numel // (32 * self.warps))  # type: ignore[union-attr]
        for axis in row_major(shape)[:2]:
            sizes[axis] = min(4, left, shape[axis])
            left //= sizes[axis]
        return blocked(shape, row_major(shape), sizes, self.warps)

    def of_source(self, operation: Operation) -> Layout:
        """The layout in which a reduction takes its operands."""
        return self.first(operation.operands) or self.default(operation.operands[0].type)

    def first_register(self, value: Value, layout: Layout, register: int) -> int:
        """The first register that is known to hold an equal element. In masks, neighbors often are equal."""
        if element_type(value.type) != I1 or layout == SCALAR:
            return layout.first(register)
        if (value, layout) not in self.differing:
            runs = [facts.constancy for facts in self.facts[value]]
            self.differing[value, layout] = sum(
                1 << bit for bit, vector in enumerate(layout.registers) if any(map(operator.ge, vector, runs))
            )
        return register & self.differing[value, layout]

    # --- layouts that follow

    def natural(self, value: Value) -> Layout | None:
        """The layout in which a value is computed; None if it fits every layout."""
        if not isinstance(value.type, TensorType):
            return SCALAR
        if value in self.carried:
            return self.carried[value]
        if value not in self.known:
            self.known[value] = None  # for a loop, which leads back to the value
            if isinstance(value, OpResult) and not traits(value.owner).flow:
                self.known[value] = self.follow(value.owner)
            else:
                self.known[value] = self.first(sources_of(value))
        return self.known[value]

    def of_value(self, value: Value) -> Layout:
        """The layout in which a value is computed; a default if it fits every layout."""
        return self.natural(value) or self.default(value.type)

    def first(self, values: Iterable[Value]) -> Layout | None:
        """The layout of the first value that does not fit every layout."""
        return next(filter(None, map(self.natural, values)), None)

    def follow(self, operation: Operation) -> Layout | None:
        """The layout of an operation's results."""
        match operation.name:
            case "tt.load":
                return self.of_access(operation)
            case "tt.reduce":
                return self.of_source(operation).without(axis_of(operation))
            case "tt.scan":
                return self.of_scan(operation)
            case "tt.dot":
                return self.of_product(operation)
            case "tt.histogram":
                return self.default(operation.results[0].type)
            case "tt.gather" | "tt.atomic_rmw" | "tt.atomic_cas":
                return self.of_value(operation.operands[1])
        if traits(operation).elementwise:
            tensors = [operand for operand in operation.operands if isinstance(operand.type, TensorType)]
            return self.first(tensors)
        return self.follow_view(operation)

    def follow_view(self, operation: Operation) -> Layout | None:
        """The layout after axes were permuted or added."""
        view = view_of(operation)
        source = self.natural(operation.operands[0]) if view else None
        shapes = [shape_of(value.type) for value in (*operation.operands[:1], *operation.results[:1])]
        if not view or not source or source == SCALAR or sorted(shapes[0]) != sorted(s for s in shapes[1] if s > 1):
            return None

        def moved(vector: Index) -> Index:
            return tuple(0 if axis is None else vector[axis] for axis in view)

        return source.map(moved)

    def wanted(self, values: Iterable[Value]) -> Layout | None:
        """The layout that the nearest user requires for one of these values, or for what elementwise operations and
        control flow make of them; None if no user requires a layout.
        """
        reached = list(values)
        for value in reached:
            for user, number in value.uses:
                if user in self.accesses:
                    return self.of_access(user)
                if user.name == "tt.dot" and number == 2:
                    return self.of_product(user)
                results = self.results_of(user, value)
                if found := self.first(results):
                    return found
                reached.extend(result for result in results if result not in reached)
        return None

    @staticmethod
    def results_of(user: Operation, value: Value) -> Sequence[Value]:
        """The values that an elementwise operation computes from a tensor, or to which control flow passes it."""
        if traits(user).elementwise:
            return user.results
        around = user if traits(user).flow else user.parent_op
        return [result for result, sources in flow(around) if value in sources] if around else []

    def carry(self, operation: Operation) -> None:
        """Choose the layouts of the values that an operation's control flow carries or returns.

        Values with the same sources, such as an argument of a loop's block and the loop's result, have one layout.
        """
        alike: dict[tuple[Value, ...], list[Value]] = defaultdict(list)
        for value, sources in flow(operation):
            alike[tuple(sources)].append(value)
        for sources, values in alike.items():
            layout = self.first(reversed(sources)) or self.wanted(values) or self.default(values[0].type)
            self.carried |= dict.fromkeys(values, layout)
            self.known.clear()  # other layouts may follow now
