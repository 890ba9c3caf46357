"""Task 13.5: integers, comparisons, selections and addresses of one element. The judge is NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import described
from tests.support.m13_threads import single
from tests.support.m13_threads.single import dtype

WIDTHS = (1, 8, 16, 32, 64)
EDGES = [0, 1, -1, 2, 7, -8, 100, 127, -128, 255, 32767, -32768, -12345, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
Rule = Callable[[Any, Any], Any]


def numbers(width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of integers: of all awkward ones, then random ones."""
    if width == 1:
        return np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    edges = np.unique(np.array(EDGES, np.int64).astype(dtype(width)))
    random = np.random.default_rng(seed).integers(-(2 ** (width - 1)), 2 ** (width - 1), 200, dtype(width))
    x, y = np.meshgrid(edges, edges)
    return np.concatenate([x.ravel(), random]), np.concatenate([y.ravel(), random[::-1]])


def truncated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Quotients, rounded toward zero."""
    quotient = x // y
    return quotient + ((x % y != 0) & ((x < 0) != (y < 0)))


ARITHMETIC: dict[str, tuple[str, Rule]] = {
    "arith.addi": ("s", np.add),
    "arith.subi": ("s", np.subtract),
    "arith.muli": ("s", np.multiply),
    "arith.divsi": ("s", truncated),
    "arith.divui": ("u", np.floor_divide),
    "arith.remsi": ("s", np.fmod),
    "arith.remui": ("u", np.remainder),
    "arith.andi": ("s", np.bitwise_and),
    "arith.ori": ("s", np.bitwise_or),
    "arith.xori": ("s", np.bitwise_xor),
    "arith.maxsi": ("s", np.maximum),
    "arith.minsi": ("s", np.minimum),
    "arith.maxui": ("u", np.maximum),
    "arith.minui": ("u", np.minimum),
    "arith.shli": ("s", np.left_shift),
    "arith.shrsi": ("s", np.right_shift),
    "arith.shrui": ("u", np.right_shift),
}
"""Operations, whether they are signed, and NumPy's function."""


def defined(name: str, width: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs for which an operation has a result."""
    keep = np.ones(len(x), bool)
    if "div" in name or "rem" in name:
        keep = (y != 0) & ~((y == -1) & (x == np.iinfo(x.dtype).min))
    if "sh" in name:
        y = y % x.dtype.type(width)
    return x[keep], y[keep]


@pytest.mark.parametrize("width", WIDTHS[1:])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str, width: int) -> None:
    x, y = defined(name, width, *numbers(width))
    letter, function = ARITHMETIC[name]
    with np.errstate(all="ignore"):
        expected = function(x.view(dtype(width, letter == "s")), y.view(dtype(width, letter == "s")))
    because = "the upper half of an 8-bit element's register is undefined" if width == 8 else "NumPy computes it"
    kind = f"i{width}"
    single.check(f"%r = {name} %x, %y : {kind}", [kind, kind], [x, y], expected.view(dtype(width)), because)


BOOLEANS = {"arith.addi": np.logical_xor, "arith.muli": np.logical_and, "arith.ori": np.logical_or}
BOOLEANS |= {"arith.maxui": np.logical_or, "arith.maxsi": np.logical_and, "arith.xori": np.logical_xor}


@pytest.mark.parametrize("name", BOOLEANS)
def test_booleans(name: str) -> None:
    x, y = numbers(1)
    because = "a boolean is an integer of one bit; a signed one is 0 or -1"
    single.check(f"%r = {name} %x, %y : i1", ["i1", "i1"], [x, y], BOOLEANS[name](x, y), because)


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_absolute_values(width: int) -> None:
    x, _ = numbers(width)
    single.check(f"%r = math.absi %x : i{width}", [f"i{width}"], [x], np.abs(x))


COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
COMPARISONS |= {"ge": np.greater_equal}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("predicate", ["eq", "ne", *(f"{s}{name}" for s in "su" for name in ("lt", "le", "gt", "ge"))])
def test_comparisons(predicate: str, width: int) -> None:
    x, y = numbers(width)
    signed = predicate[0] != "u"
    if width == 1:
        compared = [-a.astype(np.int8) if signed else a.astype(np.int8) for a in (x, y)]
        because = "true is -1 among signed integers of one bit" if signed else "true is 1 among unsigned integers"
    else:
        compared = [a.view(dtype(width, signed)) for a in (x, y)]
        because = "it compares signed integers" if signed else "it compares unsigned integers"
    expected = COMPARISONS[predicate[-2:]](*compared)
    single.check(f"%r = arith.cmpi {predicate}, %x, %y : i{width}", [f"i{width}"] * 2, [x, y], expected, because)


@pytest.mark.parametrize("width", WIDTHS)
def test_selections(width: int) -> None:
    x, y = numbers(width)
    kind = f"i{width}"
    for start in (0, 1):
        condition = np.arange(start, start + len(x)) % 2 == 0
        line = f"%r = arith.select %x, %y, %z : {kind}"
        single.check(line, ["i1", kind, kind], [condition, x, y], np.where(condition, x, y))


POINTEES = {"i1": 1, "i8": 1, "bf16": 2, "f32": 4, "i64": 8, "!tt.ptr<f32>": 8}
"""Types in memory, and their bytes."""


@given(
    pointee=st.sampled_from(list(POINTEES)),
    width=st.sampled_from(WIDTHS[1:]),
    seed=st.integers(0, 1000),
)
def test_addresses(pointee: str, width: int, seed: int) -> None:
    offsets, _ = numbers(width, seed)
    offsets = np.clip(offsets, -(2**40), 2**40).astype(dtype(width))
    addresses = np.random.default_rng(seed).integers(2**50, 2**51, len(offsets))
    kind = f"!tt.ptr<{pointee}>"
    expected = addresses + offsets.astype(np.int64) * POINTEES[pointee]
    because = "offsets are signed, and count elements; a boolean takes a byte"
    single.check(
        f"%r = tt.addptr %x, %y : {kind}, i{width}", [kind, f"i{width}"], [addresses, offsets], expected, because
    )


@pytest.mark.parametrize(("width", "count"), [(32, 1), (64, 1), (16, 2), (8, 2)])
def test_addresses_take_one_instruction(width: int, count: int) -> None:
    line = f"%r = tt.addptr %x, %y : !tt.ptr<f32>, i{width}"
    found = described(f"the opcodes for `{line}`", single.opcodes, line, ["!tt.ptr<f32>", f"i{width}"])
    got = found()
    if len(got) > count:
        found.fail(f"at most {count}", ", ".join(got), "`mad` multiplies and adds; only narrow offsets are converted")


NEEDLESS = {
    "%r = arith.addi %x, %y : i32": ["add.s32"],
    "%r = arith.addi %x, %y : i8": ["add.s16"],
    "%r = arith.xori %x, %y : i8": ["xor.b16"],
    "%r = arith.muli %x, %y : i16": ["mul.lo.s16"],
    "%r = arith.divui %x, %y : i64": ["div.u64"],
    "%r = arith.shli %x, %y : i32": ["shl.b32"],
    "%r = arith.cmpi slt, %x, %y : i64": ["setp.lt.s64"],
}


@pytest.mark.parametrize("line", NEEDLESS)
def test_one_instruction_suffices(line: str) -> None:
    kind = line.split(" : ")[1]
    described(f"the opcodes for `{line}`", single.opcodes, line, [kind, kind]).returns(
        NEEDLESS[line], "a lower half of a sum depends on lower halves only" if kind == "i8" else ""
    )
