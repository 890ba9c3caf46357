"""The back end "ptx": products by warp groups share the registers of sums that nobody needs any more."""

import re

import numpy as np
import pytest
from mini_triton.emulator import emulate

from tests.support.m13_threads.running import Kernel

ROWS, DEPTH, BLOCK = 64, 16, 32
SOURCE = """@triton.jit
def kernel(out, keys, values, queries, last, M: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    m, d, n = tl.arange(0, M), tl.arange(0, D), tl.arange(0, BLOCK)
    key = tl.load(keys + m[:, None] * D + d[None, :])
    value = tl.load(values + m[:, None] * D + d[None, :])
    squares = tl.zeros((M, D), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, last, BLOCK):
        query = tl.load(queries + (start + n)[:, None] * D + d[None, :])
        scores = tl.dot(key, tl.trans(query))
        square = scores * scores
        squares = tl.dot(square.to(query.dtype), query, squares)
        products = tl.dot(value, tl.trans(query)) * FACTOR
        total = tl.dot(products.to(query.dtype), query, total)
    tl.store(out + m[:, None] * D + d[None, :], squares + total)
"""
TYPES = {"out": "*fp32", "keys": "*fp16", "values": "*fp16", "queries": "*fp16", "last": "i32"}
CONSTANTS = {"M": ROWS, "D": DEPTH, "BLOCK": BLOCK}
SUMS = re.compile(r"wgmma\.mma_async\S* \{([^}]*)\}")


@pytest.mark.parametrize(("factor", "different"), [("square", 3), ("scores", 4)])
@pytest.mark.parametrize("stages", [2, 3])
def test_products_in_a_loop(factor: str, different: int, stages: int) -> None:
    """The scores are needed until they have been squared, or until the third product is multiplied by them."""
    kernel = Kernel(SOURCE.replace("FACTOR", factor), TYPES, CONSTANTS, 4, 90, stages)
    assert len(set(SUMS.findall(kernel.code.ptx))) == different, kernel.code.ptx
    kernel.assemble()
    random = np.random.default_rng(stages)
    keys, values, queries = (random.integers(-1, 2, (rows, DEPTH)).astype(np.float16) for rows in (ROWS, ROWS, 96))
    out = np.full((ROWS, DEPTH), np.nan, np.float32)
    report = emulate(kernel.code.ptx, (1, 1, 1), [out, keys, values, queries, 96], shared=kernel.code.shared)
    assert not report.errors, str(report.errors[0])
    wide = queries.astype(np.float32)
    scores = keys.astype(np.float32) @ wide.T
    products = values.astype(np.float32) @ wide.T * (scores**2 if factor == "square" else scores)
    kernel.check("out", out, (scores**2 + products) @ wide)
