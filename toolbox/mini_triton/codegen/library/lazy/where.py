"""Choices between elements of two arrays, by a mask that may be lazy. (Given.)"""

from __future__ import annotations

import numpy as np

from mini_triton.codegen.library.lazy.array import Array, common, stored
from mini_triton.codegen.library.lazy.box import Box
from mini_triton.codegen.library.lazy.patched import Patched


def where(mask: Array, x: Array, y: Array) -> Array:
    """`np.where`, fast for a box that is true everywhere, and for a mask that varies only along the first axis."""
    shape = np.shape(x)
    if common(common(shape, np.shape(mask)), np.shape(y)) != shape or not shape:
        return np.where(mask, x, y)
    if isinstance(mask, Box) and mask.is_full():
        return x
    if isinstance(mask, Patched) and mask.shape == shape and mask.box.is_full():
        result = np.array(x)
        other = np.broadcast_to(y, shape)[mask.at] if np.ndim(y) else y
        result[mask.at] = np.where(mask.patch, result[mask.at], other)
        return result
    if isinstance(mask, np.ndarray) and mask.ndim == len(shape) and mask.size == mask.shape[0] == shape[0]:
        others = np.flatnonzero(~mask.ravel())
        if not others.size:
            return x
        result = np.array(x)
        result[others] = np.broadcast_to(y, shape)[others]
        return result
    if np.shape(mask) == shape and not np.shape(y):
        result = np.array(x)
        result[~stored(mask)] = y  # faster than `np.where`, especially if most of the mask is true
        return result
    return np.where(mask, x, y)
