"""Elements that are combined along an axis: dot products, reductions, scans."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
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
    a, b, c = (np.asarray(stored(x)) for x in (a, b, c))
    wide = np.float64 if c.dtype in (np.int32, np.float64) else np.float32
    product = np.einsum("...mk,...kn->...mn", a.astype(wide), b.astype(wide), optimize=True)
    whole = c.dtype if c.dtype == np.int32 else wide
    return (product.astype(whole) + c.astype(whole)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """All elements along an axis combined into one. `axis` is negative: -1 is the last.

    `combine` is a ufunc, which takes two elements and gives one; or a function, which takes those of all sources, first
    the left ones, then the right ones, and gives a tuple.
    """
    if isinstance(combine, np.ufunc):
        source = stored(*sources)
        chosen = MODULO_2.get(combine, combine) if source.dtype == np.bool_ else combine
        return (chosen.reduce(source, axis=axis, dtype=source.dtype),)

    def play(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        count = arrays[0].shape[axis]
        if count == 1:
            return tuple(array.squeeze(axis) for array in arrays)
        every = [np.take(array, range(side, count, 2), axis) for side in (0, 1) for array in arrays]
        return play(combine(*every))

    return play(tuple(map(stored, sources)))


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

    def further(arrays: Sequence[Array], distance: int) -> list[Array]:
        heads, before, after = (
            [array[..., part] for array in arrays]
            for part in (slice(None, distance), slice(None, -distance), slice(distance, None))
        )
        pairs = zip(heads, combine(*before, *after), strict=True)
        return [np.concatenate(pair, axis=-1) for pair in pairs]

    if isinstance(combine, np.ufunc):
        chosen = MODULO_2.get(combine, combine) if arrays[0].dtype == np.bool_ else combine
        arrays = [chosen.accumulate(array, axis=-1, dtype=array.dtype) for array in arrays]
    else:
        distances = itertools.takewhile(
            lambda distance: distance < arrays[0].shape[-1], (2**power for power in itertools.count())
        )
        arrays = functools.reduce(further, list(distances), arrays)
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number from 0 up to, not including, `bins` occurs along the last axis. (Given.)"""
    counted = stored(values)[..., None] == np.arange(bins, dtype=values.dtype)
    if mask is not None:
        counted &= stored(mask)[..., None]
    return counted.sum(axis=-2, dtype=np.int32)
