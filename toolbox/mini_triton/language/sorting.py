"""Sorting without branches, by Batcher's bitonic network. (Given.)

A tensor of 8 elements is reshaped to 2x2x2. Then two elements at distance 1, 2 or 4 form a pair along one of the
dimensions. The exclusive or of such a pair turns each element into the other: `a ^ (a ^ b)` is `b`.

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
    """The base-2 logarithm of a power of two."""
    return size.bit_length() - 1


def digit(rank: int, place: int) -> tensor:
    """A tensor of this rank with 0 and 1 along one dimension; `place` counts dimensions from the right."""
    return reshape(arange(0, 2), [1] * (rank - place - 1) + [2] + [1] * place)


def exchange(x: tensor, turned: Any, place: int) -> tensor:
    """Sort the pairs along one dimension, in ascending order, or in descending order where `turned` is 1."""
    rank = log2(x.numel)
    bits = reinterpret(x, DTYPES[f"int{x.dtype.width}"])  # exclusive or is defined only for integers
    other = reinterpret(bits ^ xor_sum(bits, rank - 1 - place, True), x.dtype)
    return where((x > other) != (turned ^ digit(rank, place)), other, x)


def merge(x: tensor, stage: int, turned: Any) -> tensor:
    """Sort groups of 2**stage elements. One half of each group must be ascending, and the other half descending."""
    for place in reversed(range(stage)):
        x = exchange(x, turned, place)
    return x


def run_network(x: Any, k: int | None, dim: int | None, descending: bool) -> tensor:
    """The first `k` elements in sorted order along the last dimension; all elements if `k` is None."""
    x = of_numbers(x, "sort")
    if not x.shape or dim not in (None, len(x.shape) - 1):
        raise ValueError("only minor dimension is currently supported")
    last = log2(x.shape[-1])
    kept = last if k is None else log2(k)
    if 0 == kept < last and len(x.shape) == 1:  # the network would return a scalar
        return (max if descending else min)(x, axis=-1, keep_dims=True)
    cube = reshape(x, [2] * log2(x.numel) or [1])
    for stage in range(1, last + 1):
        if stage > kept:  # keep the better half of each ascending group and the descending group after it
            cube = (max if descending else min)(cube, axis=log2(cube.numel) - 1 - kept)
        size = stage if stage <= kept else kept
        turned = digit(log2(cube.numel), size) if stage < last else int(descending)
        cube = merge(cube, size, turned)
    return reshape(cube, [*x.shape[:-1], 2**kept])


@member
@builtin
def sort(x: tensor, dim: int | None = None, descending: bool = False) -> tensor:
    """Sort the elements along the last dimension."""
    return run_network(x, None, dim, bool(descending))


@builtin
def topk(x: tensor, k: int, dim: int | None = None, descending: bool = True) -> tensor:
    """The `k` largest elements along the last dimension, the largest first; the smallest unless `descending`.

    `k` must be a power of two. For any other `k`, Triton before 3.9 returns fewer elements, and newer versions raise an
    error.
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
    """Sort the last dimension, one half of which must be ascending and the other half descending."""
    x = of_numbers(x, "bitonic_merge")
    if not x.shape or dim not in (None, len(x.shape) - 1):
        raise ValueError("only minor dimension is currently supported")
    cube = merge(reshape(x, [2] * log2(x.numel) or [1]), log2(x.shape[-1]), int(bool(descending)))
    return reshape(cube, x.shape)
