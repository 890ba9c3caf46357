"""The capstone kernels on a GPU: awkward sizes, random numbers, and what PyTorch makes of them.

A kernel that is promised a multiple of 16 may be launched with nothing else. As real Triton's launcher does, integers
that are none get a kernel without the promise. torch is imported when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mini_triton.ir.core import Module
from mini_triton.ir.printer import print_module

from tests import oracles
from tests.oracles import gpu

LENGTHS = (0, 1, 16, 127, 1009, 4096, 98_432, 1_000_003)
PROBLEMS = ((1, 1, 1), (17, 19, 23), (64, 64, 0), (97, 131, 1021), (128, 96, 160), (256, 16, 512))  # M, N, K
UNTOUCHED = -7.0


def honest(module: Module, integers: list[int]) -> str:
    """The text of a kernel, without promises about those of its integers (the last parameters) that break them."""
    parameters = module.body.operations[0].regions[0].block.arguments[-len(integers) :]
    for parameter, value in zip(parameters, integers, strict=True):
        if value % 16:
            parameter.attributes.pop("tt.divisibility", None)
    return print_module(module)


def check_add(build: Callable[[], Module], block: int, dtype: str) -> None:
    """The sum of two vectors is exactly PyTorch's, and nothing behind it is written."""
    torch = _torch()
    for n in LENGTHS:
        x, y = (torch.randn(n + 1).to(getattr(torch, dtype)) for _ in range(2))
        out = torch.full((n + block,), UNTOUCHED, dtype=x.dtype)
        grid = (max(1, math.ceil(n / block)),)
        out = gpu.launch(honest(build(), [n]), grid, x, y, out, n)[2]
        assert torch.equal(out[:n], (x + y)[:n]), f"vector_add of {n} elements of {dtype} is not PyTorch's x + y"
        assert (out[n:] == UNTOUCHED).all(), f"vector_add of {n} elements writes behind them: is the store masked?"


def check_matmul(build: Callable[[], Module], block: tuple[int, int, int]) -> None:
    """The product is PyTorch's up to rounding, nothing beside it is written, and nothing outside a and b matters."""
    torch = _torch()
    for m, n, k in PROBLEMS:
        a, b = _matrix(torch, m, k), _matrix(torch, k, n)
        c = torch.full((m, n + 16), UNTOUCHED, dtype=torch.float16)
        strides = [matrix.shape[1] for matrix in (a, b, c)]
        text = honest(build(), [m, n, k, *strides])
        grid = (math.ceil(m / block[0]), math.ceil(n / block[1]))
        out = gpu.launch(text, grid, a, b, c, m, n, k, *strides)[2]
        assert (out[:, n:] == UNTOUCHED).all(), f"matmul {m}x{n}x{k} writes beside c: is the store masked?"
        left, right = a[:m, :k].double(), b[:k, :n].double()
        error = (out[:, :n].double() - left @ right).abs()
        allowed = _rounding(left @ right, left.abs() @ right.abs(), k)
        worst = (error - allowed).max().item()
        assert (error <= allowed).all(), f"matmul {m}x{n}x{k} differs from PyTorch by {worst} more than rounding may"


def _matrix(torch: Any, rows: int, columns: int) -> Any:
    """Random numbers, with NaN beside and below: whoever reads there sees it."""
    matrix = torch.full((rows + 1, columns + 16), math.nan, dtype=torch.float16)
    matrix[:rows, :columns] = torch.randn(rows, columns)
    return matrix


def _rounding(exact: Any, magnitude: Any, k: int) -> Any:
    """How far a sum of k products may be off.

    Products of two fp16 are exact in fp32. Each of the k additions loses at most one unit in the last place, 2^-23, of
    a sum that is no larger than that of the absolute values. Rounding to fp16 at the end loses half a unit, 2^-11
    of the result, or 2^-25 where it is tiny.
    """
    summed = k * 2.0**-23 * magnitude
    return summed + 2.0**-11 * (exact.abs() + summed) + 2.0**-25


def _torch() -> Any:
    if not gpu.available():
        oracles.unavailable("no CUDA GPU, or no PyTorch that sees it", "torch")
    import torch

    oracles.note("torch", f"cpu {torch.__version__}")
    torch.manual_seed(0)
    return torch
