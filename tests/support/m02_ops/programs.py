"""Random programs that are right: a recipe is drawn, and a small interpreter makes a module of it.

    [("load", 0, 1), ("floats", 3, 0, 1), ("for", [0], [("compare", 2, 0, 0)])]

A step has a name and numbers. A number picks one of the values that fit there, the latest first, and starts again
after the last one; a step for which nothing fits does nothing. So every recipe is a program, and a small recipe is
a small program.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import Attribute, Block, Op, Typed, array, integer, segments, tensor, word

PARAMETERS: tuple[Typed, ...] = (
    ("p", "!tt.ptr<f32>"),
    ("w", "tensor<2x4xf32>"),
    ("a", "tensor<8x!tt.ptr<f32>>"),
    ("i", "tensor<8xi32>"),
    ("t", "tensor<8xf32>"),
    ("m", "tensor<8xi1>"),
    ("c", "i1"),
    ("x", "f32"),
    ("n", "i32"),
)
HELPER = ir.function(
    [("h", "f32"), ("k", "i32")], [Op("tt.return", ("k", "h"))], name="helper", results=("i32", "f32")
)
CONSTANTS = ("i32", "f32", "i1", "tensor<8xi32>", "tensor<8xf32>", "tensor<2x4xf16>")
INTEGERS = ("addi", "subi", "muli", "divsi", "remui", "andi", "xori", "shli", "maxsi", "minui")
FLOATS = ("addf", "subf", "mulf", "divf", "maximumf", "minnumf")
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une")
MOST = 2**12  # elements: large tensors show nothing that small ones do not

Step = tuple[Any, ...]
Region = tuple[Block, ...]


def program(steps: Sequence[Step]) -> Op:
    """The module that a recipe stands for: a kernel, and a helper that it may call."""
    body = Body(PARAMETERS)
    body.follow(steps)
    return around(body)


def around(body: Body) -> Op:
    """A module whose kernel has this body."""
    body.emit("tt.return")
    return ir.module(ir.function(PARAMETERS, body.operations), HELPER)


class Body:
    """A block that is being written, and the values that can be used in it."""

    def __init__(self, visible: Sequence[Typed], numbers: Iterator[int] | None = None) -> None:
        self.values = list(visible)
        self.numbers = numbers or itertools.count()
        self.operations: list[Op] = []

    def follow(self, steps: Sequence[Step]) -> None:
        """Do what a recipe says."""
        for name, *numbers in steps:
            getattr(self, f"step_{name}")(*numbers)

    def emit(
        self,
        name: str,
        operands: Sequence[str] = (),
        results: Sequence[str] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Op:
        """Append an operation with results of these types, which can be used from here on."""
        named = tuple((self.new_name(), type) for type in results)
        op = Op(name, tuple(operands), named, attributes or {}, tuple(regions))
        self.operations.append(op)
        self.values += named
        return op

    def constant(self, type: str, value: int = 1) -> str:
        """The name of a new constant."""
        op = ir.constant(self.new_name(), type, value)
        self.operations.append(op)
        self.values += op.results
        return op.results[0][0]

    def new_name(self) -> str:
        return f"v{next(self.numbers)}"

    def inner(self, *arguments: str) -> tuple[Body, tuple[Typed, ...]]:
        """A block inside this one, with arguments of these types."""
        named = tuple((self.new_name(), type) for type in arguments)
        return Body([*self.values, *named], self.numbers), named

    def region(self, arguments: Sequence[str], steps: Sequence[Step], end: str, returned: Sequence[str]) -> Region:
        """A region that follows a recipe and ends with values of these types."""
        body, named = self.inner(*arguments)
        body.follow(steps)
        body.emit(end, [name for name, _ in map(body.latest, returned)])
        return (Block(named, tuple(body.operations)),)

    def pick(self, number: int, fits: Callable[[str], bool] = lambda type: True) -> Typed | None:
        """One of the values whose type fits, the latest for 0."""
        fitting = [(name, type) for name, type in reversed(self.values) if fits(type)]
        return fitting[number % len(fitting)] if fitting else None

    def latest(self, type: str) -> Typed:
        """The latest value of a type."""
        found = self.pick(0, lambda other: other == type)
        assert found
        return found

    # --- steps without regions

    def step_constant(self, type: int, value: int) -> None:
        self.constant(CONSTANTS[type % len(CONSTANTS)], value)

    def step_integers(self, operation: int, lhs: int, rhs: int) -> None:
        self._binary("arith." + INTEGERS[operation % len(INTEGERS)], "i", lhs, rhs)

    def step_floats(self, operation: int, lhs: int, rhs: int) -> None:
        self._binary("arith." + FLOATS[operation % len(FLOATS)], "f", lhs, rhs)

    def step_compare(self, predicate: int, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: element(type)[0] in "if"):
            right = self.pick(rhs, lambda type: type == left[1]) or left
            kind, words = ("i", INTEGER_PREDICATES) if element(left[1])[0] == "i" else ("f", FLOAT_PREDICATES)
            number = predicate % len(words)
            attributes = {"predicate": word(words[number], number, width=64)}
            self.emit(f"arith.cmp{kind}", (left[0], right[0]), [tensor(shape(left[1]), "i1")], attributes)

    def step_select(self, condition: int, true: int, false: int) -> None:
        value = self.pick(true) or PARAMETERS[0]
        other = self.pick(false, lambda type: type == value[1]) or value
        chooser = self.pick(condition, lambda type: type in ("i1", tensor(shape(value[1]), "i1")))
        if chooser:
            self.emit("arith.select", (chooser[0], value[0], other[0]), [value[1]])

    def step_cast(self, value: int) -> None:
        casts = {"i1": ("extui", "i32"), "i32": ("sitofp", "f32"), "f32": ("truncf", "f16"), "f16": ("extf", "f32")}
        if source := self.pick(value, lambda type: element(type) in casts):
            name, target = casts[element(source[1])]
            self.emit(f"arith.{name}", (source[0],), [tensor(shape(source[1]), target)])

    def step_splat(self, value: int, size: int) -> None:
        if source := self.pick(value, lambda type: not shape(type)):
            self.emit("tt.splat", (source[0],), [tensor(((8,), (2, 4), (1,))[size % 3], source[1])])

    def step_expand(self, value: int, axis: int) -> None:
        if source := self.pick(value, lambda type: 0 < len(shape(type)) < 4):
            sizes = shape(source[1])
            axis %= len(sizes) + 1
            grown = tensor((*sizes[:axis], 1, *sizes[axis:]), element(source[1]))
            self.emit("tt.expand_dims", (source[0],), [grown], {"axis": integer(axis)})

    def step_broadcast(self, value: int) -> None:
        if source := self.pick(value, lambda type: 1 in shape(type) and math.prod(shape(type)) * 2 <= MOST):
            sizes = [2 if size == 1 else size for size in shape(source[1])]
            self.emit("tt.broadcast", (source[0],), [tensor(sizes, element(source[1]))])

    def step_trans(self, value: int, turn: int) -> None:
        if source := self.pick(value, lambda type: len(shape(type)) > 1):
            sizes = shape(source[1])
            order = [(i + turn) % len(sizes) for i in range(len(sizes))]
            turned = tensor([sizes[i] for i in order], element(source[1]))
            self.emit("tt.trans", (source[0],), [turned], {"order": array(order)})

    def step_reshape(self, value: int) -> None:
        if source := self.pick(value, shape):  # type: ignore[arg-type]
            self.emit("tt.reshape", (source[0],), [tensor((math.prod(shape(source[1])), 1), element(source[1]))])

    def step_join(self, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: 0 < math.prod(shape(type)) * 2 <= MOST and 0 < len(shape(type)) < 4):
            right = self.pick(rhs, lambda type: type == left[1]) or left
            self.emit("tt.join", (left[0], right[0]), [tensor((*shape(left[1]), 2), element(left[1]))])

    def step_split(self, value: int) -> None:
        if source := self.pick(value, lambda type: len(shape(type)) > 1 and shape(type)[-1] == 2):
            self.emit("tt.split", (source[0],), [tensor(shape(source[1])[:-1], element(source[1]))] * 2)

    def step_addptr(self, ptr: int, offset: int) -> None:
        if base := self.pick(ptr, lambda type: element(type)[0] == "!"):
            if by := self.pick(offset, lambda type: element(type) == "i32" and shape(type) == shape(base[1])):
                self.emit("tt.addptr", (base[0], by[0]), [base[1]])

    def step_load(self, ptr: int, masked: int) -> None:
        if source := self.pick(ptr, lambda type: element(type)[0] == "!"):
            result = tensor(shape(source[1]), element(source[1])[8:-1])
            mask = self.pick(masked, lambda type: type == tensor(shape(source[1]), "i1"))
            other = self.pick(masked, lambda type: type == result)
            present = [source, *([mask] * bool(mask and masked)), *([other] * bool(mask and other and masked > 2))]
            names = [value[0] for value in present if value]
            attributes = {"operandSegmentSizes": segments(*(i < len(names) for i in range(3)))}
            self.emit("tt.load", names, [result], attributes)

    def step_store(self, ptr: int, value: int, masked: int) -> None:
        if target := self.pick(ptr, lambda type: element(type)[0] == "!"):
            stored = self.pick(value, lambda type: type == tensor(shape(target[1]), element(target[1])[8:-1]))
            mask = self.pick(masked, lambda type: type == tensor(shape(target[1]), "i1"))
            if stored:
                self.emit("tt.store", [target[0], stored[0], *([mask[0]] if mask and masked else [])])

    def step_call(self, lhs: int, rhs: int) -> None:
        value, number = self.pick(lhs, "f32".__eq__), self.pick(rhs, "i32".__eq__)
        assert value and number
        self.emit("tt.call", (value[0], number[0]), ("i32", "f32"), {"callee": Attribute("helper", "@helper")})

    # --- steps with regions

    def step_reduce(self, value: int, axis: int, steps: list[Step]) -> None:
        if source := self.pick(value, lambda type: shape(type) != ()):
            sizes, inside = shape(source[1]), element(source[1])
            axis %= len(sizes)
            combine = self.region([inside, inside], steps, "tt.reduce.return", [inside])
            rest = tensor(sizes[:axis] + sizes[axis + 1 :], inside)
            self.emit("tt.reduce", (source[0],), [rest], {"axis": integer(axis)}, [combine])

    def step_scan(self, value: int, axis: int, steps: list[Step]) -> None:
        if source := self.pick(value, lambda type: shape(type) != ()):
            combine = self.region([element(source[1])] * 2, steps, "tt.scan.return", [element(source[1])])
            attributes = {"axis": integer(axis % len(shape(source[1]))), "reverse": ir.flag(axis > 1)}
            self.emit("tt.scan", (source[0],), [source[1]], attributes, [combine])

    def step_for(self, carried: list[int], steps: list[Step]) -> None:
        bounds = [self.pick(i, "i32".__eq__) for i in range(3)]
        inits = [value for value in map(self.pick, carried) if value]
        types = [type for _, type in inits]
        body = self.region(["i32", *types], steps, "scf.yield", types)
        self.emit("scf.for", [value[0] for value in [*bounds, *inits] if value], types, regions=[body])

    def step_if(self, condition: int, results: list[int], then: list[Step], other: list[Step]) -> None:
        chooser = self.pick(condition, "i1".__eq__)
        assert chooser
        types = [value[1] for value in map(self.pick, results) if value]
        regions = [self.region((), then, "scf.yield", types)]
        regions.append(self.region((), other, "scf.yield", types) if other or types else ())
        self.emit("scf.if", (chooser[0],), types, regions=regions)

    def step_while(self, carried: list[int], forwarded: list[int], before: list[Step], after: list[Step]) -> None:
        inits = [value for value in map(self.pick, carried) if value]
        types, passed = [type for _, type in inits], [value[1] for value in map(self.pick, forwarded) if value]
        regions = [
            self.region(types, before, "scf.condition", ["i1", *passed]),
            self.region(passed, after, "scf.yield", types),
        ]
        self.emit("scf.while", [name for name, _ in inits], passed, regions=regions)

    def _binary(self, name: str, kind: str, lhs: int, rhs: int) -> None:
        if left := self.pick(lhs, lambda type: element(type)[0] == kind):
            right = self.pick(rhs, lambda type: type == left[1]) or left
            self.emit(name, (left[0], right[0]), [left[1]])


def element(type: str) -> str:
    """The element's spelling of a tensor's, or a scalar's own."""
    return type.removeprefix("tensor<")[:-1].rpartition("x")[2] if type.startswith("tensor<") else type


