"""How fast the kernels of milestone 8 run as loops of Numba, beside PyTorch, `torch.compile` and the NumPy back end.

    python -m bench.numba                      a table; JSON in .kata/bench/
    python -m bench.numba --only softmax       only those with this in their names
    python -m bench.numba --keep               the JSON goes to bench/results/

Host functions are called as anyone would, with tensors on the CPU. Vector add alone is a launch with a given `out`,
beside `torch.add` with the same: the addition is so short that checking arguments in Python would count as much. All
get the same inputs, their results must agree, and then they take turns. A turn begins with a rest and a call that is
not counted: threads of whoever was before wait for work in a loop for some milliseconds, and would be in the way.
Memory of earlier results is used again, as in a program that has run for a while. Times are medians of turns.
`torch.compile` needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))

import torch
import torch.nn.functional as F
from kernels import conv2d, dropout, flash_attention, layer_norm, matmul, softmax, vector_add
from kernels.compiler import tl, triton
from rich.console import Console
from rich.table import Table

from bench import ROOT, clock

ROUNDS, TURN, REST = 15, 0.02, 0.02
PROMISES = {"rows": (1.3, 0.9), "product": (0.9, 0.9), "convolution": (0.7, 0.7)}
"""By kind: how many times faster than torch and torch.compile workloads must be, in the geometric mean and at least."""
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of glibc's `mallopt`
OVER_NUMPY = 3.0
"""The same for all workloads beside the NumPy back end, in the geometric mean."""


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    """GELU by tanh: a chain of elementwise operations."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    gate = tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    tl.store(out + at, v * gate, mask=at < n)


def gelu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
    return out


def add_into(out: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    vector_add.add_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, out, x.numel(), BLOCK=4096)
    return out


@dataclass(frozen=True)
class Workload:
    """A call of ours, and PyTorch's for the same; `kind` is a key of `PROMISES`, or "" if nothing is promised."""

    name: str
    ours: Callable[[], Any]
    torch: Callable[[], Any] | None
    kind: str = ""
    tolerance: float = 1e-5


def workloads() -> list[Workload]:
    """Sizes of real work."""
    torch.manual_seed(0)
    x, y, rows, wide = torch.randn(2**20), torch.randn(2**20), torch.randn(4096, 781), torch.randn(4096, 1024)
    weight, bias, a, b = torch.randn(1024), torch.randn(1024), torch.randn(512, 512), torch.randn(512, 512)
    q, k, v, dout = (torch.randn(2, 4, 512, 64) for _ in range(4))
    total = torch.empty_like(x)
    images, filters = torch.randn(2, 8, 32, 32), torch.randn(16, 8, 3, 3)
    _, mean, rstd = layer_norm.layer_norm(wide[:512], weight, bias)
    out, logsumexp = flash_attention.attention(q, k, v, causal=True)
    norm = [(1024,), weight, bias]
    back = (wide[:512], wide[:512], [1024], mean[:, None], rstd[:, None], weight, bias, [True] * 3)
    return [
        Workload("vector add 2^20", lambda: add_into(total, x, y), lambda: torch.add(x, y, out=total), "rows"),
        Workload("softmax 4096x781", lambda: softmax.softmax(rows), lambda: rows.softmax(1), "rows"),
        Workload("layer norm 4096x1024", lambda: layer_norm.layer_norm(wide, weight, bias),
                 lambda: F.layer_norm(wide, *norm), "rows"),
        Workload("dropout 2^20", lambda: dropout.dropout(x, 0.5, 7), lambda: F.dropout(x, 0.5), tolerance=float("inf")),
        Workload("GELU 2^20", lambda: gelu(x), lambda: F.gelu(x, approximate="tanh"), "rows"),
        Workload("matmul 512^3", lambda: matmul.matmul(a, b), lambda: a @ b, "product"),
        Workload("attention 8x512x64", lambda: flash_attention.attention(q, k, v, causal=True),
                 lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), "product"),
        Workload("online softmax 4096x781", lambda: softmax.softmax(rows, 256), lambda: rows.softmax(1), "rows"),
        Workload("layer norm backward 512x1024",
                 lambda: layer_norm.layer_norm_backward(wide[:512], wide[:512], weight, mean, rstd),
                 lambda: torch.ops.aten.native_layer_norm_backward(*back), "rows", 1e-4),
        Workload("attention backward 8x512x64",
                 lambda: flash_attention.attention_backward(dout, q, k, v, out, logsumexp, causal=True), None),
        Workload("conv2d 2x8x32x32", lambda: conv2d.conv2d(images, filters, padding=1),
                 lambda: F.conv2d(images, filters, padding=1), "convolution", 1e-4),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.numba", description="Kernels as loops on the CPU.")
    parser.add_argument("--only", metavar="WORDS", default="", help="only workloads with this in their names")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each (%(default)s)")
    parser.add_argument("--keep", action="store_true", help="put the numbers where the repository has them")
    options = parser.parse_args(arguments)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    keep_freed_memory()
    console = Console(width=max(120, Console().width))
    results: dict[str, dict[str, float]] = {}
    kinds = {}
    with on("numba"):
        chosen = [workload for workload in workloads() if options.only in workload.name]
    for workload in chosen:
        with console.status(workload.name):
            results[workload.name] = measure(workload, options.rounds)
        kinds[workload.name] = workload.kind
    console.print(table(results))
    for line in sentences(results, kinds):
        console.print(line, highlight=False)
    path = ROOT / ("bench/results" if options.keep else ".kata/bench") / "numba.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {"threads": torch.get_num_threads(), "torch": torch.__version__, "rounds": options.rounds}
    path.write_text(json.dumps(report | {"seconds": results}, indent=1) + "\n", encoding="utf-8")
    console.print(f"[dim]{path.relative_to(ROOT)}[/dim]")


