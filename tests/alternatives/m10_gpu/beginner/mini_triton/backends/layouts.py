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
        rank = len(index)
        lanes = [0] * rank
        warps = [0] * rank
        for axis in range(rank):
            piece = index[axis] // self.size_per_thread[axis]
            lanes[axis] = piece % self.threads_per_warp[axis]
            piece = piece // self.threads_per_warp[axis]
            warps[axis] = piece % self.warps_per_cta[axis]
        lane = 0
        lane_step = 1
        for axis in self.order:
            lane = lane + lanes[axis] * lane_step
            lane_step = lane_step * self.threads_per_warp[axis]
        warp = 0
        warp_step = 1
        for axis in self.order:
            warp = warp + warps[axis] * warp_step
            warp_step = warp_step * self.warps_per_cta[axis]
        return warp * 32 + lane

    def owners(self, shape: tuple[int, ...]) -> np.ndarray:
        """The threads of all elements of a tensor. (Given.)"""
        return np.array([self.owner(*index) for index in np.ndindex(shape)]).reshape(shape)


def numbers(text: str) -> tuple[int, ...]:
    result = []
    for word in text.split(","):
        result.append(int(word.strip()))
    return tuple(result)


def layouts(ttgir: str) -> dict[str, Blocked]:
    """The blocked layouts that a module in TTGIR names, by their names: "#blocked", "#blocked1"."""
    found = {}
    for name, each, threads, warps, order in _BLOCKED.findall(ttgir):
        found[name] = Blocked(numbers(each), numbers(threads), numbers(warps), numbers(order))
    return found
