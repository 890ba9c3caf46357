"""The back end "ptx": `cp.async` copies the vectors that a loop loads beside its tiles."""

import re

import numpy as np
import pytest
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report

from tests.support.m13_threads.running import Kernel

ROWS, DEPTH, BLOCK = 64, 16, 32
SCALED = """@triton.jit
def kernel(out, keys, queries, factors, offsets, last, M: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    m, d, n = tl.arange(0, M), tl.arange(0, D), tl.arange(0, BLOCK)
    key = tl.load(keys + m[:, None] * D + d[None, :])
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, last, BLOCK):
        inside = start + n < last
        query = tl.load(queries + (start + n)[:, None] * D + d[None, :], mask=inside[:, None])
        scores = tl.dot(key, tl.trans(query)) * tl.load(factors + start + n, mask=inside)[None, :]
        scores -= tl.load(offsets + start + n, mask=inside)[None, :]
        total = tl.dot(scores.to(query.dtype), query, total)
    tl.store(out + m[:, None] * D + d[None, :], total)
"""
TYPES = {"out": "*fp32", "keys": "*fp16", "queries": "*fp16", "factors": "*fp32", "offsets": "*fp32", "last": "i32"}
CONSTANTS = {"M": ROWS, "D": DEPTH, "BLOCK": BLOCK}
LOOP = re.compile(r"^(\S+):\n((?:(?!^\S+:).)*?)bra \1;", re.MULTILINE | re.DOTALL)
TARGETS = [(stages, capability) for capability in (80, 90) for stages in (2, 3, 4)]
STEP = re.compile(r"\t(bar\.sync 0|cp\.async\.wait_group \d);\n")


def scaled(stages: int, capability: int) -> Kernel:
    """The kernel, for a GPU."""
    return Kernel(SCALED, TYPES, CONSTANTS, 4, capability, stages)


def launch(ptx: str, shared: int, last: int) -> tuple[Report, np.ndarray, np.ndarray]:
    """A launch of some PTX of the kernel, its result, and the right one. All numbers are small integers."""
    random = np.random.default_rng(last)
    keys, queries = (random.integers(-2, 3, (rows, DEPTH)).astype(np.float16) for rows in (ROWS, last))
    factors, offsets = random.integers(-2, 3, (2, last)).astype(np.float32)
    out = np.full((ROWS, DEPTH), np.nan, np.float32)
    report = emulate(ptx, (1, 1, 1), [out, keys, queries, factors, offsets, last], shared=shared)
    wide = queries.astype(np.float32)
    return report, out, (keys.astype(np.float32) @ wide.T * factors - offsets) @ wide


@pytest.mark.parametrize(("stages", "capability"), TARGETS)
def test_results(stages: int, capability: int) -> None:
    """The arrays end where the loop does, so a copy of a later iteration would be an error."""
    kernel = scaled(stages, capability)
    kernel.assemble()
    for last in (0, 1, 32, 80, 160, 197):
        report, got, expected = launch(kernel.code.ptx, kernel.code.shared, last)
        assert not report.errors, str(report.errors[0])
        kernel.check("out", got, expected)


@pytest.mark.parametrize(("stages", "capability"), TARGETS)
def test_the_loop_does_not_wait_for_memory(stages: int, capability: int) -> None:
    kernel = scaled(stages, capability)
    loop = LOOP.search(kernel.code.ptx)
    assert loop and "ld.global" not in loop[2], kernel.code.ptx
    barriers = loop[2].count("bar.sync")
    assert barriers == (2 if "wgmma" in loop[2] else 1), f"{barriers} barriers in an iteration:\n{loop[2]}"


@pytest.mark.parametrize(("stages", "capability"), TARGETS)
def test_the_checker_notices_each_missing_step(stages: int, capability: int) -> None:
    code = scaled(stages, capability).code
    loop = LOOP.search(code.ptx)
    assert loop
    for step in STEP.finditer(code.ptx, loop.start(2), loop.end(2)):
        without = code.ptx[: step.start()] + code.ptx[step.end() :]
        report, _, _ = launch(without, code.shared, 197)
        assert report.errors, f"the emulator finds no error without {step[1]!r}:\n{loop[2]}"
