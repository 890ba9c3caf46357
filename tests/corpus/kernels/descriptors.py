"""Tensor descriptors, made by the kernel or by the host."""

import triton
import triton.language as tl


@triton.jit
def descriptor_copy_1d(out, x, n, first, BLOCK: tl.constexpr, PADDING: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[n], strides=[1], block_shape=[BLOCK], padding_option=PADDING)
    target = tl.make_tensor_descriptor(out, [tl.num_programs(0) * BLOCK], [1], [BLOCK])
    at = tl.program_id(0) * BLOCK
    target.store([at], source.load([first + at]))


@triton.jit
def descriptor_copy_2d(out, x, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PADDING: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [stride, 1], [BLOCK_M, BLOCK_N], padding_option=PADDING)
    height, width = tl.num_programs(0) * BLOCK_M, tl.num_programs(1) * BLOCK_N
    target = tl.make_tensor_descriptor(out, [height, width], [width, 1], [BLOCK_M, BLOCK_N])
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    block = tl.load_tensor_descriptor(source, [row - 3, column - BLOCK_N])
    tl.store_tensor_descriptor(target, [row, column], block)


@triton.jit
def descriptor_clipped_store(out, x, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    target = tl.make_tensor_descriptor(out, (M, N), (stride, 1), (BLOCK_M, BLOCK_N))
    row, column = tl.program_id(0) * BLOCK_M - 3, (tl.program_id(1) - 1) * BLOCK_N
    at = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    target.store([row, column], tl.load(x + at))


@triton.jit
def descriptor_copy_3d(
    out, x, K, M, N, sk, sm, PADDING: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    source = tl.make_tensor_descriptor(x, [K, M, N], [sk, sm, 1], [A, B, C], PADDING)
    block = source.load([tl.program_id(0) * A, 1, C])
    target = tl.make_tensor_descriptor(out, [tl.num_programs(0) * C, B, A], [A * B, A, 1], [C, B, A])
    target.store([tl.program_id(0) * C, 0, 0], tl.permute(block, 2, 1, 0))


@triton.jit
def descriptor_copy_4d(
    out, x, L, K, M, N, sl, sk, sm, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr
):
    source = tl.make_tensor_descriptor(x, [L, K, M, N], [sl, sk, sm, 1], [A, B, C, D])
    block = source.load([tl.program_id(0) * A, -1, tl.program_id(1) * C, 0])
    SIZE: tl.constexpr = A * B * C * D
    count = tl.num_programs(0) * tl.num_programs(1)
    target = tl.make_tensor_descriptor(out, [count, SIZE], [SIZE, 1], [1, SIZE])
    target.store([tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), 0], block.reshape(1, SIZE))


@triton.jit
def descriptor_copy_5d(out, x, J, L, K, M, N, sj, sl, sk, sm, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [J, L, K, M, N], [sj, sl, sk, sm, 1], [2, 1, 2, 2, BLOCK])
    target = tl.make_tensor_descriptor(out, [8 * BLOCK], [1], [8 * BLOCK])
    target.store([0], source.load([1, 0, 1, 0, 0]).reshape(8 * BLOCK))


@triton.jit
def descriptor_gather(
    out, x, rows, M, N, stride, column, COUNT: tl.constexpr, BLOCK: tl.constexpr, PADDING: tl.constexpr
):
    source = tl.make_tensor_descriptor(x, [M, N], [stride, 1], [1, BLOCK], padding_option=PADDING)
    first = tl.program_id(0) * COUNT
    block = source.gather(tl.load(rows + first + tl.arange(0, COUNT)) - 5, column)
    target = tl.make_tensor_descriptor(out, [tl.num_programs(0) * COUNT, BLOCK], [BLOCK, 1], [COUNT, BLOCK])
    target.store([first, 0], block)


@triton.jit
def descriptor_scatter(out, x, M, N, stride, column, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * COUNT
    at = first + tl.arange(0, COUNT)
    block = tl.load(x + at[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :])
    target = tl.make_tensor_descriptor(out, [M, N], [stride, 1], [1, BLOCK])
    target.scatter(block, at * 5 % 37 - 4, column)


@triton.jit
def descriptor_matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m, n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    a_desc = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, total)
    c_desc.store([m, n], total)


@triton.jit
def as_descriptor(array, shape, strides, block_shape):
    if isinstance(array, tl.tensor_descriptor):
        return array
    else:
        return tl.make_tensor_descriptor(array, shape, strides, block_shape)


@triton.jit
def row_sum(rows, row, columns):
    HEIGHT: tl.constexpr = rows.block_shape[0]
    total = tl.zeros([HEIGHT], tl.float32)
    for column in range(0, columns, rows.block_shape[1]):
        total += tl.sum(rows.load([row, column]).to(tl.float32), 1)
    return total


@triton.jit
def descriptor_helpers(out, x, M, N, BLOCK: tl.constexpr):
    source = as_descriptor(x, [M, N], [N, 1], [BLOCK, BLOCK])
    source = as_descriptor(source, source.shape, source.strides, [BLOCK, BLOCK])
    target = as_descriptor(out, [M], [1], [BLOCK])
    row = 0
    while row < source.shape[0]:
        target.store([row], row_sum(source, row, source.shape[1]))
        row += source.block_shape[0]


@triton.jit
def descriptor_choice(out, x, y, n, which, BLOCK: tl.constexpr):
    left = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    right = tl.make_tensor_descriptor(y, [n - 5], [1], [BLOCK])
    target = tl.make_tensor_descriptor(out, [n], [1], [BLOCK])
    for at in range(0, n, BLOCK):
        if at >= which:
            block = left.load([at])
        else:
            block = right.load([at]) * 2
        target.store([at], block.to(target.dtype))


@triton.jit
def descriptor_atomics(
    out, x, M, N, stride, KIND: tl.constexpr, DESCRIPTOR: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    row, column = tl.program_id(0) * BLOCK_M - 3, tl.program_id(1) * (BLOCK_N // 2) - BLOCK_N // 2
    i, j = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :]
    value = tl.load(x + i * BLOCK_N + j)
    if DESCRIPTOR:
        target = tl.make_tensor_descriptor(out, [M, N], [stride, 1], [BLOCK_M, BLOCK_N])
        if KIND == "add":
            target.atomic_add([row, column], value)
        elif KIND == "min":
            target.atomic_min([row, column], value)
        elif KIND == "max":
            target.atomic_max([row, column], value)
        elif KIND == "and":
            target.atomic_and([row, column], value)
        elif KIND == "or":
            target.atomic_or([row, column], value)
        else:
            target.atomic_xor([row, column], value)
    else:
        i, j = row + i, column + j
        at, inside = out + i * stride + j, (i >= 0) & (i < M) & (j >= 0) & (j < N)
        if KIND == "add":
            tl.atomic_add(at, value, inside)
        elif KIND == "min":
            tl.atomic_min(at, value, inside)
        elif KIND == "max":
            tl.atomic_max(at, value, inside)
        elif KIND == "and":
            tl.atomic_and(at, value, inside)
        elif KIND == "or":
            tl.atomic_or(at, value, inside)
        else:
            tl.atomic_xor(at, value, inside)


@triton.jit
def host_copy(target, source, row, column):
    block = source.load([row + tl.program_id(0) * source.block_shape[0], column])
    target.store([tl.program_id(0) * target.block_shape[0], 0], block.to(target.dtype))


@triton.jit
def host_layer(out, x, weight, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * x.block_shape[0]
    values = x.load([row, 0]).to(tl.float32)
    width = x.shape[1]
    mean = tl.sum(values, 1) / width
    centred = tl.where(tl.arange(0, BLOCK)[None, :] < width, values - mean[:, None], 0.0)
    variance = tl.sum(centred * centred, 1) / width
    scale = weight.load([0]).to(tl.float32)
    out.store([row, 0], (centred / tl.sqrt(variance + eps)[:, None] * scale[None, :]).to(out.dtype))


@triton.jit
def host_gather(target, source, ids, COUNT: tl.constexpr):
    rows = tl.load(ids + tl.arange(0, COUNT))
    target.scatter(source.gather(rows, 0), COUNT - 1 - tl.arange(0, COUNT), 0)


@triton.jit
def host_sizes(sizes, source):
    tl.store(sizes, source.shape[0])
    tl.store(sizes + 1, source.shape[1])
    tl.store(sizes + 2, source.strides[0])
    tl.store(sizes + 3, source.strides[1])
    tl.store(sizes + 4, source.block_shape[0] * 1000 + source.block_shape[1])
