"""The passes keep a kernel's results, to the last bit; real Triton accepts them, and leaves no fewer operations."""

import functools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen import compile_module
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.transforms.manager import PASSES, optimize

from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import inputs
from tests.oracles import gpu, triton, values
from tests.support import sources
from tests.support.m05_frontend.random_kernels import Buffer, Kernel, kernels, launch, of_text, write
from tests.support.m06_codegen import closeness, numpy_backend
from tests.support.m09_passes.facts import interpreted

ON_A_GPU, BATCH = 1000, 100  # random kernels

cases = pytest.mark.parametrize("case", CASES, ids=str)


@functools.cache
def text(case: Case) -> str:
    """The module of our front end."""
    return print_module(sources.compiled(case.source(), str(case.path)))


def optimized(text: str, pipeline: str | None = None) -> Module:
    """A module after passes, which then have nothing more to do."""
    module = parse_module(text)
    optimize(module, pipeline)
    again = [ran.name for ran in optimize(module, pipeline) if ran.changed]
    assert not again, f"these passes change a module that they have just changed: {again}\n{print_module(module)}"
    return module


def run(module: Module, grid: Any, arguments: Any, hidden: Any = (), chunk: int = 0) -> list[Any]:
    """The arguments after a launch."""
    return list(numpy_backend.run(module, grid, arguments, hidden, "fast", chunk))


def compare(expected: Sequence[Any], got: Sequence[Any], after: Module) -> None:
    """Both launches leave the same bits in all buffers."""
    for i, (old, new) in enumerate(zip(expected, got, strict=True)):
        if isinstance(old, np.ndarray):
            assert old.tobytes() == new.tobytes(), f"argument {i} differs:\n{print_module(after)}"


# --- results that passes preserve


@cases
def test_values_stay(case: Case) -> None:
    before = parse_module(text(case))
    chunk = 1 if compile_module(before).chunk == 1 else 0
    launched = case.grid, *inputs(case, values.SEED), chunk
    after = optimized(text(case))
    compare(run(before, *launched), run(after, *launched), after)


@cases
def test_each_pass_alone_is_idempotent(case: Case) -> None:
    for name in PASSES:
        optimized(text(case), name)


@given(kernel=kernels(), seed=st.integers(0, 2**32 - 1))
def test_values_of_random_kernels_stay(kernel: Kernel, seed: int) -> None:
    asked = launch(kernel, seed, 4)
    before = print_module(sources.compiled(asked.kernel))  # type: ignore[arg-type]
    after = optimized(before)
    compare(run(parse_module(before), asked.grid, asked.arguments), run(after, asked.grid, asked.arguments), after)


@pytest.mark.parametrize("batch", range(ON_A_GPU // BATCH))
def test_values_of_random_kernels_stay_on_a_gpu(batch: int, device: str) -> None:
    """Real Triton compiles both modules. Three in four agree in every bit, the others as closely as rounding allows."""
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")
    seed = random.SystemRandom().randrange(2**31)
    source = random.Random(seed)
    written = [write(source, exact=i % 4 != 0) for i in range(BATCH)]
    asked = [launch(kernel, seed, 8) for kernel in written]
    before = [print_module(sources.compiled(one.kernel)) for one in asked]  # type: ignore[arg-type]
    after = [print_module(optimized(text)) for text in before]
    launches = [of_text(*of) for texts in (before, after) for of in zip(asked, written, texts, strict=True)]
    launched = gpu.launch_many(launches)
    found = []
    for i, (expected, got) in enumerate(zip(launched[:BATCH], launched[BATCH:], strict=True)):
        rounding = closeness.EXACT if i % 4 else closeness.rounding(parse_module(before[i]))
        if not expected:  # real Triton cannot compile some kernels as they are
            continue
        if not got:
            found.append(f"after the passes it cannot run: {got.diagnostic}\n{after[i]}")
        elif differences := differing(written[i], got.values, expected.values, rounding):
            found.append(f"{written[i]}\n{differences}\n{after[i]}")
    ran = sum(map(bool, launched[:BATCH]))
    drawn = f"{ran} of {BATCH} kernels ran, drawn with seed {seed}"
    assert not found and ran >= 0.97 * BATCH, "\n\n".join([drawn, *found[:3]])


def differing(kernel: Kernel, got: Sequence[Any], expected: Sequence[Any], rounding: closeness.Rounding) -> str:
    """The differences between the buffers after two launches, one line each."""
    found = []
    for (name, argument), mine, right in zip(kernel.arguments.items(), got, expected, strict=True):
        if isinstance(argument, Buffer) and (difference := closeness.difference(mine, right, rounding)):
            found.append(f"{name}: {difference}")
    return "\n".join(found)


def test_real_triton_accepts_every_result() -> None:
    answers = triton.accepts_many([print_module(optimized(text(case))) for case in CASES])
    refused = {str(case): answer.diagnostic for case, answer in zip(CASES, answers, strict=True) if not answer}
    assert not refused


# --- remaining operations

BRANCH = """
tt.func public @kernel(%p: !tt.ptr<i32>, %a: i32, %c: i1) {
  %false = arith.constant false
  scf.if %c {
    tt.store %p, %a, %false : !tt.ptr<i32>
  }
  tt.return
}
"""


def test_a_branch_without_operations_is_erased() -> None:
    module = optimized(BRANCH, "canonicalize")
    assert all(operation.name != "scf.if" for operation in module.walk())


# --- rules and passes that are wrong


VOLATILE = """
tt.func public @k(%p: !tt.ptr<f32>, %m: i1) {
  %c = arith.constant 7.0 : f32
  %a = tt.load %p, %m {isVolatile = true} : !tt.ptr<f32>
  %b = arith.select %m, %a, %c : f32
  tt.store %p, %b : !tt.ptr<f32>
  tt.return
}
"""
PRODUCT = """
tt.func public @k(%p: !tt.ptr<f32>, %x: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant 1 : i32
  %product = tt.dot %x, %x, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %sum = scf.for %i = %one to %n step %one iter_args(%carried = %zero) -> (tensor<16x16xf32>) : i32 {
    %more = arith.addf %carried, %product : tensor<16x16xf32>
    scf.yield %more : tensor<16x16xf32>
  }
  tt.return %sum : tensor<16x16xf32>
}
"""


@pytest.mark.parametrize("text", [VOLATILE, PRODUCT], ids=["a volatile load", "a product before a loop"])
def test_what_peepholes_leave_alone(text: str) -> None:
    assert print_module(optimized(text)) == print_module(parse_module(text))


# --- axis analysis


@cases
def test_facts_hold_of_all_values(case: Case) -> None:
    module = optimized(text(case))
    arguments, hidden = inputs(case, values.SEED)
    with interpreted(module):
        numpy_backend.run(module, case.grid, arguments, hidden, "interpreted")
