"""Which thread holds which element of a tensor: the layouts in TTGIR.

TTIR's `tensor<64x32xf16>` says nothing of threads. The first thing that real Triton adds is a layout:

    #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>

Each thread has a piece of 1 x 8 elements; 8 x 4 threads make a warp, 4 x 1 warps the program. Threads are counted along
the axis that is first in `order`: thread 1 is right of thread 0. The pattern repeats until it covers the tensor.

Source: `BlockedEncodingAttr` in Triton's `include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

WARP = 32

_BLOCKED = re.compile(
    r"(#\w+) = #ttg\.blocked<\{sizePerThread = \[([\d, ]+)\], threadsPerWarp = \[([\d, ]+)\], "
    r"warpsPerCTA = \[([\d, ]+)\], order = \[([\d, ]+)\]\}>"
)


@dataclass(frozen=True)
class Blocked:
    """A blocked layout: sizes along each axis of the tensor, and the axes, that of neighbouring threads first."""

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]

    def owner(self, *index: int) -> int:
        """The number of the thread, from 0 over all warps, that holds the element at an index.

        If a tensor is smaller than the pattern, other threads hold copies of elements; this is the first of them.
        """
        # Task 10.3: Along an axis elements are dealt out in pieces of `size_per_thread`, pieces to the
        # `threads_per_warp`, these to the `warps_per_cta`, and then again from the first. Threads, and warps,
        # are counted along the axis that is first in `order`, then the next.
        raise NotImplementedError("Task 10.3: The stages, laid open")

    def owners(self, shape: tuple[int, ...]) -> np.ndarray:
        """The threads of all elements of a tensor. (Given.)"""
        return np.array([self.owner(*index) for index in np.ndindex(shape)]).reshape(shape)


def layouts(ttgir: str) -> dict[str, Blocked]:
    """The blocked layouts that a module in TTGIR names, by their names: "#blocked", "#blocked1"."""
    # Task 10.3: `_BLOCKED.findall` gives a name and four texts like "1, 8" for each.
    raise NotImplementedError("Task 10.3: The stages, laid open")
