"""Combining elements along an axis: dot products, reductions, scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.formats import FLOATS
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import FloatType

MODULO_2: dict[Any, np.ufunc] = {np.add: np.bitwise_xor, np.multiply: np.bitwise_and}
"""The ufuncs for sums and products of booleans."""
NARROW = tuple(numpy_dtype(FloatType(name)) for name, row in FLOATS.items() if row.width < 32)
"""Floats too narrow to be added one after the other."""
SHORT = (2, 4, 8, 16, 32, 64)
"""Lengths of rows for which a few calls of a ufunc are faster than its `reduce`."""


def as_function(combine: np.ufunc) -> Callable[..., Any]:
    """A ufunc as a function that returns a tuple. (Given.)"""
    return lambda left, right: (combine(left, right),)


def dot(a: Array, b: Array, c: Array) -> Array:
    """`c + a @ b` for all programs at once: the shapes (P, M, K) and (P, K, N) give (P, M, N).

    The result has the dtype of `c`, a NumPy array or number. Floats are multiplied and added in fp32 or, if `c` is
    fp64, in fp64, and the result is rounded once, as on tensor cores. Sums of `int8` products are exact.
    """
    # [task 6.6] Other leading axes are broadcast in the same way, as by NumPy. The operands do not change.
    c = stored(c)
    if c.dtype == np.int32:
        return c + np.matmul(stored(a).astype(np.float64), stored(b).astype(np.float64)).astype(np.int32)
    wide = np.float64 if c.dtype == np.float64 else np.float32
    product = np.matmul(stored(a).astype(wide, copy=False), stored(b).astype(wide, copy=False))
    if c.ndim or c != 0:
        product = np.add(product, c, out=product if product.ndim >= c.ndim else None)
    return product.astype(c.dtype, copy=False)
    # [end]


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """Combine all elements along `axis` into one, for each source.

    The sources have the same shape, with a power of two of elements along `axis`, which is always negative: -1 is the
    last axis. Each result keeps the dtype of its source.

    `combine` is either a ufunc, which takes two elements and returns one, or a function, which takes the left elements
    of all sources, then the right elements, and returns a tuple. Both also take arrays of elements, and then return
    arrays of the same shape. You may assume that the function is associative, but not that it is commutative.
    """
    short = axis == -1 and sources[0].shape[-1] in SHORT
    # [task 6.6] The sum of the int8 numbers 100 and 100 is -56, that of the booleans True and True is False. Call a
    # function about log2(n) times for n elements. In bf16, 256 + 1 is 256; nevertheless, a sum of 4096 bf16 or other
    # `NARROW` numbers may differ from the exact sum by no more than 12 roundings. Given: `MODULO_2`, `as_function` and,
    # for speed only, `short`.
    if isinstance(combine, np.ufunc):
        (source,) = map(stored, sources)
        if source.dtype == bool:
            combine = MODULO_2.get(combine, combine)
        if not (short or source.dtype in NARROW):
            return (combine.reduce(source, axis=axis, dtype=source.dtype),)
        combine = as_function(combine)
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    while arrays[0].shape[-1] > 1:
        left, right = [array[..., 0::2] for array in arrays], [array[..., 1::2] for array in arrays]
        arrays = list(combine(*left, *right))
    return tuple(array[..., 0] for array in arrays)
    # [end]


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    """Combine every element with all elements before it along an axis, or after it if `reverse`. See `reduce`."""
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    # [task 6.6] Replace `arrays` by their scans along the last axis: [1, 2, 3, 4] and `np.add` give [1, 3, 6, 10]. What
    # `reduce` promises about dtypes, booleans, `NARROW` floats and the number of calls also holds here (Hillis and
    # Steele, 1986).
    if isinstance(combine, np.ufunc) and arrays[0].dtype in NARROW:
        combine = as_function(combine)
    if isinstance(combine, np.ufunc):
        (source,) = arrays
        if source.dtype == bool:
            combine = MODULO_2.get(combine, combine)
        arrays = [combine.accumulate(source, axis=-1, dtype=source.dtype)]
    else:
        distance = 1
        while distance < arrays[0].shape[-1]:
            before, after = [array[..., :-distance] for array in arrays], [array[..., distance:] for array in arrays]
            combined = combine(*before, *after)
            heads = (array[..., :distance] for array in arrays)
            arrays = [np.concatenate(pair, axis=-1) for pair in zip(heads, combined, strict=True)]
            distance *= 2
    # [end]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)


def histogram(bins: int, values: Array, mask: Array | None = None) -> Array:
    """How often each number from 0 up to, but not including, `bins` occurs along the last axis. (Given.)"""
    counted = stored(values)[..., None] == np.arange(bins, dtype=values.dtype)
    if mask is not None:
        counted &= stored(mask)[..., None]
    return counted.sum(axis=-2, dtype=np.int32)
