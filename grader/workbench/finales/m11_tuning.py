"""You can measure kernels, and choose their configurations. These are the times of a vector addition here."""

import mini_triton as triton
import numpy as np
from kernels.vector_add import add_kernel

x, y, out = np.ones(100_000, np.float32), np.ones(100_000, np.float32), np.zeros(100_000, np.float32)
times = {}
for block in (16, 64, 256, 1024, 4096):  # only 16 divides 100,000: the mask is true everywhere
    grid = (triton.cdiv(x.size, block),)
    times[block] = triton.testing.do_bench(lambda: add_kernel[grid](x, y, out, x.size, BLOCK=block), rep=50)  # noqa: B023
for block, milliseconds in times.items():
    bar = "█" * round(40 * milliseconds / max(times.values()))
    print(f"BLOCK={block:<6} {milliseconds:7.2f} ms  {bar}{'  ◄ the best' * (milliseconds == min(times.values()))}")
