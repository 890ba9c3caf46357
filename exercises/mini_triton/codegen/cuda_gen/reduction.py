"""Reductions: first within a thread, then within a warp by shuffles, then through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.layout import WARP, Place, bits_text, flat, indented, runs
from mini_triton.codegen.numba_gen.combining import in_any_order
from mini_triton.codegen.numba_gen.expressions import TRUE, Name
from mini_triton.codegen.numba_gen.plan import is_tensor
from mini_triton.codegen.numba_gen.statements import printed
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter

Texts = Sequence[str]
Combine = Callable[[Texts, Texts], tuple[list[str], list[str]]]
"""A function of the expressions of two elements. Returns lines that combine them, and the expressions of the
results."""


def exchange(distance: int, parts: Texts, others: Texts, ordered: bool, combine: Combine) -> list[str]:
    """Lines that combine, in each thread, `parts` with the parts of the thread at `distance`, a power of two.

    Both threads of a pair get the same result. `shuffle_xor(part, distance)` is the other thread's part; `others` names
    the variables that receive the other thread's parts. If the order of two elements matters (`ordered`), the thread
    with the lower number holds the left element.
    """
    # Task 10.6: In the generated code, `thread` is the thread's number. `combine` takes the names of all left and all
    # right parts, because the first result of an argmax depends on both parts.
    raise NotImplementedError("Task 10.6: Threads for Numba")


def across_warp(steps: Sequence[int], parts: Texts, others: Texts, ordered: bool, combine: Combine) -> list[str]:
    """Lines that combine each thread's parts with those of the threads at distances `steps` in the same warp.

    `steps` are distances from `Layout.steps`. Distances of 32 or more reach other warps and are ignored here.
    """
    # Task 10.6: In which order must the distances come so that an `ordered` combination keeps the order of elements?
    raise NotImplementedError("Task 10.6: Threads for Numba")


class Reduction:
    """One `tt.reduce`.

    In a block of `inner * many` registers of a thread, those whose elements differ only along the axis are `inner`
    apart.
    """

    def __init__(self, emit: ThreadEmitter, operation: Operation) -> None:
        self.emit, self.operation = emit, operation
        self.axis = axis_of(operation)
        self.layout = emit.layout(shape_of(operation.operands[0].type))
        self.steps = self.layout.steps(self.axis)
        self.many = 1 << len(self.steps.registers)
        self.inner = min(self.steps.registers, default=1)
        self.outer = self.layout.registers // (self.inner * self.many)
        self.high, self.low = emit.fresh("high"), emit.fresh("low")  # select the result on which a thread works
        self.parts = [emit.fresh(result.name or "part") for result in operation.results]
        self.others = [emit.fresh("other") for _ in self.parts]
        self.warps = [distance for distance in self.steps.threads if distance >= WARP]

    def emit_lines(self) -> None:
        """Write the reduction."""
        ordered = not in_any_order(self.operation)[0]
        lines = self.in_thread() + across_warp(self.steps.threads, self.parts, self.others, ordered, self.combine)
        results = self.operation.results
        if is_tensor(results[0]) or self.warps:
            self.through_shared_memory(lines)
            return
        self.emit.emit(lines)
        for result, part in zip(results, self.parts, strict=True):
            self.emit.names[result] = part

    def combine(self, left: Texts, right: Texts) -> tuple[list[str], list[str]]:
        return combination(self.emit, self.operation, left, right)

    def combined(self, right: Texts) -> list[str]:
        """Lines that combine the parts with other elements."""
        lines, texts = self.combine(self.parts, right)
        return [*lines, f"{', '.join(self.parts)} = {', '.join(texts)}"]

    def in_thread(self) -> list[str]:
        """Lines that combine the registers of a thread along the axis."""
        stride = self.inner * self.many
        first = [f"{self.high} * {stride}" if stride > 1 else self.high] if self.outer > 1 else []
        first += [self.low] if self.inner > 1 else []
        step = self.emit.fresh("step")
        rows = [self.emit.row(self.operation, n) for n in range(len(self.operation.operands))]
        at = " + ".join(first) or "0"
        lines = [f"{part} = {row}[{at}]" for part, row in zip(self.parts, rows, strict=True)]
        if self.many > 1:
            at = " + ".join([*first, f"{step} * {self.inner}" if self.inner > 1 else step])
            round = self.combined([f"{row}[{at}]" for row in rows])
            lines += [f"for {step} in range(1, {self.many}):", *indented(round)]
        return lines

    def through_shared_memory(self, lines: list[str]) -> None:
        """Write lines by which one thread of each warp stores the warp's result, and all threads load results."""
        emit, results = self.emit, self.operation.results
        size = self.layout.size // self.layout.shape[self.axis]
        pools = [emit.pool_of(result.type, size << len(self.warps)) for result in results]
        warp = [f"thread // {distance} % 2 * {size << n}" for n, distance in enumerate(self.warps)]
        where = " + ".join([*self.place(), *warp]) or "0"
        alone = sum(distance for distance in self.steps.threads if distance < WARP)
        tests = [f"thread & {alone} == 0"] if alone else []
        tests += [str(owner)] if (owner := emit.owns(self.layout)) != TRUE else []
        write = [f"{pool.at(where)} = {pool.kept(part)}" for pool, part in zip(pools, self.parts, strict=True)]
        body = [*lines, *([f"if {' and '.join(f'({t})' for t in tests)}:", *indented(write)] if tests else write)]
        for name, count in ((self.low, self.inner), (self.high, self.outer)):
            if count > 1:
                body = [f"for {name} in range({count}):", *indented(body)]
        emit.barrier()
        emit.emit(body)
        emit.barrier()

        def read(where: str) -> list[str]:
            found = [f"{part} = {pool.read(where)}" for part, pool in zip(self.parts, pools, strict=True)]
            for n in range(1, 1 << len(self.warps)):
                there = f"{where} + {n * size}"
                found += [f"{other} = {pool.read(there)}" for other, pool in zip(self.others, pools, strict=True)]
                found += self.combined(self.others)
            return found

        if not is_tensor(results[0]):
            emit.emit(read("0"))
            emit.names.update(zip(results, self.parts, strict=True))
            return
        own, arrays = emit.layout(shape_of(results[0].type)), [emit.array(result) for result in results]
        emit.emit(
            emit.each(
                own,
                lambda index, register: [
                    *read(flat(own.shape, index)),
                    *(f"{array}[{register}] = {part}" for array, part in zip(arrays, self.parts, strict=True)),
                ],
                own=False,
            )
        )
        emit.ready.update(results)

    def place(self) -> list[str]:
        """The terms of the row-major position of the result's element on which this thread works."""
        layout = self.layout
        strides, size = {}, 1
        for axis in reversed(range(len(layout.shape))):
            if axis != self.axis:
                strides[axis], size = size, size * layout.shape[axis]

        def terms(name: str, count: int, total: int, place: Callable[[int], Place]) -> list[str]:
            bits = range((count - 1).bit_length())
            indices = [layout.index(place(1 << bit)) for bit in bits]
            values = [sum(index[axis] * stride for axis, stride in strides.items()) for index in indices]
            return [bits_text(name, first, last, total, value) for first, last, value in runs(values)]

        return [
            *terms(self.high, self.outer, self.outer, lambda bit: Place(0, bit * self.inner * self.many)),
            *terms(self.low, self.inner, self.inner, lambda bit: Place(0, bit)),
            *terms("thread", layout.owners, layout.threads, lambda bit: Place(bit, 0)),
        ]


def reduce(emit: ThreadEmitter, operation: Operation) -> None:
    """A reduction along an axis."""
    Reduction(emit, operation).emit_lines()


def combination(emit: ThreadEmitter, operation: Operation, left: Texts, right: Texts) -> tuple[list[str], list[str]]:
    """Lines that combine two elements, given by their expressions, and the expressions of the results."""
    block = operation.regions[0].block
    assert block.terminator
    commented, emit.commented = emit.commented, None
    emit.known.update(zip(block.arguments, map(Name, [*left, *right]), strict=True))
    with emit.body() as body:
        for inner in block.operations[:-1]:
            if inner.name == "tt.assert":
                continue
            if inner.regions:
                emit.plan.schedule(block)
            for result in inner.results:
                emit.names.pop(result, None)
                emit.known.pop(result, None)
            last = inner is block.operations[-2] and not inner.regions
            if last and [inner.result] == list(block.terminator.operands):
                emit.known[inner.result] = emit.elementwise(inner, [emit.text(o) for o in inner.operands])
            else:
                emit.operation(inner)
    emit.commented = commented
    return [*printed(body)], [str(emit.text(value)) for value in block.terminator.operands]
