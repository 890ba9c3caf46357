"""Kernels with accesses that no GPU can do with wide instructions; some only for some arguments. None is launched."""

import triton
import triton.language as tl


@triton.jit
def every_stride(out, x, n, stride, SIZE: tl.constexpr):
    """Elements that are `stride` apart."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    values = tl.load(x + at * stride, mask=at < n)
    tl.store(out + at, values, mask=at < n)


@triton.jit
def copy_tile(out, x, across, down, width, M: tl.constexpr, N: tl.constexpr):
    """A tile of a matrix with any strides."""
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    column = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    values = tl.load(x + row * down + column * across)
    tl.store(out + row * width + column, values)


@triton.jit
def pairs(out, x, SIZE: tl.constexpr, SWAPPED: tl.constexpr):
    """Two long rows, read as columns of two elements."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)[None, :]
    which = tl.arange(0, 2)[:, None]
    place = at * 2 + which if SWAPPED else which * SIZE + at
    tl.store(out + which * SIZE + at, tl.load(x + place))


@triton.jit
def thin_out(out, x, SIZE: tl.constexpr, STEP: tl.constexpr):
    """One of each `STEP` elements."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at * STEP))


@triton.jit
def heights(out, points, to_point, to_field, SIZE: tl.constexpr):
    """The third field of each point, from an array of structures or from a structure of arrays."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    place = at * to_point + 2 * to_field
    tl.store(out + at, tl.load(points + place))


@triton.jit
def rotate(out, x, n, SIZE: tl.constexpr):
    """A rotated ring buffer."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    turned = (at + 16) % n
    tl.store(out + at, tl.load(x + turned))


@triton.jit
def pick_rows(out, x, index, SIZE: tl.constexpr, SORTED: tl.constexpr):
    """Elements at indices that are loaded from memory."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    chosen = at if SORTED else tl.load(index + at)
    tl.store(out + at, tl.load(x + chosen))


@triton.jit
def copy(out, x, SIZE: tl.constexpr):
    """A view that may begin anywhere."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at))


@triton.jit
def copy_rows(out, x, stride, SIZE: tl.constexpr):
    """Rows of a matrix. The second row may begin at an odd element."""
    row, at = tl.program_id(0), tl.arange(0, SIZE)
    tl.store(out + row * SIZE + at, tl.load(x + row * stride + at))


@triton.jit
def copy_part(out, x, n, SIZE: tl.constexpr):
    """A part of an array. The mask may end within a group of four elements."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0))
