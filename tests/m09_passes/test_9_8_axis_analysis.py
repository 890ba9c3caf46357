"""Task 9.8: facts about integers and pointers along each axis, compared with elements and real Triton's layouts."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.analysis.axis_info import (
    MOST,
    AxisAnalysis,
    Facts,
    add,
    choose,
    compare,
    divide,
    expand_info,
    extremum,
    join,
    multiply,
    remainder,
    shift_left,
    shift_right,
    starts,
    subtract,
)
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module

from tests.checks import calling, described
from tests.oracles import triton
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m09_passes.facts import SIZE, divisor, observed, of, runs, same, shown, steps, untrue, up
from tests.support.m09_passes.widths import chosen

# --- rules along one axis


@pytest.mark.parametrize(
    "facts, run, unit, expected, because",
    [
        (Facts(8, 8), 8, 1, 8, "these are the runs that the facts describe"),
        (
            Facts(8, 8),
            2,
            1,
            2,
            "8 9 10 11 12 13 14 15 has the runs 8 9, 10 11, 12 13 and 14 15, which start at multiples of 2",
        ),
        (Facts(8, 8), 1, 1, 1, "a run of one element may start at 9"),
        (Facts(8, 8), 16, 1, 8, "a longer run begins where a run of 8 begins"),
        (Facts(8, 2), 4, 1, 2, "2 3 4 5 6 7 8 9 has the runs 2 3 4 5 and 6 7 8 9, which start at multiples of 2"),
        (Facts(1, 4), 1, 1, 4, "4 12 8 is not a run, but all elements are multiples of 4"),
        (Facts(1, MOST), 4, 1, MOST, "all elements are 0"),
        (Facts(8, 64), 2, 4, 8, "runs of two elements of 4 bytes start at the addresses 64 72 80 ..., multiples of 8"),
        (
            Facts(8, 16),
            4,
            8,
            16,
            "runs of four elements of 8 bytes start at the addresses 16 48 80 ..., multiples of 16",
        ),
    ],
)
def test_where_runs_start(facts: Facts, run: int, unit: int, expected: int, because: str) -> None:
    divisor(f"starts({facts}, run={run}, unit={unit})", starts, facts, run, unit).returns(expected, because)


def test_sums() -> None:
    of(add, up(0), same(16), result=up(16)).knows(contiguity=16, divisibility=16)
    of(add, same(16), up(0), result=up(16)).knows(contiguity=16, divisibility=16)
    of(add, up(16), same(6), result=up(22)).knows(contiguity=16, divisibility=2)
    of(add, same(4), same(8), result=same(12)).knows(divisibility=4, constancy=16)
    of(add, up(0), up(0), result=2 * up(0)).knows(divisibility=1)
    of(add, runs(8, 0, 40), steps(4, 8, 24, 8, 16), result=runs(8, 0, 40) + steps(4, 8, 24, 8, 16)).knows(
        contiguity=4, divisibility=4
    )
    of(add, steps(4, 4, 8, 4, 4), runs(4, 0, 8, 4, 4), result=steps(4, 4, 8, 4, 4) + runs(4, 0, 8, 4, 4)).knows(
        contiguity=4, divisibility=4
    )
    of(add, steps(8, 4, 6), steps(4, 2, 4, 6, 8), result=steps(4, 6, 8, 12, 14)).knows(divisibility=2, constancy=4)


def test_addresses() -> None:
    pointers = same(64)
    for unit in (1, 2, 4, 8):
        known = Facts(1, 64, SIZE)
        asked = described(f"add(16, {known}, {observed(up(8))}, unit={unit})", add, SIZE, known, observed(up(8)), unit)
        facts = asked.succeeds("facts of addresses")
        elements = pointers + up(8) * unit
        if false := untrue(facts, elements, unit):
            asked.fail("facts that hold", facts, f"{false} does not hold for {shown(elements)}")
        if facts.contiguity < SIZE or facts.divisibility < min(64, 8 * unit):
            because = f"the addresses {shown(elements)} belong to adjacent elements of {unit} bytes"
            asked.fail(f"contiguity {SIZE}, divisibility {min(64, 8 * unit)}", facts, because)


def test_differences() -> None:
    of(subtract, up(32), same(16), result=up(16)).knows(contiguity=16, divisibility=16)
    of(subtract, same(32), up(0), result=32 - up(0)).knows(divisibility=1)
    of(subtract, steps(4, 8, 12, 8, 16), steps(8, 4, 8), result=steps(4, 4, 8, 0, 8)).knows(divisibility=4, constancy=4)


def test_products() -> None:
    of(multiply, up(0), same(1), result=up(0)).knows(contiguity=16, divisibility=MOST)
    of(multiply, same(1), up(8), result=up(8)).knows(contiguity=16, divisibility=8)
    of(multiply, up(0), same(2), result=2 * up(0)).knows(divisibility=2)
    of(multiply, steps(4, 4, 8, 12, 4), same(6), result=6 * steps(4, 4, 8, 12, 4)).knows(divisibility=8, constancy=4)
    of(multiply, same(0), same(8), result=same(0)).knows(divisibility=MOST, constancy=16)
    of(multiply, up(8), up(8), result=up(8) ** 2).knows(divisibility=1)


def test_quotients() -> None:
    of(divide, up(16), same(4), result=up(16) // 4).knows(constancy=4)
    of(divide, up(16), same(16), result=up(16) // 16).knows(constancy=16)
    of(divide, up(16), same(64), result=same(0)).knows(constancy=16)
    of(divide, up(16), same(6), result=up(16) // 6).knows(constancy=2)
    of(divide, up(2), same(4), result=up(2) // 4).knows(constancy=2)
    of(divide, up(16), same(3), result=up(16) // 3).knows(constancy=1)
    of(divide, same(48), same(4), result=same(12)).knows(divisibility=4, constancy=16)
    of(divide, same(48), same(6), result=same(8)).knows(constancy=16)
    of(divide, same(36), same(8), result=same(4)).knows(constancy=16)
    of(divide, steps(4, 8, 16, 8, 24), same(8), result=steps(4, 1, 2, 1, 3)).knows(constancy=4)
    of(divide, same(48), steps(8, 4, 8), result=steps(8, 12, 6)).knows(constancy=8)
    of(divide, up(0), same(64), result=same(0)).knows(constancy=16)
    of(divide, steps(8, 80, 96), same(6), result=steps(8, 13, 16)).knows(constancy=8)
    of(divide, steps(8, 80, 96), same(12), result=steps(8, 6, 8)).knows(constancy=8)
    of(divide, same(-7), same(2), result=same(-3)).knows(constancy=16)


def test_remainders() -> None:
    of(remainder, up(16), same(4), result=up(16) % 4).knows(contiguity=4, divisibility=4)
    of(remainder, up(16), same(16), result=up(16) % 16).knows(contiguity=16, divisibility=16)
    of(remainder, up(16), same(6), result=up(16) % 6).knows(contiguity=2, divisibility=2)
    of(remainder, up(2), same(4), result=up(2) % 4).knows(contiguity=2, divisibility=2)
    of(remainder, up(16), same(5), result=up(16) % 5).knows(contiguity=1)
    of(remainder, up(0), same(64), result=up(0)).knows(contiguity=16)
    of(remainder, same(-7), same(2), result=same(-1)).knows(constancy=16)
    of(remainder, same(24), same(16), result=same(8)).knows(divisibility=8, constancy=16)
    of(remainder, steps(4, 8, 20, 8, 4), same(12), result=steps(4, 8, 8, 8, 4)).knows(divisibility=4, constancy=4)


PREDICATES: dict[str, Callable[[Any, Any], Any]] = {
    **{sign + "lt": operator.lt for sign in "su"},
    **{sign + "le": operator.le for sign in "su"},
    **{sign + "gt": operator.gt for sign in "su"},
    **{sign + "ge": operator.ge for sign in "su"},
    "eq": operator.eq,
    "ne": operator.ne,
}


def compared(x: np.ndarray, y: np.ndarray, predicate: str) -> of:
    """A comparison."""
    return of(compare, x, y, result=PREDICATES[predicate](x, y).astype(int), extra=[predicate])


@pytest.mark.parametrize("sign", ["s", "u"])
def test_comparisons(sign: str) -> None:
    compared(up(0), same(8), sign + "lt").knows(constancy=8)
    compared(up(0), same(12), sign + "ge").knows(constancy=4)
    compared(same(8), up(0), sign + "gt").knows(constancy=8)
    compared(same(12), up(0), sign + "le").knows(constancy=4)
    compared(up(4), same(16), sign + "lt").knows(constancy=4)
    compared(up(0), same(64), sign + "lt").knows(constancy=16)
    compared(same(64), up(0), sign + "gt").knows(constancy=16)
    for x, y in ((up(0), same(8)), (same(8), up(0)), (up(0), same(7)), (up(1), same(8)), (same(5), up(4))):
        for predicate in ("lt", "le", "gt", "ge"):
            compared(x, y, sign + predicate).knows(constancy=1)


def test_equality() -> None:
    for predicate in ("eq", "ne"):
        compared(up(0), same(8), predicate).knows(constancy=1)
        compared(same(8), up(0), predicate).knows(constancy=1)
        compared(same(8), same(4), predicate).knows(constancy=16)
        compared(steps(4, 1, 2, 1, 1), steps(8, 1, 2), predicate).knows(constancy=4)


@pytest.mark.parametrize(
    "x, y, least",
    [
        (up(16), up(48), {"contiguity": 16, "divisibility": 16}),
        (up(16), runs(4, 0, 8, 4, 12), {"contiguity": 4, "divisibility": 4}),
        (runs(4, 0, 8, 4, 12), up(16), {"contiguity": 4, "divisibility": 4}),
        (runs(4, 16, 32, 16, 48), runs(4, 0, 32, 48, 16), {"contiguity": 4, "divisibility": 16}),
        (runs(4, 0, 8, 4, 12), same(64), {"constancy": 1}),
        (same(64), steps(4, 8, 4, 4, 16), {"divisibility": 4, "constancy": 4}),
        (same(64), same(64), {"divisibility": 64, "constancy": 16}),
        (up(0), same(0), {"divisibility": 1}),
    ],
)
def test_either_of_two(x: np.ndarray, y: np.ndarray, least: dict[str, int]) -> None:
    facts = (observed(x), observed(y))
    asked = described(f"join({facts[0]},\n     {facts[1]})", join, *facts)
    known = asked.succeeds("facts of both")
    for elements in (x, y):
        if false := untrue(known, elements):
            asked.fail("facts that hold for both", known, f"{false} does not hold for {shown(elements)}")
    for name, number in least.items():
        if getattr(known, name) < number:
            asked.fail(f"{name} {number} or more", known, f"this holds for {shown(x)} and for {shown(y)}")


def test_either_of_two_addresses() -> None:
    facts = (Facts(8, 64), Facts(2, 16))
    asked = described(f"join({facts[0]},\n     {facts[1]}, unit=4)", join, *facts, 4)
    asked.returns(Facts(2, 8), "every second one of the addresses 64 68 72 76 ... is a multiple of 8")


def test_values_of_both() -> None:
    calling(join, observed(same(3)), observed(same(3))).returns(observed(same(3)), "both are 3")
    got = calling(join, observed(same(3)), observed(same(5))).succeeds("facts of either")
    assert got.value is None, f"`value` should be None, because the elements are 3 or 5, but it is {got.value}"


@st.composite
def elements(draw: st.DrawFn, least: int = 0) -> np.ndarray:
    """Sixteen numbers, in runs that count up or are constant."""
    length = draw(st.sampled_from([1, 2, 4, 8, 16]))
    unit = draw(st.sampled_from([1, 2, 4, 8, 16]))
    firsts = draw(st.lists(st.integers(0, 12), min_size=SIZE // length, max_size=SIZE // length))
    make = draw(st.sampled_from([runs, steps]))
    return np.maximum(make(length, *(unit * first for first in firsts)), least)


@given(x=elements(), y=elements(1), condition=elements())
def test_rules_are_true(x: np.ndarray, y: np.ndarray, condition: np.ndarray) -> None:
    of(add, x, y, result=x + y).knows()
    of(subtract, x, y, result=x - y).knows()
    of(multiply, x, y, result=x * y).knows()
    of(divide, x, y, result=x // y).knows()
    of(remainder, x, y, result=x % y).knows()
    of(extremum, x, y, result=np.maximum(x, y)).knows()
    of(choose, condition % 2, x, y, result=np.where(condition % 2, x, y)).knows()
    of(shift_left, x, y % 8, result=x << y % 8).knows()
    of(shift_right, x, y % 8, result=x >> y % 8).knows()
    for predicate in PREDICATES:
        compared(x, y, predicate).knows()


# --- operations: modules compared with real Triton's layouts

MODULE = """
tt.func public @kernel(
    %p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32},
    %n: i32 {tt.divisibility = 16 : i32}) {
  %value = OPERATION
  tt.return
}
"""


def known(lines: str) -> described:
    """The facts about the value that the last of these lines computes."""

    def analyze() -> Any:
        module = parse_module(MODULE.replace("%value = OPERATION", lines))
        return AxisAnalysis(module)[module.body.operations[0].regions[0].block.operations[-2].result]

    return described(f"AxisAnalysis(module)[%value], where\n{lines}\n", analyze)


RANGE = "  %r = tt.make_range {start = 8 : i32, end = 24 : i32} : tensor<16xi32>\n"
COLUMN = RANGE + "  %c = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>\n"


def test_ranges() -> None:
    lines = RANGE.replace("%r", "%value")
    known(lines).returns((Facts(16, 8, 1),))
    lines = "  %value = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>"
    known(lines).returns((Facts(64, MOST, 1),), "0 is a multiple of everything")


def test_constants() -> None:
    known("  %value = arith.constant 24 : i32").returns((Facts(1, 8, 1, 24),), "a scalar is one axis of size 1")
    known("  %value = arith.constant -24 : i64").returns((Facts(1, 8, 1, -24),))
    known("  %value = arith.constant 0 : i32").returns((Facts(1, MOST, 1, 0),))
    lines = "  %value = arith.constant dense<12> : tensor<8x32xi32>"
    known(lines).returns((Facts(1, 4, 8, 12), Facts(1, 4, 32, 12)))
    lines = "  %value = arith.constant dense<12.0> : tensor<8xf32>"
    known(lines).returns((Facts(),), "the analysis knows nothing about floats")


def test_new_axes() -> None:
    known(COLUMN.replace("%c", "%value")).returns(
        (Facts(16, 8, 1), Facts(1, 1, 1)), "along the new axis each element is alone: 8, 9, 10, ..."
    )
    lines = RANGE + "  %value = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>"
    known(lines).returns((Facts(1, 1, 1), Facts(16, 8, 1)))
    lines = "  %s = tt.splat %n : i32 -> tensor<16xi32>\n"
    lines += "  %value = tt.expand_dims %s {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>"
    known(lines).returns((Facts(1, 16, 1), Facts(1, 16, 16)), "all elements are multiples of 16")
    lines = "  %s = arith.constant dense<4> : tensor<8xi32>\n"
    lines += "  %value = tt.expand_dims %s {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>"
    known(lines).returns((Facts(1, 4, 8, 4), Facts(1, 4, 1, 4)), "each element is still 4")


def test_new_axes_of_addresses() -> None:
    lines = (
        RANGE
        + """  %s = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %a = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %value = tt.expand_dims %a {axis = 1 : i32} : tensor<16x!tt.ptr<f32>> -> tensor<16x1x!tt.ptr<f32>>"""
    )
    known(lines).returns(
        (Facts(16, 16, 1), Facts(1, 4, 1)), "each element of q + 32, q + 36, q + 40, ... is a multiple of 4"
    )
    old = Facts(2, 8, 1)
    expanding(lines, old).returns((old, Facts(1, 4, 1)), "each element of 8, 12, 24, 28, ... is a multiple of 4")


def test_new_axes_beside_two() -> None:
    for first, second in ((2, 8), (8, 2)):
        old = (Facts(1, first, 4), Facts(1, second, 4))
        text = "  %x = tt.splat %n : i32 -> tensor<4x4xi32>\n"
        text += "  %y = tt.expand_dims %x {axis = 0 : i32} : tensor<4x4xi32> -> tensor<1x4x4xi32>"
        because = "the facts of one axis show that all elements are multiples of 8"
        expanding(text, *old).returns((Facts(1, 8, 1), *old), because)


def expanding(lines: str, *old: Facts) -> described:
    """The facts after the `tt.expand_dims` in these lines, whose operand has the facts `old`."""
    module = parse_module(MODULE.replace("%value = OPERATION", lines))
    expand = next(operation for operation in module.walk() if operation.name == "tt.expand_dims")
    words = f"expand_info(operation, [{old}]), where the operation is in\n{lines}\n"
    return described(words, expand_info, expand, [old])


def test_repetition() -> None:
    lines = COLUMN + "  %value = tt.broadcast %c : tensor<16x1xi32> -> tensor<16x32xi32>"
    known(lines).returns((Facts(16, 8, 1), Facts(1, 1, 32)), "elements are repeated along axis 1 only")


def test_transposition() -> None:
    lines = COLUMN + "  %b = tt.broadcast %c : tensor<16x1xi32> -> tensor<16x32xi32>\n"
    lines += "  %value = tt.trans %b {order = array<i32: 1, 0>} : tensor<16x32xi32> -> tensor<32x16xi32>"
    known(lines).returns((Facts(1, 1, 32), Facts(16, 8, 1)))
    lines = "  %s = arith.constant dense<0> : tensor<2x4x8xi32>\n"
    lines += "  %value = tt.trans %s {order = array<i32: 2, 0, 1>} : tensor<2x4x8xi32> -> tensor<8x2x4xi32>"
    known(lines).returns(tuple(Facts(1, MOST, size, 0) for size in (8, 2, 4)))


LINE = 4096
OFFSETS = (
    *("at", "at + 16", "at + m", "at + n", "m + at", "at + at", "at - 16", "n - at", "at - n", "at + 2", "at * 1"),
    *("at * 2", "at * m", "at * n", "(at + m) * 1", "at // 2", "at // 16", "at % 2", "at % 8", "at % 16", "at % 64"),
    *("at % m", "at % n", "(at + 2) % 8", "(at + 4) % 8", "(at + m) % 16", "(at * 2) % 16", "(at + n) % 8"),
    *("at % 8 + m", "at % 8 + n", "at % 8 + at // 8 * 8", "at % 4 + at // 4 * 16", "at // 4 * 4 + at % 4"),
    *("(at + 16) // 16 * 16 + at", "at * 16 + at % 16", "at + (at // 8) * 8", "at + (at // 8) * 4"),
    *("tl.where(at < m, at, at + 16)", "tl.where(at < n, at, at + 16)", "tl.where(at < m, at, 0)"),
    *("tl.maximum(at, at + 16)", "tl.minimum(at % 8, at + 8)", "at << 1", "(at >> 2) + m", "at.to(tl.int64) + 8"),
)
"""Offsets of one axis: `at` counts from 0 to 4095, `m` is a multiple of 16, `n` is any number."""
STEADY = (
    *("m", "n", "at // 2", "at // 4", "at // 16", "at // 64", "at // 6", "(at + 2) // 4", "(at + m) // 8", "at // m"),
    *("at // n", "(at // 4) // 2", "at // 4 + m", "at // 4 + at // 8", "(at // 8) * n", "at % 2", "at >> 3", "n >> 1"),
    *("at < m", "at < n", "at <= m", "at <= 15", "at > m", "at > 15", "at >= m", "at >= n", "m > at", "m >= at"),
    *("m < at", "m <= at", "n > at", "at + 8 < m", "at + 2 < m", "at == m", "at != m", "m == n", "at // 4 < n"),
    *("(at < m) & (at >= 16)", "(at < m) | (at < n)", "tl.where(at < m, 3, n)", "tl.where(at < n, 3, 5)", "at * 2 < m"),
)
"""Expressions with a constancy above 1."""
PLANE = (
    *("row * 64 + column", "row * m + column", "row * n + column", "column * m + row", "column * n + row"),
    *("column * 64 + row", "row + column", "row * 2 + column * 2", "row * m + column * n", "row * 8 + column % 8"),
    *("tl.trans(row * m + column)", "tl.trans(column * m + row)", "row * m + column + 8", "row * m + column + n"),
    *("(row * 64 + column) % 64", "(row % 4) * m + column", "row // 4 * 64 + column // 4", "(row + 16) * m + column"),
)
"""Offsets of a tensor of 64 rows and 64 columns."""
TEXT = """
import triton
import triton.language as tl

