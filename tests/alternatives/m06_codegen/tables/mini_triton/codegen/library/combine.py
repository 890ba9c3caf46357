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
    c = stored(c)
    wide = {np.dtype(np.int32): np.int64, np.dtype(np.float64): np.float64}.get(c.dtype, np.float32)
    if wide is np.int64:
        product = np.rint(np.matmul(stored(a).astype(float), stored(b).astype(float))).astype(wide)
    else:
        product = np.matmul(stored(a).astype(wide), stored(b).astype(wide))
    return np.add(product, c.astype(wide)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """All elements along an axis combined into one. `axis` is negative: -1 is the last.

    `combine` is a ufunc, which takes two elements and gives one; or a function, which takes those of all sources, first
    the left ones, then the right ones, and gives a tuple.
    """
    if isinstance(combine, np.ufunc):
        (source,) = map(stored, sources)
        ufunc = MODULO_2.get(combine, combine) if source.dtype.kind == "b" else combine
        return (ufunc.reduce(source, axis, source.dtype),)
    rounds = [np.moveaxis(stored(source), axis, 0) for source in sources]
    while len(rounds[0]) > 1:
        pairs = [array.reshape(len(array) // 2, 2, *array.shape[1:]) for array in rounds]
        rounds = combine(*[pair[:, 0] for pair in pairs], *[pair[:, 1] for pair in pairs])
    return tuple(array[0] for array in rounds)


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
    if isinstance(combine, np.ufunc):
        ufunc = {"b": MODULO_2}.get(arrays[0].dtype.kind, {}).get(combine, combine)
        arrays = [ufunc.accumulate(arrays[0], -1, arrays[0].dtype)]
    else:
        arrays = [array.copy() for array in arrays]
        length = arrays[0].shape[-1]
        for distance in [1 << bit for bit in range(length.bit_length()) if 1 << bit < length]:
            operands = [array[..., part] for part in (slice(-distance), slice(distance, None)) for array in arrays]
            for array, new in zip(arrays, combine(*operands), strict=True):
                array[..., distance:] = new
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number from 0 up to, not including, `bins` occurs along the last axis. (Given.)"""
    counted = stored(values)[..., None] == np.arange(bins, dtype=values.dtype)
    if mask is not None:
        counted &= stored(mask)[..., None]
    return counted.sum(axis=-2, dtype=np.int32)
