"""Addresses in memory: kernels follow those that lead into what they know, and no others."""

from __future__ import annotations

import mini_triton as triton
import mini_triton.language as tl
import numpy as np
import pytest


@triton.jit
def gather(out, addresses, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.load(addresses + pid).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, BLOCK)
    tl.store(out + pid * BLOCK + at, tl.load(x + at, mask=at < n, other=-1.0))


def addresses_of(*arrays: np.ndarray) -> np.ndarray:
    return np.array([array.__array_interface__["data"][0] for array in arrays], np.int64)


def test_what_is_made_known() -> None:
    a, b, out = np.arange(6, dtype=np.float32), 10 + np.arange(6, dtype=np.float32), np.zeros(16, np.float32)
    with triton.reachable(a), triton.reachable(b):
        gather[(2,)](out, addresses_of(b, a), 6, BLOCK=8)
    assert out.tolist() == [*b, -1, -1, *a, -1, -1]


def test_what_is_not() -> None:
    a, b, out = np.zeros(6, np.float32), np.zeros(6, np.float32), np.zeros(16, np.float32)
    with triton.reachable(a), pytest.raises(IndexError, match=r"reachable") as caught:
        gather[(2,)](out, addresses_of(a, b), 6, BLOCK=8)
    assert f"{addresses_of(b)[0]:#x}" in str(caught.value) and "program (1, 0, 0)" in str(caught.value)
    with pytest.raises(IndexError, match=r"is in no argument"):
        gather[(2,)](out, addresses_of(a, a), 6, BLOCK=8)
    with triton.reachable(a), pytest.raises(IndexError):
        gather[(1,)](out, addresses_of(a), 7, BLOCK=8)
    assert not out.any(), "nothing is stored"
