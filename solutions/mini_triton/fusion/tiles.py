"""How the work of a kernel is divided: the sizes of its tile, and the warps that compute it. (Given.)

A few rules in place of trials. What they say was measured on an H100; the tuner of milestone 11 would find the best
division for one kernel on one machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import sympy
import torch

from mini_triton.fusion.tensors import Product, hint

LARGEST_ROW, LARGEST_COLUMN = {"cpu": 4096, "cuda": 65536}, 128
"""What is longer is read in a loop: on a CPU a tile should fit into the cache, on a GPU into registers. The elements of
a column are not contiguous: a tile has parts of many columns."""
ENOUGH = 100
"""So many programs keep a GPU busy."""


@dataclass(frozen=True)
class Tiling:
    """The compile-time sizes of a kernel, and options of its launch."""

    sizes: dict[str, int]
    options: dict[str, int] = field(default_factory=dict)


def tile_elements() -> Tiling:
    """For a kernel without reductions."""
    return Tiling({"XBLOCK": 1024})


MOST_STRIDED = 16
"""Loops of fewer steps are not worth a tile: the cache has their neighbours."""


def tile_crossed() -> Tiling:
    """For a kernel without reductions that reads along one loop and writes along another."""
    return Tiling({"XBLOCK": 64, "RBLOCK": 64}, {"num_warps": 8})


def fits(columns: sympy.Expr, is_inner: bool, device: torch.device) -> bool:
    """Whether a program has whole rows in one tile. Their elements are contiguous if `is_inner`."""
    largest = LARGEST_ROW.get(device.type, 4096) if is_inner else LARGEST_COLUMN
    return bool(columns.is_number and columns <= largest)


def tile_rows(rows: sympy.Expr, columns: sympy.Expr, is_inner: bool, device: torch.device) -> Tiling:
    """For a kernel with reductions: results, and elements of each, in a tile."""
    block = next_power_of_2(int(columns)) if fits(columns, is_inner, device) else 4096 if is_inner else 64
    many = 1 if rows == 1 else max(1, min((2048 if is_inner else 4096) // block, 64))
    warps = min(max(block * many // 512, 1), 32)
    return Tiling({"XBLOCK": many, "RBLOCK": block}, {"num_warps": warps})


def tile_product(product: Product) -> Tiling:
    """For a matrix product. Small dimensions get small tiles, and large tiles become smaller for more programs."""
    *batch, m, k = map(hint, product.inputs[0].shape)
    n = hint(product.shape[-1])
    choices = SINGLE if product.dtype.itemsize != 2 else HALF if k > 128 else HALF[2:]  # few steps: many programs

    def is_enough(high: int, wide: int, *_: int) -> bool:
        programs = math.prod(batch) * -(-m // high) * -(-n // wide)
        return programs >= ENOUGH and high < 2 * m and wide < 2 * n

    high, wide, deep, warps, stages = next((choice for choice in choices if is_enough(*choice)), choices[-1])
    tile = [min(max(next_power_of_2(size), 16), limit) for size, limit in ((m, high), (n, wide), (k, deep))]
    named = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    return Tiling(
        named | {"GROUP": 8}, {"num_warps": min(warps, max(1, tile[0] * tile[1] // 1024)), "num_stages": stages}
    )


HALF = ((128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 128, 64, 4, 4), (128, 64, 64, 4, 4), (64, 64, 64, 4, 4))
SINGLE = ((128, 128, 32, 8, 3), (64, 64, 32, 4, 3), (32, 32, 32, 4, 3))
"""Rows, columns, steps, warps and stages, from large to small tiles: of 16-bit floats, of others."""


def next_power_of_2(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()
