"""Which thread holds which element of a tensor: the layouts in TTGIR.

A type such as `tensor<64x32xf16>` in TTIR does not mention threads. Real Triton first adds a layout to each type:

    #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>

Each thread holds a piece of 1 x 8 elements. 8 x 4 threads form a warp, and 4 x 1 warps form the program: together, they
hold 32 x 32 elements. This pattern repeats until it covers the tensor. Threads are counted first along the axis that is
first in `order`: thread 1 is to the right of thread 0.

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
    """A blocked layout: its sizes along each axis of the tensor, and the order of the axes."""

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]

    def owner(self, *index: int) -> int:
        """The number of the thread that holds the element at an index. Threads are numbered from 0 across all warps.

        If the tensor is smaller than the layout's pattern, several threads hold copies of an element. The result is the
        first of these threads. For `Blocked((1, 8), (8, 4), (2, 2), order)`:

            index           (0, 7)  (0, 8)  (1, 0)  (7, 31)  (8, 0)  (0, 32)  (16, 0)
            order (1, 0)         0       1       4       31      64       32        0
            order (0, 1)         0       8       1       31      32       64        0
        """
        # Task 10.3: In which warp is thread 64, and in which is thread 32? What does `order` decide?
        raise NotImplementedError("Task 10.3: Inside the stages")

    def owners(self, shape: tuple[int, ...]) -> np.ndarray:
        """The owners of all elements of a tensor. (Given.)"""
        return np.array([self.owner(*index) for index in np.ndindex(shape)]).reshape(shape)


def layouts(ttgir: str) -> dict[str, Blocked]:
    """The blocked layouts that a TTGIR module defines, by name.

    The line at the top of this file gives `{"#blocked": Blocked((1, 8), (8, 4), (4, 1), (1, 0))}`.
    """
    # Task 10.3: `_BLOCKED` matches the definition of a layout.
    raise NotImplementedError("Task 10.3: Inside the stages")
