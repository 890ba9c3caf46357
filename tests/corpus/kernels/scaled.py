"""Products of matrices in the microscaling formats, and machine code inside kernels."""

import triton
import triton.language as tl


@triton.jit
def scaled_product(
    out, x, y, x_scale, y_scale,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUPS: tl.constexpr,
    X: tl.constexpr, Y: tl.constexpr, X_PACK: tl.constexpr, Y_PACK: tl.constexpr,
    X_SCALED: tl.constexpr, Y_SCALED: tl.constexpr, FAST: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    x_m: tl.constexpr = M if X_PACK else M // 2
    x_k: tl.constexpr = K // 2 if X == "e2m1" and X_PACK else K
    y_n: tl.constexpr = N if Y_PACK else N // 2
    y_k: tl.constexpr = K // 2 if Y == "e2m1" and Y_PACK else K
    pid = tl.program_id(0)
    x += pid * x_m * x_k
    out += pid * M * N
    lhs = tl.load(x + tl.arange(0, x_m)[:, None] * x_k + tl.arange(0, x_k))
    rhs = tl.load(y + tl.arange(0, y_k)[:, None] * y_n + tl.arange(0, y_n))
    group = tl.arange(0, GROUPS)
    lhs_scale = None
    if X_SCALED:
        lhs_scale = tl.load(x_scale + pid * M * GROUPS + tl.arange(0, M)[:, None] * GROUPS + group)
    rhs_scale = None
    if Y_SCALED:
        rhs_scale = tl.load(y_scale + tl.arange(0, N)[:, None] * GROUPS + group)
    at = out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)
    if SUM:
        acc = tl.load(at)
        total = tl.dot_scaled(lhs, lhs_scale, X, rhs, rhs_scale, Y, acc, fast_math=FAST)
    else:
        total = tl.dot_scaled(
            lhs, lhs_scale, X, rhs, rhs_scale, Y, fast_math=FAST, lhs_k_pack=X_PACK, rhs_k_pack=Y_PACK
        )
    tl.store(at, total)


@triton.jit
def scaled_stacks(out, x, y, x_scale, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    stack = tl.arange(0, B)[:, None, None]
    row = tl.arange(0, M)[None, :, None]
    lhs = tl.load(x + stack * M * K + row * K + tl.arange(0, K))
    rhs = tl.load(y + stack * K * N // 2 + tl.arange(0, K // 2)[None, :, None] * N + tl.arange(0, N))
    scale = tl.load(x_scale + stack * M * (K // 32) + row * (K // 32) + tl.arange(0, K // 32))
    total = tl.dot_scaled(lhs, scale, "e5m2", rhs, None, "e2m1")
    tl.store(out + stack * M * N + row * N + tl.arange(0, N), total)


@triton.jit
def machine_code(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    bits = tl.load(x + at)
    low, high = tl.inline_asm_elementwise(
        "and.b32 $0, $2, 0xffff; shr.u32 $1, $2, $3;",
        "=r,=r,r,r",
        [bits, 16],
        dtype=(tl.int32, tl.uint32),
        is_pure=True,
        pack=1,
    )
    bytes = low.to(tl.int8)
    packed = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [bytes], dtype=tl.int8, is_pure=True, pack=4)
    here = tl.extra.cuda.smid() + tl.extra.cuda.globaltimer().to(tl.int32)
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out + at, low + high.to(tl.int32) + packed + here)
