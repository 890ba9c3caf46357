"""Matrix products and attention by the back end "ptx", beside real Triton and PyTorch's libraries, on this GPU.

python -m bench.products            each compiler with its best tiles
python -m bench.products --quick    a few sizes
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.threads import both

MATMUL_TILES = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 64, "num_warps": warps, "num_stages": stages}
    for m, n, warps, stages in ((128, 256, 8, 3), (128, 256, 8, 4), (128, 128, 4, 4), (128, 128, 8, 4), (64, 256, 4, 4))
]
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


def best(row: Row, kernel: Any, backend: dict[str, Any]) -> tuple[float, dict[str, int], Any]:
    """The least time in milliseconds, its tiles, and the result."""
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
        found.append((do_bench(launch, rep=50), tiles, result))
    return min(found, key=lambda each: each[0])


def compare(row: Row) -> float:
    """Print the speeds of a launch. Returns real Triton's time as a multiple of ours."""
    import torch
    from triton.testing import do_bench

    real, own = both(row.file, row.name)
    (theirs, their_tiles, expected), (ours, our_tiles, result) = best(row, real, {}), best(row, own, {"backend": "ptx"})
    library = do_bench(row.library, rep=50)
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
    c = torch.empty(m, n, device="cuda", dtype=dtype)
    arguments = [a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()]

    def grid(tiles: dict[str, int]) -> tuple[int, ...]:
        return (-(-m // tiles["BLOCK_M"]) * -(-n // tiles["BLOCK_N"]),)

    what = f"{str(dtype)[6:]} {m} x {n} x {k}{' T' if transposed else ''}"
    return Row(
        what,
        "products",
        "matmul_grouped",
        arguments,
        2,
        {},
        MATMUL_TILES,
        grid,
        lambda: torch.mm(a, b),
        2.0 * m * n * k,
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

    half, brain = torch.float16, torch.bfloat16
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
    for depth in (64, 128):
        yield attention(32, 4096, depth, False, half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    import torch

    print(f"{torch.cuda.get_device_name()}, TFLOP/s")
    print(f"{'':<34}{'Triton':>8}{'ours':>8}{'library':>8}{'speed, beside both':>16}")
    found = [compare(row) for row in rows(options.quick)]
    print(f"geometric mean {statistics.geometric_mean(found):.3f}, lowest {min(found):.3f}")


if __name__ == "__main__":
    main()
