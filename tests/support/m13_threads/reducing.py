"""Reductions as TTIR, with results from NumPy: every thread's registers are compared."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.backends.threads.threads import Threads
from mini_triton.emulator.report import Report
from mini_triton.ir.core import Operation

from tests.checks import described
from tests.support.m13_threads.probing import look, threads_of

DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.uint8}
DTYPES |= {f"i{width}": np.dtype(f"i{width // 8}") for width in (8, 16, 32, 64)}
WARPS = (1, 2, 4, 8)
Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Combination:
    """A combination as TTIR, whose arguments are %a0, %a1, … and %b0, %b1, …, and as a function of arrays."""

    types: tuple[str, ...]
    body: str
    returned: tuple[str, ...]
    of_arrays: Callable[[Arrays, Arrays], Arrays] = field(repr=False)

    @property
    def text(self) -> str:
        """The region."""
        arguments = [f"%{side}{place}: {type}" for side in "ab" for place, type in enumerate(self.types)]
        end = f"tt.reduce.return {', '.join(self.returned)} : {', '.join(self.types)}"
        return f"({{\n^bb0({', '.join(arguments)}):\n{self.body}\n{end}\n}})"


def one(type: str, operation: str, of_arrays: Callable[[Any, Any], Any]) -> Combination:
    """A combination of one operation."""
    return Combination((type,), f"%c = {operation} %a0, %b0 : {type}", ("%c",), lambda a, b: [of_arrays(a[0], b[0])])


def _largest(a: Arrays, b: Arrays) -> Arrays:
    left = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
    return [np.where(left, x, y) for x, y in zip(a, b, strict=True)]


def largest(type: str, compare: str = "cmpf ogt", equal: str = "cmpf oeq") -> Combination:
    """The largest element and its first index."""
    body = f"""%g = arith.{compare}, %a0, %b0 : {type}
      %e = arith.{equal}, %a0, %b0 : {type}
      %f = arith.cmpi slt, %a1, %b1 : i32
      %h = arith.andi %e, %f : i1
      %l = arith.ori %g, %h : i1
      %v = arith.select %l, %a0, %b0 : {type}
      %i = arith.select %l, %a1, %b1 : i32"""
    return Combination((type, "i32"), body, ("%v", "%i"), _largest)


COMPLEX = Combination(
    ("i32", "i32"),
    """%p = arith.muli %a0, %b0 : i32
      %q = arith.muli %a1, %b1 : i32
      %r = arith.muli %a0, %b1 : i32
      %s = arith.muli %a1, %b0 : i32
      %re = arith.subi %p, %q : i32
      %im = arith.addi %r, %s : i32""",
    ("%re", "%im"),
    lambda a, b: [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]],
)
"""Complex numbers, multiplied: each result needs all four arguments."""
MODULO = Combination(
    ("i32",),
    """%m = arith.constant 101 : i32
      %s = arith.addi %a0, %b0 : i32
      %c = arith.remui %s, %m : i32""",
    ("%c",),
    lambda a, b: [(a[0] + b[0]) % 101],
)
"""A sum with a constant in the block."""
MIXED = Combination(
    ("i8", "i64", "f16"),
    "%x = arith.xori %a0, %b0 : i8\n%y = arith.addi %a1, %b1 : i64\n%z = arith.maxnumf %a2, %b2 : f16",
    ("%x", "%y", "%z"),
    lambda a, b: [a[0] ^ b[0], a[1] + b[1], np.maximum(a[2], b[2])],
)
"""Operands of three widths."""
SUM = one("f32", "arith.addf", np.add)
COMBINATIONS = [
    SUM,
    one("i32", "arith.addi", np.add),
    one("f16", "arith.maxnumf", np.maximum),
    one("f64", "arith.addf", np.add),
    one("i8", "arith.minsi", np.minimum),
    one("i16", "arith.addi", np.add),
    one("i64", "arith.xori", np.bitwise_xor),
    one("i1", "arith.ori", np.bitwise_or),
    one("i1", "arith.andi", np.bitwise_and),
    largest("f32"),
    largest("i64", "cmpi sgt", "cmpi eq"),
    COMPLEX,
    MODULO,
    MIXED,
]


def numbers(type: str, shape: Sequence[int], seed: int) -> np.ndarray:
    """Small integers, of which every sum is exact in every order."""
    random = np.random.default_rng(seed)
    if type == "i1":
        return (random.integers(0, 40, tuple(shape)) < random.integers(0, 41)).astype(np.uint8)
    return random.integers(0, 100, tuple(shape)).astype(DTYPES[type])


def tensor(shape: Sequence[int], type: str) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, type)))}>"


@dataclass(frozen=True)
class Reduction:
    """A reduction of tensors that are loaded. `order` are axes from the one along which neighbors in memory are."""

    shape: tuple[int, ...]
    axis: int
    combination: Combination = SUM
    order: tuple[int, ...] = ()
    warps: int = 4

    def __repr__(self) -> str:
        types = ", ".join(tensor(self.shape, type) for type in self.combination.types)
        order = f", contiguous along axis {self.memory_order[0]},"
        return f"reduce {types}{order} along axis {self.axis} by {self.warps} warps:\n{self.combination.body}\n"

    @property
    def memory_order(self) -> tuple[int, ...]:
        return self.order or tuple(reversed(range(len(self.shape))))

    @property
    def lines(self) -> str:
        """TTIR of the function's body, without its end."""
        shape, rank, offsets = self.shape, len(self.shape), tensor(self.shape, "i32")
        lines, stride = [f"%o = arith.constant dense<0> : {offsets}"], 1
        last = "%o"
        for axis in self.memory_order:
            size, type = shape[axis], tensor(shape[axis : axis + 1], "i32")
            lines.append(f"%r{axis} = tt.make_range {{start = 0 : i32, end = {size} : i32}} : {type}")
            known, name = [size], f"%r{axis}"
            for other in range(rank):
                if other != axis:
                    known.insert(other, 1)
                    made = tensor(known, "i32")
                    lines.append(f"{name}_{other} = tt.expand_dims {name} {{axis = {other} : i32}} : {type} -> {made}")
                    name, type = f"{name}_{other}", made
            lines.append(f"%s{axis} = arith.constant dense<{stride}> : {type}")
            lines.append(f"%m{axis} = arith.muli {name}, %s{axis} : {type}")
            lines.append(f"%w{axis} = tt.broadcast %m{axis} : {type} -> {offsets}")
            lines.append(f"%t{axis} = arith.addi {last}, %w{axis} : {offsets}")
            last, stride = f"%t{axis}", stride * size
        for place, type in enumerate(self.combination.types):
            stored = "i8" if type == "i1" else type
            pointers = tensor(shape, f"!tt.ptr<{stored}>")
            lines.append(f"%q{place} = tt.splat %p{place} : !tt.ptr<{stored}> -> {pointers}")
            lines.append(f"%u{place} = tt.addptr %q{place}, {last} : {pointers}, {offsets}")
            lines.append(f"%x{place} = tt.load %u{place} : {pointers}")
            if type == "i1":
                lines[-1] = f"%y{place} = tt.load %u{place} : {pointers}"
                lines.append(f"%z{place} = arith.constant dense<0> : {tensor(shape, 'i8')}")
                lines.append(f"%x{place} = arith.cmpi ne, %y{place}, %z{place} : {tensor(shape, 'i8')}")
        names = ", ".join(f"%x{place}" for place in range(len(self.combination.types)))
        types = ", ".join(tensor(shape, type) for type in self.combination.types)
        rest = [size for axis, size in enumerate(shape) if axis != self.axis]
        results = [tensor(rest, type) if rest else type for type in self.combination.types]
        count = f":{len(results)}" if len(results) > 1 else ""
        lines.append(
            f'%found{count} = "tt.reduce"({names}) <{{axis = {self.axis} : i32}}> {self.combination.text}'
            f" : ({types}) -> {'(' if count else ''}{', '.join(results)}{')' if count else ''}"
        )
        return "\n".join(lines)

    @property
    def text(self) -> str:
        """A kernel whose first parameter is a pointer for probing; then comes one for each operand."""
        stored = ["i8" if type == "i1" else type for type in self.combination.types]
        pointers = [f"%p{place}: !tt.ptr<{type}> {{tt.divisibility = 16 : i32}}" for place, type in enumerate(stored)]
        parameters = ", ".join(["%out: !tt.ptr<i64>", *pointers])
        return f"module {{\ntt.func public @k({parameters}) {{\n{self.lines}\ntt.return\n}}\n}}"

    def operands(self, seed: int) -> Arrays:
        """An array for each operand, with the tensor's axes."""
        return [numbers(type, self.shape, seed + place) for place, type in enumerate(self.combination.types)]

    def expected(self, operands: Arrays) -> Arrays:
        """The results, from NumPy."""
        rows = [[np.take(array, place, self.axis) for array in operands] for place in range(self.shape[self.axis])]
        with np.errstate(over="ignore"):
            return functools.reduce(self.combination.of_arrays, rows)

    def emit(self) -> tuple[Threads, Operation, Layout]:
        """The back end after the learner's code has run; the reduction; the layout of its operands."""
        threads, values = threads_of(self.text, self.warps)
        block = values[0].parent_block
        assert block
        operation = block.operations[-2]
        described(f"{self!r}reduce(threads, operation)", threads.block, block)()
        return threads, operation, threads.choice.of_source(operation)

    def check(self, seed: int = 0) -> tuple[Threads, Report]:
        """Compare every thread's results with NumPy's. Returns the back end, and the emulator's report."""
        __tracebackhide__ = True
        threads, operation, source = self.emit()
        layout = source.without(self.axis)
        for value in operation.results:
            assert value in threads.homes, f"{self!r}the results should be held (`threads.hold`)"
            assert threads.homes[value] == layout, (
                f"{self!r}the results should be held in layout\n  {layout}, not\n  {threads.homes[value]}"
            )
        held = [threads.all_registers(value, layout) for value in operation.results]
        registers = [register for known in held for register in known.values()]
        operands = self.operands(seed)
        inside = [np.transpose(array, self.memory_order[::-1]).copy() for array in operands]
        found, report = look(threads, registers, inside, ["b64"] * len(inside))
        assert not report.errors, f"{self!r}{report.errors[0]}{self.stores(inside)}"
        numbered = iter(range(len(registers)))
        for place, (known, right) in enumerate(zip(held, self.expected(operands), strict=True)):
            width = 8 * right.dtype.itemsize
            bits = right.view(f"u{width // 8}")
            for number in known:
                column = found[0, :, next(numbered)] & np.uint64(2**width - 1)
                for thread, got in enumerate(column):
                    index = () if layout == SCALAR else layout.index(number, thread)
                    wanted = bits[index]
                    assert got == wanted, (
                        f"{self!r}result {place} at index {index} is {got.astype(bits.dtype).view(right.dtype)} in"
                        f" register {number} of thread {thread}; it should be {right[index]}"
                    )
        return threads, report

    def stores(self, arguments: Arrays) -> str:
        """How many warps store to shared memory, as a sentence; empty if no thread has such an instruction."""
        threads, _, _ = self.emit()
        stores = [i for i in threads.lists[0] if i.opcode.startswith("st.shared")]
        guards = [store.guard for store in stores if store.guard]
        if not guards or len(guards) < len(stores):
            return ""
        found, _ = look(threads, guards, arguments, ["b64"] * len(arguments))
        count = sum(bool(found[0, first : first + 32].any()) for first in range(0, 32 * self.warps, 32))
        return f"\nof {self.warps} warps, {count} stored elements to shared memory"


@st.composite
def reductions(draw: st.DrawFn) -> Reduction:
    """Reductions of any kind, small ones first."""
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    shape = tuple(1 << size for size in sizes)
    axis = draw(st.integers(0, len(shape) - 1))
    if len(shape) == 1:
        shape = (shape[0] << draw(st.integers(0, 6)),)
    order = tuple(draw(st.permutations(range(len(shape)))))
    return Reduction(shape, axis, draw(st.sampled_from(COMBINATIONS)), order, draw(st.sampled_from(WARPS)))
