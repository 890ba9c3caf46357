"""The sanitizer finds each planted defect, with its line, and no others; it reports nothing for right kernels."""

import contextlib
import io
from typing import Any

import mini_triton
import numpy as np
import pytest
from mini_triton import sanitizer
from mini_triton.environment import SANITIZE
from mini_triton.ir.printer import print_module
from mini_triton.runtime.checks import AccessError
from mini_triton.sanitizer.facts import facts_of
from mini_triton.sanitizer.launch import SanitizedKernel
from mini_triton.sanitizer.reports import KINDS

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.mini_triton.test_sanitizer_at_once import slow_runs
from tests.oracles import values
from tests.support import sources
from tests.support.m06_codegen import closeness
from tests.support.m06_codegen.numpy_backend import prepare
from tests.support.sanitizer.planted import PLANTED, reports
from tests.support.sources import load

FOUND = {
    "atomics": ("races", "each program stores what it got to the same place"),
    "ternaries_short": ("masked", "elements that were not loaded are stored"),
}
"""Cases of the corpus that have a defect, and why it does not matter there."""
ONE_BY_ONE = {
    "compare_and_swap": "programs wait for one another",
    "layer_norm_backward_lock": "programs wait for one another",
    "last_block_sums": "the last program reads what the others wrote",
    "messages": "it prints",
    "ternaries_short": "it stores what was not loaded",
}
"""Cases of the corpus whose programs do not run at once."""
PLANTED_KERNELS = [(kind, body) for kind, bodies in PLANTED.items() for body in bodies]
planted = pytest.mark.parametrize(
    "kind, body", PLANTED_KERNELS, ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(PLANTED_KERNELS)]
)


@pytest.fixture(autouse=True)
def _look_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANITIZE, "1")


# --- planted defects


@planted
def test_a_planted_defect_is_found(kind: str, body: str) -> None:
    found, line = reports(body, wrong=True)
    assert found, f"no {kind} was found in\n{body}"
    for report in found:
        assert (report.kind, report.line) == (kind, line), f"expected {kind} in line {line}, got\n{report}"
        assert report.program in ((0, 0, 0), (1, 0, 0)) and report.count > 0
    if kind in ("masked", "uninitialized", "races"):
        assert all(report.argument and report.element is not None for report in found)


@planted
def test_without_the_defect_nothing_is_found(kind: str, body: str) -> None:
    found, _ = reports(body, wrong=False)
    assert not found, str(found[0])


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_asked_for_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANITIZE, kind)
    for planted_kind, bodies in PLANTED.items():
        found: list[Any] = []
        with contextlib.suppress(AccessError):  # which an offset that has wrapped around leads to
            found, _ = reports(bodies[0], wrong=True)
        assert bool(found) == (planted_kind == kind)


# --- the corpus


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_corpus(case: Case) -> None:
    module = sources.compiled(case.source(), str(case.path))
    kernel = SanitizedKernel(facts_of(print_module(module, locations=True)), frozenset(KINDS))
    got, given, reachable = prepare(module, *inputs(case, values.SEED))
    with slow_runs() as one_by_one, contextlib.redirect_stdout(io.StringIO()):
        kernel(case.grid, given, reachable)
    assert one_by_one.called == (str(case) in ONE_BY_ONE)
    found = [report for report in kernel.reports if report.kind != FOUND.get(str(case), ("", ""))[0]]
    assert not found, str(found[0])
    assert bool(kernel.reports) == (str(case) in FOUND)
    expected, after = values.corpus(case), dict(buffers(case, got))
    rounding = closeness.rounding(module)
    for name in expected:
        closeness.check(f"{name} of {case}", after[name], expected[name], rounding)


# --- launches

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

@triton.jit
def same(out):
    tl.store(out, tl.program_id(0))

@triton.jit
def locked(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.program_id(0) + 1)
    tl.atomic_xchg(lock, 0)

@triton.jit
def unlocked_too_soon(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    old = tl.load(out)
    tl.atomic_xchg(lock, 0)
    tl.store(out, old + tl.program_id(0) + 1)
"""
FILE = "sanitized_kernels.py"
kernels = load(KERNELS, FILE)


def test_what_is_found_is_an_error() -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(sanitizer.SanitizerError) as caught:
        kernels["same"][(3,)](out)
    assert out == 2, "the kernel runs to its end"
    (report,) = caught.value.reports
    assert (report.kind, report.argument, report.element) == ("races", "out", 0)
    assert (report.program, report.other, report.count) == ((1, 0, 0), (0, 0, 0), 2)
    text = str(caught.value)
    assert all(fact in text for fact in ("same: races: out[0]", f"{FILE}:12", "(1, 0, 0)", "tl.store(out, tl.program"))


def test_memory_stays_uninitialized_until_it_is_written() -> None:
    torch = pytest.importorskip("torch")
    between, out = sanitizer.uninitialized(torch.empty(20)), torch.zeros(20)
    kernels["double"][(1,)](torch.ones(20), between, 16, BLOCK=16)
    kernels["double"][(1,)](between, out, 16, BLOCK=16)
    with sanitizer.collect() as found:
        kernels["double"][(2,)](between, out, 20, BLOCK=16)
    assert [(report.kind, report.argument, report.element, report.count) for report in found] == [
        ("uninitialized", "x", 16, 4)
    ]
    between[16:18] = 5
    with sanitizer.collect() as found:
        kernels["double"][(2,)](between, out, 20, BLOCK=16)
    assert [report.element for report in found] == [18]
    kernels["double"][(2,)](sanitizer.initialized(between), out, 20, BLOCK=16)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "uint16", "bool"])
def test_slices_of_any_dtype_can_be_uninitialized(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    matrix = torch.ones(4, 8).to(getattr(torch, dtype))
    column = sanitizer.uninitialized(matrix[:, 1])
    assert matrix[:, [0, *range(2, 8)]].eq(1).all(), "the rest of the matrix stays as it is"
    with sanitizer.collect() as found:
        kernels["double"][(1,)](column, torch.zeros(16), 1, BLOCK=16)
    assert [report.element for report in found] == [0]


def test_locks_order_what_programs_write() -> None:
    out = np.zeros(1, np.int32)
    kernels["locked"][(8,)](np.zeros(1, np.int32), out)
    assert out == 36
    with pytest.raises(sanitizer.SanitizerError, match="races: out"):
        kernels["unlocked_too_soon"][(8,)](np.zeros(1, np.int32), out)


def test_bounds_are_checked() -> None:
    with pytest.raises(AccessError, match=r"x\[8\] is out of bounds") as caught:
        kernels["double"][(2,)](np.zeros(8), np.zeros(20), 20, BLOCK=16)
    assert f"{FILE}:8" in str(caught.value)


def test_it_is_off_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("", "0", "off"):
        monkeypatch.setenv(SANITIZE, word)
        kernels["same"][(3,)](np.zeros(1, np.int32))
    monkeypatch.setenv(SANITIZE, "races, speed")
    with pytest.raises(ValueError, match="uninitialized, races, masked, overflow, division, not speed"):
        kernels["same"][(3,)](np.zeros(1, np.int32))


def test_generated_code_is_the_same() -> None:
    compiled = kernels["double"].warmup(np.float32, np.float32, 20, BLOCK=16)
    assert "sanitizer" not in compiled.asm["numpy"]


def test_the_package_is_a_module_of_triton() -> None:
    assert mini_triton.sanitizer is sanitizer
