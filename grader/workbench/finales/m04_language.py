"""Kernels in your language compute: a triangle of Sierpinski, and random numbers that are normally distributed."""

import mini_triton.language as tl
import numpy as np
from mini_triton.language.tracing import trace

from grader.workbench.codegen import run


def triangle(out):
    x, y = tl.program_id(0), tl.program_id(1)
    tl.store(out + (y * 16 + x), (x & y) == 0)


def draw(out, seed):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(out + at, tl.randn(seed, at))


cells = np.zeros((16, 16), np.int8)
run(trace(triangle, {"out": "*i8"}), None, cells.shape, out=cells)
for row in cells:
    print("".join("██" if cell else "  " for cell in row).rstrip())

out = np.zeros(16 * 1024, np.float32)
run(trace(draw, {"out": "*fp32", "seed": "i32"}), None, (16,), out=out, seed=7)
counts, edges = np.histogram(out, np.arange(-2.75, 3, 0.5))
for count, edge in zip(counts, edges, strict=False):
    print(f"{edge + 0.25:5.1f} {'█' * round(count / 60)}")
print(f"{out.size} numbers: mean {out.mean():.3f}, standard deviation {out.std():.3f}")
