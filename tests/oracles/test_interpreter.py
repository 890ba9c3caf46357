"""Triton's interpreter is asked in a process of its own, and says what became of the arguments."""

from __future__ import annotations

import numpy as np

from tests.oracles import interpreter
from tests.oracles.launching import Launch
from tests.oracles.triton import Source

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def kernel(out, x, scale, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * scale + WRONG, mask=at < n)
"""
SIGNATURE = {"out": "*fp16", "x": "*i8", "scale": "i64", "n": "i32", "BLOCK": "constexpr"}


def test_launches() -> None:
    x, out = np.arange(10, dtype=np.int8), np.zeros(10, np.float16)
    right, wrong = (
        Launch(Source(KERNEL.replace("WRONG", term), "kernel", SIGNATURE, {"BLOCK": 4}), (2,), [out, x, 3, 7])
        for term in ("1", "nothing")
    )
    first, failed, last = interpreter.launch_many([right, wrong, right])
    assert first and last and not failed
    assert "nothing" in failed.diagnostic
    assert last.values[0].tolist() == [1, 4, 7, 10, 13, 16, 19, 0, 0, 0]
    assert out.tolist() == [0] * 10
