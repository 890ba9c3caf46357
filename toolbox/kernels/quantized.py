"""Linear layers with quantized weights: int4 with a scale per group; int8 and fp8 with a scale per row. (Given.)

A quantized tensor consists of small numbers and of fp32 scales; their product is close to the original. Weights have
the shape (N, K), as in `torch.nn.Linear`, and every function returns `x @ weight.T`.

    packed, scales = pack(weight, group=64)           once, for 4 bits
    y = linear_int4(x, packed, scales)

    values, scales = quantize(weight, "int8")         once, for 8 bits; or "float8_e4m3fn", on tensors only
    y = linear_8bit(x, values, scales)

With 4 bits, a kernel reads a quarter of the bytes of an fp16 weight, and multiplies in the dtype of x. With 8 bits, x
is quantized too, and tensor cores multiply bytes.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_whole, describe, empty_like, on_gpu, unless_tuned
from kernels.matmul import tile_of
from kernels.tuned import configs, tuned

LARGEST = {"int8": 127.0, "float8_e4m3fn": 448.0}
"""The largest value of each 8-bit dtype that `quantize` uses. int8 leaves out -128, so that its range is symmetric."""


@triton.jit
def quantize_kernel(out, scales, x, columns, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    """One row per program: its scale maps the largest magnitude of the row to LARGEST."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    highest = tl.max(tl.abs(values), axis=0)
    scale = tl.where(highest > 0, highest / LARGEST, 1.0)
    values = values / scale
    if out.dtype.element_ty == tl.int8:
        values = tl.floor(values + 0.5)
    tl.store(out + row * columns + at, values.to(out.dtype.element_ty), mask=at < columns)
    tl.store(scales + row, scale)


