"""One program of a launch grid, run operation by operation with shadows beside its values. (Given.)

It computes the same results as `ir/interpreter.py`. The defects are in `Launch.found`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mini_triton.codegen.library import atomics, combine
from mini_triton.codegen.library.programs import Schedule
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.device_assert import DeviceAssertionError, check
from mini_triton.ir.device_print import show
from mini_triton.ir.interpreter import TERMINATORS, evaluate, refuse
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.ops.scaled import sides as sides_of
from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype, reach
from mini_triton.ir.types import shape_of
from mini_triton.sanitizer.facts import DIVISIONS, KernelFacts, place
from mini_triton.sanitizer.memory import Clock, Conflict, Memory
from mini_triton.sanitizer.reports import Ids, Report
from mini_triton.sanitizer.shadows import Origin, Origins, Shadow, Traced, both, combined, in_lanes, merged, propagate


class OutOfBudget(Exception):
    """The programs of a launch take too long."""


@dataclass
class Launch:
    """The data that the programs of a launch share: the kernel, its memory, and the defects found."""

    facts: KernelFacts
    grid: Ids
    buffers: dict[Value, Buffer]  # by parameter
    memory: Memory
    kinds: frozenset[str]
    found: dict[tuple[Any, ...], Report] = field(default_factory=dict)
    budget: float = math.inf  # of operations; see `OutOfBudget`
    on_outside: OnOutside | None = None  # None: an out-of-bounds access ends the launch

    def run(self, *arguments: Traced) -> None:
        """Run one program after the other. A program that waits for a long time lets later programs run."""
        x, y, z = self.grid
        left = (TracedProgram(self, number) for number in range(x * y * z))

        def run_next() -> bool:
            if (program := next(left, None)) is not None:
                program.run(self.facts.block, *arguments)
            return program is not None

        self.schedule = Schedule(run_next)
        while run_next():
            pass

    def add(self, key: tuple[Any, ...], report: Report) -> None:
        """Add a report, or only its count if there is already a report with this key."""
        if key in self.found:
            self.found[key].count += report.count
        else:
            self.found[key] = report

    def ids(self, number: int) -> Ids:
        """The ids of the program with this number."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


