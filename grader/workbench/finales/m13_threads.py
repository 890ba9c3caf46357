"""Your compiler goes from Python to machine code: your softmax runs on your own PTX, and this is what it costs."""

import numpy as np
from grader.workbench.threads import beside_triton
from kernels.softmax import softmax_kernel

rows, columns = 64, 1024
kernel = softmax_kernel.warmup(np.float32, np.float32, columns, columns, columns, BLOCK=1024)
x = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
out = np.empty_like(x)
print(beside_triton(kernel, (rows, 1, 1), [out, x, columns, columns, columns]))
powers = np.exp(x - x.max(axis=1, keepdims=True))
print(f"\nthe largest error: {abs(out - powers / powers.sum(axis=1, keepdims=True)).max():.1e}")