@triton.jit
def kernel(out, m, n):
    at = tl.arange(0, {LINE})
    row = tl.arange(0, 64)[:, None]
    column = tl.arange(0, 64)[None, :]
    {lines}
"""


def stores(expressions: tuple[str, ...]) -> str:
    """A kernel that stores a byte at each of these offsets, with one line for each store."""
    lines = "\n    ".join(f"tl.store(out + ({expression}), 0)" for expression in expressions)
    return TEXT.format(LINE=LINE, lines=lines)


@functools.cache
def compiled(expressions: tuple[str, ...]) -> str:
    """The kernel's module, compiled by our front end."""
    source = Source(stores(expressions), "kernel", {"out": "*i8", "m": "i32", "n": "i32"}, {}, ("out", "m"))
    return print_module(sources.compiled(source))


def places(module: Module) -> list[Any]:
    """The pointers of all stores."""
    return [operation.operands[0] for operation in module.walk() if operation.name == "tt.store"]


def as_steady(expression: str) -> str:
    """Offsets that are contiguous where an expression is constant."""
    return f"({expression}).to(tl.int32) * {LINE} + at"


@pytest.mark.parametrize(
    "expressions", [OFFSETS, tuple(map(as_steady, STEADY)), PLANE], ids=["offsets", "constancy", "two axes"]
)
def test_as_much_as_real_triton_knows(expressions: tuple[str, ...]) -> None:
    text = compiled(expressions)
    module = parse_module(text)
    analysis = calling(AxisAnalysis, module).succeeds()
    (ttgir,) = triton.coalesced([text])
    for expression, pointers, (_, axis, theirs) in zip(expressions, places(module), chosen(ttgir), strict=True):
        facts = analysis[pointers][axis]
        ours = min(facts.contiguity, facts.divisibility, 16)
        asked = described(
            f"AxisAnalysis(module)[out + ({expression})], where `out` and `m` are multiples of 16", lambda: None
        )
        if ours < theirs:
            because = (
                f"real Triton gives each thread {theirs} contiguous bytes along axis {axis}, at a multiple of {theirs}"
            )
            asked.fail(f"contiguity and divisibility of {theirs} or more", facts, because)


