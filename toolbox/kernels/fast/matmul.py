"""Product of 16-bit matrices by persistent programs, whose tiles the copy engine loads and stores.

A GPU runs one program per multiprocessor, and each program computes several tiles of c. Tensor descriptors leave the
addresses to the copy engine, so the compiler merges the loops over tiles and over K into one, and pipelines it across
tiles.

Source: Triton's tutorial 09, "Persistent Matmul".
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like, on_gpu, strides_of
from kernels.matmul import tile_of
from kernels.tuned import configs, worth_trying


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, stride_a, stride_b, stride_c, PROGRAMS,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """c = a @ b, several tiles of c per program. Rows are contiguous."""
    a_tiles = tl.make_tensor_descriptor(a, [M, K], [stride_a, 1], [BLOCK_M, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b, [K, N], [stride_b, 1], [BLOCK_K, BLOCK_N])
    c_tiles = tl.make_tensor_descriptor(c, [M, N], [stride_c, 1], [BLOCK_M, BLOCK_N])
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        tile_m, tile_n = tile_of(tile, tiles_m, tiles_n, GROUP)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            x = a_tiles.load([tile_m * BLOCK_M, k * BLOCK_K])
            y = b_tiles.load([k * BLOCK_K, tile_n * BLOCK_N])
            total = tl.dot(x, y, total)
        c_tiles.store([tile_m * BLOCK_M, tile_n * BLOCK_N], total.to(c.dtype.element_ty))


TILES = [
    *configs(BLOCK_M=(128,), BLOCK_N=(256,), BLOCK_K=(64,), GROUP=(8,), num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), BLOCK_K=(64,), GROUP=(8,), num_warps=(4, 8), num_stages=(4,)),
]
tuned = triton.autotune(TILES, ["M", "N", "K"], prune_configs_by={"early_config_prune": worth_trying})(matmul_kernel)


def allocate(size: int, alignment: int, stream: int | None) -> Any:
    """Memory for the descriptors that programs make."""
    import torch

    return torch.empty(size, dtype=torch.int8, device="cuda")


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of an (M, K) and a (K, N) matrix of fp16 or bf16, with contiguous rows of a multiple of 16 bytes."""
    for name, x in (("a", a), ("b", b)):
        check(name, x, rank=2, dtypes=("float16", "bfloat16"))
        if strides_of(x)[1] != 1 or strides_of(x)[0] % 8:
            raise ValueError(f"the copy engine needs contiguous rows of a multiple of 16 bytes, but {name} has strides")
    check_alike("b", b, "a", a)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {describe(a)} and b is {describe(b)}: a must have as many columns as b has rows")
    (m, k), n = a.shape, b.shape[1]
    c = empty_like(a, (m, n))
    programs = 1
    if on_gpu(a):
        driver = triton.runtime.driver.active
        programs = driver.utils.get_device_properties(driver.get_current_device())["multiprocessor_count"]
        triton.set_allocator(allocate)
    tuned[(programs,)](a, b, c, m, n, k, strides_of(a)[0], strides_of(b)[0], strides_of(c)[0], programs)
    return c