@triton.jit
def pack_kernel(packed, scales, weight, GROUP: tl.constexpr):
    """One group per program. Byte i holds elements i and i + GROUP / 2 of its group, as integers from 1 to 15."""
    group = tl.program_id(0).to(tl.int64)
    half = tl.arange(0, GROUP // 2)
    first = tl.load(weight + group * GROUP + half).to(tl.float32)
    second = tl.load(weight + group * GROUP + GROUP // 2 + half).to(tl.float32)
    highest = tl.max(tl.maximum(tl.abs(first), tl.abs(second)), axis=0)
    scale = tl.where(highest > 0, highest / 7, 1.0)
    low = tl.floor(first / scale + 8.5).to(tl.uint8)
    high = tl.floor(second / scale + 8.5).to(tl.uint8)
    tl.store(packed + group * (GROUP // 2) + half, low | (high << 4))
    tl.store(scales + group, scale)


@triton.jit
def int4_kernel(
    out, x, packed, scales, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    """A tile of out per program. Because a group shares a scale, the scale multiplies the group's sum of products."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    half = tl.arange(0, GROUP // 2)
    x_tile = x + (rows % M)[:, None] * K + half[None, :]
    w_tile = packed + (columns % N)[None, :] * (K // 2) + half[:, None]
    scale = scales + (columns % N) * (K // GROUP)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for group in range(0, K // GROUP):
        pairs = tl.load(w_tile + group * (GROUP // 2))
        low = ((pairs & 15).to(tl.int8) - 8).to(x.dtype.element_ty)
        high = ((pairs >> 4).to(tl.int8) - 8).to(x.dtype.element_ty)
        part = tl.dot(tl.load(x_tile + group * GROUP), low, input_precision="ieee")
        part = tl.dot(tl.load(x_tile + group * GROUP + GROUP // 2), high, part, input_precision="ieee")
        total += part * tl.load(scale + group)[None, :]
    place = out + rows[:, None] * N + columns[None, :]
    tl.store(place, total.to(out.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def scaled_kernel(
    out, a, b, a_scales, b_scales, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    """out = (a @ b.T) times the scales of its row and column, one tile per program. Sums have dtype TOTAL."""
    tile_m, tile_n = tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_tile = a + (rows % M)[:, None] * K + inner[None, :]
    b_tile = b + (columns % N)[None, :] * K + inner[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), TOTAL)
    for start in range(0, K, BLOCK_K):
        x = tl.load(a_tile + start, mask=inner[None, :] < K - start, other=0.0)
        y = tl.load(b_tile + start, mask=inner[:, None] < K - start, other=0.0)
        total = tl.dot(x, y, total, out_dtype=TOTAL)
    scale = tl.load(a_scales + rows % M)[:, None] * tl.load(b_scales + columns % N)[None, :]
    place = out + rows[:, None] * N + columns[None, :]
    result = (total.to(tl.float32) * scale).to(out.dtype.element_ty)
    tl.store(place, result, mask=(rows[:, None] < M) & (columns[None, :] < N))


tuned_int4 = tuned(
    int4_kernel,
    ["M", "N", "K"],
    configs(BLOCK_M=(16, 64, 128), BLOCK_N=(32, 64, 128), num_warps=(4, 8), num_stages=(3, 5)),
)
tuned_8bit = tuned(
    scaled_kernel,
    ["M", "N", "K"],
    [
        *configs(BLOCK_M=(16, 64), BLOCK_N=(64, 128), BLOCK_K=(128,), GROUP=(8,), num_warps=(4,), num_stages=(4,)),
        *configs(BLOCK_M=(128,), BLOCK_N=(128, 256), BLOCK_K=(128,), GROUP=(8,), num_warps=(8,), num_stages=(3, 4)),
    ],
)


def quantize(x: Any, dtype: str) -> tuple[Any, Any]:
    """The rows of a contiguous float matrix as `dtype`, and their fp32 scales; `dtype` is a key of `LARGEST`."""
    check("x", x, rank=2, contiguous=True)
    values, scales = empty_like(x, dtype=dtype), empty_like(x, (x.shape[0],), "float32")
    block = triton.next_power_of_2(x.shape[1])
    quantize_kernel[(x.shape[0],)](values, scales, x, x.shape[1], LARGEST=LARGEST[dtype], BLOCK=block)
    return values, scales


def pack(weight: Any, group: int = 64) -> tuple[Any, Any]:
    """An (N, K) float matrix as 4-bit integers, two per byte, and the fp32 scale of each `group` elements of a row.

    The results have the shapes (N, K / 2) and (N, K / group). `group` is a power of two, at least 32, that divides K.
    """
    check("weight", weight, rank=2, contiguous=True)
    check_whole("group", group, least=32)
    n, k = weight.shape
    if group & (group - 1) or k % group:
        raise ValueError(f"group must be a power of two that divides {k}, the length of weight's rows, not {group}")
    packed, scales = empty_like(weight, (n, k // 2), "uint8"), empty_like(weight, (n, k // group), "float32")
    pack_kernel[(n * (k // group),)](packed, scales, weight, GROUP=group)
    return packed, scales


def linear_int4(
    x: Any, packed: Any, scales: Any, tiles: dict[str, int] | None = None, kernel: Any = int4_kernel
) -> Any:  # fmt: skip
    """`x @ weight.T` in the dtype of x, an (M, K) matrix of fp16, bf16 or fp32; `packed, scales = pack(weight)`."""
    check("x", x, rank=2, contiguous=True, dtypes=("float16", "bfloat16", "float32"))
    check("packed", packed, rank=2, contiguous=True, dtypes=("uint8",))
    check("scales", scales, rank=2, contiguous=True, dtypes=("float32",))
    check_alike("packed", packed, "x", x, dtype=False)
    (m, k), n = x.shape, packed.shape[0]
    if 2 * packed.shape[1] != k:
        raise ValueError(f"x is {describe(x)} and packed is {describe(packed)}: x must have two columns per byte")
    out = empty_like(x, (m, n))
    chosen = {"BLOCK_M": 16 if m <= 16 else 64, "BLOCK_N": 64, **(tiles or {})}
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]))  # noqa: E731
    kernel[grid](out, x, packed, scales, m, n, k, GROUP=k // scales.shape[1], **unless_tuned(kernel, **chosen))
    return out


def linear_8bit(
    x: Any, values: Any, scales: Any, tiles: dict[str, int] | None = None, kernel: Any = scaled_kernel
) -> Any:  # fmt: skip
    """`x @ weight.T` in the dtype of x, an (M, K) float matrix, which is quantized like the weight.

    `values, scales = quantize(weight, dtype)`. int8 products are summed in int32, exactly; fp8 products in fp32.
    """
    check("values", values, rank=2, contiguous=True, dtypes=tuple(LARGEST))
    check_alike("values", values, "x", x, dtype=False)
    (m, k), n = x.shape, values.shape[0]
    if values.shape[1] != k:
        raise ValueError(f"x is {describe(x)} and values is {describe(values)}: they must have as many columns")
    dtype = str(values.dtype).removeprefix("torch.")
    rows, row_scales = quantize(x, dtype)
    out = empty_like(x, (m, n))
    block = 128 if on_gpu(x) else 64
    chosen = {"BLOCK_M": block, "BLOCK_N": block, "BLOCK_K": block, "GROUP": 8, **(tiles or {})}
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
    total = tl.int32 if dtype == "int8" else tl.float32
    kernel[grid](out, rows, values, row_scales, scales, m, n, k, TOTAL=total, **unless_tuned(kernel, **chosen))
    return out
