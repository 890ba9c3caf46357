"""Task 13.7: the bytes that an instruction moves, and the sectors of memory. The judge is real Triton's PTX."""

import functools
from typing import Any

import numpy as np
import pytest
from mini_triton.backends.ptx import accesses

from tests.checks import described
from tests.oracles.triton import Source
from tests.support.m13_threads import kernels

ADD = """def k(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)
"""
ROWS = """def k(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, BLOCK)[None, :]
    tl.store(out + i * n + j, tl.load(x + i * n + j) + tl.load(y + i * n + j))
"""
COLUMNS = """def k(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, 16)[None, :]
    tl.store(out + i + j * n, tl.load(x + i + j * n) + tl.load(y + i + j * n))
"""
SHIFTED = """def k(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at + 2) + tl.load(y + at * 2))
"""
DTYPES: dict[str, Any] = {"fp32": np.float32, "fp16": np.float16, "i8": np.int8, "fp64": np.float64, "i64": np.int64}
CASES = {
    "add": (ADD, "fp32", "x y out n", 1024),
    "add of fp16": (ADD, "fp16", "x y out n", 1024),
    "add of i8": (ADD, "i8", "x y out n", 2048),
    "add of fp64": (ADD, "fp64", "x y out n", 1024),
    "add, few elements": (ADD, "fp32", "x y out n", 256),
    "add, fewer elements than threads": (ADD, "fp32", "x y out n", 64),
    "add, nothing promised": (ADD, "fp16", "", 512),
    "rows": (ROWS, "fp32", "x y out n", 128),
    "rows of fp16": (ROWS, "fp16", "x y out n", 256),
    "columns": (COLUMNS, "fp32", "x y out n", 128),
    "shifted": (SHIFTED, "fp32", "x y out n", 512),
}
"""Kernel, type, what is a multiple of 16, and elements along an axis."""


@functools.cache
def asked(case: str) -> Source:
    text, kind, divisible, block = CASES[case]
    signature = dict.fromkeys(("x", "y", "out"), f"*{kind}") | {"n": "i32"}
    return kernels.source(text, signature, divisible.split(), BLOCK=block)


def arguments(case: str) -> tuple[int, list[Any]]:
    """The programs of a launch, and its arguments."""
    _, kind, _, block = CASES[case]
    total = 16 * block if "rows" in case or "columns" in case else 4 * block
    x, y = (np.random.default_rng(seed).integers(0, 50, total).astype(DTYPES[kind]) for seed in (1, 2))
    count = block if "rows" in case or "columns" in case else 3 * block - 16
    return (4 if case.startswith("add") else 1), [x, y, np.zeros_like(x), count]


def test_a_vector_addition_moves_16_bytes() -> None:
    """Without real Triton: two loads and a store of 16 bytes, twice, because a thread has 8 of 1024 elements."""
    code = kernels.code_of(asked("add"))
    found = described("the accesses in your PTX of a vector addition of fp32", kernels.code_of)
    got = dict(accesses(code.ptx))
    expected = {("load", 16): 4, ("store", 16): 2}
    if got != expected:
        found.fail(f"{expected}", f"{got}", "x, y and out are aligned, and n is a multiple of 16")
    grid, given = arguments("add")
    report, after = kernels.after(code, (grid,), given, ADD)
    count = given[3]
    expected_sum = np.where(np.arange(len(given[0])) < count, given[0] + given[1], 0)
    assert (after[2] == expected_sum).all(), f"x + y is wrong first at {np.flatnonzero(after[2] != expected_sum)[:1]}"
    sectors = 3 * -(-4 * count // 32)
    if report.total.sectors != sectors:
        found.fail(f"{sectors} sectors of 32 bytes", f"{report.total.sectors}", "each is accessed once")


@pytest.mark.parametrize("case", CASES)
def test_widths_are_real_tritons(case: str) -> None:
    found = described(f"the accesses in your PTX of `{case}`", kernels.code_of, asked(case))
    got = dict(accesses(found().ptx))
    theirs = dict(accesses(kernels.tritons(asked(case)).ptx))
    if got != theirs:
        found.fail(f"{theirs}", f"{got}", f"real Triton's PTX of\n{asked(case).text}")


@pytest.mark.parametrize("case", CASES)
def test_sectors_are_real_tritons(case: str) -> None:
    grid, given = arguments(case)
    report, after = kernels.after(kernels.code_of(asked(case)), (grid,), given, case)
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    theirs = kernels.run(kernels.tritons(asked(case)), (grid,), copies)
    found = described(f"a launch of your PTX of `{case}`", kernels.run)
    if (after[2] != copies[2]).any():
        found.fail("the results of real Triton's PTX", "others")
    if report.total.sectors != theirs.total.sectors:
        found.fail(f"{theirs.total.sectors} sectors of 32 bytes", f"{report.total.sectors}", "real Triton's PTX")


def test_a_mask_narrows_the_accesses() -> None:
    """Any n: each element needs its own guard, and neighboring threads access neighboring elements."""
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}
    source = kernels.source(ADD, signature, ["x", "y", "out"], BLOCK=512)
    code = kernels.code_of(source)
    assert set(accesses(code.ptx)) == {("load", 4), ("store", 4)}, "elements that differ in the mask move one by one"
    x = np.arange(700, dtype=np.float32)
    report, after = kernels.after(code, (2,), [x, x, np.zeros_like(x), 700], ADD)
    assert (after[2] == 2 * x).all()
    assert report.total.sectors == 3 * -(-700 * 4 // 32), "32 threads access 128 neighboring bytes"
