"""Random kernels without loops and branches: a recipe is drawn, and text is made of it.

    [("id", 0), ("splat", 0, 3), ("elementwise", 2, 0, 1)]

A step has a name and numbers. A number picks one of the values that fit there, the latest first, and starts again
after the last one; a step for which nothing fits does nothing. So every recipe is a kernel, and a small recipe is a
small kernel. Each program stores whatever it computes and does not use further, in elements of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module

from tests.support.interpreter import Interpretation, interpreted
from tests.support.m06_codegen.kernel_text import Grid, kernel, places, tensor

SHAPES = ((1,), (4,), (8,), (2, 4), (4, 1), (1, 2), (2, 2, 2))
ELEMENTWISE = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
MOST = 32  # elements of a tensor
MEMORY = 16  # elements that a kernel may read
POINTER = "!tt.ptr<i32>"

Step = tuple[Any, ...]
Shape = tuple[int, ...]
Typed = tuple[str, Shape, str]  # a value's name, its shape, the type of its elements
Runner = Callable[[str, Grid, Sequence[Any]], Sequence[Any]]

_small = st.integers(0, 7)


def steps(name: str, numbers: int) -> st.SearchStrategy[Step]:
    """Steps of this name."""
    return st.tuples(st.just(name), *[_small] * numbers)


STEPS = (
    steps("id", 1),
    steps("elementwise", 3),
    steps("elementwise", 3),
    steps("range", 2),
    steps("splat", 2),
    steps("count", 1),
    st.tuples(st.just("number"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("full"), st.integers(-3, 20), _small),
    steps("expand", 2),
    steps("broadcast", 2),
    steps("trans", 2),
    steps("reshape", 2),
    steps("join", 2),
    steps("split", 1),
    steps("cat", 2),
    steps("gather", 2),
    steps("compare", 3),
    steps("select", 3),
    steps("load", 1),
    steps("load_some", 2),
)
recipes: st.SearchStrategy[list[Step]] = st.lists(st.one_of(*STEPS), min_size=1, max_size=10)
numbers = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=MEMORY, max_size=MEMORY)


@dataclass(frozen=True)
class Stored:
    """A value whose elements the kernel stores, and where the first program puts them."""

    name: str
    shape: Shape
    first: int


@dataclass
class Recipe:
    """The text of a kernel in the making, its values and what is stored."""

    grid: Grid
    values: list[Typed] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)
    elements: int = 0  # that are stored

    def __post_init__(self) -> None:
        self.numbers = itertools.count()

    def emit(self, right: str, shape: Shape, element: str = "i32", *operands: str) -> str:
        """A line that computes a value."""
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {right}")
        self.values.append((name, shape, element))
        self.used.update(operands)
        return name

    def pick(self, number: int, fits: Callable[[Shape, str], bool] = lambda shape, element: True) -> Typed | None:
        """One of the values that fit."""
        found = [value for value in self.values if fits(value[1], value[2])]
        return found[-1 - number % len(found)] if found else None

    def integers(self, number: int, shape: Shape | None = None) -> Typed | None:
        """One of the integers, of this shape."""
        return self.pick(number, lambda s, element: element == "i32" and (shape is None or s == shape))

    # --- steps

    def id(self, axis: int) -> None:
        self.emit(f"tt.get_program_id {'xyz'[axis % 3]} : i32", ())

    def count(self, axis: int) -> None:
        self.emit(f"tt.get_num_programs {'xyz'[axis % 3]} : i32", ())

    def number(self, value: int) -> None:
        self.emit(f"arith.constant {value} : i32", ())

    def range(self, start: int, power: int) -> None:
        size = 2 ** (power % 4)
        attributes = f"{{end = {start + size} : i32, start = {start} : i32}}"
        self.emit(f"tt.make_range {attributes} : {tensor('i32', size)}", (size,))

    def full(self, value: int, shape: int) -> None:
        of = SHAPES[shape % len(SHAPES)]
        self.emit(f"arith.constant dense<{value}> : {tensor('i32', *of)}", of)

    def splat(self, which: int, shape: int) -> None:
        if found := self.pick(which, lambda s, _: s == ()):
            name, _, element = found
            of = SHAPES[shape % len(SHAPES)]
            self.emit(f"tt.splat {name} : {element} -> {tensor(element, *of)}", of, element, name)

    def expand(self, which: int, axis: int) -> None:
        if found := self.pick(which, lambda s, _: 0 < len(s) < 3):
            name, shape, element = found
            at = axis % (len(shape) + 1)
            self.moved(f"tt.expand_dims {name} {{axis = {at} : i32}}", found, (*shape[:at], 1, *shape[at:]))

    def broadcast(self, which: int, times: int) -> None:
        if found := self.pick(which, lambda s, _: 1 in s and math.prod(s) <= MOST // 4):
            name, shape, element = found
            axes = [axis for axis, size in enumerate(shape) if size == 1]
            axis = axes[times % len(axes)]
            self.moved(f"tt.broadcast {name}", found, (*shape[:axis], 2 + 2 * (times % 2), *shape[axis + 1 :]))

    def trans(self, which: int, order: int) -> None:
        if found := self.pick(which, lambda s, _: len(s) > 1):
            name, shape, element = found
            orders = list(itertools.permutations(range(len(shape))))[1:]
            axes = orders[order % len(orders)]
            attribute = f"{{order = array<i32: {', '.join(map(str, axes))}>}}"
            self.moved(f"tt.trans {name} {attribute}", found, tuple(shape[axis] for axis in axes))

    def reshape(self, which: int, to: int) -> None:
        if found := self.pick(which, lambda s, _: s != ()):
            name, shape, element = found
            size = math.prod(shape)
            shapes = [(size,), (1, size), *[(size // n, n) for n in (2, 4) if size % n == 0]]
            self.moved(f"tt.reshape {name}", found, shapes[to % len(shapes)])

    def moved(self, text: str, source: Typed, shape: Shape) -> None:
        """The elements of a tensor elsewhere."""
        name, before, element = source
        self.emit(f"{text} : {tensor(element, *before)} -> {tensor(element, *shape)}", shape, element, name)

    def join(self, which: int, other: int) -> None:
        self.pair("tt.join", which, other, lambda shape: (*shape, 2))

    def cat(self, which: int, other: int) -> None:
        self.pair("tt.cat", which, other, lambda shape: (2 * shape[0],))

    def pair(self, name: str, which: int, other: int, result: Callable[[Shape], Shape]) -> None:
        """Two tensors become one."""
        most = 1 if name == "tt.cat" else 2
        first = self.pick(which, lambda s, _: 0 < len(s) <= most and math.prod(s) <= MOST // 2)
        if first and (second := self.pick(other, lambda s, element: (s, element) == first[1:])):
            _, shape, element = first
            types = f"{tensor(element, *shape)} -> {tensor(element, *result(shape))}"
            self.emit(f"{name} {first[0]}, {second[0]} : {types}", result(shape), element, first[0], second[0])

    def split(self, which: int) -> None:
        if found := self.pick(which, lambda s, _: len(s) > 1 and s[-1] == 2):
            name, shape, element = found
            halves = tuple(f"%v{next(self.numbers)}" for _ in range(2))
            half = tensor(element, *shape[:-1])
            self.lines.append(f"{', '.join(halves)} = tt.split {name} : {tensor(element, *shape)} -> {half}")
            self.values += [(half, shape[:-1], element) for half in halves]
            self.used.add(name)

    def gather(self, which: int, index: int) -> None:
        source = self.pick(which, lambda s, _: s != ())
        if source and (indices := self.integers(index, source[1])):
            name, shape, element = source
            type, last = tensor("i32", *shape), len(shape) - 1
            most = self.emit(f"arith.constant dense<{shape[-1] - 1}> : {type}", shape)
            inside = self.emit(f"arith.andi {indices[0]}, {most} : {type}", shape, "i32", indices[0], most)
            types = f"({tensor(element, *shape)}, {type}) -> {tensor(element, *shape)}"
            text = f"tt.gather {name}[{inside}] {{axis = {last} : i32}} : {types}"
            self.emit(text, shape, element, name, inside)

    def elementwise(self, operation: int, which: int, other: int) -> None:
        if (x := self.integers(which)) and (y := self.integers(other, x[1])):
            name = ELEMENTWISE[operation % len(ELEMENTWISE)]
            self.emit(f"arith.{name} {x[0]}, {y[0]} : {tensor('i32', *x[1])}", x[1], "i32", x[0], y[0])

    def compare(self, predicate: int, which: int, other: int) -> None:
        if (x := self.integers(which)) and (y := self.integers(other, x[1])):
            text = f"arith.cmpi {PREDICATES[predicate % len(PREDICATES)]}, {x[0]}, {y[0]} : {tensor('i32', *x[1])}"
            self.emit(text, x[1], "i1", x[0], y[0])

    def select(self, condition: int, which: int, other: int) -> None:
        if (x := self.integers(which)) and (y := self.integers(other, x[1])):
            if c := self.pick(condition, lambda s, element: element == "i1" and s in ((), x[1])):
                type = tensor("i32", *x[1])
                types = type if not c[1] else f"{tensor('i1', *c[1])}, {type}"
                self.emit(f"arith.select {c[0]}, {x[0]}, {y[0]} : {types}", x[1], "i32", c[0], x[0], y[0])

    def load(self, which: int) -> None:
        """What is read at an offset that was brought into range."""
        if found := self.integers(which):
            name, shape, _ = found
            most = self.constant(MEMORY - 1, shape)
            inside = self.emit(f"arith.andi {name}, {most} : {tensor('i32', *shape)}", shape, "i32", name, most)
            pointers = self.pointers("%x", inside, shape)
            self.emit(f"tt.load {pointers} : {tensor(POINTER, *shape)}", shape)

    def load_some(self, which: int, other: int) -> None:
        """What is read at any offset under a mask; elsewhere 0, or another value."""
        if found := self.integers(which):
            name, shape, _ = found
            type = tensor("i32", *shape)
            zero, end = self.constant(0, shape), self.constant(MEMORY, shape)
            above = self.emit(f"arith.cmpi sge, {name}, {zero} : {type}", shape, "i1", name, zero)
            below = self.emit(f"arith.cmpi slt, {name}, {end} : {type}", shape, "i1", end)
            mask = self.emit(f"arith.andi {above}, {below} : {tensor('i1', *shape)}", shape, "i1", above, below)
            pointers = self.pointers("%x", name, shape)
            operands = [pointers, mask]
            if other % 2 and (value := self.integers(other // 2, shape)):
                operands.append(value[0])
            pointer_type = tensor(POINTER, *shape)
            self.emit(f"tt.load {', '.join(operands)} : {pointer_type}", shape, "i32", *operands)

    # --- what steps need

    def constant(self, value: int, shape: Shape) -> str:
        """A number, or a tensor of it."""
        text = f"dense<{value}>" if shape else str(value)
        return self.emit(f"arith.constant {text} : {tensor('i32', *shape)}", shape)

    def pointers(self, base: str, offset: str, shape: Shape) -> str:
        """Pointers to elements of an argument."""
        start = base
        if shape:
            start = f"%p{next(self.numbers)}"
            self.lines.append(f"{start} = tt.splat {base} : !tt.ptr<i32> -> {tensor(POINTER, *shape)}")
        name = f"%p{next(self.numbers)}"
        types = f"{tensor(POINTER, *shape)}, {tensor('i32', *shape)}"
        self.lines.append(f"{name} = tt.addptr {start}, {offset} : {types}")
        return name

    def finish(self) -> None:
        """Store every value that is not used, each program in elements of its own."""
        x, y, _ = (*self.grid, 1, 1)[:3]
        number = self.program_number((1, x, x * y))
        first = 0
        for name, shape, element in [value for value in self.values if value[0] not in self.used]:
            self.stored.append(Stored(name, shape, first))
            size = math.prod(shape)
            self.lines += [f"%s{first} = arith.constant {size} : i32", f"%f{first} = arith.constant {first} : i32"]
            self.lines.append(f"%m{first} = arith.muli {number}, %s{first} : i32")
            self.lines.append(f"%o{first} = arith.addi %m{first}, %f{first} : i32")
            self.lines.append(f"%b{first} = tt.addptr %out, %o{first} : !tt.ptr<i32>, i32")
            if element == "i1":
                one, zero = self.constant(1, shape), self.constant(0, shape)
                types = f"{tensor('i1', *shape)}, {tensor('i32', *shape)}" if shape else "i32"
                name = self.emit(f"arith.select {name}, {one}, {zero} : {types}", shape)
            self.lines.append(f"tt.store {self.places(f'%b{first}', shape)}, {name} : {tensor(POINTER, *shape)}")
            first += size * math.prod(self.grid)
        self.elements = first

    def program_number(self, strides: Sequence[int]) -> str:
        """The number of the program that runs."""
        self.lines.append("%number0 = arith.constant 0 : i32")
        for i, stride in enumerate(strides):
            self.lines.append(f"%id{i} = tt.get_program_id {'xyz'[i]} : i32")
            self.lines.append(f"%stride{i} = arith.constant {stride} : i32")
            self.lines.append(f"%step{i} = arith.muli %id{i}, %stride{i} : i32")
            self.lines.append(f"%number{i + 1} = arith.addi %number{i}, %step{i} : i32")
        return f"%number{len(strides)}"

    def places(self, base: str, shape: Shape) -> str:
        """Pointers to elements one after the other, in the order of a tensor's."""
        if not shape:
            return base
        size = math.prod(shape)
        name = f"%r{next(self.numbers)}"
        flat = tensor("i32", size)
        self.lines.append(f"{name} = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {flat}")
        self.lines.append(f"{name}_ = tt.reshape {name} : {flat} -> {tensor('i32', *shape)}")
        return self.pointers(base, f"{name}_", shape)


