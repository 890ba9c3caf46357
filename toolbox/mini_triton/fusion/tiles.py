"""How to divide the work of a kernel: the sizes of its tile, and the number of its warps. (Given.)

A few rules, based on measurements on an H200, replace trials. The tuner of milestone 11 would find the best division
for one kernel on one machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch

from mini_triton.fusion.tensors import Product, hint

LARGEST_COLUMN = 128
"""Longer columns are read in a loop. The elements of a column are not contiguous, so a tile holds parts of many
columns."""
MULTIPROCESSORS, ENOUGH, SHORTEST = 132, 256, 256
"""How many programs run at once; how many keep a GPU busy; the least length at which a single row makes a tile."""


@dataclass(frozen=True)
class Tiling:
    """The compile-time sizes of a kernel, and its launch options."""

    sizes: dict[str, int]
    options: dict[str, int] = field(default_factory=dict)


def tile_elements() -> Tiling:
    """The tiling of a kernel without reductions."""
    return Tiling({"XBLOCK": 1024})


MOST_STRIDED = 16
"""Shorter loops are not worth a tile, because the neighboring elements are in the cache."""


def tile_crossed() -> Tiling:
    """The tiling of a kernel without reductions that reads along one loop and writes along another."""
    return Tiling({"XBLOCK": 64, "RBLOCK": 64}, {"num_warps": 8})


LARGEST_ROW = {"cpu": (4096, 4096), "cuda": (16384, 65536)}
"""The maximal length of a row that is a tile. Such a row should fit in the cache on a CPU, and in registers on a GPU.
The second number is for rows that would otherwise be read twice, because one reduction needs the result of another."""


def largest_row(device: torch.device, levels: int) -> int:
    """The maximal length of a row that is read only once, in a kernel with this many levels of reductions."""
    return LARGEST_ROW["cuda" if device.type == "cuda" else "cpu"][levels > 1]


def fits(columns: sympy.Expr, is_inner: bool, largest: int) -> bool:
    """Whether whole rows fit in one tile. Their elements are contiguous if `is_inner`."""
    return bool(columns.is_number and columns <= (largest if is_inner else LARGEST_COLUMN))


def tile_rows(rows: sympy.Expr, columns: sympy.Expr, is_inner: bool, largest: int) -> Tiling:
    """The tiling of a kernel with reductions: the number of rows in a tile, and of elements in each row."""
    block = next_power_of_2(int(columns)) if fits(columns, is_inner, largest) else 4096 if is_inner else 64
    many = 1 if rows == 1 else max(1, min((2048 if is_inner else 4096) // block, 64))
    is_busy = hint(rows) // many >= MULTIPROCESSORS
    warps = min(max(block * many // (512 if is_inner or not is_busy else 1024), 1), 32)
    return Tiling({"XBLOCK": many, "RBLOCK": block}, {"num_warps": warps})


def tile_product(product: Product, is_plain: bool) -> Tiling:
    """The tiling of a matrix product that takes the least time, by a rough estimate.

    Programs run in waves, with one program on each multiprocessor; a large tile loads less data for each element. If
    other operators are fused to the product (not `is_plain`), or there are few steps, the largest tile would leave too
    few registers.
    """
    *batch, m, k = map(hint, product.inputs[0].shape)
    n = hint(product.shape[-1])

    def cost(high: int, wide: int, *_: Any) -> float:
        programs = math.prod(batch) * -(-m // high) * -(-n // wide)
        return math.ceil(programs / MULTIPROCESSORS) * high * wide / EFFICIENCY[high * wide]

    choices = SINGLE if product.dtype.itemsize != 2 else HALF[2:] if k <= 128 else HALF if is_plain else HALF[1:]
    high, wide, deep, warps, stages = min(choices, key=lambda choice: cost(*choice))
    tile = [min(max(next_power_of_2(size), 16), limit) for size, limit in ((m, high), (n, wide), (k, deep))]
    named = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    warps = min(warps, max(1, tile[0] * tile[1] // 1024))
    return Tiling(named | {"GROUP": 8}, {"num_warps": warps, "num_stages": stages})


HALF = ((128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 128, 64, 4, 4), (128, 64, 64, 4, 4), (64, 64, 64, 4, 4))
SINGLE = ((128, 128, 32, 8, 3), (64, 64, 32, 4, 3), (32, 32, 32, 4, 3))
"""Rows, columns, steps, warps and stages, from large to small tiles: for 16-bit floats, and for other dtypes."""
EFFICIENCY = {128 * 256: 1.0, 128 * 128: 0.8, 64 * 128: 0.7, 64 * 64: 0.5, 32 * 32: 0.3}
"""The speed of tiles by their number of elements, relative to the largest tiles."""


def next_power_of_2(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()
