"""Loads of memory that is not written need not copy, and may read masked-off lanes. Nothing else changes."""

from typing import Any

import numpy as np
import pytest
from mini_triton.codegen import compile_module
from mini_triton.codegen.library import memory
from mini_triton.codegen.library.lazy import arange
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.support.m06_codegen.kernels import compiled

TWICE = """
at = tl.arange(0, 16)
before = tl.load(x + at)
tl.store(out + at, before * 2)
tl.store(out + 16 + at, before)
"""


@pytest.mark.parametrize("distance", [0, 5, 16, 32])
def test_arguments_that_share_memory(distance: int) -> None:
    """A loaded value stays, even if the kernel writes there later through another argument."""
    kernel = compile_module(parse_module(compiled(TWICE, x="*i32", out="*i32")))
    both = np.arange(64, dtype=np.int32)
    kernel((1,), [Buffer.of("x", both[:16]), Buffer.of("out", both[distance : distance + 32])])
    assert both[distance : distance + 32].tolist() == [*range(0, 32, 2), *range(16)]
    assert kernel.constants == [0] and kernel.stored == ["out"]


@pytest.mark.parametrize("stores", ["tl.store(x + 1, 0)", "tl.store(tl.load(p).to(tl.pointer_type(tl.int32)), 0)"])
def test_memory_that_may_be_written_is_not_constant(stores: str) -> None:
    text = compiled(f"tl.load(x)\n{stores}", x="*i32", p="*i64")
    kernel = compile_module(parse_module(text))
    assert 0 not in kernel.constants


def constant() -> Buffer:
    return Buffer.of("x", np.arange(10, dtype=np.float32)).unless_among([])


def test_a_slice_is_a_view() -> None:
    x = constant()
    got = memory.load(x, arange(2, 6))
    assert np.shares_memory(got, x.data) and not got.flags.writeable
    assert not np.shares_memory(memory.load(Buffer.of("x", x.data), arange(2, 6)), x.data)


@pytest.mark.parametrize("other", [None, np.float32(7), np.array([[7], [8]], np.float32)])
def test_gathers(other: Any) -> None:
    offset, mask = np.array([3, 9, 0, 3]), np.array([[True, False, True, True]])
    got = memory.load(constant(), offset, mask, other)
    rest = np.broadcast_to(0 if other is None else other, (np.size(other), 1) if np.ndim(other) else (1, 1))
    assert got.dtype == np.float32 and got.tolist() == np.where(mask, np.float32(offset), rest).tolist()


def test_outside() -> None:
    assert memory.load(constant(), np.array([0, 10]), np.array([True, False])).tolist() == [0, 0]
    with pytest.raises(OutOfBounds):
        memory.load(constant(), np.array([0, 10]), np.array([True, True]))
