"""Random kernels of IR: a recipe is drawn as plain data, and text is made of it.

    [("id", 0), ("splat", 0, 3), ("elementwise", "muli", 0, 1)]

A step has a name and numbers. A number picks one of the values that fit there, the latest first, and starts again
after the last one; a step for which nothing fits does nothing. So every recipe is a kernel, and a small recipe is a
small kernel. Each program stores whatever it computes and does not use further, in elements of its own. Loops end:
their bounds are small numbers, which may depend on what the program has computed so far.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module

from tests.support.interpreter import Grid, Interpretation, interpreted, places
from tests.support.m06_codegen.kernels import kernel, running, tensor
from tests.support.m06_codegen.numpy_backend import Way

SHAPES = ((1,), (4,), (8,), (2, 4), (4, 1), (1, 2), (2, 2, 2))
ELEMENTWISE = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
MOST = 32  # elements of a tensor
MEMORY = 16  # elements that a kernel may read
POINTER = "!tt.ptr<i32>"

Step = tuple[Any, ...]
Shape = tuple[int, ...]
Typed = tuple[str, Shape, str]
"""The name of a value, its shape, the type of its elements."""


# --- what moves elements: tensors that fit, then the attribute and the shape of the result


def expanded(shape: Shape, number: int) -> tuple[str, Shape]:
    at = number % (len(shape) + 1)
    return f" {{axis = {at} : i32}}", (*shape[:at], 1, *shape[at:])


def broadcast(shape: Shape, number: int) -> tuple[str, Shape]:
    axes = [axis for axis, size in enumerate(shape) if size == 1]
    axis = axes[number % len(axes)]
    return "", (*shape[:axis], 2 + 2 * (number % 2), *shape[axis + 1 :])


def transposed(shape: Shape, number: int) -> tuple[str, Shape]:
    orders = list(itertools.permutations(range(len(shape))))[1:]
    order = orders[number % len(orders)]
    return f" {{order = array<i32: {', '.join(map(str, order))}>}}", tuple(shape[axis] for axis in order)


def reshaped(shape: Shape, number: int) -> tuple[str, Shape]:
    size = math.prod(shape)
    shapes = [(size,), (1, size), *[(size // n, n) for n in (2, 4) if size % n == 0]]
    return "", shapes[number % len(shapes)]


MOVES: dict[str, tuple[Callable[[Shape], bool], Callable[[Shape, int], tuple[str, Shape]]]] = {
    "tt.expand_dims": (lambda shape: 0 < len(shape) < 3, expanded),
    "tt.broadcast": (lambda shape: 1 in shape and math.prod(shape) <= MOST // 4, broadcast),
    "tt.trans": (lambda shape: len(shape) > 1, transposed),
    "tt.reshape": (lambda shape: shape != (), reshaped),
}
PAIRS: dict[str, tuple[int, Callable[[Shape], Shape]]] = {
    "tt.join": (2, lambda shape: (*shape, 2)),
    "tt.cat": (1, lambda shape: (2 * shape[0],)),
}
"""What makes one tensor of two: the highest rank, and the shape of the result."""

# --- what combines elements a with elements b: lines, and what comes out

LARGEST = """\
%above = arith.cmpi sgt, %a0, %b0 : i32
%same = arith.cmpi eq, %a0, %b0 : i32
%before = arith.cmpi slt, %a1, %b1 : i32
%tie = arith.andi %same, %before : i1
%left = arith.ori %above, %tie : i1
%best = arith.select %left, %a0, %b0 : i32
%place = arith.select %left, %a1, %b1 : i32"""
AFFINE = """\
%factor = arith.muli %a0, %b0 : i32
%moved = arith.muli %a1, %b0 : i32
%term = arith.addi %moved, %b1 : i32"""
COMBINED = {
    **{name: (f"%s = arith.{name} %a0, %b0 : i32", "%s") for name in ELEMENTWISE if name != "subi"},
    "the first": ("", "%a0"),
    "the last": ("", "%b0"),
    "the largest, and of equal ones the first, with its index": (LARGEST, "%best, %place"),
    "functions f(x) = x * a0 + a1, one after the other": (AFFINE, "%factor, %term"),
}

# --- recipes

_small = st.integers(0, 7)


def step(name: str, *parts: Any) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(name), *parts)


IDS = step("id", _small)
COMPUTED = step("elementwise", st.sampled_from(ELEMENTWISE), _small, _small)
MEMORIES = (step("load", _small), step("load_some", _small, _small))
STRAIGHT = (
    IDS,
    COMPUTED,
    COMPUTED,
    step("range", _small, _small),
    step("splat", _small, _small),
    step("count", _small),
    step("number", st.integers(-(2**31), 2**31 - 1)),
    step("full", st.integers(-3, 20), _small),
    *(step("move", st.just(name), _small, _small) for name in MOVES),
    *(step("pair", st.just(name), _small, _small) for name in PAIRS),
    step("split", _small),
    step("gather", _small, _small),
    step("compare", st.sampled_from(PREDICATES), _small, _small),
    step("select", _small, _small, _small),
    *MEMORIES,
)
COMBINING = step("combine", st.sampled_from(["reduce", "scan"]), st.sampled_from(list(COMBINED)), _small, _small)
SIMPLE = st.one_of(IDS, COMPUTED, COMPUTED, *MEMORIES, step("store", _small), step("number", st.integers(-2, 4)))


def _nested(inner: Any) -> Any:
    body, carried = st.lists(inner, max_size=4), st.lists(st.tuples(_small, _small), max_size=3)
    return (
        step("loop", st.tuples(_small, _small, _small), carried, body)
        | step("repeat", _small, carried, body)
        | step("branch", st.tuples(_small, _small), carried, body, st.none() | body)
    )


BEGINNING: tuple[Step, ...] = (("range", 0, 3), ("load", 0), ("id", 0), ("splat", 0, 2), ("elementwise", "muli", 0, 1))
"""Eight numbers that are read, eight that each program has of its own."""


def _begun(steps: st.SearchStrategy[Step], most: int, *more: Step) -> st.SearchStrategy[list[Step]]:
    return st.lists(steps, min_size=1, max_size=most).map(lambda drawn: [*BEGINNING, *more, *drawn])


straight_lines = st.lists(st.one_of(*STRAIGHT), min_size=1, max_size=10)
reductions = _begun(st.one_of(*STRAIGHT, *[COMBINING] * 10), 6)
control_flow = _begun(st.recursive(SIMPLE, _nested, max_leaves=12), 5, ("number", 2))
numbers = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=MEMORY, max_size=MEMORY)


# --- kernels


@dataclass(frozen=True)
class Stored:
    """A value whose elements the kernel stores, and where the first program puts them."""

    name: str
    shape: Shape
    first: int


def types_of(values: Sequence[Typed]) -> str:
    return ", ".join(tensor(element, *shape) for _, shape, element in values)


def names_of(values: Sequence[Typed]) -> str:
    return ", ".join(name for name, _, _ in values)


class Writer:
    """The text of a kernel in the making, the values that may be used in the next line, and what is stored."""

    def __init__(self, grid: Grid) -> None:
        self.programs = math.prod(grid)
        self.values: list[Typed] = []
        self.used: set[str] = set()
        self.lines: list[str] = []
        self.stored: list[Stored] = []
        self.elements = 0  # that are stored
        self.counter = itertools.count()
        x, y, _ = (*grid, 1, 1)[:3]
        self.program = self.line("arith.constant 0 : i32")
        for axis, stride in zip("xyz", (1, x, x * y), strict=True):
            number, size = self.line(f"tt.get_program_id {axis} : i32"), self.line(f"arith.constant {stride} : i32")
            self.program = self.line(
                f"arith.addi {self.program}, {self.line(f'arith.muli {number}, {size} : i32')} : i32"
            )

    def write(self, steps: Sequence[Step]) -> None:
        for name, *parts in steps:
            getattr(self, name)(*parts)

    def name(self) -> str:
        return f"%v{next(self.counter)}"

    def line(self, right: str) -> str:
        """A line that computes a value, for the writer's own use."""
        name = self.name()
        self.append(f"{name} = {right}")
        return name

    def append(self, line: str) -> None:
        self.lines.append(line)
        self.used.update(re.findall(r"%\w+", line.partition(" = ")[2] or line))

    def emit(self, right: str, shape: Shape, element: str = "i32") -> str:
        """A line that computes a value."""
        name = self.line(right)
        self.values.append((name, shape, element))
        return name

    def fresh(self, values: Sequence[Typed]) -> list[Typed]:
        """New names for values of the same types."""
        return [(self.name(), shape, element) for _, shape, element in values]

    def pick(self, number: int, fits: Callable[[Shape, str], bool] = lambda shape, element: True) -> Typed | None:
        """One of the values that fit."""
        found = [value for value in self.values if fits(value[1], value[2])]
        return found[-1 - number % len(found)] if found else None

    def integers(self, number: int, shape: Shape | None = None) -> Typed | None:
        """One of the integers, of this shape."""
        return self.pick(number, lambda s, element: element == "i32" and (shape is None or s == shape))

    def two_integers(self, which: int, other: int) -> tuple[str, str, Shape] | None:
        """The names of two integers of the same shape."""
        if (x := self.integers(which)) and (y := self.integers(other, x[1])):
            return x[0], y[0], x[1]
        return None

    def constant(self, value: int, shape: Shape) -> str:
        """A number, or a tensor of it, for the writer's own use."""
        text = f"dense<{value}>" if shape else str(value)
        return self.line(f"arith.constant {text} : {tensor('i32', *shape)}")

    # --- steps

    def id(self, axis: int) -> None:
        self.emit(f"tt.get_program_id {'xyz'[axis % 3]} : i32", ())

    def count(self, axis: int) -> None:
        self.emit(f"tt.get_num_programs {'xyz'[axis % 3]} : i32", ())

    def number(self, value: int) -> None:
        self.values.append((self.constant(value, ()), (), "i32"))

    def full(self, value: int, shape: int) -> None:
        of = SHAPES[shape % len(SHAPES)]
        self.values.append((self.constant(value, of), of, "i32"))

    def range(self, start: int, power: int) -> None:
        size = 2 ** (power % 4)
        attributes = f"{{end = {start + size} : i32, start = {start} : i32}}"
        self.emit(f"tt.make_range {attributes} : {tensor('i32', size)}", (size,))

    def splat(self, which: int, shape: int) -> None:
        if found := self.pick(which, lambda s, _: s == ()):
            name, _, element = found
            of = SHAPES[shape % len(SHAPES)]
            self.emit(f"tt.splat {name} : {element} -> {tensor(element, *of)}", of, element)

    def move(self, operation: str, which: int, number: int) -> None:
        fits, result = MOVES[operation]
        if found := self.pick(which, lambda s, _: fits(s)):
            name, before, element = found
            attribute, shape = result(before, number)
            types = f"{tensor(element, *before)} -> {tensor(element, *shape)}"
            self.emit(f"{operation} {name}{attribute} : {types}", shape, element)

    def pair(self, operation: str, which: int, other: int) -> None:
        most, result = PAIRS[operation]
        first = self.pick(which, lambda s, _: 0 < len(s) <= most and math.prod(s) <= MOST // 2)
        if first and (second := self.pick(other, lambda s, element: (s, element) == first[1:])):
            name, shape, element = first
            types = f"{tensor(element, *shape)} -> {tensor(element, *result(shape))}"
            self.emit(f"{operation} {name}, {second[0]} : {types}", result(shape), element)

    def split(self, which: int) -> None:
        if found := self.pick(which, lambda s, _: len(s) > 1 and s[-1] == 2):
            name, shape, element = found
            halves = self.fresh([(name, shape[:-1], element)] * 2)
            types = f"{tensor(element, *shape)} -> {tensor(element, *shape[:-1])}"
            self.append(f"{names_of(halves)} = tt.split {name} : {types}")
            self.values += halves

    def gather(self, which: int, index: int) -> None:
        source = self.pick(which, lambda s, _: s != ())
        if source and (indices := self.integers(index, source[1])):
            name, shape, element = source
            type = tensor("i32", *shape)
            inside = self.emit(f"arith.andi {indices[0]}, {self.constant(shape[-1] - 1, shape)} : {type}", shape)
            types = f"({tensor(element, *shape)}, {type}) -> {tensor(element, *shape)}"
            self.emit(f"tt.gather {name}[{inside}] {{axis = {len(shape) - 1} : i32}} : {types}", shape, element)

    def elementwise(self, operation: str, which: int, other: int) -> None:
        if found := self.two_integers(which, other):
            x, y, shape = found
            self.emit(f"arith.{operation} {x}, {y} : {tensor('i32', *shape)}", shape)

    def compare(self, predicate: str, which: int, other: int) -> None:
        if found := self.two_integers(which, other):
            x, y, shape = found
            self.emit(f"arith.cmpi {predicate}, {x}, {y} : {tensor('i32', *shape)}", shape, "i1")

    def select(self, condition: int, which: int, other: int) -> None:
        if found := self.two_integers(which, other):
            x, y, shape = found
            if c := self.pick(condition, lambda s, element: element == "i1" and s in ((), shape)):
                types = tensor("i32", *shape) if not c[1] else f"{tensor('i1', *shape)}, {tensor('i32', *shape)}"
                self.emit(f"arith.select {c[0]}, {x}, {y} : {types}", shape)

    def combine(self, operation: str, kind: str, which: int, axis: int) -> None:
        """Combine the elements of one or two tensors along an axis."""
        first = self.pick(which, lambda shape, element: element == "i32" and shape != ())
        if not first:
            return
        shape, reverse = first[1], ""
        if operation == "scan":
            axis, reverse = axis // 2, f", reverse = {str(bool(axis % 2)).lower()}"
        at = axis % len(shape)
        lines, ends = COMBINED[kind]
        sources: list[Typed] = [first, self.integers(which + 1, shape) or first][: len(ends.split(", "))]
        results = self.fresh([("", shape if reverse else shape[:at] + shape[at + 1 :], "i32") for _ in sources])
        arguments = ", ".join(f"%{side}{i}: i32" for side in "ab" for i in range(len(sources)))
        self.lines.append(
            f'{names_of(results)} = "tt.{operation}"({names_of(sources)}) ({{\n^bb0({arguments}):\n{lines}'
        )
        self.lines.append(f"tt.{operation}.return {ends} : {', '.join(['i32'] * len(sources))}")
        types = f"({types_of(results)})" if len(sources) > 1 else types_of(results)
        self.lines.append(f"}}) {{axis = {at} : i32{reverse}}} : ({types_of(sources)}) -> {types}")
        self.values += results
        self.used.update(name for name, _, _ in sources)

    # --- memory

    def load(self, which: int) -> None:
        """What is read at an offset that was brought into range."""
        if found := self.integers(which):
            name, shape, _ = found
            inside = self.emit(
                f"arith.andi {name}, {self.constant(MEMORY - 1, shape)} : {tensor('i32', *shape)}", shape
            )
            self.emit(f"tt.load {self.pointers('%x', inside, shape)} : {tensor(POINTER, *shape)}", shape)

    def load_some(self, which: int, other: int) -> None:
        """What is read at any offset under a mask; elsewhere 0, or another value."""
        if found := self.integers(which):
            name, shape, _ = found
            type = tensor("i32", *shape)
            above = self.emit(f"arith.cmpi sge, {name}, {self.constant(0, shape)} : {type}", shape, "i1")
            below = self.emit(f"arith.cmpi slt, {name}, {self.constant(MEMORY, shape)} : {type}", shape, "i1")
            mask = self.emit(f"arith.andi {above}, {below} : {tensor('i1', *shape)}", shape, "i1")
            operands = [self.pointers("%x", name, shape), mask]
            if other % 2 and (value := self.integers(other // 2, shape)):
                operands.append(value[0])
            self.emit(f"tt.load {', '.join(operands)} : {tensor(POINTER, *shape)}", shape)

    def pointers(self, base: str, offset: str, shape: Shape) -> str:
        """Pointers to elements of an argument."""
        pointers = tensor(POINTER, *shape)
        start = self.line(f"tt.splat {base} : {POINTER} -> {pointers}") if shape else base
        return self.line(f"tt.addptr {start}, {offset} : {pointers}, {tensor('i32', *shape)}")

    def store(self, which: int) -> None:
        if found := self.pick(which):
            self.put(found)

    def put(self, value: Typed) -> None:
        """Store a value, each program in elements of its own, one after the other in the order of a tensor's."""
        name, shape, element = value
        size, first = math.prod(shape), self.elements
        self.stored.append(Stored(name, shape, first))
        self.elements += size * self.programs
        if element == "i1":
            name = self.line(f"arith.extui {name} : {tensor('i1', *shape)} to {tensor('i32', *shape)}")
        rows = self.line(f"arith.muli {self.program}, {self.line(f'arith.constant {size} : i32')} : i32")
        start = self.line(f"arith.addi {rows}, {self.line(f'arith.constant {first} : i32')} : i32")
        place = self.line(f"tt.addptr %out, {start} : {POINTER}, i32")
        if shape:
            flat = tensor("i32", size)
            lanes = self.line(f"tt.make_range {{end = {size} : i32, start = 0 : i32}} : {flat}")
            offset = self.line(f"tt.reshape {lanes} : {flat} -> {tensor('i32', *shape)}")
            place = self.pointers(place, offset, shape)
        self.append(f"tt.store {place}, {name} : {tensor(POINTER, *shape)}")

    # --- control flow

    def small(self, number: int, limit: int) -> str:
        """A number of the program's from 0 to `limit`, which is 1 or 3."""
        found = self.integers(number, ())
        return self.line(f"arith.andi {found[0] if found else self.program}, {self.constant(limit, ())} : i32")

    def carried(self, pairs: Sequence[tuple[int, int]]) -> list[Typed]:
        """The values with which a loop begins, or whose types a branch yields."""
        return [value for first, _ in pairs if (value := self.pick(first))]

    def block(
        self, steps: Sequence[Step], arguments: Sequence[Typed], kept: Sequence[tuple[Typed, int]]
    ) -> list[Typed]:
        """Steps in a scope of their own; a value of the type of each that is kept."""
        outside = list(self.values)
        self.values += arguments
        self.write(steps)
        ends = [self.pick(number, lambda *type, like=like: type == like[1:]) or like for like, number in kept]
        self.values = outside
        return ends

    def end(self, values: Sequence[Typed], word: str = "scf.yield") -> None:
        if values:
            self.append(f"{word} {names_of(values)} : {types_of(values)}")

    def loop(self, bounds: tuple[int, int, int], pairs: Sequence[tuple[int, int]], body: Sequence[Step]) -> None:
        lower, upper = self.small(bounds[0], 3), self.small(bounds[1], 3)
        by = self.line(f"arith.addi {self.small(bounds[2], 1)}, {self.constant(1, ())} : i32")
        inits, variable = self.carried(pairs), self.name()
        arguments, results = self.fresh(inits), self.fresh(inits)
        head = f"scf.for {variable} = {lower} to {upper} step {by}"
        if inits:
            bound = ", ".join(f"{new[0]} = {old[0]}" for new, old in zip(arguments, inits, strict=True))
            head = f"{names_of(results)} = {head} iter_args({bound}) -> ({types_of(inits)})"
        self.append(f"{head} : i32 {{")
        kept = list(zip(inits, (after for _, after in pairs), strict=True))
        self.end(self.block(body, [(variable, (), "i32"), *arguments], kept))
        self.append("}")
        self.values += results

    def repeat(self, times: int, pairs: Sequence[tuple[int, int]], body: Sequence[Step]) -> None:
        """A while loop of a few rounds, which counts down."""
        inits = [(self.small(times, 3), (), "i32"), *self.carried(pairs)]
        zero, one = self.constant(0, ()), self.constant(1, ())
        before, after, results = self.fresh(inits), self.fresh(inits), self.fresh(inits)
        bound = ", ".join(f"{new[0]} = {old[0]}" for new, old in zip(before, inits, strict=True))
        types = types_of(inits)
        self.append(f"{names_of(results)} = scf.while ({bound}) : ({types}) -> ({types}) {{")
        goes_on = self.line(f"arith.cmpi sgt, {before[0][0]}, {zero} : i32")
        self.end(before, f"scf.condition({goes_on})")
        self.append("} do {")
        self.append(f"^bb0({', '.join(f'{name}: {tensor(element, *shape)}' for name, shape, element in after)}):")
        left = self.line(f"arith.subi {after[0][0]}, {one} : i32")
        kept = list(zip(inits[1:], (number for _, number in pairs), strict=True))
        self.end([(left, (), "i32"), *self.block(body, after, kept)])
        self.append("}")
        self.values += results

    def branch(
        self,
        compared: tuple[int, int],
        pairs: Sequence[tuple[int, int]],
        body: Sequence[Step],
        other: Sequence[Step] | None,
    ) -> None:
        x, y = (found[0] if (found := self.integers(number, ())) else self.program for number in compared)
        condition = self.line(f"arith.cmpi slt, {x}, {y} : i32")
        kept = [] if other is None else self.carried(pairs)
        results = self.fresh(kept)
        head = f"{names_of(results)} = scf.if {condition} -> ({types_of(kept)})" if kept else f"scf.if {condition}"
        self.append(f"{head} {{")
        ends = [list(zip(kept, side)) for side in zip(*pairs, strict=True)] or [[], []]  # noqa: B905
        self.end(self.block(body, [], ends[0] if kept else []))
        if other is not None:
            self.append("} else {")
            self.end(self.block(other, [], ends[1] if kept else []))
        self.append("}")
        self.values += results


def judge(
    steps: Sequence[Step], memory: Sequence[int], grid: Grid, mode: Way = "batched"
) -> tuple[Module, Interpretation]:
    """Every program stores what an interpreter says, which knows nothing of the compiler's own."""
    __tracebackhide__ = True
    writer = Writer(grid)
    writer.write(steps)
    for value in [value for value in writer.values if value[0] not in writer.used]:
        writer.put(value)
    text = kernel("x: *i32, out: *i32", *writer.lines)
    module = parse_module(text)
    x, out = np.array(memory, np.int32), np.full(writer.elements, -77, np.int32)
    (function,) = module.body.operations
    right = interpreted(function, grid, np.concatenate([x, out]).astype(np.int32), (0, len(x)))
    call = running(text, grid, [x, out], mode=mode)
    got_x, got = call.succeeds("all programs run")
    if (got_x != x).any():
        call.fail(f"%x as it was, {x.tolist()}", got_x.tolist(), "the kernel only reads it")
    expected = right.memory[len(x) :]
    for stored in writer.stored:
        for number, ids in enumerate(places(grid)):
            size = math.prod(stored.shape)
            here = slice(stored.first + number * size, stored.first + (number + 1) * size)
            if (got[here] != expected[here]).any():
                mine, its = got[here].reshape(stored.shape), expected[here].reshape(stored.shape)
                call.fail(f"{stored.name} of program {ids} = {its.tolist()}", mine.tolist())
    return module, right