class TracedProgram:
    """One program: its values so far, and the poison among them."""

    def __init__(self, launch: Launch, number: int) -> None:
        self.launch = launch
        self.ids = launch.ids(number)
        self.clock = Clock(number)
        self.origins = Origins()
        self.values: dict[Value, Traced] = {}
        self.lost: np.ndarray | None = None  # the lanes of the last load to follow, because they were out of bounds

    def run(self, block: Block, *arguments: Traced) -> list[Traced]:
        """Run a block with these arguments; return the operands of its terminator."""
        values = self.values
        values.update(zip(block.arguments, arguments, strict=True))
        self.launch.budget -= len(block.operations)
        if self.launch.budget < 0:
            raise OutOfBudget
        for operation in block.operations:
            operands = [values[operand] for operand in operation.operands]
            if operation.name in TERMINATORS:
                return operands
            effect = EFFECTS.get(operation.name, TracedProgram.compute)
            values.update(zip(operation.results, effect(self, operation, *operands), strict=True))
        return []

    def compute(self, operation: Operation, *operands: Traced) -> Sequence[Traced]:
        """The results of an operation without effects."""
        values = evaluate(operation, [operand.value for operand in operands])
        if values is None:
            raise NotImplementedError(f"the sanitizer does not know {operation.name}")
        results = [Traced(value) for value in values]
        if any(operand.poison is not None or operand.wrapped is not None for operand in operands):
            shadows = propagate(operation, operands)
            results = [Traced(result.value, *pair) for result, pair in zip(results, shadows, strict=True)]
        if operation.name in DIVISIONS and "division" in self.launch.kinds:
            zero = np.asarray(operands[1].value == 0)
            if zero.any():
                poison = self.origins.mark(
                    zero, Origin("division", operation, "an integer is divided by zero", "", None)
                )
                results = [Traced(result.value, both(result.poison, poison), result.wrapped) for result in results]
        ufunc = self.launch.facts.exact(operation)
        if ufunc is not None and "overflow" in self.launch.kinds:
            (result,) = results
            exact = ufunc(operands[0].value, operands[1].value, dtype=np.int64)
            wrapped = exact != result.value
            if wrapped.any():
                what = f"the offset {{}} does not fit int{8 * result.value.itemsize}"
                origin = Origin("overflow", operation, what, "", np.asarray(exact))
                results = [
                    result._replace(wrapped=both(result.wrapped, self.origins.mark(np.asarray(wrapped), origin)))
                ]
        return results

    # --- reports

    def use(self, operation: Operation, shadow: Shadow, how: str, argument: str = "", elements: Any = None) -> None:
        """Report poison that matters, once for each origin. `elements` are the elements for which it is used."""
        if shadow is None:
            return
        numbers = shadow[shadow > 0]
        used = np.asarray(-1 if elements is None else elements)
        used = np.broadcast_to(used, shadow.shape)[shadow > 0]
        seen: dict[int, tuple[Origin, int, int, int]] = {}
        for number, at in zip(numbers.ravel().tolist(), used.ravel().tolist(), strict=True):
            origin, lane = self.origins.find(number)
            first = seen.get(id(origin), (origin, lane, at, 0))
            seen[id(origin)] = (*first[:3], first[3] + 1)
        for origin, lane, at, count in seen.values():
            element = None if origin.elements is None else int(origin.elements.ravel()[lane])
            report = Report(
                kind=origin.kind,
                kernel=self.launch.facts.name,
                what=origin.what.format(element),
                place=place(origin.operation),
                program=self.ids,
                use=how.format(at),
                used_at=place(operation),
                argument=origin.argument or argument,
                element=element if origin.argument else at if argument else None,
                count=count,
            )
            self.launch.add((origin.kind, origin.operation, operation, how, report.argument), report)

    # --- memory

    def name_of(self, pointer: Value) -> str:
        """The argument that a pointer leads into."""
        origin = self.launch.facts.leads[pointer]
        return "memory" if origin is None else origin.name

    def elements(self, operation: Operation, address: Any) -> np.ndarray:
        """Addresses as elements of the argument that they lead into; unchanged if the argument is unknown."""
        origin = self.launch.facts.leads[operation.operands[0]]
        if origin is None:
            return np.asarray(address)
        buffer = self.launch.buffers[origin].read_as(numpy_dtype(pointee(operation.operands[0].type)))
        return np.asarray((address - buffer.start) // buffer.data.itemsize - buffer.origin)

    def lanes(self, operation: Operation, pointer: Traced, mask: Traced | None) -> np.ndarray:
        """The lanes that access memory. Lanes whose addresses are poisoned are reported instead."""
        active = np.broadcast_to(True if mask is None else mask.value, np.shape(pointer.value))
        if mask is not None:
            self.use(operation, mask.poison, "what is accessed depends on it")
        for shadow in (pointer.poison, pointer.wrapped):
            bad = in_lanes(shadow, active)
            if bad is not None:
                name = self.name_of(operation.operands[0])
                elements = self.elements(operation, pointer.value)
                self.use(operation, bad, f"an address depends on it: that of {name}[{{}}]", name, elements)
                active = active & (bad == 0)
        return active

    def reach(
        self, operation: Operation, address: Any, active: np.ndarray
    ) -> list[tuple[Buffer, np.ndarray, np.ndarray]]:
        """Each buffer that is accessed, an index for every lane, and the lanes that access it."""
        dtype = numpy_dtype(pointee(operation.operands[0].type))
        origin = self.launch.facts.leads[operation.operands[0]]
        self.lost = None
        try:
            if origin is None:
                buffers = [buffer.read_as(dtype) for buffer in self.launch.memory.buffers]
                return list(reach(buffers, address, active))
            buffer = self.launch.buffers[origin].read_as(dtype)
            index = np.where(active, (address - buffer.start) // buffer.data.itemsize, 0)
            bad = active & ((index < 0) | (index >= buffer.data.size))
            if buffer.gaps is not None and not bad.any() and active.any():
                bad = active & buffer.gaps[index]
            if bad.any():
                lane = np.unravel_index(np.argmax(bad), bad.shape)
                error = OutOfBounds(buffer, int(index[lane]) - buffer.origin, tuple(map(int, lane)))
                error.program, error.place = self.ids, place(operation)
                if self.launch.on_outside is None:
                    raise error
                if self.launch.on_outside(self, operation, error, int(np.count_nonzero(bad))):
                    self.lost = bad
                active, index = active & ~bad, np.where(bad, 0, index)
        except OutOfBounds as error:
            error.program, error.place = self.ids, place(operation)
            raise
        return [(buffer, index, active)] if active.any() else []

    def load(
        self, operation: Operation, pointer: Traced, mask: Traced | None = None, other: Traced | None = None
    ) -> Any:
        active = self.lanes(operation, pointer, mask)
        result = np.full(active.shape, 0 if other is None else other.value, numpy_dtype(operation.results[0].type))
        poison = None if other is None else in_lanes(other.poison, ~active)
        polls = operation in self.launch.facts.polls
        if polls and not active.shape:
            self.launch.memory.acquire(int(pointer.value), self.clock)
        for buffer, index, lanes in self.reach(operation, pointer.value, active):
            result[lanes] = buffer.data[index[lanes]]
            if not polls:
                self.race(
                    operation, buffer, self.launch.memory.load(buffer, index[lanes], operation, self.clock), reads=True
                )
            never = self.launch.memory.unwritten(buffer, index) if self.launch.memory.spans else None
            if never is not None and (never & lanes).any():
                what = f"{buffer.name}[{{}}] is read, but was never written"
                origin = Origin("uninitialized", operation, what, buffer.name, index - buffer.origin)
                poison = both(poison, self.origins.mark(never & lanes, origin))
        if mask is not None and other is None and "masked" in self.launch.kinds:
            out = ~np.asarray(mask.value)
            if out.any():
                name = self.name_of(operation.operands[0])
                what = f"{name}[{{}}] is masked off, and without `other` its value is undefined"
                origin = Origin("masked", operation, what, name, self.elements(operation, pointer.value))
                poison = both(poison, self.origins.mark(out, origin))
        if self.lost is not None:
            poison = both(poison, self.origins.mark(self.lost, Origin("bounds", operation, "", "", None)))
        return [Traced(result[()], poison)]

    def store(self, operation: Operation, pointer: Traced, value: Traced, mask: Traced | None = None) -> Any:
        active = self.lanes(operation, pointer, mask)
        self.use_stored(operation, pointer, value, active)
        values = np.broadcast_to(value.value, active.shape)
        for buffer, index, lanes in self.reach(operation, pointer.value, active):
            self.race(
                operation, buffer, self.launch.memory.store(buffer, index[lanes], values[lanes], operation, self.clock)
            )
        if not active.shape and active:
            self.launch.memory.release(int(pointer.value), self.clock)
        return []

    def race(self, operation: Operation, buffer: Buffer, conflicts: Iterable[Conflict], reads: bool = False) -> None:
        """Report the conflicts of a write, or of a read, with earlier accesses."""
        for conflict in conflicts:
            element, other = conflict.at - buffer.origin, self.launch.ids(conflict.program)
            here, there = (operation, self.ids), (conflict.operation, other)
            if conflict.values:
                old, new = conflict.values
                what = f"is written twice without synchronization, {old} and then {new}"
                same = "by the same program, in another lane"
                use = f"before, it was written {same if other == self.ids else f'by program {other}'}"
            else:
                here, there = (here, there) if reads else (there, here)
                what = "is read by one program and written by another, without synchronization"
                use = f"it is written by program {there[1]}"
            report = Report(
                kind="races",
                kernel=self.launch.facts.name,
                what=f"{buffer.name}[{element}] {what}",
                place=place(here[0]),
                program=here[1],
                use=use,
                used_at=place(there[0]),
                argument=buffer.name,
                element=element,
                other=there[1],
                count=conflict.lanes,
            )
            self.launch.add(("races", here[0], there[0], buffer.name), report)

    def use_stored(self, operation: Operation, pointer: Traced, value: Traced, active: np.ndarray) -> None:
        """Report poison that is stored to memory."""
        bad = in_lanes(value.poison, active)
        if bad is not None:
            name = self.name_of(operation.operands[0])
            self.use(operation, bad, f"it is stored to {name}[{{}}]", name, self.elements(operation, pointer.value))

    def atomic(
        self, operation: Operation, mask: Traced | None, do: Callable[..., Any], pointer: Traced, *values: Traced
    ) -> Any:
        """An atomic operation, which `do(buffer, offset, *values, shape, mask)` performs."""
        active = self.lanes(operation, pointer, mask)
        for value in values:
            self.use_stored(operation, pointer, value, active)
        result = np.zeros(active.shape, numpy_dtype(operation.results[0].type))
        memory = self.launch.memory
        for buffer, index, lanes in self.reach(operation, pointer.value, active):
            never = memory.unwritten(buffer, index) if memory.spans else None
            if never is not None and (never & lanes).any():
                what = f"{buffer.name}[{{}}] is read, but was never written"
                origin = Origin("uninitialized", operation, what, buffer.name, index - buffer.origin)
                self.use(operation, self.origins.mark(never & lanes, origin), "an atomic operation reads it")
            if not self.launch.facts.waiting:
                self.race(operation, buffer, memory.load(buffer, index[lanes], operation, self.clock), reads=True)
            arrays = [np.broadcast_to(value.value, active.shape) for value in values]
            old = do(buffer, index - buffer.origin, *arrays, active.shape, lanes)
            result[lanes] = old[lanes]
            if memory.spans:
                memory.note_written(buffer, index[lanes])
            if not active.shape:
                memory.synchronize(int(pointer.value), self.clock)
        return [Traced(result[()])]

    def atomic_rmw(self, operation: Operation, pointer: Traced, value: Traced, mask: Traced | None = None) -> Any:
        name: Any = operation.attributes["atomic_rmw_op"]
        return self.atomic(operation, mask, lambda *rest: atomics.rmw(name, *rest), pointer, value)

    def atomic_cas(self, operation: Operation, pointer: Traced, expected: Traced, value: Traced) -> Any:
        return self.atomic(operation, None, atomics.cas, pointer, expected, value)

    # --- elements that are combined

    def combination(self, operation: Operation) -> Callable[..., Any]:
        """The function that combines elements."""
        return lambda *xs: tuple(x.value for x in self.run(operation.regions[0].block, *map(Traced, xs)))

    def axis(self, operation: Operation) -> int:
        axis: Any = operation.attributes["axis"]
        return axis - len(shape_of(operation.operands[0].type))

    def reduce(self, operation: Operation, *sources: Traced) -> Any:
        axis, poison = self.axis(operation), None
        values = combine.reduce(self.combination(operation), tuple(source.value for source in sources), axis)
        shadows = [source.poison for source in sources]
        if any(shadow is not None for shadow in shadows):
            poison, mixed = combined(shadows, axis)
            self.use(operation, mixed, "a reduction combines it with defined elements")
        return [Traced(value, poison) for value in values]

    def scan(self, operation: Operation, *sources: Traced) -> Any:
        axis, backwards = self.axis(operation), bool(operation.attributes["reverse"])
        values = combine.scan(self.combination(operation), tuple(source.value for source in sources), axis, backwards)
        poison = merged([source.poison for source in sources], np.shape(sources[0].value))
        if poison is not None:
            turned = np.flip(poison, axis) if backwards else poison
            poison = np.maximum.accumulate(turned, axis)
            poison = np.flip(poison, axis) if backwards else poison
        return [Traced(value, poison) for value in values]

    def dot(self, operation: Operation, a: Traced, b: Traced, c: Traced, *scales: Traced) -> Any:
        """A product of matrices, which may have scales. A row that is entirely poisoned may be unused."""
        ((value, *_),) = self.compute(operation, *(Traced(operand.value) for operand in (a, b, c, *scales)))
        sides = [(a, -1, -1), (b, -2, -2)]  # with the axis of the sums, and the axis that replaces it in the result
        if scales:
            (_, left, *_), (_, right, *_) = sides_of(operation, (a, b, c, *scales))
            sides += [(scale, -1, axis) for scale, axis in ((left, -1), (right, -2)) if scale is not None]
        poison = c.poison
        for operand, summed, axis in sides:
            if operand.poison is not None:
                whole, mixed = combined([operand.poison], summed)
                self.use(operation, mixed, "a product of matrices adds it to defined elements")
                if whole is not None:
                    size = np.shape(value)[-3 - axis]
                    lines = np.repeat(whole, size // whole.shape[-1], -1)  # packed numbers have fewer lines
                    poison = both(poison, np.broadcast_to(np.expand_dims(lines, axis), np.shape(value)))
        return [Traced(value, poison)]

    def histogram(self, operation: Operation, values: Traced, mask: Traced | None = None) -> Any:
        self.use(operation, in_lanes(values.poison, None if mask is None else mask.value), "a histogram counts it")
        operands = (values,) if mask is None else (values, mask)
        return self.compute(operation, *(Traced(operand.value) for operand in operands))

    # --- control flow

    def decide(self, operation: Operation, *conditions: Traced) -> None:
        """Report poison that decides the path of a program."""
        for condition in conditions:
            self.use(operation, condition.poison, "a branch or a loop depends on it")

    def for_(self, operation: Operation, lower: Traced, upper: Traced, one: Traced, *inits: Traced) -> Any:
        self.decide(operation, lower, upper, one)
        carried: Sequence[Traced] = inits
        dtype = np.asarray(lower.value).dtype.type
        for i in range(int(lower.value), int(upper.value), int(one.value)):
            carried = self.run(operation.regions[0].block, Traced(dtype(i)), *carried)
        return carried

    def while_(self, operation: Operation, *inits: Traced) -> Any:
        carried: Sequence[Traced] = inits
        before, after = (region.block for region in operation.regions)
        while True:
            condition, *forwarded = self.run(before, *carried)
            self.decide(operation, condition)
            if not condition.value:
                return forwarded
            if operation in self.launch.facts.waiting:
                self.launch.schedule.wait()
            carried = self.run(after, *forwarded)

    def if_(self, operation: Operation, condition: Traced) -> Any:
        self.decide(operation, condition)
        region = operation.regions[0 if condition.value else 1]
        return self.run(region.block) if region.blocks else ()

    # --- other operations

    def poison(self, operation: Operation) -> Any:
        if "uninitialized" not in self.launch.kinds:
            return self.compute(operation)
        what = "a variable has no value where the program went"
        ((value, *_),) = self.compute(operation)
        lanes = np.ones(np.shape(value), bool)
        return [Traced(value, self.origins.mark(lanes, Origin("uninitialized", operation, what, "", None)))]

    def assert_true(self, operation: Operation, condition: Traced) -> Any:
        try:
            check(condition.value, str(operation.attributes["message"]), np.ndim(condition.value))
        except DeviceAssertionError as error:
            error.kernel, error.program, error.place = self.launch.facts.name, self.ids, place(operation)
            raise
        return []

    def show(self, operation: Operation, *values: Traced) -> Any:
        show(self.ids, operation.attributes, [value.value for value in values])
        return []

    def program_id(self, operation: Operation) -> Any:
        return [Traced(np.int32(self.ids["xyz".index(str(operation.attributes["axis"]))]))]

    def num_programs(self, operation: Operation) -> Any:
        return [Traced(np.int32(self.launch.grid["xyz".index(str(operation.attributes["axis"]))]))]

    def refuse(self, operation: Operation, *_: Traced) -> Any:
        return refuse(self, operation)

    def nothing(self, operation: Operation, *_: Traced) -> Any:
        return []


OnOutside = Callable[[TracedProgram, Operation, OutOfBounds, int], bool]
"""Takes an out-of-bounds access: its program and operation, its first error, and how many lanes are out of bounds.

Returns whether to follow the values that a load returns in these lanes.
"""
EFFECTS: dict[str, Callable[..., Any]] = {
    "tt.load": TracedProgram.load,
    "tt.store": TracedProgram.store,
    "tt.atomic_rmw": TracedProgram.atomic_rmw,
    "tt.atomic_cas": TracedProgram.atomic_cas,
    "tt.reduce": TracedProgram.reduce,
    "tt.scan": TracedProgram.scan,
    "tt.dot": TracedProgram.dot,
    "tt.dot_scaled": TracedProgram.dot,
    "tt.histogram": TracedProgram.histogram,
    "scf.for": TracedProgram.for_,
    "scf.while": TracedProgram.while_,
    "scf.if": TracedProgram.if_,
    "ub.poison": TracedProgram.poison,
    "tt.assert": TracedProgram.assert_true,
    "tt.print": TracedProgram.show,
    "tt.elementwise_inline_asm": TracedProgram.refuse,
    "tt.get_program_id": TracedProgram.program_id,
    "tt.get_num_programs": TracedProgram.num_programs,
    "llvm.intr.assume": TracedProgram.nothing,
    "gpu.barrier": TracedProgram.nothing,
}
