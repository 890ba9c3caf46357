"""Arrays on the stack; a row's sum in NumPy's order, its largest and its smallest element. (Given.)

LLVM may not add floats in another order than the source does, so it makes no vectors of a loop that adds them up. NumPy
adds eight sums side by side; the vectors for that are written here by hand.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from mini_triton.codegen.numba_gen.library import bits_of

LANES, BLOCK = 8, 128
"""NumPy adds so many sums side by side, in blocks of so many elements; the sums of blocks it adds in pairs."""
TOGETHER = 8
"""Blocks that are added at the same time: one addition takes as long as several, and a block's wait for each other."""
GROUPS = 2**20 // (TOGETHER * BLOCK)
"""So many groups of blocks has the longest tensor."""

WIDE = '"prefer-vector-width"="512"'
"""LLVM makes vectors of 256 bits on most processors that have 512, where `exp` then takes up to twice as long."""

APART = 192
"""Bytes between arrays: of arrays exactly 4 KiB apart, all elements i would share a few lines of the cache."""


# --- arrays on the stack


# An intrinsic: a function has a frame of its own, and where Numba inlines it, it drops stores to views of arrays.
@intrinsic(prefer_literal=True)
def on_stack(typing, shape, dtype):
    """An array with nothing in it yet, which lives until the function returns. No other array shares its memory, and
    LLVM knows that. The shape is a literal."""
    sizes = shape.types if isinstance(shape, types.BaseTuple) else [shape]
    if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
        return None
    shape_of = [size.literal_value for size in sizes]
    array_type = types.Array(dtype.dtype, len(sizes), "C")

    def build(context, builder, signature, arguments):
        set.add(builder.function.attributes, WIDE)  # `add` of the attributes knows only few
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
def is_straight(numbers):
    """Whether integers go up by one from each to the next."""
    wrong = False
    for i in range(len(numbers)):
        wrong |= numbers[i] != numbers[0] + i
    return not wrong


def _folding(combine, clean=None):
    """A function that combines the elements of a row in NumPy's order, by `combine(builder, x, y)`.

    The row has at least 8 elements, and a power of two. `clean` is applied to the vectors that the folding begins with.
    """

    @intrinsic(prefer_literal=True)
    def fold_blocks(typing, x, start, blocks, length):
        """`blocks` blocks of `length` elements, from `start` on: vectors step by step, then neighbours in pairs."""
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

    @njit(error_model="numpy")
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

    return fold


def _in_pairs(builder, vectors, combine):
    """The elements of all vectors, combined with their neighbours until one is left."""
    while vectors[0].type.count > 1:
        width = vectors[0].type.count
        if len(vectors) == 1:  # half of it is a vector of its own
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
    """The sum of a row of at least 8 elements, a power of two, as NumPy has it: no sum is -0.0."""
    return _sum(x) + x.dtype.type(0)


def _pick(predicate, keeps_nan):
    """`combine` for the largest or the smallest: `y` if it is beyond `x`; or if it is NaN, if that is kept."""

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


def _extreme(predicate, keeps_nan):
    """The largest or the smallest of a row. Of two zeros the positive one is larger."""
    worst = -np.inf if predicate == ">" else np.inf
    fold = _folding(_pick(predicate, keeps_nan), None if keeps_nan else functools.partial(_number, worst))
    wins = predicate == "<"  # the sign of the zero that wins

    @njit(error_model="numpy")
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

    return extreme


_sum = _folding(lambda builder, x, y: builder.fadd(x, y))
row_maximumf, row_minimumf = _extreme(">", True), _extreme("<", True)
row_maxnumf, row_minnumf = _extreme(">", False), _extreme("<", False)
