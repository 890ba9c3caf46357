"""Your compiler takes your attention kernel from Python to results, and your passes make it smaller on the way."""

import numpy as np
from kernels.flash_attention import attention, forward_kernel
from mini_triton.backends.page import write_page

random = np.random.default_rng(0)
q, k, v = (random.normal(size=(1, 2, 128, 32)).astype(np.float32) for _ in range(3))
scores = (q @ k.swapaxes(2, 3)).astype(np.float64) / np.sqrt(32)
for causal in (False, True):
    seen = np.where(np.tri(128, dtype=bool) | (not causal), scores, -np.inf)
    powers = np.exp(seen - seen.max(-1, keepdims=True))
    error = np.abs(attention(q, k, v, causal)[0] - powers / powers.sum(-1, keepdims=True) @ v).max()
    print(f"attention, causal={causal}: {'the same as NumPy' if error < 1e-5 else 'OTHER results'}, off by {error:.0e}")

arguments = [*[np.float32] * 5, 0.18, 128]
page = write_page(forward_kernel.warmup(*arguments, CAUSAL=True, BLOCK_M=64, BLOCK_N=64, D=32))
print(page.partition("\n#")[0].replace("\n\n", "\n"))
