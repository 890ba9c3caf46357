"""Kernels of the corpus as real Triton's PTX, launched on the emulator and judged by records of a GPU."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report
from mini_triton.ir.parser import parse_module

from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.oracles import modules, triton, values
from tests.support.m06_codegen import closeness


@functools.cache
def compiled(case: Case, target: str) -> triton.Compiled:
    """A case, compiled by real Triton, without fused products and sums, as the records are."""
    (made,) = triton.frontends([replace(case.source(target), options=values.OPTIONS)], lower=True)
    assert made.compiled, made.compiled.diagnostic or made.diagnostic
    return made.compiled


def launch(case: Case, ptx: str, shared: int, check: bool = True, seed: int = values.SEED) -> tuple[Report, list[Any]]:
    """Run a case's launch. Returns the report, and all arguments after the launch."""
    arguments, hidden = inputs(case, seed)
    every = [*arguments, *hidden]
    for number, value in enumerate(every):
        if isinstance(value, dict):
            every[number] = np.array([every[other].ctypes.data for other in value["addresses"]], np.int64)
    given = every[: len(arguments)]
    names = [name for name, kind in case.source().signature.items() if kind != "constexpr"]
    reachable = [array for array in every[len(arguments) :] if isinstance(array, np.ndarray)]
    report = emulate(ptx, case.grid, given, shared=shared, check=check, names=names, reachable=reachable)
    return report, every


def judge(case: Case, after: Sequence[Any]) -> None:
    """Check all buffers after a launch."""
    __tracebackhide__ = True
    rounding = closeness.rounding(parse_module(modules.text(case)))
    got = dict(buffers(case, after))
    for name, wanted in values.corpus(case).items():
        closeness.check(f"{name} of {case}", got[name], wanted, rounding)


def is_right(case: Case, after: Sequence[Any]) -> bool:
    """Whether all buffers are right."""
    try:
        judge(case, after)
    except AssertionError:
        return False
    return True
