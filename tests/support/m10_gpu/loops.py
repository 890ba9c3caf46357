"""Kernels whose source for Numba runs as plain Python, compared with the NumPy back end."""

from typing import Any

import numpy as np

from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import numpy_backend

TEXT = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside, other=1), mask=inside)

@triton.jit
def transposed(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    tile = tl.load(x + i * BLOCK + j)
    tl.store(out + i * BLOCK + j, tl.trans(tile) - tl.load(y + j) * (i < n))

@triton.jit
def backwards(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + (n - 1 - at), tl.load(x + at, mask=at < n), mask=at < n)

@triton.jit
def rows(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 4)[:, None], tl.arange(0, BLOCK)[None, :]
    tile = tl.load(x + i * n + j, mask=j < n, other=-7)
    highest = tl.max(tile, axis=1)
    tl.store(out + i * n + j, tile - highest[:, None], mask=j < n)

@triton.jit
def chosen_rows(x, y, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 4), tl.arange(0, BLOCK)
    row = tl.load(y + i) & 3
    tile = tl.load(x + (row * n)[:, None] + j[None, :], mask=(row < 3)[:, None] & (j < n - 6)[None, :], other=-7)
    tl.store(out + i, tl.max(tile, axis=1))

@triton.jit
def walk(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pointers = x + at
    total = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, n, BLOCK):
        total += tl.load(pointers, mask=at < n - i, other=0)
        pointers += BLOCK
    tl.store(out + at, total)

@triton.jit
def past_the_end(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))

@triton.jit
def before_the_start(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + (n - 70 - at), tl.load(x + at))
"""
KERNELS = ("add", "transposed", "backwards", "rows", "chosen_rows", "walk")
OUTSIDE = ("past_the_end", "before_the_start", "chosen_rows")
LENGTH, COUNT, BLOCK, GRID = 64, 13, 8, 2


def module_of(kernel: str) -> Any:
    signature = {"x": "*i32", "y": "*i32", "out": "*i32", "n": "i32", "BLOCK": "constexpr"}
    return sources.compiled(Source(TEXT, kernel, signature, {"BLOCK": BLOCK}))


def arguments() -> list[Any]:
    generator = np.random.default_rng(1)
    x, y = (generator.integers(-(2**31), 2**31, LENGTH, dtype=np.int32) for _ in range(2))
    return [x, y, np.zeros(LENGTH, np.int32), COUNT]


def run_as_python(kernel: str) -> tuple[str, list[bool], np.ndarray]:
    """The generated source, each program's result, and `out` after the run."""
    from mini_triton.codegen.numba_gen.program import generate

    source = generate(module_of(kernel))
    function = source[source.index(f"def {kernel}(") : source.index("@njit", source.index(f"def {kernel}("))]
    names: dict[str, Any] = {"np": np, "on_stack": np.empty, "vectors_of": lambda bits: None}
    names |= {name: getattr(np, name) for name in "int32 int64 uint64 float32".split()}
    exec(function, names)
    *arrays, n = arguments()
    with np.errstate(all="ignore"):
        done = [names[kernel](np.int32(i), 0, 0, GRID, 1, 1, *arrays, np.int32(n)) for i in range(GRID)]
    return source, done, arrays[2]


def check(kernel: str) -> None:
    """Require that the source, run as plain Python, gives the NumPy back end's results."""
    source, done, out = run_as_python(kernel)
    assert all(done), f"programs {[i for i, d in enumerate(done) if not d]} report an out-of-bounds access:\n{source}"
    expected = numpy_backend.run(module_of(kernel), (GRID,), arguments(), mode="fast")[2]
    different = np.flatnonzero(out != expected)
    assert not different.size, (
        f"out[{different[0]}] is {out[different[0]]}; the NumPy back end has {expected[different[0]]}:\n{source}"
    )


def check_refused(kernel: str) -> None:
    """Require that a program stops before an out-of-bounds access."""
    global LENGTH
    before, LENGTH = LENGTH, BLOCK + 3
    try:
        source, done, _ = run_as_python(kernel)
    finally:
        LENGTH = before
    assert not done[-1], f"the last program misses accesses beyond its arrays of {BLOCK + 3} elements:\n{source}"


def check_compiled(kernel: str) -> None:
    """Require that code compiled by Numba gives the NumPy back end's results."""
    import tempfile
    from pathlib import Path

    from mini_triton.codegen import compile_module
    from mini_triton.codegen.numba_gen.kernel import NumbaKernel
    from mini_triton.codegen.numba_gen.program import generate

    module = module_of(kernel)
    values, given, _ = numpy_backend.prepare(module, arguments())
    with tempfile.TemporaryDirectory() as folder:
        NumbaKernel(generate(module), compile_module(module), Path(folder))((GRID,), given)
    expected = numpy_backend.run(module, (GRID,), arguments(), mode="fast")[2]
    assert np.array_equal(values[2], expected), f"Numba's {kernel} gives {values[2]}, NumPy's {expected}"
