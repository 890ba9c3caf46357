"""Your generated code runs a whole grid at once, and gives the interpreter's results much faster."""

import time

import numpy as np

from grader.workbench.codegen import Mode, define, run
from grader.workbench.pictures import MANDELBROT, shades

ROWS, LIMIT = 64, 50
MODES: tuple[Mode | None, ...] = (None, "batched", "fast")
kernel = define(MANDELBROT, out="*i32", height="fp32", limit="i32", WIDTH=64)


def draw(mode: Mode | None) -> tuple[np.ndarray, float]:
    """The picture, and the seconds that it took."""
    out, start = np.zeros((ROWS, 64), np.int32), time.perf_counter()
    run(kernel, mode, (ROWS,), out=out, height=float(ROWS), limit=LIMIT)
    return out, time.perf_counter() - start


draw("batched"), draw("fast")  # the first run compiles
drawn = {mode: draw(mode) for mode in MODES}
expected, slow = drawn[None]
print(shades(expected[::4]))
print(f"A kernel of {ROWS} programs drew this picture; every fourth row is shown.")
for mode, (out, seconds) in drawn.items():
    same = "the same results" if np.array_equal(out, expected) else "OTHER results"
    speed = f", {slow / seconds:4.0f} times as fast; {same}" if mode else ""
    print(f"{mode or 'interpreter':<12}{seconds * 1000:8.1f} ms{speed}")
