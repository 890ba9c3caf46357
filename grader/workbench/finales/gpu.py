"""You can write a matrix product for a GPU, read the code that Triton generates, and say what limits its speed."""

import numpy as np
from kernels.matmul import matmul_kernel
from mini_triton.backends.occupancy import sweep
from mini_triton.backends.ptx import accesses, matrix_products
from mini_triton.language import float32

arguments = (*[np.float16] * 3, 1024, 1024, 1024, *[1024, 1] * 3)
tiles = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8, "ACTIVATION": "", "TOTAL": float32}
ptx = matmul_kernel.warmup(*arguments, **tiles, num_stages=3).lower("sm_80").asm["ptx"]
for (kind, size), count in accesses(ptx).items():
    print(f"each thread on an A100: {count:3} {kind} instructions of {size} bytes")
print(f"each thread on an A100: {matrix_products(ptx):3} instructions for tensor cores in a step of the loop\n")
space = {name: [value] for name, value in tiles.items()} | {"num_warps": [4, 8], "num_stages": [2, 3, 4]}
for cell in sweep(matmul_kernel, arguments, space, "sm_80"):
    if found := cell.occupancy:
        choice = f"{cell.choice['num_warps']} warps, {cell.choice['num_stages']} stages"
        bar, because = "█" * round(40 * found.share), " and ".join(found.limiters)
        print(f"{choice}: {found.share:4.0%} {bar} limited by {because}")
