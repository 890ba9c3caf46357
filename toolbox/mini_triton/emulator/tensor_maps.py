"""Tensor maps: how an array lies in memory, for the copy engine. NVIDIA's own format is secret; this is ours."""

from __future__ import annotations

from typing import Any

import numpy as np

ELEMENTS = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)
"""The sizes of the element types of tensor maps, by PTX's number."""
FIELDS = {"global_address": "i8", "rank": "u1", "elemtype": "u1", "swizzle_mode": "u1", "fill_mode": "u1"}
FIELDS |= {"interleave_layout": "u1", "box_dim": "5u4", "global_dim": "5u4", "element_stride": "5u4"}
FIELDS |= {"global_stride": "4i8"}
TENSOR_MAP = np.dtype(list(FIELDS.items()), align=True)
"""A tensor map, dimensions innermost first."""
MAP_BYTES = 128


def encode_map(address: int, shape: Any, strides: Any, box: Any, size: int, swizzle: int) -> np.ndarray:
    """The bytes of a tensor map for an array; dimensions in NumPy's order, strides in bytes."""
    rank, data = len(shape), np.zeros(MAP_BYTES, np.uint8)
    tensor = data[: TENSOR_MAP.itemsize].view(TENSOR_MAP)[0]
    tensor["global_address"], tensor["rank"], tensor["swizzle_mode"] = address, rank - 1, swizzle
    tensor["elemtype"] = ELEMENTS.index(size)
    tensor["box_dim"][:rank], tensor["global_dim"][:rank] = list(box)[::-1], list(shape)[::-1]
    tensor["global_stride"][: rank - 1] = list(strides)[-2::-1]
    return data
