"""Tensor maps: how an array lies in memory, for the copy engine. NVIDIA's own format is secret; this is ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class TensorMap:
    """A tensor map for an array; dimensions in NumPy's order, strides in bytes."""

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    box: Sequence[int]
    size: int  # of an element, in bytes
    swizzle: int

    def encode(self, address: int) -> np.ndarray:
        """The bytes of the map, if the array is at this address."""
        rank, data = len(self.shape), np.zeros(MAP_BYTES, np.uint8)
        tensor = data[: TENSOR_MAP.itemsize].view(TENSOR_MAP)[0]
        tensor["global_address"], tensor["rank"], tensor["swizzle_mode"] = address, rank - 1, self.swizzle
        tensor["elemtype"] = ELEMENTS.index(self.size)
        tensor["box_dim"][:rank], tensor["global_dim"][:rank] = self.box[::-1], self.shape[::-1]
        tensor["global_stride"][: rank - 1] = self.strides[-2::-1]
        return data
