"""Matrix products and attention by the back end "ptx", beside real Triton and PyTorch's libraries, on this GPU.

python -m bench.products                each compiler with its best tiles
python -m bench.products --quick        a few sizes
python -m bench.products --target 80    both compilers make code for an older GPU, such as `mma.sync` for tensor cores
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.threads import both

MATMUL_TILES = (
    (128, 256, 8, 3),
    (128, 256, 8, 4),
    (128, 128, 4, 3),
    (128, 128, 4, 4),
    (128, 128, 8, 4),
    (64, 256, 4, 4),
)
ROUNDS = 5
ATTENTION_TILES = [
    {"BLOCK_M": m, "BLOCK_N": n, "num_warps": warps, "num_stages": stages}
    for m, n, warps, stages in ((128, 64, 4, 3), (128, 128, 8, 2), (128, 64, 8, 3), (64, 64, 4, 3))
]


@dataclass(frozen=True)
class Row:
    """A launch, whose grid depends on the tiles. Argument number `output` is the result."""

    what: str
    file: str
    name: str
    arguments: list[Any]
    output: int
    constants: dict[str, Any]
    tiles: list[dict[str, int]]
    grid: Callable[[dict[str, int]], tuple[int, ...]]
    library: Callable[[], Any]
    operations: float


Launch = Callable[[], Any]


def best(row: Row, kernel: Any, backend: dict[str, Any]) -> tuple[dict[str, int], Launch, Any]:
    """The tiles of the fastest launch, the launch, and its result."""
    from triton.testing import do_bench

    found = []
    for tiles in row.tiles:

        def launch(tiles: dict[str, int] = tiles) -> None:
            kernel[row.grid(tiles)](*row.arguments, **row.constants, **tiles, **backend)

        try:
            launch()
        except Exception as error:  # too many resources, for one of the compilers
            print(f"    {backend or 'Triton'} {tuple(tiles.values())}: {str(error)[:300]}", flush=True)
            continue
        result = row.arguments[row.output].clone()
        found.append((do_bench(launch, rep=20), tiles, launch, result))
    return min(found, key=lambda each: each[0])[1:]


def times(launches: Sequence[Launch]) -> list[float]:
    """The times of launches in milliseconds. They take turns, because the GPU slows down when it is hot."""
    from triton.testing import do_bench

    samples = [[do_bench(launch, rep=20) for launch in launches] for _ in range(ROUNDS)]
    return [statistics.median(own) for own in zip(*samples, strict=True)]


def compare(row: Row) -> float:
    """Print the speeds of a launch. Returns real Triton's time as a multiple of ours."""
    import torch

    real, own = both(row.file, row.name)
    their_tiles, their_launch, expected = best(row, real, {})
    our_tiles, our_launch, result = best(row, own, {"backend": "ptx"})
    theirs, ours, library = times([their_launch, our_launch, row.library])
    same = torch.allclose(result.float(), expected.float(), rtol=2e-2, atol=2e-2)
    print(
        f"{row.what:<34}{row.operations / theirs / 1e9:>8.0f}{row.operations / ours / 1e9:>8.0f}"
        f"{row.operations / library / 1e9:>8.0f}{theirs / ours:>8.3f}{library / ours:>8.3f}  "
        f"{'equal' if same else 'DIFFERENT':<10}{tuple(their_tiles.values())} {tuple(our_tiles.values())}",
        flush=True,
    )
    return theirs / ours


def matmul(m: int, n: int, k: int, dtype: Any, transposed: bool = False) -> Row:
    import torch

    a = torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(n, k, device="cuda").to(dtype).T if transposed else torch.randn(k, n, device="cuda").to(dtype)
    c = torch.empty(m, n, device="cuda", dtype=dtype if dtype.itemsize > 1 else torch.float16)
    tiles = [
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 128 // dtype.itemsize, "num_warps": warps, "num_stages": stages}
        for m, n, warps, stages in MATMUL_TILES
    ]

    def grid(tiles: dict[str, int]) -> tuple[int, ...]:
        return (-(-m // tiles["BLOCK_M"]) * -(-n // tiles["BLOCK_N"]),)

    def library() -> Any:
        if dtype.itemsize > 1:
            return torch.mm(a, b)
        return torch._scaled_mm(a, b, one, one, out_dtype=c.dtype) if transposed else None

    one = torch.ones((), device="cuda")
    what = f"{str(dtype)[6:]} {m} x {n} x {k}{' T' if transposed else ''}"
    arguments = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]
    return Row(what, "products", "matmul_grouped", arguments, 2, {}, tiles, grid, library, 2.0 * m * n * k)


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
        "attention",
        "attention_forward",
        arguments,
        3,
        {"CAUSAL": causal, "D": depth},
        ATTENTION_TILES,
        grid,
        lambda: scaled_dot_product_attention(q, k, v, is_causal=causal),
        4.0 * heads * length * length * depth * (0.5 if causal else 1),
    )


def rows(quick: bool) -> Iterator[Row]:
    """The launches to time."""
    import torch

    half, brain, short = torch.float16, torch.bfloat16, torch.float8_e4m3fn
    yield matmul(4096, 4096, 4096, half)
    yield matmul(4096, 4096, 4096, half, transposed=True)
    yield attention(32, 4096, 64, True, half)
    yield attention(32, 4096, 128, True, half)
    if quick:
        return
    yield matmul(8192, 8192, 8192, brain)
    for inner in (512, 2048, 16384):
        yield matmul(4096, 4096, inner, half)
    yield matmul(4000, 4096, 1000, half)
    for dtype in (torch.float32, short):
        for transposed in (True, False):
            yield matmul(4096, 4096, 4096, dtype, transposed)
    for depth in (64, 128):
        yield attention(32, 4096, depth, False, half)


def compile_for(capability: int) -> None:
    """Let both compilers make code for another GPU, which the assembler translates for this one."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--target", type=int)
    options = parser.parse_args()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    if options.target:
        compile_for(options.target)
    print(f"{torch.cuda.get_device_name()}, TFLOP/s")
    print(f"{'':<34}{'Triton':>8}{'ours':>8}{'library':>8}{'speed, beside both':>16}")
    found = [compare(row) for row in rows(options.quick)]
    print(f"geometric mean {statistics.geometric_mean(found):.3f}, lowest {min(found):.3f}")


if __name__ == "__main__":
    main()
