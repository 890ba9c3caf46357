"""Your softmax runs on a compiler that is partly yours, and your functions read the code that Triton generates."""

import time

import numpy as np
from kernels import softmax
from mini_triton.backends.ptx import accesses

x = np.random.default_rng(0).normal(size=(1024, 781)).astype(np.float32)
powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
expected = powers / powers.sum(1, keepdims=True)
for name, block in {"a row in one tile": None, "online, in tiles of 128": 128}.items():
    softmax.softmax(x, block)  # compiles
    start = time.perf_counter()
    out = softmax.softmax(x, block)
    seconds, error = time.perf_counter() - start, np.abs(out - expected).max()
    right = "the same results as NumPy" if error < 1e-6 else "OTHER results"
    print(f"softmax of 1024 rows, {name + ':':<26}{seconds * 1000:6.1f} ms, {right}")

for columns in (781, 784):
    kernel = softmax.softmax_kernel.warmup(np.float32, np.float32, 784, 784, columns, BLOCK=1024)
    try:
        found = accesses(kernel.lower("sm_90").asm["ptx"])
        counts = ", ".join(f"{count} {kind}s of {size} bytes" for (kind, size), count in found.items())
        print(f"on a GPU, rows of {columns}: {counts} in each thread")
    except ImportError as error:
        print(f"the machine code for a GPU needs Triton: {error}")
