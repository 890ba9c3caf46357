"""Real Triton on a GPU: run a module's text, and let PyTorch say whether the result is right.

    out, = gpu.launch(text, (4, 1, 1), x, y, out, n)[2:3]
    gpu.check_add(text)
    for launched in gpu.launch_many([Launch(text, (4,), [x, y, out, n]), …]): …

The GPU is used by the servers' processes only, so that a bad module cannot take the tests with it. torch is
imported when first needed.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests import oracles
from tests.oracles import launching, triton
from tests.oracles.launching import Launch, Launched
from tests.oracles.process import Server, Silent

if TYPE_CHECKING:
    import torch

SECONDS = 300.0
MOST_SERVERS = 12  # each has torch and a part of the GPU's memory to itself
# Multiples of 16, which is what capstone modules are told of their arguments.
SIZES = (16, 1008, 1024, 98432)  # vectors: less than a block, almost one, a whole one, many and a rest
PROBLEMS = ((64, 64, 32), (256, 128, 512), (208, 144, 80), (16, 16, 1008))  # M, N, K


@functools.cache
def available() -> bool:
    """Whether torch sees a CUDA GPU here, and Triton is installed."""
    if not triton.available():
        return False
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def launch(text: str, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = (), **options: Any) -> list[Any]:
    """The arguments as they are after the kernel ran on copies of them."""
    return _insist(Launch(text, grid, arguments, hidden, options))


def launch_source(source: triton.Source, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = ()) -> list[Any]:
    """The same for a kernel in a Python text, compiled by real Triton."""
    return _insist(Launch(source, grid, arguments, hidden))


def launch_many(launches: Sequence[Launch], seconds: float = SECONDS) -> list[Launched]:
    """The same for many launches, shared by several servers; those that fail, or take longer, say why."""
    if not available():
        oracles.unavailable("no CUDA GPU")
    results = launching.run_many(_servers(), launches, seconds)
    oracles.note("triton", f"gpu {triton.version()}")
    return results


@functools.cache
def _servers() -> list[Server]:
    """Servers for much work."""
    return [Server() for _ in range(min(os.cpu_count() or 1, MOST_SERVERS))]


def _insist(launch: Launch) -> list[Any]:
    if not available():
        oracles.unavailable("no CUDA GPU")
    try:
        launched = launching.run(triton.server(), launch, SECONDS)
    except Silent as silence:
        oracles.unavailable(str(silence))
    assert launched, f"real Triton could not run this kernel on the GPU: {launched.diagnostic}"
    oracles.note("triton", f"gpu {triton.version()}")
    return list(launched.values)


def check_add(text: str, block: int = 1024) -> None:
    """Does a module with the parameters of `add_kernel` (x, y, out, n) add, and write nothing else?"""
    if not available():
        oracles.unavailable("no CUDA GPU")
    import torch

    for n in SIZES:
        x, y = torch.randn(n), torch.randn(n)
        padded = torch.full((n + block,), -7.0)
        out = launch(text, (math.ceil(n / block),), x, y, padded, n)[2]
        close(out[:n], x + y, f"x + y of {n} elements", exactly=True)
        close(out[n:], padded[n:], f"what lies behind {n} elements of out", exactly=True)


def check_matmul(text: str, block: tuple[int, int, int] = (64, 64, 32), out_dtype: str = "fp16") -> None:
    """Does a module with the parameters of `matmul_kernel` (a, b, c, M, N, K, row strides) multiply?"""
    if not available():
        oracles.unavailable("no CUDA GPU")
    import torch

    for m, n, k in PROBLEMS:
        a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
        c = torch.full((m, n), -7.0, dtype={"fp16": torch.float16, "fp32": torch.float32}[out_dtype])
        grid = (math.ceil(m / block[0]), math.ceil(n / block[1]))
        out = launch(text, grid, a, b, c, m, n, k, k, n, n)[2]
        close(out, a.float() @ b.float(), f"a ({m}x{k}) @ b ({k}x{n})")


def close(actual: torch.Tensor, expected: torch.Tensor, what: str, exactly: bool = False) -> None:
    """Fail unless torch finds the two alike, as far as `actual`'s dtype allows."""
    import torch

    oracles.note("torch", f"cpu {torch.__version__}")
    tolerance = 0.0 if exactly else 1e-2 if actual.dtype == torch.float16 else 1e-3
    torch.testing.assert_close(
        actual,
        expected.to(actual.dtype),
        rtol=tolerance,
        atol=tolerance,
        msg=lambda difference: f"{what} is not what PyTorch computes.\n{difference}",
    )
