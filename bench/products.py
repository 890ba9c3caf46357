"""Matrix products and attention by the back end "ptx", beside real Triton and PyTorch's libraries, on this GPU.

python -m bench.products                each compiler with its best tiles
python -m bench.products --quick        a few sizes
python -m bench.products --only "dk|dq" rows whose names match
python -m bench.products --target 80    both compilers make code for an older GPU, such as `mma.sync` for tensor cores
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import os
import random
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from bench.handoff import switch
from bench.threads import both

MATMUL_TILES = (
    (128, 256, 8, 3),
    (128, 256, 8, 4),
    (128, 128, 4, 3),
    (128, 128, 4, 4),
    (128, 128, 8, 4),
    (64, 256, 4, 4),
)
ATTENTION_TILES = ((128, 64, 4, 3), (128, 128, 8, 2), (128, 64, 8, 3), (64, 64, 4, 3))
QUERIES_TILES = ((128, 64, 8, 2), (128, 64, 8, 3), (64, 64, 4, 2), (64, 64, 4, 3), (64, 32, 4, 2))
KEYS_TILES = ((64, 128, 8, 2), (32, 128, 8, 2), (64, 64, 4, 2), (32, 64, 4, 2), (32, 128, 4, 2))
ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """A launch, whose grid depends on the tiles. Argument number `output` is the result."""

    what: str
    kernels: tuple[Any, Any]  # for real Triton, and for this compiler
    arguments: list[Any]
    output: int
    constants: dict[str, Any]
    tiles: list[dict[str, int]]
    grid: Callable[[dict[str, int]], tuple[int, ...]]
    operations: float
    library: Callable[[], Any] | None = None

    def sides(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Both kernels, with options."""
        return (self.kernels[0], {}), (self.kernels[1], {"backend": "ptx"})

    def start(self, kernel: Any, tiles: dict[str, int], backend: dict[str, Any]) -> None:
        """Launch a kernel."""
        kernel[self.grid(tiles)](*self.arguments, **self.constants, **tiles, **backend)


