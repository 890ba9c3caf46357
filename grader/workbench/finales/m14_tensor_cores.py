"""Your matrix product runs on tensor cores, beside the copies of its next tiles."""

import mini_triton.language as tl
import numpy as np
from kernels.matmul import matmul_kernel

from grader.workbench.threads import beside_triton

size = 128
types, numbers = [np.float16] * 3, (size, size, size, size, 1, size, 1, size, 1)
constants = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8, "ACTIVATION": "", "TOTAL": tl.float32}
kernel = matmul_kernel.warmup(*types, *numbers, **constants)
x, y = np.random.default_rng(0).normal(size=(2, size, size)).astype(np.float16)
out = np.empty_like(x)
print(beside_triton(kernel, (4, 1, 1), [x, y, out, *(number for number in numbers if number != 1)]))
print(f"\nthe largest error: {abs(out - x.astype(np.float32) @ y.astype(np.float32)).max():.1e}")
