"""The width of vectors; arrays on the stack; the sum of a row in NumPy's order, its maximum and its minimum. (Given.)

LLVM must not change the order in which floats are added, so it cannot vectorize a loop that adds them up. NumPy
computes eight sums side by side; this module contains vector instructions for these sums, written by hand.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from mini_triton.codegen.numba_gen.library import bits_of, named

LANES, BLOCK = 8, 128
"""NumPy computes `LANES` sums side by side in blocks of `BLOCK` elements, and adds the sums of blocks pairwise."""
TOGETHER = 8
"""Blocks added at the same time. Additions of different blocks overlap; those of one block depend on each other."""
GROUPS = 2**20 // (TOGETHER * BLOCK)
"""The number of groups of blocks in the longest tensor."""

APART = 192
"""Bytes between arrays. If arrays were exactly 4 KiB apart, their i-th elements would compete for a few cache lines."""


# --- vectors


@intrinsic(prefer_literal=True)
def vectors_of(typing, bits):
    """Let LLVM use vectors of up to `bits` bits, a literal, in the function that calls this intrinsic.

    Some processors have vectors of 512 bits. On some of these, LLVM uses only 256 bits by default. Vectors that LLVM
    saves to the stack are aligned; otherwise, some of them would be in two lines of the cache.
    """
    if not isinstance(bits, types.IntegerLiteral):
        return None

    def build(context, builder, signature, arguments):
        for attribute in (f'"prefer-vector-width"="{bits.literal_value}"', '"stackrealign"'):
            set.add(builder.function.attributes, attribute)  # `add` of the attributes rejects these attributes
        return context.get_dummy_value()

    return types.none(bits), build


# --- arrays on the stack


# An intrinsic, because a function has its own frame, and an inlined function loses its stores to views of arrays.
@intrinsic(prefer_literal=True)
def on_stack(typing, shape, dtype):
    """An uninitialized array of a literal shape, which lives until the function returns. LLVM knows that no other array
    shares its memory."""
    sizes = shape.types if isinstance(shape, types.BaseTuple) else [shape]
    if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
        return None
    shape_of = [size.literal_value for size in sizes]
    array_type = types.Array(dtype.dtype, len(sizes), "C")

    def build(context, builder, signature, arguments):
        element = context.get_data_type(array_type.dtype)
        width = context.get_abi_sizeof(element)
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(element, int(np.prod(shape_of)) + APART // width))
            memory.align = 64
        strides = [width * int(np.prod(shape_of[axis + 1 :])) for axis in range(len(sizes))]
        whole, steps = ([context.get_constant(types.intp, n) for n in numbers] for numbers in (shape_of, strides))
        array = context.make_array(array_type)(context, builder)
        populate_array(
            array,
            data=builder.bitcast(memory, element.as_pointer()),
            shape=cgutils.pack_array(builder, whole),
            strides=cgutils.pack_array(builder, steps),
            itemsize=context.get_constant(types.intp, width),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(shape, dtype), build


# --- rows


@njit(error_model="numpy")
def end_of_run(numbers, first, step):
    """The end of the longest run from `first` on in which each integer is the previous one plus `step`.

    It is unsigned: LLVM must know that an index is not negative, because Numba's negative indices count from the end.
    """
    end = len(numbers)
    for i in range(first + 1, len(numbers)):
        end = min(end, i if numbers[i] != numbers[i - 1] + step else end)
    return np.uint32(end)


def _folding(name, combine, clean=None):
    """A function that combines the elements of a row in NumPy's order, by `combine(builder, x, y)`.

    The length of the row is a power of two, at least 8. `clean` is applied to the initial vectors.
    """

    @intrinsic(prefer_literal=True)
    def fold_blocks(typing, x, start, blocks, length):
        """Fold `blocks` blocks of `length` elements from `start` on: vectors one by one, then neighbors in pairs."""
        if not isinstance(blocks, types.IntegerLiteral):
            return None

        def build(context, builder, signature, arguments):
            row = context.make_array(signature.args[0])(context, builder, arguments[0])
            vector = ir.VectorType(context.get_data_type(x.dtype), LANES)
            start, length = arguments[1], arguments[3]
            index = start.type

            def load(block, offset):
                place = builder.add(start, builder.add(builder.mul(index(block), length), offset))
                return builder.load(builder.bitcast(builder.gep(row.data, [place]), vector.as_pointer()), align=1)

            firsts = [load(block, index(0)) for block in range(blocks.literal_value)]
            firsts = [clean(builder, first) if clean else first for first in firsts]
            totals = [cgutils.alloca_once_value(builder, first) for first in firsts]
            steps = builder.sub(builder.sdiv(length, index(LANES)), index(1))
            with cgutils.for_range(builder, steps, intp=index) as loop:
                offset = builder.mul(builder.add(loop.index, index(1)), index(LANES))
                for block, total in enumerate(totals):
                    builder.store(combine(builder, builder.load(total), load(block, offset)), total)
            return _in_pairs(builder, [builder.load(total) for total in totals], combine)

        return x.dtype(x, types.intp, blocks, types.intp), build

    @intrinsic
    def fold_two(typing, x, y):
        return x(x, x), lambda context, builder, signature, arguments: combine(builder, *arguments)

    def fold(x):
        n = len(x)
        if n <= BLOCK:
            return fold_blocks(x, 0, 1, n)
        if n == 2 * BLOCK:
            return fold_blocks(x, 0, 2, BLOCK)
        if n == 4 * BLOCK:
            return fold_blocks(x, 0, 4, BLOCK)
        groups = n // (TOGETHER * BLOCK)
        totals = on_stack(GROUPS, x.dtype)
        for group in range(groups):
            totals[group] = fold_blocks(x, group * TOGETHER * BLOCK, TOGETHER, BLOCK)
        while groups > 1:
            groups //= 2
            for i in range(groups):
                totals[i] = fold_two(totals[2 * i], totals[2 * i + 1])
        return totals[0]

    return njit(error_model="numpy")(named(f"fold_{name}", fold))


def _in_pairs(builder, vectors, combine):
    """Combine the elements of all vectors with their neighbors until one is left."""
    while vectors[0].type.count > 1:
        width = vectors[0].type.count
        if len(vectors) == 1:  # its two halves
            vectors = [vectors[0], vectors[0]]
            width //= 2
        even, odd = (
            ir.Constant(ir.VectorType(ir.IntType(32), width), [2 * i + shift for i in range(width)]) for shift in (0, 1)
        )
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [
            combine(builder, builder.shuffle_vector(x, y, even), builder.shuffle_vector(x, y, odd)) for x, y in pairs
        ]
    return builder.extract_element(vectors[0], ir.IntType(32)(0))


@njit(error_model="numpy")
def pairwise_sum(x):
    """The sum of a row, equal to NumPy's; it is never -0.0. The length is a power of two, at least 8."""
    return _sum(x) + x.dtype.type(0)


