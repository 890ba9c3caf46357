"""You can write a kernel, launch it with `kernel[grid](...)`, and see where it accesses memory out of bounds."""

import textwrap
import time

import numpy as np

from grader.workbench.kernels import define
from grader.workbench.pictures import MANDELBROT, shades

HEAD = "@triton.jit\ndef mandelbrot(out, height, limit, WIDTH: tl.constexpr):\n"
mandelbrot = define(HEAD + textwrap.indent(MANDELBROT, "    ") + "\n", "mandelbrot.py")["mandelbrot"]
out = np.zeros((22, 64), np.int32)
for launch in ("first launch, which compiles", "second launch"):
    start = time.perf_counter()
    mandelbrot[(22,)](out, 22.0, 100, WIDTH=64)
    print(f"{launch}: {(time.perf_counter() - start) * 1000:.1f} ms")
print(shades(out))
try:
    mandelbrot[(23,)](out, 22.0, 100, WIDTH=64)
except IndexError as error:
    print(f"With one program too many:\n{error}")
