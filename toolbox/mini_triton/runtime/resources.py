"""The resources of a kernel on a CPU, in the terms of a GPU. (Given.)

Programs for Triton divide a device's registers by `registers`, and its shared memory by `shared`, to compute how many
programs to launch. Therefore, neither of these numbers is 0.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

REGISTERS = 32
"""Vector registers of a core."""
TILE = re.compile(r"tensor<((?:\d+x)+)(?:!tt\.ptr<[^>]*>|[a-z]+(\d+))")


class CpuResources(NamedTuple):
    """The resources of a program."""

    registers: int
    spills: int
    shared: int  # bytes of the largest tile, which should fit in a core's cache

    @staticmethod
    def of(ttir: str) -> CpuResources:
        """The resources of the module in this text."""
        tiles = TILE.findall(ttir)
        sizes = [math.prod(map(int, shape[:-1].split("x"))) * max(1, int(bits or 64) // 8) for shape, bits in tiles]
        return CpuResources(REGISTERS, 0, max(sizes, default=1))
