"""Problems for the fast kernels on a GPU, and what PyTorch has for each. For `bench.tuning`.

Four sides take turns in CUDA graphs: our compiler with real Triton below the tile; real Triton with the same source and
configurations; our own back end with the same source and configurations of its own; and PyTorch's libraries. Their
operators are called as such, without autograd, whose work would be the host's.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from statistics import median
from typing import Any
from unittest import mock

import torch
from kernels import conv2d, flash_attention, layer_norm, matmul
from mini_triton.errors import TritonError
from mini_triton.testing import do_bench_cudagraph

from bench import ahead
from bench.handoff import switch
from bench.tuning_report import Result

FAST = ("layer_norm", "matmul", "matmul_split_k", "matmul_int8", "attention", "conv2d")
MODULES = ("softmax", "layer_norm", "matmul", *(f"fast.{name}" for name in FAST))
ROUNDS = 40
TURN = 10.0
"""Milliseconds."""
aten = torch.ops.aten
Sides = tuple[Callable[[], Any] | None, Mapping[str, Callable[[], Any]]]


@dataclass(frozen=True)
class Problem:
    """A problem: our kernel for it, and PyTorch's ways to solve it."""

    name: str
    kernel: str  # "fast.matmul:matmul": a function of `kernels.fast.matmul`
    arguments: tuple[Any, ...]
    plain: Callable[[], Any] | None  # the kernel of milestone 8, if it is another one
    torch: Mapping[str, Callable[[], Any]]  # the first one judges
    operations: float
    bytes: float
    goal: float  # torch / ours
    tolerance: float = 1e-4  # relative to the largest result

    def solve(self, kernels: Any) -> Any:
        """Have the kernels of one compiler solve it."""
        module, _, function = self.kernel.partition(":")
        return getattr(kernels[module], function)(*self.arguments)


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype)


def softmaxes() -> Iterator[Problem]:
    """Rows of a length that is no multiple of anything, and long ones."""
    for rows, columns in ((4096, 781), (8192, 4096), (4096, 16384)):
        x = random(rows, columns)
        sides: Sides = None, {"torch": partial(torch.softmax, x, 1)}
        work = 5 * x.numel(), 8 * x.numel()
        yield Problem(f"softmax {rows}×{columns}", "softmax:softmax", (x,), *sides, *work, 1.2)


def layer_norms() -> Iterator[Problem]:
    """Forward and backward."""
    for rows, columns in ((4096, 1024), (8192, 4096)):
        x, dy, w, b = random(rows, columns), random(rows, columns), random(columns), random(columns)
        _, mean, rstd = aten.native_layer_norm(x, w.shape, w, b, 1e-5)
        forward = x, w, b
        sides: Sides = (
            None,
            {"torch": partial(aten.native_layer_norm, x, w.shape, w, b, 1e-5)},
        )
        name, work = f"layer norm {rows}×{columns}", (8 * x.numel(), 8 * x.numel())
        yield Problem(name, "layer_norm:layer_norm", forward, *sides, *work, 1.2)
        backward = dy, x, w, mean.flatten(), rstd.flatten()
        sides = (
            partial(layer_norm.layer_norm_backward, *backward),
            {"torch": partial(aten.native_layer_norm_backward, dy, x, w.shape, mean, rstd, w, b, [True] * 3)},
        )
        work = 14 * x.numel(), 12 * x.numel()
        yield Problem(f"{name}, backward", "fast.layer_norm:layer_norm_backward", backward, *sides, *work, 1.3)


def products() -> Iterator[Problem]:
    """Of 16 bits, and of bytes, whose second operand tensor cores want with K contiguous."""
    n = 4096
    work = 2 * n**3, 6 * n**2
    for dtype in (torch.float16, torch.bfloat16):
        a, b = random(n, n, dtype=dtype), random(n, n, dtype=dtype)
        sides: Sides = None, {"torch": partial(torch.matmul, a, b)}
        name = f"matmul {n}³ {str(dtype)[6:]}"
        yield Problem(name, "matmul:matmul", (a, b), *sides, *work, 1.0, 1e-2)
        yield Problem(f"{name}, persistent", "fast.matmul:matmul", (a, b), *sides, *work, 1.0, 1e-2)
    for rows, columns, inner in ((512, 512, 16384), (128, 4096, 8192)):
        a, b = random(rows, inner, dtype=torch.float16), random(inner, columns, dtype=torch.float16)
        sides = partial(matmul.matmul, a, b), {"torch": partial(torch.matmul, a, b)}
        split = 2 * rows * columns * inner, 2 * (rows * inner + inner * columns + rows * columns)
        name = f"matmul {rows}×{columns}×{inner}, split-K"
        yield Problem(name, "fast.matmul_split_k:matmul", (a, b), *sides, *split, 1.0, 1e-2)
    a, b = (torch.randint(-100, 100, (n, n), device="cuda").to(torch.int8) for _ in range(2))
    for name, right in (("", b), (", K contiguous", b.T.contiguous().T)):
        sides = partial(matmul.matmul, a, right), {"torch": partial(torch._int_mm, a, right)}
        yield Problem(f"matmul {n}³ int8{name}", "fast.matmul_int8:matmul", (a, right), *sides, *work, 1.0, 0.0)


