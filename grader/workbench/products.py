"""For chapter 14: how fast products are on a GPU, by our own PTX, by real Triton and by PyTorch's libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import mini_triton as triton
import mini_triton.language as tl
import torch
from kernels.flash_attention import forward_kernel
from kernels.matmul import matmul_kernel
from kernels.tuned import configs, worth_trying

TILES = configs(BLOCK_M=(64, 128), BLOCK_N=(128, 256), BLOCK_K=(64,), GROUP=(8,), num_warps=(4, 8), num_stages=(3, 4))
KEYS = configs(BLOCK_M=(64, 128), BLOCK_N=(64, 128), num_warps=(4, 8), num_stages=(2, 3))


def speeds_of_products(size: int = 4096, depth: int = 64) -> str:
    """A table of TFLOP/s on this machine's GPU. The autotuner chooses the tiles for each compiler."""
    a, b = torch.randn(2, size, size, device="cuda", dtype=torch.float16)
    c = torch.empty_like(a)
    q, k, v = torch.randn(3, 32, size, depth, device="cuda", dtype=torch.float16)
    out, logsumexp = torch.empty_like(q), torch.empty(32, size, device="cuda")
    sides = [size] * 3 + [number for matrix in (a, b, c) for number in matrix.stride()]
    constants = {"ACTIVATION": "", "TOTAL": tl.float32}
    lines = [f"{'TFLOP/s on this GPU':<28}{'yours':>10}{'Triton’s':>10}{'PyTorch’s':>10}"]
    launches = tuned(
        matmul_kernel,
        TILES,
        lambda meta: (triton.cdiv(size, meta["BLOCK_M"]) * triton.cdiv(size, meta["BLOCK_N"]),),
        [a, b, c, *sides],
        constants,
    )
    lines.append(row(f"matrix product {size}³", [*launches, lambda: torch.mm(a, b)], 2 * size**3))
    launches = tuned(
        forward_kernel,
        KEYS,
        lambda meta: (triton.cdiv(size, meta["BLOCK_M"]), 32),
        [q, k, v, out, logsumexp, depth**-0.5, size],
        {"CAUSAL": True, "D": depth},
    )
    library = torch.nn.functional.scaled_dot_product_attention
    launches.append(lambda: library(q[None], k[None], v[None], is_causal=True))
    lines.append(row(f"attention 32 x {size} x {depth}", launches, 2 * 32 * size**2 * depth))
    return "\n".join(lines)


def tuned(
    kernel: Any, candidates: Sequence[Any], grid: Callable[..., Any], arguments: list[Any], constants: dict[str, Any]
) -> list[Callable[[], Any]]:
    """Launches by our own PTX and by real Triton, each with the fastest of its configurations."""
    found: list[Callable[[], Any]] = []
    for options in ({"backend": "ptx"}, {}):
        tuner = triton.autotune(candidates, [], prune_configs_by={"early_config_prune": worth_trying})(kernel)
        found.append(functools.partial(tuner[grid], *arguments, **constants, **options))
    return found


def row(name: str, launches: Sequence[Callable[[], Any]], operations: float) -> str:
    """The speeds of launches."""
    from mini_triton.tuning.timers import do_bench

    times = (do_bench(launch, return_mode="median") for launch in launches)
    return f"{name:<28}" + "".join(f"{operations / time / 1e9:>10.0f}" for time in times)
