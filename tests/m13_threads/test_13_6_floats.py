"""Task 13.6: arithmetic and comparisons of floats. The judges are NumPy and NVIDIA's assembler."""

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import described, one_in
from tests.oracles import triton
from tests.support.m13_threads import single

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -3.0, 100.25, -7e4, 65504.0, 1e-7, -6e-8, 1e30, 1e-40, 1 + 2**-10, 1 / 3]
EDGES += [math.inf, -math.inf, math.nan]
Rule = Callable[..., Any]


def numbers(type: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of floats: of all awkward ones, then of random bits."""
    dtype = np.dtype(TYPES[type])
    with np.errstate(all="ignore"):
        edges = np.array(EDGES).astype(dtype)
    words = np.random.default_rng(seed).integers(0, 2 ** (8 * dtype.itemsize), 200, dtype=f"u{dtype.itemsize}")
    x, y = np.meshgrid(edges, edges)
    return np.concatenate([x.ravel(), words.view(dtype)]), np.concatenate([y.ravel(), words[::-1].view(dtype)])


def rounded(function: Rule, type: str, *operands: np.ndarray) -> np.ndarray:
    """NumPy's results: of 32-bit floats, if the type is narrower. These have bits enough for a second rounding."""
    dtype = np.dtype(TYPES[type])
    with np.errstate(all="ignore"):
        if dtype.itemsize == 2:
            operands = tuple(operand.astype(np.float32) for operand in operands)
        return np.asarray(function(*operands)).astype(dtype)


BINARY: dict[str, Rule] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
}
UNARY: dict[str, Rule] = {"arith.negf": np.negative, "math.sqrt": np.sqrt}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name: str, type: str) -> None:
    x, y = numbers(type)
    if "max" in name or "min" in name:
        with np.errstate(all="ignore"):
            keep = (x != 0) | (y != 0)  # of two zeros, either will do
        x, y = x[keep], y[keep]
    expected = rounded(BINARY[name], type, x, y)
    because = "one operand is NaN, or NumPy computes it" if name[6:9] in ("max", "min") else "NumPy computes it"
    single.check(f"%r = {name} %x, %y : {type}", [type, type], [x, y], expected, because)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name: str, type: str) -> None:
    x, _ = numbers(type)
    single.check(f"%r = {name} %x : {type}", [type], [x], rounded(UNARY[name], type, x))


@pytest.mark.parametrize("name", ["tt.precise_divf", "tt.precise_sqrt"])
def test_precise_functions(name: str) -> None:
    x, y = numbers("f32")
    if name == "tt.precise_sqrt":
        single.check(f"%r = {name} %x : f32", ["f32"], [x], rounded(np.sqrt, "f32", x))
    else:
        single.check(f"%r = {name} %x, %y : f32", ["f32", "f32"], [x, y], rounded(np.divide, "f32", x, y))


FUSED = {
    "f32": [(1 + 2**-12, 1 + 2**-12, -1.0, 2**-11 + 2**-24), (3.0, 4.0, 5.0, 17.0)],
    "f64": [(1 + 2**-30, 1 + 2**-30, -1.0, 2**-29 + 2**-60), (3.0, 4.0, 5.0, 17.0)],
    "f16": [
        (1.5, 683 / 1024, 2**-24, 1 + 2**-10),
        (1 + 2**-10, 1 + 2**-10, -1.0, 2**-9 + 2**-20),
        (3.0, 4.0, 5.0, 17.0),
    ],
    "bf16": [(3.0, 87 / 256, 2**-30, 131 / 128), (1 + 2**-7, 1 + 2**-7, -1.0, 2**-6 + 2**-14), (3.0, 4.0, 5.0, 17.0)],
}
"""x, y, z, and the float nearest to x * y + z. Rounded to 32 bits first, the first result of fp16 and bf16 differs."""


@pytest.mark.parametrize("type", TYPES)
def test_fused_products_and_sums_round_once(type: str) -> None:
    x, y, z, expected = (np.array(column, TYPES[type]) for column in zip(*FUSED[type], strict=True))
    line = f"%r = math.fma %x, %y, %z : {type}"
    single.check(line, [type] * 3, [x, y, z], expected, "the exact x * y + z is rounded only once")


COMPARED: dict[str, Rule] = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
COMPARED |= {"ge": np.greater_equal, "ne": np.not_equal}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("predicate", ["oeq", "olt", "oge", "one", "une", "ult", "ugt", "ord", "uno"])
def test_comparisons(predicate: str, type: str) -> None:
    with np.errstate(all="ignore"):
        x, y = (operand.astype(np.float64) for operand in numbers(type))
    unordered = np.isnan(x) | np.isnan(y)
    if predicate in ("ord", "uno"):
        expected = unordered == (predicate == "uno")
    else:
        expected = np.where(unordered, predicate[0] == "u", COMPARED[predicate[1:]](x, y))
    line = f"%r = arith.cmpf {predicate}, %x, %y : {type}"
    single.check(line, [type, type], list(numbers(type)), expected, "a comparison with NaN is unordered")


@given(type=st.sampled_from(list(TYPES)), name=st.sampled_from(["arith.addf", "arith.mulf"]), seed=st.integers(0))
def test_random_bits(type: str, name: str, seed: int) -> None:
    x, y = numbers(type, seed)
    single.check(f"%r = {name} %x, %y : {type}", [type, type], [x, y], rounded(BINARY[name], type, x, y))


test_random_bits = one_in(5)(test_random_bits)

FORMS = {
    "%r = arith.addf %x, %y : f32": ["add.f32"],
    "%r = arith.mulf %x, %y : f64": ["mul.f64"],
    "%r = arith.divf %x, %y : f32": ["div.full.f32"],
    "%r = arith.divf %x, %y : f64": ["div.rn.f64"],
    "%r = tt.precise_divf %x, %y : f32": ["div.rn.f32"],
    "%r = math.sqrt %x : f32": ["sqrt.approx.f32"],
    "%r = math.sqrt %x : f64": ["sqrt.rn.f64"],
    "%r = tt.precise_sqrt %x : f32": ["sqrt.rn.f32"],
    "%r = math.fma %x, %y, %z : f32": ["fma.rn.f32"],
    "%r = math.fma %x, %y, %z : f16": ["fma.rn.f16"],
    "%r = math.fma %x, %y, %z : bf16": ["fma.rn.bf16"],
    "%r = arith.maximumf %x, %y : f32": ["max.NaN.f32"],
    "%r = arith.minnumf %x, %y : f64": ["min.f64"],
}
"""Operations that take one instruction."""


@pytest.mark.parametrize("line", FORMS)
def test_one_instruction_suffices(line: str) -> None:
    type = line.split(" : ")[1]
    described(f"the opcodes for `{line}`", single.opcodes, line, [type] * (line.count("%") - 1)).returns(FORMS[line])


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_the_assembler_accepts_the_code(target: str) -> None:
    lines = {f"%r = {name} %x, %y : {type}" for name in BINARY for type in TYPES}
    lines |= {f"%r = {name} %x : {type}" for name in UNARY for type in TYPES} | set(FORMS)
    text = single.program(sorted(lines), int(target[3:]))
    refusal = triton.refusal_of_ptxas(text, target)
    assert not refusal, f"NVIDIA's assembler refuses the code for arithmetic of floats on {target}:\n{refusal}"