def shape(type: str) -> tuple[int, ...]:
    """A tensor's shape; `()` for a scalar."""
    return tuple(map(int, type.removeprefix("tensor<").split("x")[:-1])) if type.startswith("tensor<") else ()


def recipes(max_size: int = 8) -> st.SearchStrategy[list[Step]]:
    """Recipes of up to so many steps."""
    return st.lists(_STEPS, max_size=max_size)


def _step(name: str, *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(name), *parts)


_NUMBER = st.integers(0, 9)
_NUMBERS = st.lists(_NUMBER, max_size=2)
_ONE = ("cast", "broadcast", "reshape", "split")
_TWO = ("constant", "splat", "expand", "trans", "join", "addptr", "load", "call")
_THREE = ("integers", "floats", "compare", "select", "store")
_SIMPLE = st.one_of(
    *(_step(name, _NUMBER) for name in _ONE),
    *(_step(name, _NUMBER, _NUMBER) for name in _TWO),
    *(_step(name, _NUMBER, _NUMBER, _NUMBER) for name in _THREE),
)
_INSIDE: st.SearchStrategy[list[Step]] = st.deferred(lambda: st.lists(_STEPS, max_size=3))
_ARITHMETIC = st.lists(_step("floats", _NUMBER, _NUMBER, _NUMBER), max_size=2)
_STEPS: st.SearchStrategy[Step] = st.one_of(
    _SIMPLE,
    _step("reduce", _NUMBER, _NUMBER, _ARITHMETIC),
    _step("scan", _NUMBER, _NUMBER, _ARITHMETIC),
    _step("for", _NUMBERS, _INSIDE),
    _step("if", _NUMBER, _NUMBERS, _INSIDE, _INSIDE),
    _step("while", _NUMBERS, _NUMBERS, _INSIDE, _INSIDE),
)
