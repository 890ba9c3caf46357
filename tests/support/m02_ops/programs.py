"""Random programs that are right: a recipe is drawn, and a small interpreter makes a module of it.

    [("load", 0, 1), ("floats", 3, 0, 1), ("for", [0], [("compare", 2, 0, 0)])]

A step has a name and numbers. A number picks one of the values that fit there, the latest first, and starts again
after the last one; a step for which nothing fits does nothing. So every recipe is a program, and a small recipe is
a small program.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.support.m02_ops import generic_form as ir
from tests.support.m02_ops.generic_form import PARAMETERS, Typed, segments, tensor

RETURN_BOTH = ir.op("tt.return", [("k", "i32"), ("h", "f32")])
HELPER = ir.function({"h": "f32", "k": "i32"}, RETURN_BOTH, name="helper", results=("i32", "f32"))
CONSTANTS = ("i32", "f32", "i1", "tensor<8xi32>", "tensor<8xf32>", "tensor<2x4xf16>")
INTEGERS = ("addi", "subi", "muli", "divsi", "remui", "andi", "xori", "shli", "maxsi", "minui")
FLOATS = ("addf", "subf", "mulf", "divf", "maximumf", "minnumf")
CASTS = {"i1": ("extui", "i32"), "i32": ("sitofp", "f32"), "f32": ("truncf", "f16"), "f16": ("extf", "f32")}
MOST = 2**12  # elements: large tensors show nothing that small ones do not

Step = tuple[Any, ...]
Shape = tuple[int, ...]


def program(steps: Sequence[Step]) -> str:
    """The module that a recipe stands for: a kernel, and a helper that it may call."""
    return around(Body(PARAMETERS.items()).follow(steps))


def around(lines: Iterable[str]) -> str:
    """A module whose kernel has this body, before it returns."""
    return ir.module(ir.function(PARAMETERS, *lines, ir.RETURN), HELPER)


class Body:
    """A block that is being written, and the values that can be used in it."""

    def __init__(self, visible: Iterable[Typed], numbers: Iterator[int] | None = None) -> None:
        self.values = list(visible)
        self.numbers = numbers or itertools.count()
        self.lines: list[str] = []

    def follow(self, steps: Sequence[Step]) -> list[str]:
        """Do what a recipe says; the lines of the block so far."""
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
        """Append an operation with results of these types, which can be used from here on."""
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
        """One of the values whose type fits, the latest for 0."""
        fitting = [(name, type) for name, type in reversed(self.values) if fits(type)]
        return fitting[number % len(fitting)] if fitting else None

    def latest(self, type: str) -> Typed:
        """The latest value of a type."""
        found = self.pick(0, type.__eq__)
        assert found, type
        return found

    # --- steps without regions

    def step_constant(self, type: int, value: int) -> None:
        self.values += (named := self.named([CONSTANTS[type % len(CONSTANTS)]]))
        self.lines.append(ir.constant(*named[0], value))

    def step_integers(self, operation: int, lhs: int, rhs: int) -> None:
        self._binary("arith." + INTEGERS[operation % len(INTEGERS)], "i", lhs, rhs)

    def step_floats(self, operation: int, lhs: int, rhs: int) -> None:
        self._binary("arith." + FLOATS[operation % len(FLOATS)], "f", lhs, rhs)

    def _binary(self, name: str, kind: str, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: element(type)[0] == kind):
            self.emit(name, [left, self.pick(rhs, left[1].__eq__) or left], [left[1]])

    def step_compare(self, predicate: int, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: element(type)[0] in "if"):
            right = self.pick(rhs, left[1].__eq__) or left
            attribute = f"predicate = {predicate % 10} : i64"
            self.emit(f"arith.cmp{element(left[1])[0]}", [left, right], [tensor(shape(left[1]), "i1")], attribute)

    def step_select(self, condition: int, true: int, false: int) -> None:
        value = self.pick(true) or ("x", "f32")
        other = self.pick(false, value[1].__eq__) or value
        if chooser := self.pick(condition, lambda type: type in ("i1", tensor(shape(value[1]), "i1"))):
            self.emit("arith.select", [chooser, value, other], [value[1]])

    def step_cast(self, value: int) -> None:
        if source := self.pick(value, lambda type: element(type) in CASTS):
            name, target = CASTS[element(source[1])]
            self.emit(f"arith.{name}", [source], [tensor(shape(source[1]), target)])

    def step_reshape(self, which: int, value: int, number: int) -> None:
        name, fits, reshaped = RESHAPES[which % len(RESHAPES)]
        if source := self.pick(value, lambda type: fits(shape(type))):
            attributes, *shapes = reshaped(shape(source[1]), number)
            self.emit(name, [source], [tensor(sizes, element(source[1])) for sizes in shapes], attributes)

    def step_join(self, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: 0 < len(shape(type)) < 4 and math.prod(shape(type)) * 2 <= MOST):
            right = self.pick(rhs, left[1].__eq__) or left
            self.emit("tt.join", [left, right], [tensor((*shape(left[1]), 2), element(left[1]))])

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

    def step_scan(self, value: int, axis: int, steps: list[Step]) -> None:
        if source := self.pick(value, shape):
            combine = self.region([element(source[1])] * 2, steps, "tt.scan.return", [element(source[1])])
            attributes = f"axis = {axis % len(shape(source[1]))} : i32, reverse = {str(axis > 1).lower()}"
            self.emit("tt.scan", [source], [source[1]], attributes, [combine])

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
    """The element's spelling of a tensor's, or a scalar's own."""
    return type.removeprefix("tensor<")[:-1].rpartition("x")[2] if type.startswith("tensor<") else type


