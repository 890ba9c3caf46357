"""Launches with tuples: nested, named, with None, constants, functions and shapes of torch tensors in them."""

from typing import Any, NamedTuple

import mini_triton as triton
import mini_triton.language as tl
import numpy as np
import pytest


class Function(NamedTuple):
    """A function, and its further arguments after the values."""

    fn: tl.constexpr
    captured: tuple[Any, ...]


class View(NamedTuple):
    """A matrix in memory."""

    pointer: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@triton.jit
def scaled(x, factor):
    return x * tl.load(factor)


@triton.jit
def map_view(function, x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = (i[:, None] < y.shape[0]) & (i[None, :] < y.shape[1])
    values = tl.load(x.pointer + i[:, None] * x.strides[0] + i[None, :] * x.strides[1], mask=inside, other=0)
    result = function.fn(values, *function.captured)
    tl.store(y.pointer + i[:, None] * y.strides[0] + i[None, :] * y.strides[1], result, mask=inside)


def test_functions_and_shapes() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.arange(64.0).reshape(8, 8), torch.zeros(5, 4)
    function = Function(scaled, (torch.tensor([2.0]),))
    map_view[(1,)](function, View(x, x.shape, x.stride()), View(y, y.shape, y.stride()), 8)
    assert torch.equal(y, x[:5, :4] * 2)


@triton.jit
def nested(out, nothing, pair, C: tl.constexpr, one):
    tl.static_assert(nothing is None)
    tl.static_assert(pair[1][1] is None)
    tl.static_assert(pair[1][2] == 4)
    tl.store(out, tl.load(pair[0]))
    tl.store(out + 1, pair[1][0])
    tl.store(out + 2, C + one)


def test_constants_in_tuples() -> None:
    out, x = np.zeros(3, np.int32), np.array([8], np.int32)
    nested[(1,)](out, None, (x, (7, None, tl.constexpr(4))), 20, 1)
    assert out.tolist() == [8, 7, 21]


@triton.jit
def store_each(pointers, values):
    values = tl.tuple([value + 1 for value in values])
    for i in tl.static_range(len(values)):
        tl.store(pointers[i], values[i])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_as_many_as_there_are(count: int) -> None:
    arrays = tuple(np.zeros(1, np.int32) for _ in range(count))
    store_each[(1,)](arrays, tuple(range(count)))
    assert [array[0] for array in arrays] == list(range(1, count + 1))
