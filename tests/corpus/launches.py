"""The kernels of the corpus and their launches: `file.kernel[grid](arguments; constants)`.

A specialization may have a name of its own, before an equals sign. `cases.py` explains the arguments.
"""

from __future__ import annotations

LAUNCHES = """
softmax.softmax_row[8](out x: *fp32[8 * 1008], stride: i32:16 = 1008, columns: i32 = 1000; BLOCK=1024)
softmax.cross_entropy[8](loss: *fp32[8], gradient: *fp32[8 * 100], logits: *fp16[8 * 100],
    labels: *i64[8] = below 100, columns: i32 = 100, smoothing: fp32 = 0.1; BLOCK=128, GRADIENT=True)
cross_entropy_loss_only = softmax.cross_entropy[8](loss: *fp32[8], gradient: *fp32[8 * 100], logits: *bf16[8 * 100],
    labels: *i32[8] = below 100, columns: i32 = 100, smoothing: fp32 = 0.0; BLOCK=128, GRADIENT=False)
normalisation.layer_norm_forward[4](out x: *fp16[4 * 1008], weight bias: *fp32[1008], mean_out rstd_out: *fp32[4],
    stride: i32:16 = 1008, columns: i32 = 1000, eps: fp32 = 0.00001; BLOCK=512)
normalisation.layer_norm_backward_lock[8](dx dy: *fp32[8 * 512], dw db: *fp32[4 * 512] = zeros,
    x weight mean: *fp32[8 * 512], rstd: *fp32[8 * 512] = ones, locks: *i32[8] = zeros, stride: i32:16 = 512,
    columns: i32 = 500; GROUP=4, BLOCK=512)
normalisation.rms_norm[4](out x: *bf16[4 * 1008], weight: *bf16[1000], stride: i32:16 = 1008, columns: i32 = 1000,
    eps: fp32 = 0.000001; BLOCK=1024)
normalisation.group_norm[4](out x: *fp32[4 * 500], size: i32 = 500, eps: fp32 = 0.00001; BLOCK=512)

normalisation.dropout_low_memory[4](out x: *fp32[1000], keep: *i1[1000], n: i32 = 1000, p: fp32 = 0.5; BLOCK=256)
normalisation.dropout_matrix[4](out x: *fp32[4 * 300], seeds: *i32[4] = bits, columns: i32 = 300; p=0.25, BLOCK=128)
normalisation.random_numbers[2](uniform normal: *fp32[512], integers words: *i32[512], seed: i64 = 1234567890123;
    BLOCK=256)
normalisation.adam[4](p: *fp32[1000], g: *bf16[1000], m v: *fp32[1000] = zeros, n: i32 = 1000, rate: fp32 = 0.01,
    step: fp32 = 3.0; BETA1=0.9, BETA2=0.999, BLOCK=256)

by_hand.add_kernel[4](x y out: *fp32[4080], n: i32:16 = 4080; BLOCK=1024)
by_hand.matmul_kernel[4, 3](a: *fp16[208 * 96], b: *fp16[96 * 144], c: *fp16[208 * 144], M: i32:16 = 208,
    N: i32:16 = 144, K: i32:16 = 96, stride_am: i32:16 = 96, stride_bk stride_cm: i32:16 = 144; stride_ak=1,
    stride_bn=1, stride_cn=1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
matmul_grouped_relu = products.matmul_grouped[12](a: *fp16[208 * 96], b: *fp16[96 * 144], c: *fp16[208 * 144],
    M: i32:16 = 208, N: i32:16 = 144, K: i32:16 = 96, stride_am: i32:16 = 96, stride_bk stride_cm: i32:16 = 144;
    stride_ak=1, stride_bn=1, stride_cn=1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=4, ACTIVATION=relu)
matmul_grouped_strided = products.matmul_grouped[1](a: *bf16[50 * 70], b: *bf16[70 * 30], c: *fp32[50 * 30],
    M: i32 = 50, N: i32 = 30, K: i32 = 70, stride_am: i32 = 70, stride_ak: i32 = 1, stride_bk: i32 = 1,
    stride_bn: i32 = 70, stride_cm: i32 = 1, stride_cn: i32 = 50; BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=8,
    ACTIVATION=None)
products.batched_dot[1](out: *fp32[4 * 16 * 32], a: *fp32[4 * 16 * 16], b: *fp32[4 * 16 * 32]; B=4, M=16, N=32, K=16)
products.dot_dtypes[1](out: *fp32[32 * 32], a b: *fp16[32 * 64]; A=32, K=64)
products.conv2d_direct[8, 2](out: *fp32[2 * 4 * 81], x: *fp32[2 * 3 * 256], w: *fp32[4 * 27], C: i32 = 3,
    H W: i32:16 = 16, K: i32 = 4, P Q: i32 = 9, stride: i32 = 2, padding: i32 = 2; R=3, S=3, BLOCK=64)

attention_forward_causal = attention.attention_forward[4, 2](q k v: *fp16[2 * 200 * 64], out: *fp16[2 * 200 * 64],
    lse: *fp32[400], scale: fp32 = 0.125, length: i32 = 200; CAUSAL=True, BLOCK_M=64, BLOCK_N=32, D=64)
attention.attention_forward[4, 2](q k v: *fp16[2 * 200 * 64], out: *fp16[2 * 200 * 64], lse: *fp32[400],
    scale: fp32 = 0.125, length: i32 = 200; CAUSAL=False, BLOCK_M=64, BLOCK_N=32, D=64)

reductions.reduce_axes[1](sums highest: *fp32[81], lowest x: *fp32[1024]; M=16, N=64)
reductions.arg_reductions[1](indices: *i32[176], values_out: *fp32[80], x: *fp32[1024]; M=16, N=64)
reductions.integer_reductions[1](out: *i32[96], narrow: *i8[1024], x: *i32[1024] = bits; M=16, N=64)
reductions.custom_reductions[1](out: *fp32[97], indices: *i32[16], x: *fp32[1024]; M=16, N=64)
reductions.half_reductions[1](out: *fp32[4], x: *fp16[128], y: *bf16[128]; N=128)

scans.scan_axes[1](out: *fp32[4096], x: *fp32[1024] = ones; M=16, N=64)
scans.segmented_sum[1](out x: *fp32[256], starts: *i32[256] = below 2, n: i32 = 200; BLOCK=256)
scans.recurrence_chunked[1](out a b: *fp32[100 * 16], length: i32 = 100; BLOCK=32, CHANNELS=16)
scans.compact[1](out: *i32[256] = zeros, count: *i32[1], x: *i32[256], n: i32 = 200; BLOCK=256)

memory.atomic_integers[4](out: *i32[48], wide: *i64[9], unsigned: *u32[16], old: *i32[2000], x: *i32[1000] = bits,
    n: i32 = 1000; BLOCK=256)
memory.atomic_floats[4](out: *fp32[10], halves: *fp16[4], doubles: *fp64[4], x: *fp32[1000], n: i32 = 1000; BLOCK=256)
memory.compare_and_swap[4](out: *i32[1] = zeros, winners: *i32[256] = -1, n: i32 = 200; BLOCK=64)
memory.last_block_sums[4](total: *fp32[1], partial: *fp32[4], counter: *i32[1] = zeros, x: *fp32[1000], n: i32 = 1000;
    PROGRAMS=4, BLOCK=256)
memory.gather_rows[24](out: *fp16[20 * 100], table: *fp16[50 * 100], ids: *i32[20] = below 50, n: i32 = 20,
    width: i32 = 100; PADDING=3, BLOCK=128)
memory.cache_hints[4](out x y: *fp32[1000], n: i32 = 1000; BLOCK=256)
memory.pointer_kinds[1](out x: *fp32[256], flags: *i32[2] = 1, addresses: *i64[2] = addresses x x; backwards=True,
    BLOCK=256)
memory.pointer_walk[1](out: *fp32[64], x: *fp32[1024], steps: i32 = 5; BLOCK=64)

loops.loop_bounds[1](out: *i32[1], start: i32 = 3, stop: i32 = 17, step: i32 = 2, wide: *i64[2] = 9; BLOCK=16)
loops.carried_kinds[1](out: *fp32[64], x: *fp32[10 * 64], n: i32 = 9; BLOCK=64)
loops.unchanged_carry[1](out x: *fp32[64], n: i32 = 9; BLOCK=64)
loops.while_newton[2](out: *fp32[100], x: *fp32[100] = 2 3 0.5, n: i32 = 100; BLOCK=64)
loops.while_nested[8](out: *i32[16], x: *i32[8] = below 5000; LIMIT=20)
loops.binary_search[2](out: *i32[100], sorted_values: *i32[300] = ascending, wanted: *i32[100], size: i32 = 300,
    n: i32 = 100; BLOCK=64)
loops.range_options[1](out: *fp32[64], x: *fp32[7 * 64], n: i32 = 7; BLOCK=64)

branch_results_0 = branches.branch_results[1](out: *fp32[65], x: *fp32[64], mode: i32 = 0, n: i32 = 50; BLOCK=64)
branch_results_1 = branches.branch_results[1](out: *fp32[65], x: *fp32[64], mode: i32 = 1, n: i32 = 50; BLOCK=64)
branch_results_2 = branches.branch_results[1](out: *fp32[65], x: *fp32[64], mode: i32 = 2, n: i32 = 50; BLOCK=64)
branch_results_3 = branches.branch_results[1](out: *fp32[65], x: *fp32[64], mode: i32 = 3, n: i32 = 50; BLOCK=64)
branch_results_4 = branches.branch_results[1](out: *fp32[65], x: *fp32[64], mode: i32 = 13, n: i32 = 50; BLOCK=64)
branches.conditions[1](out: *i32[1], a: i32 = 5, b: i32 = 3, p: *i32[1] = 7; LIMIT=4)
conditions_zero = branches.conditions[1](out: *i32[1], a: i32 = 0, b: i32 = 200, p: *i32[1] = 7; LIMIT=0)
conditions_equal = branches.conditions[1](out: *i32[1], a: i32 = -2, b: i32 = -2, p: *i32[1] = 7; LIMIT=2)
constant_branches_double = branches.constant_branches[1](out x bias: *fp32[64]; KIND='double', BIAS=True, DEPTH=2,
    BLOCK=64)
constant_branches_square = branches.constant_branches[1](out x bias: *fp32[64]; KIND='square', BIAS=None, DEPTH=0,
    BLOCK=64)
branches.ternaries[1](out x: *fp32[64], n: i32 = 64; FLIP=True, BLOCK=64)
ternaries_short = branches.ternaries[1](out x: *fp32[64], n: i32 = 20; FLIP=False, BLOCK=64)
early_exits_3 = branches.early_exits[6](out x: *fp32[260], n: i32 = 250, mode: i32 = 3; BLOCK=64)
early_exits_4 = branches.early_exits[6](out x: *fp32[260], n: i32 = 250, mode: i32 = 4; BLOCK=64)
early_exits_2 = branches.early_exits[6](out x: *fp32[260], n: i32 = 250, mode: i32 = 2; BLOCK=64)
branches.branch_in_loop[1](out: *fp32[64], x: *fp32[9 * 64], n: i32 = 9; BLOCK=64)

calls.arguments[1](out x: *fp32[64], n: i32 = 60)
calls.several_results[1](out: *fp32[129], x: *fp32[64], n: i32 = 60; BLOCK=64)
calls.pairwise[1](out x y: *fp32[64], n: i32 = 60; FUNCTION=difference, BLOCK=64)
calls.helper_returns[1](out: *fp32[2], x: *fp32[64], i: i32 = 70, n: i32 = 64)
calls.constants[1](out: *fp16[64], x: *fp32[64]; COEFFICIENTS=(0.5, -1, 2), DTYPE=tl.float16, BLOCK=64)
constants_wide = calls.constants[1](out: *fp32[64], x: *i32[64]; COEFFICIENTS=(3,), DTYPE=tl.float32, BLOCK=64)

shapes.transpose[1](out x: *fp32[512]; M=16, N=32)
shapes.three_axes[1](out: *fp32[512], x: *fp32[256]; A=4, B=8, C=8)
shapes.rotary[4](out x: *fp32[4 * 64], cosines sines: *fp32[4 * 32]; HALF=32)
shapes.creation[1](out: *i64[256], n: i64 = 7; BLOCK=16)
shapes.pick[1](out: *i32[256], x: *i32[64] = below 16, n: i32 = 60; BLOCK=64)
shapes.concatenated[1](out: *i32[1], x y: *i32[64]; BLOCK=64)
shapes.stencil[2, 3](out x: *fp32[40 * 50], H: i32 = 40, W: i32 = 50; BLOCK_H=16, BLOCK_W=32)

numbers.integer_arithmetic[1](out: *i32[512], unsigned_out: *u32[256], x: *i32[256] = bits, y: *i32[256],
    u: *u32[256] = bits; BLOCK=256)
numbers.narrow_integers[1](out: *i32[64], bytes: *i8[64] = bits, words: *i16[64] = bits; BLOCK=64)
numbers.float_arithmetic[1](out x y: *fp32[64], h: *fp16[64], b: *bf16[64], d: *fp64[64], scale: fp32 = 0.3; BLOCK=64)
numbers.eight_bit_floats[1](out: *fp32[192], x: *fp32[64], codes: *fp8e5[64]; BLOCK=64)
numbers.unpack_four_bits[2](out: *fp16[400], words: *u8[200] = bits, scale: fp32 = 0.1, zero: fp32 = 8.0,
    n: i32 = 200; BLOCK=128)
numbers.special_values[1](out: *fp32[64], x: *fp32[64] = 1 -0.0 inf -inf nan 1e-40; BLOCK=64)

hints.promises[4](out x: *fp32[1000], n: i32 = 1000, stride: i32:16 = 256; BLOCK=256)
hints.messages[1](out x: *fp32[16], n: i32 = 10; BLOCK=16)
activations_gelu = functions.activations[4](out x: *fp16[1000], n: i32 = 1000; KIND='gelu', BLOCK=256)
activations_gelu_tanh = functions.activations[4](out x: *fp16[1000], n: i32 = 1000; KIND='gelu_tanh', BLOCK=256)
activations_silu = functions.activations[4](out x: *fp16[1000], n: i32 = 1000; KIND='silu', BLOCK=256)
functions.elementary[1](out x y: *fp32[64]; BLOCK=64)
functions.library[1](out: *fp32[128], x y: *fp32[64]; BLOCK=64)
"""
