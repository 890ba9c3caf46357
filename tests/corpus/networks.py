"""What neural networks are made of: softmax, normalisation, dropout, matrix products, attention, convolution."""

from __future__ import annotations

from collections.abc import Iterator

from tests.corpus.cases import FOLDED, ORDER, Case
from tests.oracles.triton import Code

UNIT = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
TILES = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
SMALL = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
HEADS = {"BLOCK_M": 64, "BLOCK_N": 32, "D": 64}

ROWS = "out x: *fp32[8 * 1008], stride: i32:16 = 1008, columns: i32 = 1000"
NORM = "x weight mean: *fp32[8 * 512], rstd: *fp32[8 * 512] = ones"
MATRICES = (
    "a: *fp16[208 * 96], b: *fp16[96 * 144], c: *fp16[208 * 144], M: i32:16 = 208, N: i32:16 = 144, K: i32:16 = 96"
)
QKV = "q k v: *fp16[2 * 200 * 64]"
SCALE = "scale: fp32 = 0.125, length: i32 = 200"


def both(kernel: str, text: str, grid: tuple[int, ...]) -> Iterator[Case]:
    """Attention, causal and not."""
    for causal, suffix in ((True, "_causal"), (False, "")):
        yield Case("oracles/kernels_attention", kernel, text, {"CAUSAL": causal} | HEADS, grid, suffix)


ROW_KERNELS = (
    Case("oracles/kernels", "softmax_row", ROWS, {"BLOCK": 1024}, (8,)),
    Case("oracles/kernels", "softmax_online", ROWS, {"BLOCK": 256}, (8,)),
    Case(
        "softmax",
        "softmax_persistent",
        "out x: *fp32[8 * 1008], x_stride out_stride: i32:16 = 1008, rows: i32 = 8, columns: i32 = 1000",
        {"BLOCK": 1024, "STAGES": 2},
        (3,),
    ),
    Case("softmax", "softmax_two_pass", "out x: *fp32[8 * 1000], columns: i32 = 1000", {"BLOCK": 256}, (8,)),
    Case(
        "softmax",
        "cross_entropy",
        "loss: *fp32[8], gradient: *fp32[8 * 100], logits: *fp16[8 * 100], labels: *i64[8] = below 100, "
        "columns: i32 = 100, smoothing: fp32 = 0.1",
        {"BLOCK": 128, "GRADIENT": True},
        (8,),
    ),
    Case(
        "softmax",
        "cross_entropy",
        "loss: *fp32[8], gradient: *fp32[8 * 100], logits: *bf16[8 * 100], labels: *i32[8] = below 100, "
        "columns: i32 = 100, smoothing: fp32 = 0.0",
        {"BLOCK": 128, "GRADIENT": False},
        (8,),
        "_loss_only",
    ),
    Case(
        "oracles/kernels",
        "layer_norm_forward",
        "out x: *fp16[4 * 1008], weight bias: *fp32[1008], mean_out rstd_out: *fp32[4], stride: i32:16 = 1008, "
        "columns: i32 = 1000, eps: fp32 = 0.00001",
        {"BLOCK": 512},
        (4,),
    ),
    Case(
        "oracles/kernels",
        "layer_norm_backward_lock",
        f"dx dy: *fp32[8 * 512], dw db: *fp32[4 * 512] = zeros, {NORM}, locks: *i32[8] = zeros, "
        "stride: i32:16 = 512, columns: i32 = 500",
        {"GROUP": 4, "BLOCK": 512},
        (8,),
        inexact=ORDER,
    ),
    Case(
        "oracles/kernels",
        "layer_norm_backward_rows",
        f"dx dy: *fp32[8 * 512], dw db: *fp32[2 * 512], {NORM}, stride: i32:16 = 512, rows: i32 = 7, "
        "columns: i32 = 500",
        {"ROWS": 4, "BLOCK": 512},
        (2,),
    ),
    Case(
        "oracles/kernels",
        "layer_norm_backward_sum",
        "dw db: *fp32[50 * 500], out_w out_b: *fp32[500], rows: i32 = 50, columns: i32 = 500",
        {"BLOCK_M": 32, "BLOCK_N": 128},
        (4,),
    ),
    Case(
        "normalisation",
        "rms_norm",
        "out x: *bf16[4 * 1008], weight: *bf16[1000], stride: i32:16 = 1008, columns: i32 = 1000, eps: fp32 = 0.000001",
        {"BLOCK": 1024},
        (4,),
    ),
    Case(
        "normalisation",
        "group_norm",
        "out x: *fp32[4 * 500], size: i32 = 500, eps: fp32 = 0.00001",
        {"BLOCK": 512},
        (4,),
    ),
)

RANDOM_KERNELS = (
    Case(
        "oracles/kernels",
        "dropout",
        "out x: *fp32[2000], n: i32:16 = 2000, p: fp32 = 0.4, seed: i32 = 123",
        {"BLOCK": 1024},
        (2,),
    ),
    Case(
        "normalisation",
        "dropout_low_memory",
        "out x: *fp32[1000], keep: *i1[1000], n: i32 = 1000, p: fp32 = 0.5",
        {"BLOCK": 256},
        (4,),
    ),
    Case(
        "normalisation",
        "dropout_matrix",
        "out x: *fp32[4 * 300], seeds: *i32[4] = bits, columns: i32 = 300",
        {"p": 0.25, "BLOCK": 128},
        (4,),
    ),
    Case(
        "normalisation",
        "random_numbers",
        "uniform normal: *fp32[512], integers words: *i32[512], seed: i64 = 1234567890123",
        {"BLOCK": 256},
        (2,),
    ),
    Case(
        "normalisation",
        "adam",
        "p: *fp32[1000], g: *bf16[1000], m v: *fp32[1000] = zeros, n: i32 = 1000, rate: fp32 = 0.01, step: fp32 = 3.0",
        {"BETA1": 0.9, "BETA2": 0.999, "BLOCK": 256},
        (4,),
    ),
)