def convolutions() -> Iterator[Problem]:
    """Layers of residual networks, channels last; those of milestone 8 have them first."""
    torch.backends.cudnn.benchmark = True
    for images, channels, size, filters, stride in ((16, 64, 56, 128, 1), (32, 256, 28, 256, 1), (32, 256, 28, 512, 2)):
        x = random(images, channels, size, size, dtype=torch.float16)
        w = random(filters, channels, 3, 3, dtype=torch.float16)
        x_last, w_last = (each.to(memory_format=torch.channels_last) for each in (x, w))
        ours = x_last.permute(0, 2, 3, 1), w_last.permute(0, 2, 3, 1), stride, 1
        sides: Sides = (
            channels_last(conv2d.conv2d, x, w, stride, 1),
            {"torch": channels_last(torch.conv2d, x_last, w_last, None, stride, 1)},
        )
        work = 2 * images * filters * channels * 9 * (size // stride) ** 2, 2 * (x.numel() + w.numel())
        name = f"conv2d {images}×{channels}×{size}×{size}, {filters} 3×3{f', stride {stride}' if stride > 1 else ''}"
        yield Problem(name, "fast.conv2d:conv2d", ours, *sides, *work, 0.8, 5e-3)


def channels_last(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """A call whose result is seen as (N, P, Q, K)."""
    return lambda: function(*arguments).permute(0, 2, 3, 1)


def attentions() -> Iterator[Problem]:
    """Beside PyTorch's FlashAttention-2, and cuDNN."""
    batch, heads, length, size = 4, 32, 4096, 64
    q, k, v, dout = (random(batch, heads, length, size, dtype=torch.float16) for _ in range(4))
    for causal in (False, True):
        flash = partial(aten._scaled_dot_product_flash_attention, q, k, v, 0.0, causal)
        cudnn = partial(aten._scaled_dot_product_cudnn_attention, q, k, v, None, True, 0.0, causal)
        name = f"attention {batch}×{heads}×{length}×{size}{', causal' if causal else ''}"
        operations = 4 * batch * heads * length**2 * size / (2 if causal else 1)
        forward = q, k, v, causal
        sides: Sides = partial(flash_attention.attention, *forward), {"torch": flash, "cuDNN": cudnn}
        yield Problem(name, "fast.attention:attention", forward, *sides, operations, 8 * q.numel(), 1.2, 5e-3)
        backward = (dout, q, k, v, *flash_attention.attention(*forward), causal)
        y, lse, *rest = flash()
        to_flash = (dout, q, k, v, y, lse, *rest[:4], 0.0, causal, *rest[4:6])
        sides = (
            partial(flash_attention.attention_backward, *backward),
            {
                "torch": partial(aten._scaled_dot_product_flash_attention_backward, *to_flash),
                "cuDNN": gradients_by_cudnn(dout, q, k, v, causal),
            },
        )
        work = 2.5 * operations, 18 * q.numel()
        yield Problem(f"{name}, backward", "fast.attention:attention_backward", backward, *sides, *work, 1.2, 1e-2)


def gradients_by_cudnn(dout: Any, q: Any, k: Any, v: Any, causal: bool) -> Callable[[], Any]:
    """The backward pass of cuDNN's attention, which not every machine has."""

    @cache
    def forward() -> Any:
        return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)

    def backward() -> Any:
        y, lse, *rest = forward()
        given = (dout, q, k, v, y, lse, *rest[4:6], None, *rest[:4], 0.0, causal)
        return aten._scaled_dot_product_cudnn_attention_backward(*given)

    return backward


PROBLEMS = (softmaxes, layer_norms, products, convolutions, attentions)


def results(only: str, say: Callable[[str], None]) -> Iterator[Result]:
    """Everything: compile, tune, check, measure."""
    ours = modules()
    problems = [problem for make in PROBLEMS for problem in make() if only in problem.name]
    major, minor = torch.cuda.get_device_capability()
    say("compiling: " + ahead.compile_all([partial(problem.solve, ours) for problem in problems], f"sm_{major}{minor}"))
    for tuner in tuners(ours).values():
        tuner.bench = lambda call, quantiles: do_bench_cudagraph(call, 5, quantiles=quantiles)
    switch("triton")
    theirs = modules()
    for problem in problems:
        yield measured(problem, ours, theirs, say)


def modules() -> dict[str, Any]:
    """The kernels, imported for the compiler that `switch` has set."""
    return {name: importlib.import_module(f"kernels.{name}") for name in MODULES}


def measured(problem: Problem, ours: Any, theirs: Any, say: Callable[[str], None]) -> Result:
    """Tune, check all results, and take turns."""
    for tuner in tuners(ours).values():
        tuner.best_config = None
    problem.solve(ours)
    chosen = {name: tuner for name, tuner in tuners(ours).items() if tuner.best_config is not None}
    tried = {name: timings(tuner) for name, tuner in chosen.items()}
    choices = {name: options(tuner.best_config) for name, tuner in chosen.items()}
    for name, tuner in chosen.items():
        adopt(tuners(theirs)[name], tuner.best_config)
        say(f"    {name}: {tried[name]}")
    sides: dict[str, Callable[[], Any]] = {
        "tuned": partial(problem.solve, ours),
        "own back end": by_threads(partial(problem.solve, ours)),
        "Triton": partial(problem.solve, theirs),
        **({"plain": problem.plain} if problem.plain else {}),
        **problem.torch,
    }
    expected = listed(problem.torch["torch"]())
    for name in list(sides):
        try:
            off = difference(listed(sides[name]()), expected)
        except (RuntimeError, TypeError, TritonError) as error:
            say(f"    {name} cannot: {str(error)[:200]}")
            del sides[name]
            continue
        if off > problem.tolerance:
            say(f"    {name} IS OFF by {off}")
    milliseconds = in_turns(sides)
    return Result(problem.name, milliseconds, choices, tried, problem.operations, problem.bytes, problem.goal)


def by_threads(call: Callable[[], Any]) -> Callable[[], Any]:
    """The same call, with the back end for threads."""

    def run() -> Any:
        with mock.patch.dict(os.environ, MINI_TRITON_BACKEND="ptx"):
            return call()

    return run


def in_turns(sides: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The milliseconds that each takes: medians of graphs, which take turns, in a random order each round.

    A GPU at its power limit lowers its clock: the same machine code takes 6 % longer right after another kernel.
    """
    names = list(sides)
    order = Random(0)
    times: dict[str, list[float]] = {name: [] for name in names}
    with torch.cuda.stream(torch.cuda.Stream()):
        graphs = {name: recorded(side) for name, side in sides.items()}
        for _ in range(ROUNDS):
            for name in order.sample(names, len(names)):
                graph, runs = graphs[name]
                times[name].append(elapsed(graph.replay) / runs)
    return {name: median(taken) for name, taken in times.items()}


def recorded(side: Callable[[], Any]) -> tuple[Any, int]:
    """A graph of so many runs that it takes about as long as a `TURN`, and how many these are."""
    side()
    estimate = elapsed(lambda: [side() for _ in range(5)]) / 5
    runs = max(1, int(TURN / estimate))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(runs):
            side()
    return graph, runs


def elapsed(run: Callable[[], Any]) -> float:
    """Milliseconds of the GPU's clock."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def options(config: Any) -> dict[str, Any]:
    """What a configuration chooses."""
    return {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}


def tuners(kernels: Any) -> dict[str, Any]:
    """All tuners of one compiler's modules: `fast.attention.forward`, ..."""
    return {
        f"{module}.{name}": value
        for module in MODULES
        for name, value in vars(kernels[module]).items()
        if type(value).__name__ == "Autotuner"
    }


def adopt(tuner: Any, config: Any) -> None:
    """Have real Triton's tuner take a configuration without a trial."""
    from triton import Config

    tuner.configs = [Config(config.kwargs, num_warps=config.num_warps, num_stages=config.num_stages)]
    tuner.cache.clear()


def timings(tuner: Any) -> str:
    """The five fastest configurations of the last choice."""
    best = sorted(tuner.configs_timings.items(), key=lambda item: item[1])[:5]
    said = [f"{taken[0] * 1e3:.1f} us {short(config)}" for config, taken in best]
    return "; ".join(said) + (f"; {len(tuner.failures)} fail" if tuner.failures else "")


def short(config: Any) -> str:
    """A configuration in short."""
    return " ".join(map(str, [*config.kwargs.values(), f"w{config.num_warps}", f"s{config.num_stages}"]))


def listed(result: Any) -> list[torch.Tensor]:
    """The results that matter: all of three, otherwise the first."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [each.flatten() for each in result] if len(result) == 3 else [result[0]]


def difference(results: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """The largest difference, relative to the largest result."""
    return max(
        ((got.double() - wanted.double()).abs().max() / wanted.double().abs().max()).item()
        for got, wanted in zip(results, expected, strict=False)
    )
