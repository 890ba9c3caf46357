"""Task 13.6: casts of numbers. The judges are NumPy, `ml_dtypes` and NVIDIA's assembler."""

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.instructions import Unsupported

from tests.checks import described, one_in
from tests.oracles import triton
from tests.support.m13_threads import single
from tests.support.m13_threads.single import dtype

FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
EIGHT: dict[str, Any] = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
WIDTHS = (1, 8, 16, 32, 64)
PAIRS = list(itertools.combinations(WIDTHS, 2))
INTEGERS = [0, 1, -1, 2, 7, -8, 100, 127, -128, 255, 32767, -32768, 65535, 12345678, 2**31 - 1, -(2**31), 2**63 - 1]
MIDDLE = [1 + 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-11, 65519.0, 65520.0, 2**-25, 1.5 * 2**-25, 1e-46]
"""Floats in the middle between two narrower ones, or near the ends."""
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.75, 100.3, -7e4, 1e30, -1e300, 1e-8, 1 / 3, *MIDDLE]
EDGES += [math.inf, -math.inf, math.nan]


def integers(width: int, seed: int = 0) -> np.ndarray:
    """Awkward and random integers of so many bits."""
    if width == 1:
        return np.array([False, True])
    random = np.random.default_rng(seed).integers(-(2 ** (width - 1)), 2 ** (width - 1), 100, dtype(width))
    return np.concatenate([np.array(INTEGERS, np.int64).astype(dtype(width)), random])


def floats(type: str, seed: int = 0) -> np.ndarray:
    """Awkward floats, and floats of random bits."""
    form = np.dtype((FLOATS | EIGHT)[type])
    with np.errstate(all="ignore"):
        edges = np.array(EDGES).astype(form)
    words = np.random.default_rng(seed).integers(0, 2 ** (8 * form.itemsize), 200, dtype=f"u{form.itemsize}")
    return np.concatenate([edges, words.view(form)])


# --- integers


@pytest.mark.parametrize(("narrow", "wide"), PAIRS)
@pytest.mark.parametrize("letter", ["s", "u"])
def test_extensions(letter: str, narrow: int, wide: int) -> None:
    x = integers(narrow)
    if narrow == 1:
        expected = (-x.astype(np.int8) if letter == "s" else x).astype(dtype(wide))
    else:
        expected = x.view(dtype(narrow, letter == "s")).astype(dtype(wide))
    because = "the sign fills the new bits" if letter == "s" else "zeros fill the new bits"
    single.check(f"%r = arith.ext{letter}i %x : i{narrow} to i{wide}", [f"i{narrow}"], [x], expected, because)


@pytest.mark.parametrize(("narrow", "wide"), PAIRS)
def test_truncations(narrow: int, wide: int) -> None:
    x = integers(wide)
    expected = x & 1 == 1 if narrow == 1 else x.astype(dtype(narrow))
    because = "a boolean is the last bit" if narrow == 1 else "the lower bits stay"
    single.check(f"%r = arith.trunci %x : i{wide} to i{narrow}", [f"i{wide}"], [x], expected, because)


# --- integers and floats


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("letter", ["s", "u"])
def test_floats_to_integers(letter: str, width: int, type: str) -> None:
    with np.errstate(all="ignore"):
        x = np.concatenate([floats(type), np.linspace(-200, 200, 333).astype(FLOATS[type])])
        whole = np.trunc(x.astype(np.float64))
    low, high = (-(2.0 ** (width - 1)), 2.0 ** (width - 1)) if letter == "s" else (0.0, 2.0**width)
    keep = (whole >= low) & (whole < high)
    x, whole = x[keep], whole[keep]
    expected = whole != 0 if width == 1 else whole.astype(dtype(width, letter == "s")).view(dtype(width))
    because = "the fraction is dropped" if width > 1 else "a boolean is 0 or 1, or 0 or -1 if it is signed"
    single.check(f"%r = arith.fpto{letter}i %x : {type} to i{width}", [type], [x], expected, because)


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("width", (1, 8, 32))
@pytest.mark.parametrize("letter", ["s", "u"])
def test_integers_to_floats(letter: str, width: int, type: str) -> None:
    x = integers(width)
    numbers = (
        -x.astype(np.int8) if width == 1 and letter == "s" else x if width == 1 else x.view(dtype(width, letter == "s"))
    )
    with np.errstate(all="ignore"):
        exact = numbers.astype(np.float64)
        expected = (exact.astype(np.float32) if type == "bf16" else exact).astype(FLOATS[type])
    single.check(f"%r = arith.{letter}itofp %x : i{width} to {type}", [f"i{width}"], [x], expected)


# --- floats


def name_of(source: str, target: str) -> str:
    sizes = [np.dtype(FLOATS[type]).itemsize for type in (source, target)]
    return "tt.fp_to_fp" if sizes[0] == sizes[1] else "arith.extf" if sizes[0] < sizes[1] else "arith.truncf"


def check_floats(source: str, target: str, seed: int) -> None:
    """Check a cast of awkward and random floats."""
    x = floats(source, seed)
    line = f"%r = {name_of(source, target)} %x : {source} to {target}"
    if "fp_to_fp" in line:
        line = line.replace("%x :", "%x, rounding = rtne :").replace(" to ", " -> ")
    with np.errstate(all="ignore"):
        through = x.astype(np.float32) if {source, target} != {"f64", "f16"} else x
        expected = through.astype(FLOATS[target])
    nearest = " to the nearest fp32" if (source, target) == ("f64", "bf16") else " to the number"
    single.check(line, [source], [x], expected, f"the result is the {target} nearest{nearest}")


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(FLOATS, 2)))
def test_floats_to_floats(source: str, target: str) -> None:
    check_floats(source, target, 0)