PRODUCTS = (
    Case("oracles/peers", "add_kernel", "x y out: *fp32[4080], n: i32:16 = 4080", {"BLOCK": 1024}, (4,)),
    Case(
        "oracles/peers",
        "matmul_kernel",
        f"{MATRICES}, stride_am: i32:16 = 96, stride_bk stride_cm: i32:16 = 144",
        UNIT | TILES,
        (4, 3),
    ),
    Case(
        "oracles/kernels",
        "matmul_activation",
        f"{MATRICES}, stride_a: i32:16 = 96, stride_b stride_c: i32:16 = 144",
        {"ACTIVATION": "leaky_relu", "GROUP": 8} | TILES,
        (12,),
    ),
    Case(
        "products",
        "matmul_grouped",
        f"{MATRICES}, stride_am: i32:16 = 96, stride_bk stride_cm: i32:16 = 144",
        UNIT | TILES | {"GROUP": 4, "ACTIVATION": Code("relu")},
        (12,),
        "_relu",
    ),
    Case(
        "products",
        "matmul_grouped",
        "a: *bf16[50 * 70], b: *bf16[70 * 30], c: *fp32[50 * 30], M: i32 = 50, N: i32 = 30, K: i32 = 70, "
        "stride_am: i32 = 70, stride_ak: i32 = 1, stride_bk: i32 = 1, stride_bn: i32 = 70, stride_cm: i32 = 1, "
        "stride_cn: i32 = 50",
        TILES | {"GROUP": 8, "ACTIVATION": None},
        (1,),
        "_strided",
    ),
    Case(
        "products",
        "grouped_products",
        "a_addresses: *i64[2] = addresses a b, b_addresses: *i64[2] = addresses b a, "
        "c_addresses: *i64[2] = addresses c d, a b c d: *fp16[128 * 128], "
        "sizes: *i32[6] = 64 128 96 128 64 64, strides: *i32[6] = 128, count: i32 = 2",
        {"PROGRAMS": 3} | SMALL,
        (3,),
        inexact=FOLDED,
    ),
    Case(
        "products",
        "split_k",
        "a: *fp16[64 * 256], b: *fp16[256 * 64], c: *fp32[64 * 64] = zeros, M N: i32:16 = 64, K: i32:16 = 256, "
        "stride_a: i32:16 = 256, stride_b stride_c: i32:16 = 64",
        SMALL | {"PARTS": 4},
        (2, 2, 4),
        inexact=ORDER,
    ),
    Case(
        "products",
        "batched_dot",
        "out: *fp32[4 * 16 * 32], a: *fp32[4 * 16 * 16], b: *fp32[4 * 16 * 32]",
        {"B": 4, "M": 16, "N": 32, "K": 16},
    ),
    Case("products", "dot_dtypes", "out: *fp32[32 * 32], a b: *fp16[32 * 64]", {"A": 32, "K": 64}, inexact=FOLDED),
    Case(
        "products",
        "dequantised_matmul",
        "c: *fp16[64 * 128], a: *fp16[64 * 256], b: *i32[32 * 128] = bits, scales: *fp16[128], K: i32:16 = 256, "
        "N: i32:16 = 128",
        SMALL,
        (2, 4),
    ),
    Case(
        "oracles/kernels",
        "conv2d_direct",
        "out: *fp32[2 * 4 * 81], x: *fp32[2 * 3 * 256], w: *fp32[4 * 27], C: i32 = 3, H W: i32:16 = 16, K: i32 = 4, "
        "P Q: i32 = 9, stride: i32 = 2, padding: i32 = 2",
        {"R": 3, "S": 3, "BLOCK": 64},
        (8, 2),
    ),
    Case(
        "oracles/kernels",
        "conv2d_implicit_gemm",
        "out: *fp16[2 * 16 * 64], x: *fp16[2 * 8 * 64], w: *fp16[16 * 72], N: i32 = 2, C H W: i32 = 8, K: i32:16 = 16, "
        "P Q: i32 = 8, R S: i32 = 3, stride padding: i32 = 1",
        TILES,
        (2, 1),
    ),
)

ATTENTION = (
    *both("attention_forward", f"{QKV}, out: *fp16[2 * 200 * 64], lse: *fp32[400], {SCALE}", (4, 2)),
    Case(
        "oracles/kernels_attention",
        "attention_backward_delta",
        "out dout: *fp16[2 * 200 * 64], delta: *fp32[400], length: i32 = 200",
        {"BLOCK": 64, "D": 64},
        (4, 2),
    ),
    *both(
        "attention_backward_dkdv",
        f"{QKV}, dout dk dv: *fp16[2 * 200 * 64], lse delta: *fp32[400] = 5 6, {SCALE}",
        (7, 2),
    ),
    *both(
        "attention_backward_dq", f"{QKV}, dout dq: *fp16[2 * 200 * 64], lse delta: *fp32[400] = 5 6, {SCALE}", (4, 2)
    ),
    *(
        Case(
            "attention",
            "attention_staged",
            "out q k v: *fp16[2 * 2 * 256 * 64], lse: *fp32[1024], scale: fp32 = 0.125, length: i32:16 = 256, "
            "heads: i32 = 2",
            {"CAUSAL": causal} | HEADS,
            (4, 4),
            suffix,
        )
        for causal, suffix in ((True, "_causal"), (False, ""))
    ),
)

CASES = (*ROW_KERNELS, *RANDOM_KERNELS, *PRODUCTS, *ATTENTION)