def _pick(predicate, keeps_nan):
    """`combine` for a maximum or a minimum: `y` if it is beyond `x`, or if it is NaN and `keeps_nan`."""

    def combine(builder, x, y):
        take = builder.fcmp_ordered(predicate, y, x)
        if keeps_nan:
            take = builder.or_(take, builder.fcmp_unordered("uno", y, y))
        return builder.select(take, y, x)

    return combine


def _number(worst, builder, vector):
    """A vector with `worst` in place of each NaN."""
    is_nan = builder.fcmp_unordered("uno", vector, vector)
    return builder.select(is_nan, ir.Constant(vector.type, [float(worst)] * LANES), vector)


def _extreme(name, predicate, keeps_nan):
    """The maximum or the minimum of a row. +0 counts as larger than -0."""
    worst = -np.inf if predicate == ">" else np.inf
    fold = _folding(name, _pick(predicate, keeps_nan), None if keeps_nan else functools.partial(_number, worst))
    wins = predicate == "<"  # whether -0 wins

    def extreme(x):
        best = fold(x)
        if best == 0:
            found = False
            for i in range(len(x)):
                found |= x[i] == 0 and (bits_of(x[i]) != 0) == wins
            return -abs(best) if found == wins else abs(best)
        if best == worst or best != best:
            found = False
            for i in range(len(x)):
                found |= x[i] == x[i]
            return best if found or keeps_nan else abs(best) * x.dtype.type(np.nan)
        return best

    return njit(error_model="numpy")(named(name, extreme))


_sum = _folding("sum", lambda builder, x, y: builder.fadd(x, y))
row_maximumf, row_minimumf = _extreme("row_maximumf", ">", True), _extreme("row_minimumf", "<", True)
row_maxnumf, row_minnumf = _extreme("row_maxnumf", ">", False), _extreme("row_minnumf", "<", False)
