"""Products in the microscaling formats agree with the formats of `ml_dtypes`, and real Triton accepts them."""

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mini_triton import language as tl
from mini_triton.backends.threads import back_end as threads
from mini_triton.codegen import compile_module
from mini_triton.errors import CompilationError
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer
from mini_triton.language.tracing import trace

from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.corpus.scaled import CASES, FLAGS, MACHINE_CODE, PROGRAMS, STACKS, K, M, N
from tests.oracles import triton
from tests.support import emulator, sources
from tests.support.m06_codegen import numpy_backend
from tests.support.m06_codegen.numpy_backend import Mode

SEED = 0
ROUNDING, TINY = 2.0**-18, 2.0**-126
COMPILED = (*CASES[::5], *CASES[-12:], MACHINE_CODE)
"""Compiled down to machine code, which takes long."""
STORED = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
}

cases = pytest.mark.parametrize("case", CASES, ids=str)


@functools.cache
def compiled(case: Case) -> Any:
    """A case, compiled by our front end."""
    return sources.compiled(case.source(), str(case.path))


def decoded(values: np.ndarray, format: str, shape: tuple[int, ...], pairs_along: int) -> np.ndarray:
    """Numbers of a format, as `ml_dtypes` reads them."""
    if format != "e2m1":
        return values.view(STORED[format]).astype(np.float64).reshape(shape)
    packed = list(shape)
    packed[pairs_along] //= 2
    halves = values.reshape(packed) & 15, values.reshape(packed) >> 4
    numbers = [half.view(ml_dtypes.float4_e2m1fn).astype(np.float64) for half in halves]
    result = np.empty(shape)
    rows = np.moveaxis(result, pairs_along, 0)
    rows[0::2], rows[1::2] = (np.moveaxis(half, pairs_along, 0) for half in numbers)
    return result


def powers(scales: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The scale of each number of a row."""
    kind = ml_dtypes.float8_e8m0fnu if scales.dtype == np.uint8 else scales.dtype
    values = scales.view(kind).astype(np.float64).reshape(*shape[:-1], -1)
    return np.repeat(values, shape[-1] // values.shape[-1], axis=-1)


def expected(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The product in `float64`, and the sums of its terms' magnitudes."""
    given = dict(buffers(case, inputs(case, SEED)[0]))
    flags: Any = dict(case.constexprs)
    stacked = case is STACKS
    if stacked:
        flags = FLAGS | {"X": "e5m2", "Y": "e2m1", "Y_SCALED": False}
    count = 4 if stacked else PROGRAMS
    x = decoded(given["x"], flags["X"], (count, M, K), -1 if flags["X_PACK"] else -2)
    y = decoded(given["y"], flags["Y"], (4, K, N) if stacked else (K, N), -2 if flags["Y_PACK"] else -1)
    if flags["X_SCALED"]:
        x = x * powers(given["x_scale"], x.shape)
    if flags["Y_SCALED"]:
        y = y * powers(given["y_scale"], (N, K)).T
    before = given["out"].reshape(count, M, N) if flags["SUM"] else np.zeros((count, M, N))
    return before + x @ y, np.abs(before) + np.abs(x) @ np.abs(y)


@pytest.mark.parametrize("mode", numpy_backend.MODES)
@cases
def test_as_the_formats_say(case: Case, mode: Mode) -> None:
    got, *_ = numpy_backend.run(compiled(case), case.grid, *inputs(case, SEED), mode=mode)
    check(case, got)


@pytest.mark.parametrize("case", COMPILED[:-1], ids=str)
def test_on_tensor_cores(case: Case) -> None:
    """The back end "ptx" multiplies scaled numbers in bf16 or TF32: multiples of 2^-133, here below 2^40."""
    code = threads.compile_module(parse_module(print_module(compiled(case))), 4, 90, 1)
    report, (got, *_) = emulator.launch(case, code.ptx, code.shared, seed=SEED)
    assert not report.errors, report.errors[0]
    assert ("mma.sync" in code.ptx) == (case is not STACKS)
    check(case, got, K * 2.0 ** (40 - 133))


def check(case: Case, got: np.ndarray, tiny: float = TINY) -> None:
    """Check a product in `float32`; errors may be as large as `tiny`."""
    wish, size = expected(case)
    got = got.reshape(wish.shape).astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wish))
    assert np.isnan(wish).any() == str(case).endswith("_nan")
    assert (np.isnan(wish) | (np.abs(got - wish) <= ROUNDING * size + tiny)).all()


