"""Elements that are combined along an axis: dot products, reductions, scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.formats import FLOATS
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import FloatType

MODULO_2: dict[Any, np.ufunc] = {np.add: np.bitwise_xor, np.multiply: np.bitwise_and}
"""What sums and products of booleans are."""
NARROW = tuple(numpy_dtype(FloatType(name)) for name, row in FLOATS.items() if row.width < 32)
"""Floats that lose what is added to them one by one."""
SHORT = (2, 4, 8, 16, 32, 64)
"""Lengths of rows at which `combined_rows` is faster than NumPy's `reduce`."""


def dot(a: Array, b: Array, c: Array) -> Array:
    """`c + a @ b`, of all programs at once: (P, M, K) and (P, K, N) to (P, M, N).

    Narrow floats are multiplied and added in fp32, as tensor cores do. Sums of `int8` are exact.
    """
    # Task 6.6: `np.matmul` does the leading axes by itself. It adds up in the dtype of its operands, so these must be
    # wide enough first. For integers it is slow: products of int8 are exact in fp64, and so are their sums.
    raise NotImplementedError("Task 6.6: Reductions, scans, dot")


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """All elements along an axis combined into one. `axis` is negative: -1 is the last.

    `combine` is a ufunc, which takes two elements and gives one; or a function, which takes those of all sources, first
    the left ones, then the right ones, and gives a tuple.
    """
    # Task 6.6: A function takes arrays, too: combine many neighbours at once, 0 with 1, 2 with 3, ..., and the results
    # again, until one element is left. The order matters to it, as it does not to a ufunc, which has `reduce`: give it
    # the dtype of the source, or it adds small integers up in large ones. Booleans add up modulo 2: `MODULO_2`. Narrow
    # floats are no case for `reduce`: in bf16 256 + 1 is 256, so one after the other they stop growing. For those, and
    # for short rows, there is `combined_rows`.
    raise NotImplementedError("Task 6.6: Reductions, scans, dot")


def combined_rows(combine: np.ufunc, source: np.ndarray) -> np.ndarray:
    """`combine.reduce(source, axis=-1)` in the order of a tournament, in which few roundings add up. (Given.)

    Neighbours lie beside each other, whatever row they are in: for short rows that is faster, too.
    """
    flat = np.ascontiguousarray(source).reshape(-1)
    for _ in range(source.shape[-1].bit_length() - 1):
        flat = combine(flat[0::2], flat[1::2])
    return flat.reshape(source.shape[:-1])


def as_function(combine: np.ufunc) -> Callable[..., Any]:
    """A ufunc as a function that gives a tuple. (Given.)"""
    return lambda left, right: (combine(left, right),)


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    """Every element combined with all before it along an axis; with all after it if `reverse`. See `reduce`."""
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    # Task 6.6: A ufunc has `accumulate`; the dtype, and booleans, are as in `reduce`. Else (Hillis and Steele, 1986):
    # combine each element with the one 1 before it, of the results each with the one 2 before it, then 4, 8, ... The
    # first ones have none before them and stay. `as_function` makes a function of a ufunc, for narrow floats.
    raise NotImplementedError("Task 6.6: Reductions, scans, dot")
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number from 0 up to, not including, `bins` occurs along the last axis. (Given.)"""
    counted = stored(values)[..., None] == np.arange(bins, dtype=values.dtype)
    if mask is not None:
        counted &= stored(mask)[..., None]
    return counted.sum(axis=-2, dtype=np.int32)