def keep_freed_memory() -> None:
    """Let the C library reuse freed memory. By default, glibc returns a part of it to the system.

    Chance then decides which of the contestants must wait for new pages in each call.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # other systems
        for parameter, size in {TRIM_THRESHOLD: 2**31 - 1, MMAP_THRESHOLD: 2**25}.items():
            ctypes.CDLL(None).mallopt(parameter, size)


class on:
    """A context in which kernels run on a back end."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def __enter__(self) -> None:
        os.environ["MINI_TRITON_BACKEND"] = self.backend

    def __exit__(self, *_: object) -> None:
        del os.environ["MINI_TRITON_BACKEND"]


def measure(workload: Workload, rounds: int) -> dict[str, float]:
    """Seconds of each, after a check that results agree."""
    contestants = {"numba": ("numba", workload.ours), "NumPy": ("numpy", workload.ours)}
    if workload.torch:
        contestants |= {"torch": ("numpy", workload.torch), "torch.compile": ("numpy", torch.compile(workload.torch))}
    results, calls = {}, {}
    for name, (backend, call) in contestants.items():
        with on(backend):
            results[name] = first(call())
            calls[name] = max(1, round(TURN / min(timed(call, 1) for _ in range(5))))
    for name, result in results.items():
        tolerance = workload.tolerance if name.startswith("torch") else 1e-5
        off = (result - results["numba"]).abs().max().item()
        assert off <= tolerance * result.abs().max().item(), f"{workload.name}: {name} is off by {off}"
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (backend, call) in contestants.items():
            with on(backend):
                time.sleep(REST)
                call()
                taken[name].append(timed(call, calls[name]))
    return {name: statistics.median(times) for name, times in taken.items()}


def first(result: Any) -> torch.Tensor:
    """The first result of a function with several."""
    return result[0] if isinstance(result, tuple) else result


def timed(call: Callable[[], Any], calls: int) -> float:
    """Seconds of one of so many calls."""
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def table(results: dict[str, dict[str, float]]) -> Table:
    """A line for each workload."""
    rivals = ("torch", "torch.compile", "NumPy")
    shown = Table("milliseconds", "numba", *rivals, *(f"{rival} / numba" for rival in rivals), box=None)
    for name, times in results.items():
        milliseconds = [f"{times[who] * 1e3:.3f}" if who in times else "" for who in ("numba", *rivals)]
        ratios = [f"{times[who] / times['numba']:.2f}" if who in times else "" for who in rivals]
        shown.add_row(name, *milliseconds, *ratios)
    return shown


def sentences(results: dict[str, dict[str, float]], kinds: dict[str, str]) -> list[str]:
    """The ratios that are promised."""
    lines = [""]
    for rival, (kind, (mean, least)) in itertools.product(("torch", "torch.compile"), PROMISES.items()):
        chosen = [times for name, times in results.items() if kinds[name] == kind and rival in times]
        if ratios := [times[rival] / times["numba"] for times in chosen]:
            kept = statistics.geometric_mean(ratios) >= mean and min(ratios) >= least
            lines.append(f"{rival} / numba, {kind}: {described(ratios)}{verdict(kept)}")
    ratios = [times["NumPy"] / times["numba"] for times in results.values()]
    if ratios:
        kept = statistics.geometric_mean(ratios) >= OVER_NUMPY
        lines.append(f"NumPy back end / numba: {described(ratios)}{verdict(kept)}")
    return lines


def described(ratios: Sequence[float]) -> str:
    """Mean and ends."""
    return f"geometric mean {statistics.geometric_mean(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}"


def verdict(kept: bool) -> str:
    """Whether what is promised is kept."""
    return " ([green]as promised[/green])" if kept else " ([red]NOT as promised[/red])"


if __name__ == "__main__":
    main()