@functools.cache
def accepted() -> dict[Case, tuple[triton.Answer, triton.Made]]:
    """Whether real Triton accepts our modules, and the kernels."""
    known = (*CASES, MACHINE_CODE)
    texts = [print_module(compiled(case)) for case in known]
    made = triton.frontends([case.source() for case in known])
    return dict(zip(known, zip(triton.accepts_many(texts), made, strict=True), strict=True))


@pytest.mark.parametrize("case", (*CASES, MACHINE_CODE), ids=str)
def test_accepted(case: Case) -> None:
    ours, theirs = accepted()[case]
    assert ours, ours.diagnostic
    assert theirs, theirs.diagnostic


@pytest.mark.parametrize("case", (CASES[0], CASES[1], CASES[2], MACHINE_CODE), ids=str)
def test_real_tritons_text_is_read(case: Case) -> None:
    _, theirs = accepted()[case]
    assert parse_module(theirs.canonical).body.operations


def test_compiled_for_a_gpu() -> None:
    """Where real Triton compiles the kernel: on sm_90 it does not if numbers are packed along rows."""
    texts = [print_module(compiled(case)) for case in COMPILED]
    theirs = triton.frontends([case.source() for case in COMPILED], lower=True)
    for case, answer, made in zip(COMPILED, triton.compile_many(texts, "sm_90"), theirs, strict=True):
        assert bool(answer) == bool(made.compiled), f"{case}: {answer.diagnostic or made.compiled.diagnostic}"


WRONG = (
    ('tl.dot_scaled(a, s, "e2m3", b, s, "e4m3")', "Invalid float format: e2m3"),
    ('tl.dot_scaled(a, s, "e4m3", a, s, "e4m3")', "Reduction dimension should pack the same number of elements"),
    ('tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", lhs_k_pack=False)', "only mxfp4 inputs can be packed"),
    ('tl.dot_scaled(a.to(tl.int8), s, "e2m1", b, s, "e4m3")', "e2m1 format must be packed as uint8. Got int8"),
    ('tl.dot_scaled(a, s, "bf16", b, s, "e4m3")', "Unexpected dtype for bf16. Got uint8"),
    ('tl.dot_scaled(a, a, "e4m3", b, s, "e4m3")', "lhs_scale must be a tensor of shape [..., 32, 2]. Got [32, 64]"),
    ('tl.dot_scaled(a, s, "e4m3", b, b, "e4m3")', "rhs_scale must be a tensor of shape [..., 32, 2]. Got [64, 32]"),
    ('tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", out_dtype=tl.float16)', "Only float32 is supported for out_dtype"),
    ('tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", tl.zeros((64, 32), tl.float32))', "expected accumulator shape"),
    ('tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", tl.zeros((32, 32), tl.float16))', "expected accumulator dtype"),
    ('tl.dot_scaled(tl.arange(0, 32), s, "e4m3", b, s, "e4m3")', "Both inputs must be either 2D or 3D"),
)


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_operands_are_refused(text: str, message: str) -> None:
    def kernel() -> None:
        a, b, s = (tl.zeros(shape, tl.uint8) for shape in ((32, 64), (64, 32), (32, 2)))
        eval(text, {"tl": tl, "a": a, "b": b, "s": s})

    with pytest.raises((ValueError, TypeError)) as caught:
        trace(kernel, {})
    assert message in str(caught.value)


def test_machine_code_is_refused_on_cpus() -> None:
    """At its line, and only when it is run: for a GPU the module is fine."""
    array = np.zeros(64, np.int32)
    with pytest.raises(CompilationError, match="inline PTX runs on GPUs only") as caught:
        compile_module(compiled(MACHINE_CODE))((1,), [Buffer.of("out", array), Buffer.of("x", array)])
    line = MACHINE_CODE.path.read_text(encoding="utf-8").split("\n").index("    low, high = tl.inline_asm_elementwise(")
    assert caught.value.loc is not None
    assert caught.value.loc.line == line + 1