@dataclass(frozen=True)
class SplitRow(Row):
    """A product whose K axis is split: two launches, the second of which adds up the parts."""

    def start(self, kernel: Any, tiles: dict[str, int], backend: dict[str, Any]) -> None:
        products, sums = kernel
        *arguments, c = self.arguments
        products[self.grid(tiles)](*arguments, **tiles, **backend)
        sums[(-(-c.numel() // 1024),)](c, arguments[2], c.numel(), tiles["SPLIT"], 1024, **backend)


Launch = Callable[[], Any]


def listed(tiles: Sequence[tuple[int, ...]], **more: int) -> list[dict[str, int]]:
    """Tiles by names."""
    names = ("BLOCK_M", "BLOCK_N", "num_warps", "num_stages")
    return [dict(zip(names, each, strict=True)) | more for each in tiles]


def best(row: Row, kernel: Any, backend: dict[str, Any]) -> tuple[dict[str, int], Launch, Any]:
    """The tiles of the fastest launch, the launch, and its result."""
    found = []
    for tiles in row.tiles:
        launch = partial(row.start, kernel, tiles, backend)
        try:
            launch()
        except Exception as error:  # too many resources, for one of the compilers
            print(f"    {backend or 'Triton'} {tuple(tiles.values())}: {str(error)[:300]}", flush=True)
            continue
        result = row.arguments[row.output].clone()
        found.append((tiles, launch, result))
    return found[np.argmin(times([launch for _, launch, _ in found]))]


def times(launches: Sequence[Launch]) -> list[float]:
    """The times of launches in milliseconds. They take turns in any order: a hot GPU is slow, whoever heated it."""
    from triton.testing import do_bench

    samples: dict[Launch, list[float]] = {launch: [] for launch in launches}
    for _ in range(ROUNDS):
        for launch in random.sample(launches, len(launches)):
            samples[launch].append(do_bench(launch, rep=20))
    return [statistics.median(own) for own in samples.values()]


def compare(row: Row) -> float:
    """Print the speeds of a launch. Returns real Triton's time as a multiple of ours."""
    import torch

    (their_tiles, their_launch, expected), (our_tiles, our_launch, result) = (best(row, *side) for side in row.sides())
    theirs, ours, *library = times([their_launch, our_launch, *([row.library] if row.library else [])])
    same = torch.allclose(result.float(), expected.float(), rtol=2e-2, atol=2e-2)
    print(
        f"{row.what:<34}{row.operations / theirs / 1e9:>8.0f}{row.operations / ours / 1e9:>8.0f}"
        f"{row.operations / library[0] / 1e9 if library else 0:>8.0f}"
        f"{theirs / ours:>8.3f}{library[0] / ours if library else 0:>8.3f}  "
        f"{'equal' if same else 'DIFFERENT':<10}{tuple(their_tiles.values())} {tuple(our_tiles.values())}",
        flush=True,
    )
    return theirs / ours


def matmul(m: int, n: int, k: int, dtype: Any, transposed: bool = False) -> Row:
    import torch

    a = torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(n, k, device="cuda").to(dtype).T if transposed else torch.randn(k, n, device="cuda").to(dtype)
    result = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.float16}.get(dtype, dtype)
    c = torch.empty(m, n, device="cuda", dtype=result)
    tiles = listed(MATMUL_TILES, BLOCK_K=128 // dtype.itemsize)

    def grid(tiles: dict[str, int]) -> tuple[int, ...]:
        return (-(-m // tiles["BLOCK_M"]) * -(-n // tiles["BLOCK_N"]),)

    def library() -> Any:
        if dtype.itemsize > 1:
            return torch.mm(a, b)
        if dtype == torch.int8:
            return torch._int_mm(a, b)
        return torch._scaled_mm(a, b, one, one, out_dtype=c.dtype) if transposed else None

    one = torch.ones((), device="cuda")
    what = f"{str(dtype)[6:]} {m} x {n} x {k}{' T' if transposed else ''}"
    arguments = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]
    kernels, constants = both("products", "matmul_grouped"), {}
    if dtype == torch.int8:
        kernels, constants = fast("matmul_int8", "matmul_kernel"), {"GROUP": 8, "EVEN": True}
    return Row(what, kernels, arguments, 2, constants, tiles, grid, 2.0 * m * n * k, library)


@functools.cache
def fast(file: str, name: str) -> tuple[Any, Any]:
    """A fast kernel for real Triton, and for this compiler."""
    found = []
    for compiler in ("triton", "mini_triton"):
        switch(compiler)
        found.append(getattr(importlib.import_module(f"kernels.fast.{file}"), name))
    return found[0], found[1]


def persistent(n: int, dtype: Any) -> Row:
    """Persistent programs with tensor descriptors."""
    import torch
    import triton

    a, b = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(2))
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    arguments = [a, b, torch.empty_like(a), n, n, n, n, n, n, programs]
    tiles = listed([(128, 256, 8, 3), (128, 256, 8, 4), (128, 128, 8, 4)], BLOCK_K=64)
    what, kernels = f"{str(dtype)[6:]} {n} persistent", fast("matmul", "matmul_kernel")
    library = partial(torch.mm, a, b)
    return Row(what, kernels, arguments, 2, {"GROUP": 8}, tiles, lambda _: (programs,), 2.0 * n**3, library)


def split(m: int, n: int, k: int) -> Row:
    """A product with few tiles and a long K axis."""
    import torch

    theirs, ours = zip(fast("matmul_split_k", "parts_kernel"), fast("matmul_split_k", "sum_kernel"), strict=True)
    module = importlib.import_module("kernels.fast.matmul_split_k")
    a, b = (torch.randn(*shape, device="cuda", dtype=torch.float16) for shape in ((m, k), (k, n)))
    c, parts = a.new_empty(m, n), torch.empty(max(module.SPLITS), m, n, device="cuda")
    return SplitRow(
        f"float16 {m} x {n} x {k} split",
        (theirs, ours),
        [a, b, parts, m, n, k, *a.stride(), *b.stride(), c],
        -1,
        {},
        [config.all_kwargs() for config in module.TILES],
        lambda tiles: (-(-m // tiles["BLOCK_M"]) * -(-n // tiles["BLOCK_N"]), tiles["SPLIT"]),
        2.0 * m * n * k,
        partial(torch.mm, a, b),
    )


def attention(heads: int, length: int, depth: int, causal: bool, dtype: Any) -> Row:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (torch.randn(1, heads, length, depth, device="cuda").to(dtype) for _ in range(3))
    out, lse = torch.empty_like(q), torch.empty(heads, length, device="cuda")
    arguments = [q, k, v, out, lse, depth**-0.5, length]

    def grid(tiles: dict[str, int]) -> tuple[int, ...]:
        return (-(-length // tiles["BLOCK_M"]), heads)

    return Row(
        f"attention {heads} x {length} x {depth}{' causal' if causal else ''}",
        both("attention", "attention_forward"),
        arguments,
        3,
        {"CAUSAL": causal, "D": depth},
        listed(ATTENTION_TILES),
        grid,
        4.0 * heads * length * length * depth * (0.5 if causal else 1),
        lambda: scaled_dot_product_attention(q, k, v, is_causal=causal),
    )


def gradient(heads: int, length: int, depth: int, causal: bool, of_keys: bool) -> Row:
    """The gradient of the queries, or those of keys and values."""
    import torch

    q, k, v, dout = (torch.randn(1, heads, length, depth, device="cuda", dtype=torch.float16) for _ in range(4))
    lse = torch.full((heads, length), 13.0, device="cuda")
    results = [torch.empty_like(q) for _ in range(1 + of_keys)]
    name, tiles, block, products = (
        ("dkdv_kernel", KEYS_TILES, "BLOCK_N", 4) if of_keys else ("dq_kernel", QUERIES_TILES, "BLOCK_M", 3)
    )
    return Row(
        f"{'dk, dv' if of_keys else 'dq'} {heads} x {length} x {depth}{' causal' if causal else ''}",
        fast("attention", name),
        [q, k, v, dout, lse, torch.randn_like(lse), *results, depth**-0.5, length],
        6,
        {"CAUSAL": causal, "D": depth, "EVEN": True},
        listed(tiles),
        lambda tiles: (length // tiles[block], heads),
        2.0 * products * heads * length * length * depth * (0.5 if causal else 1),
    )


def rows(quick: bool) -> Iterator[Callable[[], Row]]:
    """The launches to time; a call makes the arrays."""
    import torch
    from mini_triton.backends.launch import capability_here

    half, brain = torch.float16, torch.bfloat16
    others = [torch.float32, torch.int8]
    if capability_here(0) >= 89:
        others.append(torch.float8_e4m3fn)
    yield partial(matmul, 4096, 4096, 4096, half)
    yield partial(matmul, 4096, 4096, 4096, half, transposed=True)
    yield partial(persistent, 4096, half)
    for depth in (64, 128):
        yield partial(attention, 32, 4096, depth, True, half)
    if quick:
        return
    yield partial(matmul, 4096, 4096, 4096, brain)
    yield partial(matmul, 8192, 8192, 8192, half)
    yield partial(matmul, 8192, 8192, 8192, brain)
    yield partial(persistent, 8192, half)
    for inner in (512, 1024, 2048, 16384):
        yield partial(matmul, 4096, 4096, inner, half)
    for m, n, inner in ((4000, 4096, 1000), (4095, 4097, 1023)):
        yield partial(matmul, m, n, inner, half)
    for m, n, inner in ((512, 512, 16384), (128, 4096, 8192)):
        yield partial(matmul, m, n, inner, half)
        yield partial(split, m, n, inner)
    for dtype in others:
        for transposed in (True, False):
            yield partial(matmul, 4096, 4096, 4096, dtype, transposed)
    for depth in (64, 128):
        yield partial(attention, 32, 4096, depth, False, half)
        for causal in (True, False):
            for of_keys in (False, True):
                yield partial(gradient, 32, 4096, depth, causal, of_keys)


def compile_for(capability: int | None) -> None:
    """Let both compilers make code for another GPU, which the assembler translates for this one."""
    if capability is None:
        return
    from mini_triton.backends import launch
    from mini_triton.backends.threads import launch as threads
    from triton.backends.nvidia import compiler

    here, assemble = launch.capability_here(0), threads.assemble

    def asked(gpu: int) -> int:
        return capability

    def for_this_gpu(ptx: str, target: str, fused: bool = True) -> bytes:
        return assemble(ptx, f"sm_{here}a", fused)

    os.environ["TRITON_OVERRIDE_ARCH"] = f"sm{capability}"
    compiler.sm_arch_from_capability = lambda _: f"sm_{here}a"
    launch.capability_here, threads.assemble = asked, for_this_gpu


def compile_ahead(number: int, only: str, quick: bool) -> None:
    """Launch a row's kernels once, so that both compilers have their machine code on disk."""
    row = list(rows(quick))[number]()
    if not re.search(only, row.what):
        return
    for kernel, backend in row.sides():
        for tiles in row.tiles:
            with contextlib.suppress(Exception):  # too many resources
                row.start(kernel, tiles, backend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--target", type=int)
    options = parser.parse_args()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    compile_for(options.target)
    print(f"{torch.cuda.get_device_name()}, TFLOP/s")
    print(f"{'':<34}{'Triton':>8}{'ours':>8}{'library':>8}{'speed, beside both':>16}")
    makers = list(rows(options.quick))
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), compile_for, (options.target,)) as pool:
        each = partial(compile_ahead, only=options.only, quick=options.quick)
        list(pool.map(each, range(len(makers))))
    found = [compare(row) for make in makers if re.search(options.only, (row := make()).what)]
    print(f"geometric mean {statistics.geometric_mean(found):.3f}, lowest {min(found):.3f}")


if __name__ == "__main__":
    main()
