"""`c += a @ b`, in blocks of c that stay in vector registers. (Given.)

The sums of a block of 2 by 32 floats fill 8 registers of 8 floats. At each k, 2 elements of a and 4 vectors of a row of
b give 8 products, so there are more multiplications than loads, and no multiplication waits for another one.

Source: Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality" (2015).
"""

from __future__ import annotations

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

SUMS, ACROSS = 8, 4
"""Registers that hold sums, and how many of them lie side by side in a row of c."""
WIDTH = 512 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 256
"""Bits of a register."""
FUSED = ["contract"]
"""Flags of an addition and of a multiplication that may be one instruction."""


@intrinsic(prefer_literal=True)
def add_product(typing, a, b, c, m, n, beta):
    """`c = beta * c + a @ b`. The literals `m` and `n`, powers of two, are the shape of c; `beta` is 0 or 1.

    The rows of b and of c are contiguous. Integers of a and b are extended to those of c, and sums wrap around.
    """
    if not all(isinstance(literal, types.IntegerLiteral) for literal in (m, n, beta)):
        return None
    lanes = WIDTH // c.dtype.bitwidth
    columns = min(n.literal_value, ACROSS * lanes)
    rows = min(m.literal_value, max(1, SUMS * lanes // columns), SUMS)

    def build(context, builder, signature, arguments):
        def matrix(type, value):
            return type, context.make_array(type)(context, builder, value)

        left, right, sums = map(matrix, (a, b, c), arguments[:3])
        depth = cgutils.unpack_tuple(builder, left[1].shape)[1]
        index, scalar = depth.type, context.get_data_type(c.dtype)
        copies = ir.Constant(ir.VectorType(ir.IntType(32), columns), [0] * columns)

        def place(matrix, row, column, count):
            """The address of consecutive elements."""
            pointer = cgutils.get_item_pointer(context, builder, *matrix, [row, column])
            return builder.bitcast(pointer, ir.VectorType(pointer.type.pointee, count).as_pointer())

        def load(matrix, row, column, count):
            loaded = builder.load(place(matrix, row, column, count), align=matrix[0].dtype.bitwidth // 8)
            return loaded if loaded.type.element == scalar else builder.sext(loaded, ir.VectorType(scalar, count))

        def add_scaled(total, x, row):
            """`total + x * row` for a vector x of one element."""
            x = builder.shuffle_vector(x, x, copies)
            if not isinstance(c.dtype, types.Float):
                return builder.add(total, builder.mul(x, row))
            return builder.fadd(total, builder.fmul(x, row, flags=FUSED), flags=FUSED)

        def loop(end, step):
            return cgutils.for_range_slice(builder, index(0), index(end), index(step), index)

        with loop(n.literal_value, columns) as (j, _), loop(m.literal_value, rows) as (i, _):
            at = [builder.add(i, index(row)) for row in range(rows)]
            zero = ir.VectorType(scalar, columns)(None)
            starts = [load(sums, row, j, columns) if beta.literal_value else zero for row in at]
            totals = [cgutils.alloca_once_value(builder, start) for start in starts]
            with cgutils.for_range(builder, depth) as inner:
                others = load(right, inner.index, j, columns)
                for row, total in zip(at, totals, strict=True):
                    builder.store(add_scaled(builder.load(total), load(left, row, inner.index, 1), others), total)
            for row, total in zip(at, totals, strict=True):
                builder.store(builder.load(total), place(sums, row, j, columns), align=c.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(a, b, c, m, n, beta), build