@pytest.mark.parametrize("type", ["f16", "bf16", *EIGHT])
def test_every_narrow_float(type: str) -> None:
    """All floats of 8 and 16 bits, as 32-bit floats."""
    form = np.dtype((FLOATS | EIGHT)[type])
    x = np.arange(2 ** (8 * form.itemsize), dtype=f"u{form.itemsize}").view(form)
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32)
    line = f"%r = arith.extf %x : {type} to f32" if type in FLOATS else f"%r = tt.fp_to_fp %x : {type} -> f32"
    single.check(line, [type], [x], expected, "a 32-bit float represents each of them exactly")


def toward_zero(x: np.ndarray, target: str) -> np.ndarray:
    """The nearest floats toward zero."""
    with np.errstate(all="ignore"):
        near = x.astype(FLOATS[target])
        bits = near.view("u2")
        too_far = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(too_far, bits - 1, bits).astype("u2").view(FLOATS[target])


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_rounding_toward_zero(target: str) -> None:
    x = floats("f32")
    x = x[np.isfinite(x)]
    line = f"%r = tt.fp_to_fp %x, rounding = rtz : f32 -> {target}"
    single.check(line, ["f32"], [x], toward_zero(x, target), "`rtz` rounds toward zero")


def test_rounding_toward_zero_in_two_steps() -> None:
    x = floats("f64", 1)
    x = np.concatenate([x[np.isfinite(x)], [1 + 2**-7 - 2**-40, -1 - 2**-7 + 2**-40]])
    x = x[(np.abs(x) < 1e30) & (np.abs(x) > 1e-30)]
    for target in ("f16", "bf16"):
        line = f"%r = tt.fp_to_fp %x, rounding = rtz : f64 -> {target}"
        single.check(line, ["f64"], [x], toward_zero(x, target), "each step rounds toward zero")


@pytest.mark.parametrize(("source", "target"), [*itertools.product(EIGHT, FLOATS), *itertools.product(FLOATS, EIGHT)])
def test_eight_bits(source: str, target: str) -> None:
    x = floats(source)
    if source in FLOATS:  # the instruction returns the largest number for larger ones; `ml_dtypes` returns NaN
        with np.errstate(all="ignore"):
            x = x[np.abs(x.astype(np.float64)) <= 400]
    rounding = ", rounding = rtne" if target in EIGHT else ""
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32).astype((FLOATS | EIGHT)[target])
    single.check(f"%r = tt.fp_to_fp %x{rounding} : {source} -> {target}", [source], [x], expected)


def test_eight_bits_need_a_newer_gpu() -> None:
    for types in (("f8E5M2", "f32"), ("f32", "f8E5M2")):
        line = f"%r = tt.fp_to_fp %x{', rounding = rtne' if types[1] != 'f32' else ''} : {types[0]} -> {types[1]}"
        described(f"the code of `{line}` for sm_80", single.opcodes, line, [types[0]], 80).raises(Unsupported, "sm_80")
        described(f"the code of `{line}` for sm_90", single.opcodes, line, [types[0]], 90).succeeds()


@one_in(5)
@given(pair=st.sampled_from(list(itertools.permutations(FLOATS, 2))), seed=st.integers(0))
def test_random_floats(pair: tuple[str, str], seed: int) -> None:
    check_floats(*pair, seed)


# --- the code


FORMS = {
    "%r = arith.extsi %x : i32 to i64": ["cvt.s64.s32"],
    "%r = arith.extui %x : i8 to i16": ["cvt.u16.u8"],
    "%r = arith.extsi %x : i8 to i32": ["cvt.s32.s8"],
    "%r = arith.extui %x : i1 to i32": ["selp.b32"],
    "%r = arith.trunci %x : i16 to i8": [],
    "%r = arith.truncf %x : f64 to f16": ["cvt.rn.f16.f64"],
    "%r = arith.truncf %x : f32 to bf16": ["cvt.rn.bf16.f32"],
    "%r = arith.extf %x : f32 to f64": ["cvt.f64.f32"],
    "%r = arith.extf %x : f16 to f32": ["cvt.f32.f16"],
    "%r = arith.fptosi %x : f32 to i32": ["cvt.rzi.s32.f32"],
    "%r = arith.fptoui %x : f64 to i64": ["cvt.rzi.u64.f64"],
}
"""Casts, and the instructions that suffice."""


@pytest.mark.parametrize("line", FORMS)
def test_no_more_instructions_than_necessary(line: str) -> None:
    because = "the register has these lower bits already" if not FORMS[line] else ""
    type = line.split(" : ")[1].split(" to ")[0]
    described(f"the opcodes for `{line}`", single.opcodes, line, [type]).returns(FORMS[line], because)


def test_the_assembler_accepts_the_code() -> None:
    lines = [f"%r = arith.ext{s}i %x : i{a} to i{b}" for s in "su" for a, b in itertools.combinations(WIDTHS, 2)]
    lines += [f"%r = arith.trunci %x : i{b} to i{a}" for a, b in itertools.combinations(WIDTHS, 2)]
    lines += [f"%r = arith.fpto{s}i %x : {t} to i{w}" for s in "su" for t in FLOATS for w in WIDTHS]
    pairs = [pair for pair in itertools.permutations(FLOATS, 2) if name_of(*pair) != "tt.fp_to_fp"]
    lines += [f"%r = {name_of(*pair)} %x : {pair[0]} to {pair[1]}" for pair in pairs]
    refusal = triton.refusal_of_ptxas(single.program(lines, 80), "sm_80")
    assert not refusal, f"NVIDIA's assembler refuses the code for casts:\n{refusal}"
