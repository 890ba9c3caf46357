"""Random valid programs: a recipe is drawn, and a small interpreter makes a module of it.

    [("load", 0, 1), ("arithmetic", 6, 0, 1), ("for", [0], [("compare", 2, 0, 0)])]

A step has a name and numbers. A number picks one of the values that fit an operand: 0 picks the latest, and numbers
wrap around. A step without a fitting value does nothing. So every recipe gives a valid program, and a small recipe
gives a small program.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.support.m02_ops import generic_form as ir
from tests.support.m02_ops.generic_form import PARAMETERS, Typed, segments, tensor

RETURN_BOTH = ir.op("tt.return", [("k", "i32"), ("h", "f32")])
HELPER = ir.function({"h": "f32", "k": "i32"}, RETURN_BOTH, name="helper", results=("i32", "f32"))
CONSTANTS = ("i32", "f32", "i1", "tensor<8xi32>", "tensor<8xf32>", "tensor<2x4xf16>")
ARITHMETIC = ("addi", "muli", "divsi", "xori", "shli", "maxsi", "addf", "subf", "divf", "maximumf")

Step = tuple[Any, ...]
Shape = tuple[int, ...]


def program(steps: Sequence[Step]) -> str:
    """The module that a recipe stands for: a kernel, and a helper that it may call."""
    return around(Body(PARAMETERS.items()).follow(steps))


def around(lines: Iterable[str]) -> str:
    """A module whose kernel has this body, before it returns."""
    return ir.module(ir.function(PARAMETERS, *lines, ir.RETURN), HELPER)


class Body:
    """A block under construction, and the values that are visible in it."""

    def __init__(self, visible: Iterable[Typed], numbers: Iterator[int] | None = None) -> None:
        self.values = list(visible)
        self.numbers = numbers or itertools.count()
        self.lines: list[str] = []

    def follow(self, steps: Sequence[Step]) -> list[str]:
        """Append the operations of a recipe, and return the lines of the block so far."""
        for name, *numbers in steps:
            getattr(self, f"step_{name}")(*numbers)
        return self.lines

    def emit(
        self,
        name: str,
        operands: Iterable[Typed],
        results: Iterable[str] = (),
        attributes: str = "",
        regions: Iterable[str] = (),
    ) -> None:
        """Append an operation with results of these types; later operations can use the results."""
        named = self.named(results)
        self.lines.append(ir.op(name, operands, named, attributes, regions))
        self.values += named

    def named(self, types: Iterable[str]) -> list[Typed]:
        """New values of these types."""
        return [(f"v{next(self.numbers)}", type) for type in types]

    def region(self, arguments: Sequence[str], steps: Sequence[Step], end: str, returned: Sequence[str]) -> str:
        """A region that follows a recipe and ends with values of these types."""
        named = self.named(arguments)
        body = Body([*self.values, *named], self.numbers)
        body.follow(steps)
        body.emit(end, [body.latest(type) for type in returned])
        return ir.region(*body.lines, arguments=named)

    def pick(self, number: int, fits: Callable[[str], Any] = lambda type: True) -> Typed | None:
        """One of the values whose type fits; 0 picks the latest."""
        fitting = [(name, type) for name, type in reversed(self.values) if fits(type)]
        return fitting[number % len(fitting)] if fitting else None

    def latest(self, type: str) -> Typed:
        """The latest value of a type."""
        found = self.pick(0, type.__eq__)
        assert found, type
        return found

    # --- steps without regions

    def step_constant(self, type: int, value: int) -> None:
        spelling = CONSTANTS[type % len(CONSTANTS)]
        self.emit("arith.constant", (), [spelling], f"value = {ir.constant_value(spelling, value)}")

    def step_arithmetic(self, operation: int, lhs: int, rhs: int) -> None:
        name = ARITHMETIC[operation % len(ARITHMETIC)]
        if left := self.pick(lhs, lambda type: element(type)[0] == name[-1]):
            self.emit(f"arith.{name}", [left, self.pick(rhs, left[1].__eq__) or left], [left[1]])

    def step_compare(self, predicate: int, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: element(type)[0] in "if"):
            right = self.pick(rhs, left[1].__eq__) or left
            attribute = f"predicate = {predicate % 10} : i64"
            self.emit(f"arith.cmp{element(left[1])[0]}", [left, right], [tensor(shape(left[1]), "i1")], attribute)

    def step_addptr(self, ptr: int, offset: int) -> None:
        if base := self.pick(ptr, lambda type: element(type)[0] == "!"):
            if by := self.pick(offset, tensor(shape(base[1]), "i32").__eq__):
                self.emit("tt.addptr", [base, by], [base[1]])

    def step_load(self, ptr: int, masked: int) -> None:
        if source := self.pick(ptr, lambda type: element(type)[0] == "!"):
            result = tensor(shape(source[1]), element(source[1])[8:-1])
            mask = self.pick(masked, tensor(shape(source[1]), "i1").__eq__) if masked else None
            other = self.pick(masked, result.__eq__) if mask and masked > 2 else None
            present = [value for value in (source, mask, other) if value]
            self.emit("tt.load", present, [result], segments(*(i < len(present) for i in range(3))))

    def step_store(self, ptr: int, value: int, masked: int) -> None:
        if target := self.pick(ptr, lambda type: element(type)[0] == "!"):
            mask = self.pick(masked, tensor(shape(target[1]), "i1").__eq__)
            if stored := self.pick(value, tensor(shape(target[1]), element(target[1])[8:-1]).__eq__):
                self.emit("tt.store", [target, stored, *([mask] if mask and masked else [])])

    def step_call(self, lhs: int, rhs: int) -> None:
        operands = [self.pick(lhs, "f32".__eq__) or ("x", "f32"), self.pick(rhs, "i32".__eq__) or ("n", "i32")]
        self.emit("tt.call", operands, ["i32", "f32"], "callee = @helper")

    # --- steps with regions

    def step_reduce(self, value: int, axis: int, steps: list[Step]) -> None:
        if source := self.pick(value, shape):
            sizes, inside = shape(source[1]), element(source[1])
            axis %= len(sizes)
            combine = self.region([inside, inside], steps, "tt.reduce.return", [inside])
            rest = tensor(sizes[:axis] + sizes[axis + 1 :], inside)
            self.emit("tt.reduce", [source], [rest], f"axis = {axis} : i32", [combine])

    def step_for(self, carried: list[int], steps: list[Step]) -> None:
        bounds, inits = [self.latest("i32")] * 3, self._picked(carried)
        types = [type for _, type in inits]
        body = self.region(["i32", *types], steps, "scf.yield", types)
        self.emit("scf.for", [*bounds, *inits], types, regions=[body])

    def step_if(self, condition: int, results: list[int], then: list[Step], other: list[Step]) -> None:
        chooser, types = self.pick(condition, "i1".__eq__) or ("c", "i1"), [type for _, type in self._picked(results)]
        regions = [self.region((), then, "scf.yield", types)]
        regions.append(self.region((), other, "scf.yield", types) if other or types else "{}")
        self.emit("scf.if", [chooser], types, regions=regions)

    def step_while(self, carried: list[int], forwarded: list[int], before: list[Step], after: list[Step]) -> None:
        inits, passed = self._picked(carried), [type for _, type in self._picked(forwarded)]
        types = [type for _, type in inits]
        first = self.region(types, before, "scf.condition", ["i1", *passed])
        self.emit("scf.while", inits, passed, regions=[first, self.region(passed, after, "scf.yield", types)])

    def _picked(self, numbers: list[int]) -> list[Typed]:
        return [value for value in map(self.pick, numbers) if value]


def element(type: str) -> str:
    """The spelling of a tensor's element type, or of a scalar."""
    return type.removeprefix("tensor<")[:-1].rpartition("x")[2] if type.startswith("tensor<") else type


