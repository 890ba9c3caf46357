"""Task 10.6: whole kernels, on a GPU or in Numba's simulator. The judge is the NumPy back end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import closeness, numpy_backend
from tests.support.m10_gpu import threads

TEXT = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside, other=1.0), mask=inside)

@triton.jit
def total(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(out + at, values - tl.max(values, axis=0) + tl.sum(tl.load(y + at), axis=0))

@triton.jit
def where_highest(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(out, tl.argmax(values, axis=0).to(tl.float32))
    tl.store(out + 1, tl.argmin(values % 3, axis=0).to(tl.float32))

@triton.jit
def rows(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 4)[:, None], tl.arange(0, BLOCK // 4)[None, :]
    tile = tl.load(x + i * (BLOCK // 4) + j)
    tl.store(out + i * (BLOCK // 4) + j, tile - tl.max(tile, axis=1)[:, None])

@triton.jit
def columns(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK // 8)[:, None], tl.arange(0, 8)[None, :]
    tile = tl.load(x + i * 8 + j)
    tl.store(out + i * 8 + j, tile + tl.min(tile, axis=0)[None, :] * tl.sum(tile, axis=0)[None, :])

@triton.jit
def turned(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 8)[:, None], tl.arange(0, BLOCK // 8)[None, :]
    tile = tl.load(x + i * (BLOCK // 8) + j)
    tile = tile - tl.sum(tile, axis=0)[None, :]
    tl.store(out + tl.arange(0, BLOCK // 8)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.trans(tile))

@triton.jit
def product(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    a, b = tl.load(x + i * 16 + j), tl.load(y + i * 16 + j)
    tl.store(out + i * 16 + j, tl.dot(a, b, input_precision="ieee"))

@triton.jit
def running(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))

@triton.jit
def walk(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        sums += tl.load(x + start + at, mask=start + at < n, other=0.0)
    tl.store(out + at, sums)
"""
KERNELS = {"add": 64, "total": 64, "where_highest": 128, "rows": 256, "columns": 128, "turned": 128, "product": 256,
           "running": 64, "walk": 32}  # fmt: skip
"""The kernels, with the sizes of their tiles."""
GRIDS = {"add": (3,)}
LENGTH, COUNT = 512, 150


def module_of(kernel: str) -> Any:
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return sources.compiled(Source(TEXT, kernel, signature, {"BLOCK": KERNELS[kernel]}, ("x", "y", "out")))


@pytest.mark.parametrize(
    ("kernel", "warps"), [*((kernel, 1) for kernel in KERNELS), ("total", 2), ("where_highest", 4), ("columns", 2)]
)
def test_kernels_do_what_they_do_with_numpy(kernel: str, warps: int) -> None:
    """The tolerance allows sums of floats in a different order."""
    generator = np.random.default_rng(3)
    x, y = (generator.integers(-50, 50, LENGTH).astype(np.float32) for _ in range(2))
    arguments = [x, y, np.zeros(LENGTH, np.float32), COUNT]
    module, grid = module_of(kernel), GRIDS.get(kernel, (1,))
    expected = numpy_backend.run(module, grid, arguments, mode="fast")[2]
    got, source = threads.run(module, grid, arguments, warps=warps)
    found = closeness.difference(got[2], expected, closeness.rounding(module))
    assert not found, f"out of {kernel}, {warps} warps: {found}\n{source}"
