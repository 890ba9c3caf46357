"""Real Triton's recorded answers: layouts of products by tensor cores, and swizzled matrices in shared memory.

    fragments.products()[0].vectors     # of registers, lanes and warps
    fragments.tiles()[0].indices        # of the elements at offsets 1, 2, 4, ...

Record the answers again by

    python -m tests.oracles.fragments [--check]
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from tests.oracles import tables, triton
from tests.oracles.linear_layouts import Vectors, as_vectors


class Fragment(NamedTuple):
    """A product (`operand` is -1), or its factor 0 or 1, with elements of `size` bytes; `depth` is that of the sums.

    Version 2 is the layout of `mma.sync`, version 3 that of `wgmma`.
    """

    version: int
    warps: tuple[int, int]
    shape: tuple[int, int]  # of the product
    depth: int
    operand: int
    size: int
    vectors: Vectors = ()

    def ask(self) -> Vectors:
        """The installed Triton's vectors."""
        rows, columns = self.shape
        shape = {-1: self.shape, 0: (rows, self.depth), 1: (self.depth, columns)}[self.operand]
        wide = 8 if self.version == 2 else columns // self.warps[1]
        return triton.fragment(self.version, self.warps, wide, shape, self.operand, self.size)


class Swizzled(NamedTuple):
    """A matrix in shared memory with rows of `row` bytes along the axis `fast`."""

    shape: tuple[int, int]
    size: int
    row: int
    fast: int
    indices: tuple[tuple[int, ...], ...] = ()


def asked() -> Iterator[Fragment]:
    """Products whose warps lie in the same order as ours. Triton reads the second factor of `wgmma` where it is."""
    for warps, shape in (
        *(((1, 1), shape) for shape in ((16, 8), (32, 8), (16, 64), (64, 32))),
        *(((4, 1), (64, 16)), ((1, 4), (32, 32))),
    ):
        yield Fragment(2, warps, shape, 16, -1, 2)
        for size in (1, 2, 4):
            for bytes in (32, 256):
                yield Fragment(2, warps, shape, bytes // size, 0, size)
                yield Fragment(2, warps, shape, bytes // size, 1, size)
    for warps, shape in (((4, 1), (64, 16)), ((4, 1), (256, 64)), ((8, 1), (128, 128)), ((4, 2), (128, 64))):
        for operand in (-1, 0):
            yield Fragment(3, warps, shape, 64, operand, 2)


def asked_tiles() -> Iterator[Swizzled]:
    """Tiles whose rows fill lines, or parts of them, or several panels."""
    for size in (1, 2, 4):
        for bytes in (32, 64, 128, 512):
            for fast in (0, 1):
                lengths = (32, bytes // size)
                yield Swizzled((lengths[1 - fast], lengths[fast]), size, min(bytes, 128), fast)


def products() -> list[Fragment]:
    """Products and factors, with their vectors."""
    return [
        Fragment(version, tuple(warps), tuple(shape), depth, operand, size, as_vectors(parts))
        for version, warps, shape, depth, operand, size, parts in tables.load("fragments")["products"]
    ]


def tiles() -> list[Swizzled]:
    """Matrices in shared memory, with the indices of elements."""
    return [
        Swizzled(tuple(shape), size, row, fast, tuple(map(tuple, indices)))
        for shape, size, row, fast, indices in tables.load("fragments")["tiles"]
    ]


if __name__ == "__main__":
    fragments = [[*each[:-1], each.ask()] for each in asked()]
    matrices = [[*each[:-1], triton.swizzled(each.shape, each.size, each.row, each.fast)] for each in asked_tiles()]
    sys.exit(tables.record("fragments", products=fragments, tiles=matrices))
