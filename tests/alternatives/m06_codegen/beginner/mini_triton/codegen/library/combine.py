"""Elements that are combined along an axis: dot products, reductions, scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mini_triton.codegen.library.lazy import Array, stored

MODULO_2: dict[Any, np.ufunc] = {np.add: np.bitwise_xor, np.multiply: np.bitwise_and}
"""What sums and products of booleans are."""
SHORT = (2, 4, 8, 16, 32, 64)
"""Lengths of rows at which `combined_rows` is faster than NumPy's `reduce`."""


def dot(a: Array, b: Array, c: Array) -> Array:
    """`c + a @ b`, of all programs at once: (P, M, K) and (P, K, N) to (P, M, N).

    Narrow floats are multiplied and added in fp32, as tensor cores do. Sums of `int8` are exact.
    """
    a = stored(a)
    b = stored(b)
    c = np.asarray(stored(c))
    if c.dtype == np.int32 or c.dtype == np.float64:
        product = np.matmul(a.astype(np.float64), b.astype(np.float64))
    else:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32))
    if c.dtype == np.int32:
        return product.astype(np.int32) + c
    return (product + c.astype(product.dtype)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """All elements along an axis combined into one. `axis` is negative: -1 is the last.

    `combine` is a ufunc, which takes two elements and gives one; or a function, which takes those of all sources, first
    the left ones, then the right ones, and gives a tuple.
    """
    if isinstance(combine, np.ufunc):
        source = stored(sources[0])
        if source.dtype == bool and combine is np.add:
            combine = np.logical_xor
        elif source.dtype == bool and combine is np.multiply:
            combine = np.logical_and
        return (combine.reduce(source, axis=axis, dtype=source.dtype),)
    arrays = []
    for source in sources:
        arrays.append(np.moveaxis(stored(source), axis, -1))
    while True:
        length = arrays[0].shape[-1]
        if length == 1:
            break
        left = []
        right = []
        for array in arrays:
            left.append(array[..., range(0, length, 2)])
            right.append(array[..., range(1, length, 2)])
        arrays = combine(*left, *right)
    results = []
    for array in arrays:
        results.append(array[..., 0])
    return tuple(results)


def combined_rows(combine: np.ufunc, source: np.ndarray) -> np.ndarray:
    """`combine.reduce(source, axis=-1)` for short rows: neighbours lie beside each other, whatever row they are in."""
    flat = np.ascontiguousarray(source).reshape(-1)
    for _ in range(source.shape[-1].bit_length() - 1):
        flat = combine(flat[0::2], flat[1::2])
    return flat.reshape(source.shape[:-1])


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    """Every element combined with all before it along an axis; with all after it if `reverse`. See `reduce`."""
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    length = arrays[0].shape[-1]
    if isinstance(combine, np.ufunc):
        if arrays[0].dtype == bool and combine is np.add:
            combine = np.logical_xor
        elif arrays[0].dtype == bool and combine is np.multiply:
            combine = np.logical_and
        arrays = [combine.accumulate(arrays[0], axis=-1, dtype=arrays[0].dtype)]
    else:
        # one element after the other: slower, but every step can be seen
        running = []
        for array in arrays:
            running.append(array[..., 0])
        columns = [[part] for part in running]
        for place in range(1, length):
            here = [array[..., place] for array in arrays]
            running = combine(*running, *here)
            for column, part in zip(columns, running, strict=True):
                column.append(part)
        arrays = [np.stack(column, axis=-1) for column in columns]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number from 0 up to, not including, `bins` occurs along the last axis. (Given.)"""
    counted = stored(values)[..., None] == np.arange(bins, dtype=values.dtype)
    if mask is not None:
        counted &= stored(mask)[..., None]
    return counted.sum(axis=-2, dtype=np.int32)
