"""Your front end compiles Python with loops and branches. This kernel, of 15 lines, draws the Mandelbrot set."""

import numpy as np

from grader.workbench.codegen import define, run
from grader.workbench.pictures import MANDELBROT, shades

out = np.zeros((22, 64), np.int32)
kernel = define(MANDELBROT, out="*i32", height="fp32", limit="i32", WIDTH=64)
run(kernel, None, (22,), out=out, height=22.0, limit=100)
print(shades(out))
print(f"{sum(1 for _ in kernel.walk())} operations, {int(out.sum())} steps")
