"""Dot products, reductions and scans of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


def dot(a: Array, b: Array, c: Array) -> Array:
    """`c + a @ b`, with products and sums in the dtype of `c`; those of narrow floats in fp32."""
    if c.dtype == np.int32:  # products of int8 and their sums are exact in fp64
        return c + np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int32)
    wide = np.float64 if c.dtype == np.float64 else np.float32
    return (c + np.matmul(a.astype(wide, copy=False), b.astype(wide, copy=False))).astype(c.dtype, copy=False)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """All elements along an axis combined into one."""
    if isinstance(combine, np.ufunc):
        (source,) = sources
        if source.dtype == bool:
            combine = {np.add: np.logical_xor, np.multiply: np.logical_and}.get(combine, combine)
            return (combine.reduce(source, axis=axis),)
        return (combine.reduce(source, axis=axis, dtype=source.dtype),)
    arrays = [np.moveaxis(array, axis, -1) for array in np.broadcast_arrays(*sources)]
    while arrays[0].shape[-1] > 1:  # neighbours are combined, so that their order is kept
        left, right = [array[..., 0::2] for array in arrays], [array[..., 1::2] for array in arrays]
        arrays = list(combine(*left, *right))
    return tuple(array[..., 0] for array in arrays)


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    """Running combinations along an axis; from the end if `reverse`."""
    arrays = [np.moveaxis(array, axis, -1) for array in np.broadcast_arrays(*sources)]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    if isinstance(combine, np.ufunc):
        arrays = [combine.accumulate(arrays[0], axis=-1, dtype=arrays[0].dtype)]
    else:
        distance = 1
        while distance < arrays[0].shape[-1]:
            left, right = [array[..., :-distance] for array in arrays], [array[..., distance:] for array in arrays]
            combined = combine(*left, *right)
            arrays = [
                np.concatenate((array[..., :distance], more), axis=-1)
                for array, more in zip(arrays, combined, strict=True)
            ]
            distance *= 2
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number below `bins` occurs along the last axis."""
    counted = (np.asarray(values)[..., None] == np.arange(bins, dtype=values.dtype)) & (
        True if mask is None else np.asarray(mask)[..., None]
    )
    return counted.sum(axis=-2, dtype=np.int32)