def shape(type: str) -> Shape:
    """A tensor's shape; `()` for a scalar."""
    return tuple(map(int, type.removeprefix("tensor<").split("x")[:-1])) if type.startswith("tensor<") else ()


NUMBERS = {"constant": 2, "arithmetic": 3, "compare": 3, "addptr": 2, "load": 2, "store": 3, "call": 2}
"""The number of a step's numbers."""

EVERY = Path(__file__).with_name("every_operation.txt").read_text(encoding="utf-8")
"""One operation of each kind that no step emits."""


def recipes(max_size: int = 6) -> st.SearchStrategy[list[Step]]:
    """Recipes of at most this many steps."""
    return st.lists(_STEPS, max_size=max_size)


_NUMBER = st.integers(0, 9)
_PICKED = st.lists(_NUMBER, max_size=2)
_INSIDE: st.SearchStrategy[list[Step]] = st.deferred(lambda: st.lists(_STEPS, max_size=2))
_ARITHMETIC = st.lists(st.tuples(st.just("arithmetic"), _NUMBER, _NUMBER, _NUMBER), max_size=2)
_STEPS: st.SearchStrategy[Step] = st.one_of(
    st.one_of(
        [st.tuples(st.just(name), *[_NUMBER] * count) for name, count in NUMBERS.items()] * 3
    ),  # most have no region
    st.tuples(st.just("reduce"), _NUMBER, _NUMBER, _ARITHMETIC),
    st.tuples(st.just("for"), _PICKED, _INSIDE),
    st.tuples(st.just("if"), _NUMBER, _PICKED, _INSIDE, _INSIDE),
    st.tuples(st.just("while"), _PICKED, _PICKED, _INSIDE, _INSIDE),
)
