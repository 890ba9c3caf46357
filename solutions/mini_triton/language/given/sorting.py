"""Sorting without a single branch: Batcher's bitonic network. (Given.)

Sizes are powers of two, so a tensor of 8 is reshaped to 2x2x2: then neighbours at distance 1, 2, 4 are the two elements
along one of the dimensions. Such a pair is exchanged without moving anything: the exclusive or of both, xored into
each, makes the one into the other.

Source: Triton's `python/triton/language/standard.py` (`sort_impl`).
"""

from __future__ import annotations

from typing import Any

from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin
from mini_triton.language.creation import arange
from mini_triton.language.dtypes import DTYPES
from mini_triton.language.math import where
from mini_triton.language.reduction import max, min, of_numbers, xor_sum
from mini_triton.language.shape import reshape
from mini_triton.language.tensor import member, tensor

__all__ = ["bitonic_merge", "sort", "topk"]


def log2(size: int) -> int:
    """The exponent of a power of two."""
    return size.bit_length() - 1


def digit(rank: int, place: int) -> tensor:
    """0 and 1 along the dimension that is at this place from the right, as a tensor of this rank."""
    return reshape(arange(0, 2), [1] * (rank - place - 1) + [2] + [1] * place)


def exchange(x: tensor, turned: Any, place: int) -> tensor:
    """Bring the pairs along one dimension into order: upwards, or downwards where `turned` is 1."""
    rank = log2(x.numel)
    bits = reinterpret(x, DTYPES[f"int{x.dtype.width}"])  # only integers have an exclusive or
    other = reinterpret(bits ^ xor_sum(bits, rank - 1 - place, True), x.dtype)
    return where((x > other) != (turned ^ digit(rank, place)), other, x)


def merge(x: tensor, stage: int, turned: Any) -> tensor:
    """Bring groups of 2**stage elements into order, whose halves are in order already, one up and one down."""
    for place in reversed(range(stage)):
        x = exchange(x, turned, place)
    return x


def run_network(x: Any, k: int | None, dim: int | None, descending: bool) -> tensor:
    """The first `k` elements of the last dimension in order, all if it is None."""
    x = of_numbers(x, "sort")
    if not x.shape or dim not in (None, len(x.shape) - 1):
        raise ValueError("only minor dimension is currently supported")
    last = log2(x.shape[-1])
    kept = last if k is None else log2(k)
    if 0 == kept < last and len(x.shape) == 1:  # the network would leave a scalar
        return (max if descending else min)(x, axis=-1, keep_dims=True)
    cube = reshape(x, [2] * log2(x.numel) or [1])
    for stage in range(1, last + 1):
        if stage > kept:  # of each two groups that are in order, one up and one down, keep the better half
            cube = (max if descending else min)(cube, axis=log2(cube.numel) - 1 - kept)
        size = stage if stage <= kept else kept
        turned = digit(log2(cube.numel), size) if stage < last else int(descending)
        cube = merge(cube, size, turned)
    return reshape(cube, [*x.shape[:-1], 2**kept])


@member
@builtin
def sort(x: tensor, dim: int | None = None, descending: bool = False) -> tensor:
    """The elements of the last dimension in order."""
    return run_network(x, None, dim, bool(descending))


@builtin
def topk(x: tensor, k: int, dim: int | None = None, descending: bool = True) -> tensor:
    """The `k` largest elements of the last dimension, the largest first, or the smallest ones; `k` is a power of two.

    Triton before 3.9 returns fewer elements for other `k`, and newer versions refuse them.
    """
    size = (x.shape or (1,))[-1]
    if k <= 0:
        raise ValueError(f"topk: k must be greater than 0, not {k}")
    if k & (k - 1):
        raise ValueError(f"topk: k must be a power of two, not {k}")
    if k > size:
        raise ValueError(f"topk: k must not exceed the size of the selected dimension, {size}: it is {k}")
    return run_network(x, k, dim, bool(descending))


@builtin
def bitonic_merge(x: tensor, dim: int | None = None, descending: bool = False) -> tensor:
    """The elements of the last dimension in order, if one half of them rises and the other falls."""
    x = of_numbers(x, "bitonic_merge")
    if not x.shape or dim not in (None, len(x.shape) - 1):
        raise ValueError("only minor dimension is currently supported")
    cube = merge(reshape(x, [2] * log2(x.numel) or [1]), log2(x.shape[-1]), int(bool(descending)))
    return reshape(cube, x.shape)
