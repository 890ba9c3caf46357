"""Random valid programs: a recipe is drawn, and a small interpreter makes a module of it.

    [("load", 0, 1), ("arithmetic", 6, 0, 1), ("for", [0], [("compare", 2, 0, 0)])]

A step has a name and numbers. A number picks one of the values that fit an operand: 0 picks the latest, and numbers
wrap around. A step without a fitting value does nothing. So every recipe gives a valid program, and a small recipe
gives a small program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
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

EVERY = """
%pid = "tt.get_program_id"() {axis = 1 : i32} : () -> i32
%many = "tt.get_num_programs"() {axis = 2 : i32} : () -> i32
%range = "tt.make_range"() {start = 8 : i32, end = 16 : i32} : () -> tensor<8xi32>
%e = "math.exp2"(%t) : (tensor<8xf32>) -> tensor<8xf32>
%f = "math.fma"(%x, %x, %x) : (f32, f32, f32) -> f32
%chosen = "arith.select"(%m, %t, %e) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
%truth = "arith.extui"(%c) : (i1) -> i32
%as_number = "arith.sitofp"(%i) : (tensor<8xi32>) -> tensor<8xf32>
%half = "arith.truncf"(%t) : (tensor<8xf32>) -> tensor<8xf16>
%limited = "tt.clampf"(%x, %x, %x) {propagateNan = 65535 : i32} : (f32, f32, f32) -> f32
%tanh = "tt.extern_elementwise"(%t) {symbol = "__nv_tanhf", libname = "", libpath = "", pure = true}
    : (tensor<8xf32>) -> tensor<8xf32>
%small = "tt.fp_to_fp"(%t) {rounding = 1 : i32} : (tensor<8xf32>) -> tensor<8xf8E5M2>
%large = "tt.fp_to_fp"(%small) : (tensor<8xf8E5M2>) -> tensor<8xf16>
%as_float = "tt.bitcast"(%i) : (tensor<8xi32>) -> tensor<8xf32>
%address = "tt.ptr_to_int"(%p) : (!tt.ptr<f32>) -> i64
%pointer = "tt.int_to_ptr"(%address) : (i64) -> !tt.ptr<i8>
%loaded = "tt.load"(%a) {isVolatile = true, operandSegmentSizes = array<i32: 1, 0, 0>}
    : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
%before = "tt.atomic_rmw"(%a, %t, %m) {atomic_rmw_op = 5 : i32, sem = 4 : i32, scope = 1 : i32}
    : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
%old = "tt.atomic_cas"(%p, %x, %x) {sem = 4 : i32, scope = 1 : i32} : (!tt.ptr<f32>, f32, f32) -> f32
%same = "tt.splat"(%n) : (i32) -> tensor<2x4xi32>
%column = "tt.expand_dims"(%t) {axis = 1 : i32} : (tensor<8xf32>) -> tensor<8x1xf32>
%wide = "tt.broadcast"(%column) : (tensor<8x1xf32>) -> tensor<8x2xf32>
%turned = "tt.trans"(%wide) {order = array<i32: 1, 0>} : (tensor<8x2xf32>) -> tensor<2x8xf32>
%flat = "tt.reshape"(%w) {allow_reorder = unit} : (tensor<2x4xf32>) -> tensor<8xf32>
%pairs = "tt.join"(%t, %e) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x2xf32>
%left, %right = "tt.split"(%pairs) : (tensor<8x2xf32>) -> (tensor<8xf32>, tensor<8xf32>)
%difference = "arith.subf"(%right, %left) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
%both = "tt.cat"(%t, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
%gathered = "tt.gather"(%t, %i) {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
%counts = "tt.histogram"(%i, %m) : (tensor<8xi32>, tensor<8xi1>) -> tensor<4xi32>
%sums = "tt.scan"(%t) ({
^bb0(%before_it: f32, %it: f32):
"tt.scan.return"(%it) : (f32) -> ()
}) {axis = 0 : i32, reverse = true} : (tensor<8xf32>) -> tensor<8xf32>
%h = "arith.constant"() {value = dense<0.5> : tensor<16x16xf16>} : () -> tensor<16x16xf16>
%z = "arith.constant"() {value = dense<0.5> : tensor<16x16xf32>} : () -> tensor<16x16xf32>
%d = "tt.dot"(%h, %h, %z) {inputPrecision = 0 : i32}
    : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
%dd = "tt.dot"(%h, %h, %d) {maxNumImpreciseAcc = 32 : i32}
    : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
"tt.print"() {prefix = "here", hex = true, isSigned = array<i32>} : () -> ()
"llvm.intr.assume"(%c) {op_bundle_sizes = array<i32>} : (i1) -> ()
%anything = "ub.poison"() : () -> tensor<8xf32>
"""
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