def shape(type: str) -> Shape:
    """A tensor's shape; `()` for a scalar."""
    return tuple(map(int, type.removeprefix("tensor<").split("x")[:-1])) if type.startswith("tensor<") else ()


def _expanded(sizes: Shape, number: int) -> tuple[str, Shape]:
    axis = number % (len(sizes) + 1)
    return f"axis = {axis} : i32", (*sizes[:axis], 1, *sizes[axis:])


def _transposed(sizes: Shape, number: int) -> tuple[str, Shape]:
    order = [(i + number) % len(sizes) for i in range(len(sizes))]
    return f"order = array<i32: {', '.join(map(str, order))}>", tuple(sizes[axis] for axis in order)


RESHAPES: tuple[tuple[str, Callable[[Shape], Any], Callable[[Shape, int], tuple[Any, ...]]], ...] = (
    ("tt.splat", lambda s: not s, lambda s, number: ("", ((8,), (2, 4), (1,))[number % 3])),
    ("tt.expand_dims", lambda s: 0 < len(s) < 4, _expanded),
    ("tt.broadcast", lambda s: 1 in s and math.prod(s) < MOST // 16, lambda s, _: ("", [max(size, 2) for size in s])),
    ("tt.trans", lambda s: len(s) > 1, _transposed),
    ("tt.reshape", lambda s: s, lambda s, _: ("", (math.prod(s), 1))),
    ("tt.split", lambda s: len(s) > 1 and s[-1] == 2, lambda s, _: ("", s[:-1], s[:-1])),
)
"""Operations on one value: which shapes they take; the text of attributes and the results' shapes."""

NUMBERS = {
    "constant": 2, "integers": 3, "floats": 3, "compare": 3, "select": 3, "cast": 1, "reshape": 3, "join": 2,
    "addptr": 2, "load": 2, "store": 3, "call": 2,
}  # fmt: skip
"""How many numbers a step has."""


def recipes(max_size: int = 8) -> st.SearchStrategy[list[Step]]:
    """Recipes of up to so many steps."""
    return st.lists(_STEPS, max_size=max_size)


_NUMBER = st.integers(0, 9)
_PICKED = st.lists(_NUMBER, max_size=2)
_INSIDE: st.SearchStrategy[list[Step]] = st.deferred(lambda: st.lists(_STEPS, max_size=3))
_ARITHMETIC = st.lists(st.tuples(st.just("floats"), _NUMBER, _NUMBER, _NUMBER), max_size=2)
_STEPS: st.SearchStrategy[Step] = st.one_of(
    st.one_of([st.tuples(st.just(name), *[_NUMBER] * count) for name, count in NUMBERS.items()]),
    st.tuples(st.sampled_from(("reduce", "scan")), _NUMBER, _NUMBER, _ARITHMETIC),
    st.tuples(st.just("for"), _PICKED, _INSIDE),
    st.tuples(st.just("if"), _NUMBER, _PICKED, _INSIDE, _INSIDE),
    st.tuples(st.just("while"), _PICKED, _PICKED, _INSIDE, _INSIDE),
)
