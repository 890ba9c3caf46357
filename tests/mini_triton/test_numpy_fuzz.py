"""Random kernels: the interpreter and the NumPy back end compute the same as real Triton.

`pytest --examples 2000` draws that many, beside Triton's interpreter. With `--device cuda` there are 1000 more, which
real Triton compiles and runs on the GPU, from its own modules and from ours.
"""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mini_triton.ir.core import Module
from mini_triton.ir.printer import print_module

from tests import oracles
from tests.oracles import gpu, interpreter, triton
from tests.oracles.launching import Launch, Launched
from tests.support import sources
from tests.support.m05_frontend.random_kernels import Buffer, Kernel, kernels, launch, of_text, write
from tests.support.m06_codegen import closeness, numpy_backend

MANY = 8  # factor on the number of programs, to cover more control-flow paths
ON_A_GPU = 1000
BATCH = 100  # kernels compiled, run and forgotten
SHOWN = 3  # share of the kernels that may differ
REFUSED = 3  # of a batch, at most: real Triton's own compiler gives up on some kernels, and LLVM crashes on others
GIVEN_UP = "Failures have been detected while processing an MLIR pass pipeline"
CRASHED = "process aborted"
MAGNIFYING = ("tl.sin", "tl.cos", "math.sin", "math.cos", "exp(", "exp2(", "%")
"""Of large numbers, whose last unit is a period or more, or a factor; `%` of floats is also wrong on a GPU."""
ROUNDING_UP = ("tl.ceil", "tl.floor")
"""Of a subnormal number, which only a bitcast makes: LLVM takes it for 0 if it knows it. Approximations always do."""

SUMS = ("tt.reduce", "tt.scan", "tt.dot")
"""The interpreter adds from left to right, generated code as NumPy does."""

seeds = st.integers(0, 2**32 - 1)


@given(kernel=kernels(exact=True), seed=seeds)
def test_same_as_the_interpreter(kernel: Kernel, seed: int) -> None:
    """Equal in every bit, of kernels that the interpreter is right about."""
    asked = launch(kernel, seed)
    assume(not interpreter.doubt(asked))
    (expected,) = interpreter.launch_many([asked])
    assume(not interpreter.doubt(asked, expected))
    got = in_all_modes(kernel, compiled(kernel), asked)
    compare(kernel, seed, "the interpreter's", got, expected.values)


@given(kernel=kernels(), seed=seeds)
def test_same_in_all_modes(kernel: Kernel, seed: int) -> None:
    """Generated code does what the interpreter does, in every bit; sums of floats may be added up in another order."""
    in_all_modes(kernel, compiled(kernel), launch(kernel, seed, MANY))


@pytest.mark.parametrize("batch", range(ON_A_GPU // BATCH))
def test_same_as_on_a_gpu(batch: int, device: str) -> None:
    """Three in four equal in every bit; the others are compared as closely as rounding allows."""
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")
    seed = random.SystemRandom().randrange(2**31)
    source = random.Random(seed)
    written = [write(source, exact=i % 4 != 0) for i in range(BATCH)]
    modules = [compiled(kernel) for kernel in written]
    theirs = [launch(kernel, seed, MANY) for kernel in written]
    ours = [of_text(*of) for of in zip(theirs, written, map(print_module, modules), strict=True)]
    launched = gpu.launch_many([*theirs, *ours])
    found = []
    refused = [i for i, module in enumerate(modules) if any(is_refused(launched[i + j], module) for j in (0, BATCH))]
    assert len(refused) <= REFUSED, (
        f"of {BATCH} kernels real Triton cannot compile {len(refused)}, drawn with seed {seed}"
    )
    for i, (kernel, module, asked) in enumerate(zip(written, modules, theirs, strict=True)):
        if i in refused:
            continue
        rounding = closeness.EXACT if i % 4 else closeness.rounding(module)
        try:
            judge_on_gpu(kernel, module, asked, (launched[i], launched[BATCH + i]), seed, rounding)
        except AssertionError as error:
            found.append(str(error))
    assert not found, f"{len(found)} of {BATCH} kernels, drawn with seed {seed}:\n\n" + "\n\n".join(found[:SHOWN])


def judge_on_gpu(
    kernel: Kernel,
    module: Module,
    asked: Launch,
    launched: tuple[Launched, Launched],
    seed: int,
    rounding: closeness.Rounding,
) -> None:
    """Real Triton's module, ours on the GPU, and ours with NumPy make the same of a kernel.

    If the GPU and NumPy differ, Triton's interpreter decides.
    """
    theirs, ours = launched
    assert theirs, f"{kernel}\nreal Triton cannot run this: {theirs.diagnostic}"
    assert ours, f"{kernel}\nreal Triton cannot run our module: {ours.diagnostic}"
    compare(kernel, seed, "real Triton's, of our module on the GPU,", ours.values, theirs.values, rounding)
    got = in_all_modes(kernel, module, asked)
    exact = rounding == closeness.EXACT
    subnormal = "bitcast" in kernel.source and not (exact and all(name not in kernel.source for name in ROUNDING_UP))
    magnified = not exact and any(name in kernel.source for name in MAGNIFYING)
    if not subnormal and not magnified:
        try:
            compare(kernel, seed, "real Triton's", got, theirs.values, rounding)
        except AssertionError:
            # NVIDIA's assembler is sometimes wrong: it shifts an int16 that was a float without extending its sign
            (others,) = interpreter.launch_many([asked])
            if not others or interpreter.doubt(asked, others):
                raise
            compare(kernel, seed, "the interpreter's", got, others.values, rounding)


def is_refused(launched: Launched, module: Module) -> bool:
    """Whether real Triton's compiler, rather than the launched kernel, failed."""
    if CRASHED in launched.diagnostic:
        return CRASHED in triton.compile_ttir(print_module(module)).diagnostic
    return GIVEN_UP in launched.diagnostic


def compiled(kernel: Kernel) -> Module:
    """A kernel, compiled by our front end."""
    return sources.compiled(launch(kernel, 0).kernel)  # type: ignore[arg-type]


def in_all_modes(kernel: Kernel, module: Module, asked: Launch) -> list[Any]:
    """The arguments after generated code ran. The interpreter does the same, and so do all modes."""
    __tracebackhide__ = True
    after: dict[str, list[Any]] = {}
    for mode in numpy_backend.MODES:
        try:
            after[mode] = numpy_backend.run(module, asked.grid, asked.arguments, mode=mode)
        except Exception as error:
            raise AssertionError(f"{kernel}\n{mode}, this fails: {type(error).__name__}: {error}") from error
    rounding = closeness.rounding(module) if any(o.name in SUMS for o in module.walk()) else closeness.EXACT
    compare(kernel, 0, "the interpreter's", after["batched"], after["interpreted"], rounding)
    compare(kernel, 0, 'what it is in mode "batched"', after["fast"], after["batched"])
    return after["fast"]


def compare(
    kernel: Kernel,
    seed: int,
    whose: str,
    got: Sequence[Any],
    expected: Sequence[Any],
    rounding: closeness.Rounding = closeness.EXACT,
) -> None:
    """Check the buffers."""
    __tracebackhide__ = True
    for (name, argument), mine, right in zip(kernel.arguments.items(), got, expected, strict=True):
        if isinstance(argument, Buffer) and (found := closeness.difference(mine, right, rounding)):
            raise AssertionError(f"{kernel}\n{name}, launched with seed {seed}, is not {whose}:\n{found}")