def written(recipe: Sequence[Step], grid: Grid, kind: type[Recipe] = Recipe) -> Recipe:
    """The kernel that a recipe stands for."""
    result = kind(grid)
    for name, *numbers in recipe:
        getattr(result, name)(*numbers)
    result.finish()
    return result


def text_of(recipe: Recipe) -> str:
    """It as a module."""
    return kernel("x: *i32, out: *i32", *recipe.lines)


def judge(
    steps: Sequence[Step], memory: Sequence[int], grid: Grid, run: Runner, kind: type[Recipe] = Recipe
) -> tuple[Module, Interpretation]:
    """Every program stores what the interpreter says. `run` has the arguments after a kernel ran on copies of them."""
    __tracebackhide__ = True
    recipe = written(steps, grid, kind)
    text = text_of(recipe)
    module = parse_module(text)
    x, out = np.array(memory, np.int32), np.full(recipe.elements, -77, np.int32)
    (function,) = module.body.operations
    right = interpreted(function, grid, np.concatenate([x, out]).astype(np.int32), (0, len(x)))
    got_x, got = run(text, grid, [x, out])
    assert (got_x == x).all(), f"The kernel only reads x, but after it x is {got_x}, and was {x}\n{text}"
    expected = right.memory[len(x) :]
    for stored in recipe.stored:
        for number, ids in enumerate(places(grid)):
            size = math.prod(stored.shape)
            here = slice(stored.first + number * size, stored.first + (number + 1) * size)
            mine, its = got[here].reshape(stored.shape), expected[here].reshape(stored.shape)
            assert (mine == its).all(), (
                f"{stored.name} of program {ids}\n  expected  {its.tolist()}\n  got       {mine.tolist()}\n"
                f"launched on grid {tuple(grid)}, with x = {x.tolist()}\n{text}"
            )
    return module, right
