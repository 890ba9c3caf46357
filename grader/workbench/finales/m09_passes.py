"""Your passes remove operations, and the results stay the same."""

import numpy as np
from kernels.by_hand import matmul
from mini_triton.ir.core import Module
from mini_triton.transforms.manager import optimize

from grader.workbench.codegen import define, run
from grader.workbench.pictures import MANDELBROT


def mandelbrot() -> Module:
    return define(MANDELBROT, out="*i32", height="fp32", limit="i32", WIDTH=64)


def draw(module: Module) -> np.ndarray:
    out = np.zeros((22, 64), np.int32)
    run(module, "batched", (22,), out=out, height=22.0, limit=100)
    return out


before = draw(mandelbrot())
optimized = mandelbrot()
for name, module in {"mandelbrot": optimized, "matmul by hand": matmul(64, 64, 32)}.items():
    for label, run_passes in ((name, False), ("after passes", True)):
        if run_passes:
            optimize(module)
        count = sum(1 for _ in module.walk())
        print(f"{label:<16}{count:3} operations  {'█' * (count // 2)}")
print(f"{'the same' if np.array_equal(draw(optimized), before) else 'OTHER'} picture of the Mandelbrot set")
