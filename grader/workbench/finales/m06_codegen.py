"""Your generated code runs a whole grid at once, and gives the interpreter's results much faster."""

import time
from typing import Any

import numpy as np

from grader.workbench.codegen import Mode, define, run
from grader.workbench.pictures import MANDELBROT, shades

ROWS, LIMIT, SIZE = 64, 50, 2_000_000
picture = define(MANDELBROT, out="*i32", height="fp32", limit="i32", WIDTH=64)
addition = define(
    """at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
inside = at < n
tl.store(out + at, tl.load(x + at, inside) + 1, inside)""",
    x="*fp32",
    out="*fp32",
    n="i32",
)


def timed(kernel: Any, mode: Mode | None, programs: int, out: np.ndarray, **arguments: Any) -> tuple[np.ndarray, float]:
    """The array that a launch fills, and the seconds that the launch took."""
    start = time.perf_counter()
    run(kernel, mode, (programs,), out=out, **arguments)
    return out, time.perf_counter() - start


def draw(mode: Mode | None) -> tuple[np.ndarray, float]:
    return timed(picture, mode, ROWS, np.zeros((ROWS, 64), np.int32), height=float(ROWS), limit=LIMIT)


def add(mode: Mode) -> tuple[np.ndarray, float]:
    x = np.arange(SIZE, dtype=np.float32)
    return timed(addition, mode, -(-SIZE // 1024), np.zeros_like(x), x=x, n=SIZE)


def compare(launch: Any, slower: Mode | None, faster: Mode) -> np.ndarray:
    """Print how long a launch takes in two modes; return its results."""
    (expected, slow), (got, quick) = launch(slower), launch(faster)
    same = "the same results" if np.array_equal(got, expected) else "OTHER results"
    print(f"{slower or 'interpreter':<12}{slow * 1000:8.1f} ms")
    print(f"{faster:<12}{quick * 1000:8.1f} ms, {slow / quick:4.0f} times as fast; {same}")
    return expected


draw("batched"), add("batched"), add("fast")  # the first run compiles
print(f"A kernel of {ROWS} programs draws this picture; every fourth row is shown.")
print(shades(compare(draw, None, "batched")[::4]))
print(f"A kernel adds 1 to {SIZE:,} elements.")
compare(add, "batched", "fast")
