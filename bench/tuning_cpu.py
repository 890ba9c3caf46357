"""The kernels of milestone 8 on a CPU, tuned, beside their defaults and PyTorch. For `bench.tuning`.

One thread each, by the processor's clock. All sides take turns, and the fastest run counts: whatever else the machine
does only adds time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import torch
from kernels import conv2d, dropout, flash_attention, matmul, softmax, tuned, vector_add
from torch.nn import functional

from bench import clock
from bench.tuning_report import Result

BACKENDS = ("numpy", "numba")
TURNS, TURN = 9, 0.1
"""So many turns of so many seconds."""


@dataclass(frozen=True)
class Case:
    """A problem, who solves it, how much work it is: floating-point operations, bytes that must be moved."""

    name: str
    ours: Callable[..., Any]  # with a tuned `kernel`, or without
    tuner: Any
    torch: Callable[[], Any]
    operations: float
    bytes: float


def cases() -> list[Case]:
    """Six problems, all of fp32."""
    n, rows, columns, size, heads, length = 1 << 20, 1024, 5000, 512, 4, 512
    images, channels, filters = 4, 32, 64
    x, y, matrix = torch.randn(n), torch.randn(n), torch.randn(rows, columns)
    a, b = torch.randn(size, size), torch.randn(size, size)
    q, k, v = (torch.randn(2, heads, length, 64) for _ in range(3))
    pixels, w = torch.randn(images, channels, 28, 28), torch.randn(filters, channels, 3, 3)
    return [
        Case("add", lambda **o: vector_add.add(x, y, **o), tuned.add, lambda: x + y, n, 12 * n),
        Case("dropout", lambda **o: dropout.dropout(x, 0.5, 1, **o), tuned.dropout,
             lambda: torch.dropout(x, 0.5, True), 10 * n, 8 * n),
        Case("softmax", lambda **o: softmax.softmax(matrix, **o), tuned.online_softmax,
             lambda: matrix.softmax(1), 5 * rows * columns, 8 * rows * columns),
        Case("matmul", lambda **o: matmul.matmul(a, b, **o), tuned.matmul,
             lambda: a @ b, 2 * size**3, 12 * size**2),
        Case("attention", lambda **o: flash_attention.attention(q, k, v, **o)[0], tuned.attention,
             lambda: functional.scaled_dot_product_attention(q, k, v), 8 * heads * length**2 * 64, 16 * q.numel()),
        Case("conv2d", lambda **o: conv2d.conv2d(pixels, w, padding=1, **o), tuned.conv2d,
             lambda: functional.conv2d(pixels, w, padding=1),
             2 * images * filters * channels * 9 * 28**2, 4 * (pixels.numel() + w.numel())),
    ]  # fmt: skip


def results(only: str, backend: str) -> Iterator[Result]:
    """Everything with one back end."""
    os.environ["MINI_TRITON_BACKEND"] = backend
    for case in cases():
        if only in case.name:
            case.tuner.bench = lambda call, quantiles: fastest(call)
            case.tuner.cache.clear()
            yield measured(case, backend)


def measured(case: Case, backend: str) -> Result:
    """Tune, check the results, and take turns."""
    sides = {"plain": case.ours, "tuned": lambda: case.ours(kernel=case.tuner), "torch": case.torch}
    got = {name: side().double() for name, side in sides.items()}
    judge = got["plain" if case.name == "dropout" else "torch"]  # PyTorch draws other numbers
    off = (got["tuned"] - judge).abs().max() / judge.abs().max()
    assert off < 1e-2, f"{case.name} is off by {off}"
    turns = [[fastest(side) for side in sides.values()] for _ in range(TURNS)]
    milliseconds = dict(zip(sides, map(min, zip(*turns, strict=True)), strict=True))
    choices = {case.name: case.tuner.best_config.kwargs}
    return Result(f"{case.name}, {backend}", milliseconds, choices, {}, case.operations, case.bytes, 0)


def fastest(run: Callable[[], Any]) -> float:
    """Milliseconds of the fastest of the runs in a turn. The first one, which may compile, does not count."""
    run()
    times: list[float] = []
    end = clock() + TURN
    while not times or clock() < end:
        start = clock()
        run()
        times.append(clock() - start)
    return min(times) * 1e3