@pytest.mark.parametrize(
    "expressions", [OFFSETS, tuple(map(as_steady, STEADY)), PLANE], ids=["offsets", "constancy", "two axes"]
)
def test_facts_are_true(expressions: tuple[str, ...]) -> None:
    module = parse_module(compiled(expressions))
    analysis = calling(AxisAnalysis, module).succeeds()
    for m, n in ((16, 1), (48, 7), (64, 12), (4096, 4095)):
        for expression, pointers in zip(expressions, places(module), strict=True):
            offsets = evaluated(expression, m, n)
            for axis, facts in enumerate(analysis[pointers]):
                along = np.moveaxis(offsets, axis, -1)
                if false := untrue(facts, along):
                    asked = described(f"AxisAnalysis(module)[out + ({expression})]", lambda: None)
                    asked.fail(
                        "facts that hold", facts, f"{false} does not hold along axis {axis}: {shown(along)[:100]}"
                    )


class NumpyLanguage:
    """NumPy's versions of the functions of `tl` in the expressions."""

    int32, int64 = np.int32, np.int64
    where, maximum, minimum, trans = np.where, np.maximum, np.minimum, np.transpose


def evaluated(expression: str, m: int, n: int) -> np.ndarray:
    """The offsets, computed by NumPy."""
    names = {"at": np.arange(LINE), "row": np.arange(64)[:, None], "column": np.arange(64)[None, :]}
    numbers = {"m": np.int64(m), "n": np.int64(n)}
    return np.asarray(eval(expression.replace(".to(", ".astype("), {"tl": NumpyLanguage, **names, **numbers}))
