"""Models through the fusion of milestone 12, beside Inductor and eager PyTorch: kernels, bytes and time.

    python -m bench.fusion                  kernels and bytes; on a machine with a GPU, times as well
    python -m bench.fusion --only norm      only programs with this in their names
    python -m bench.fusion --json FILE      the numbers

Both compilers get the same graph, forward and backward. Kernels and calls to PyTorch's operators are counted
together; bytes are what each compiler believes that its kernels and calls move, once per tensor. Times are of a forward
pass and, where there is one, a backward pass: medians of CUDA graphs, which contain no time of the host's. The host's
times are in the last two columns: the fastest of many calls while the GPU has nothing to do. The sides take turns.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any
from unittest import mock

import torch
from mini_triton import fusion
from mini_triton.fusion import inductor
from mini_triton.fusion.tensors import Called, hint
from mini_triton.testing import do_bench_cudagraph
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

from tests.support.m12_fusion.programs import GPTBlock, ResBlock

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
SCALE = 1 if GPU else 16
"""On a CPU rows are fewer by so much: there nothing is timed."""
TURNS, RUNS = 3, 20


@dataclass(frozen=True)
class Case:
    """A program and its inputs. `is_simple`: no matrix products and convolutions."""

    name: str
    model: Callable[..., torch.Tensor]
    inputs: tuple[torch.Tensor, ...]
    is_simple: bool = True

    @property
    def leaves(self) -> list[torch.Tensor]:
        parameters = list(self.model.parameters()) if isinstance(self.model, nn.Module) else []
        return [x for x in (*self.inputs, *parameters) if x.requires_grad]


@dataclass
class Cost:
    """What a compiler made of a program."""

    kernels: int = 0
    calls: int = 0
    bytes: int = 0


@dataclass
class Result:
    """A program's costs by compiler, and its milliseconds."""

    name: str
    is_simple: bool
    ours: Cost
    inductor: Cost
    times: dict[str, float] = field(default_factory=dict)
    host: dict[str, float] = field(default_factory=dict)  # microseconds

    @property
    def launches(self) -> float:
        """How many launches and calls we have for one of Inductor's."""
        return (self.ours.kernels + self.ours.calls) / (self.inductor.kernels + self.inductor.calls)

    @property
    def bytes(self) -> float:
        return self.ours.bytes / self.inductor.bytes

    def speed(self, other: str) -> float:
        """How many times faster we are."""
        return self.times[other] / self.times["ours"]


def tensor(*shape: int, dtype: torch.dtype = torch.float32, grad: bool = False) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype, requires_grad=grad)


def cases() -> Iterator[Case]:
    """Programs of a size that keeps a GPU busy."""
    rows, columns, words = 8192 // SCALE, 4096, 50304 // SCALE
    dtype = torch.bfloat16
    yield Case("gelu chain", lambda x, y: F.gelu(x) * y + x, (tensor(rows, columns), tensor(rows, columns)))
    gate, up = (tensor(rows, columns, grad=True) for _ in range(2))
    yield Case("swiglu", lambda x, y: F.silu(x) * y, (gate, up))
    yield Case("transpose", lambda x, y: x.t() + y, (tensor(columns, rows), tensor(rows, columns)))
    yield Case("sum of all", lambda x: x.exp().sum(), (tensor(rows, columns),))
    yield Case("sum of columns", lambda x: (x * 2).sum(0), (tensor(2 * rows, 1024),))
    yield Case("softmax", lambda x: torch.softmax(x * 2, -1), (tensor(rows, columns, grad=True),))
    yield Case(
        "layer norm",
        lambda x, w, b: F.layer_norm(x, w.shape, w, b),
        (tensor(rows, columns, grad=True), tensor(columns, grad=True), tensor(columns, grad=True)),
    )
    yield Case(
        "rms norm",
        lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w,
        (tensor(rows, columns, grad=True), tensor(columns, grad=True)),
    )
    targets = torch.randint(0, words, (rows // 2,), device=DEVICE)
    yield Case("cross entropy", F.cross_entropy, (tensor(rows // 2, words, grad=True), targets))
    yield Case("Adam step", adam, tuple(tensor(rows, columns).abs() for _ in range(4)))
    mlp = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(DEVICE, dtype)
    yield Case("MLP", mlp, (tensor(rows, 1024, dtype=dtype, grad=True),), is_simple=False)
    block = GPTBlock(768, 12).to(DEVICE, dtype)
    yield Case("GPT block", block, (tensor(8, 1024 // SCALE, 768, dtype=dtype, grad=True),), is_simple=False)
    residual = ResBlock(64).to(DEVICE)
    yield Case("ResNet block", residual, (tensor(32 // SCALE, 64, 56, 56, grad=True),), is_simple=False)


def adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> None:
    """One step of an optimizer: all four tensors are read, three are overwritten."""
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m / 0.1, (v / 0.001).sqrt() + 1e-8, value=-0.01)


def step(case: Case, function: Callable[..., Any]) -> Callable[[], Any]:
    """A call to a program with its backward pass."""

    def run() -> Any:
        result = function(*case.inputs)
        if result is None or not result.requires_grad:
            return result
        return torch.autograd.grad(result, case.leaves, seed, allow_unused=True)

    with torch.no_grad():
        result = case.model(*case.inputs)
        torch.manual_seed(1)  # the same gradient on all sides
        seed = None if result is None else torch.randn_like(result)
    return run


def compiled_by_us(case: Case) -> tuple[Callable[[], Any], Cost]:
    torch._dynamo.reset()
    fusion.programs.clear()
    run = step(case, torch.compile(case.model, backend=fusion.mini_triton))
    run()
    cost = Cost()
    for program in fusion.programs:
        cost.kernels += len(program.kernels)
        results = [tensor for group in program.groups for tensor in group.members if isinstance(tensor, Called)]
        called = {tensor.call: tensor for tensor in results}
        cost.calls += len(called)
        moved = [*results, *(operand for tensor in called.values() for operand in tensor.inputs)]
        cost.bytes += program.bytes + sum(hint(tensor.nbytes) for tensor in moved)
    return run, cost


def compiled_by_inductor(case: Case) -> tuple[Callable[[], Any], Cost]:
    torch._dynamo.reset()
    with costs() as cost, nullcontext() if GPU else written_for_a_cpu():
        run = step(case, torch.compile(case.model))
        run()
    return run, cost


@contextmanager
def written_for_a_cpu() -> Iterator[None]:
    """Without a GPU our compiler runs Inductor's kernels: its C++ back end fuses in another way."""
    inductor.enable()
    try:
        yield
    finally:
        inductor.disable()


@contextmanager
def costs() -> Iterator[Cost]:
    """What Inductor schedules: each node of its last graph is a kernel or a call."""
    from torch._inductor import config
    from torch._inductor.scheduler import NopKernelSchedulerNode, Scheduler

    cost, plain = Cost(), Scheduler.codegen

    def codegen(scheduler: Any) -> None:
        for node in scheduler.nodes:
            if not isinstance(node, NopKernelSchedulerNode):
                cost.calls += node.is_extern()
                cost.kernels += not node.is_extern()
                cost.bytes += int(node.get_read_write_buffers_sizes())
        plain(scheduler)

    with mock.patch.object(Scheduler, "codegen", codegen), config.patch(force_disable_caches=True):
        yield cost


def measure(case: Case) -> Result:
    """Compile with both, compare the results, and take turns."""
    eager = step(case, case.model)
    ours, our_cost = compiled_by_us(case)
    theirs, their_cost = compiled_by_inductor(case)
    result = Result(case.name, case.is_simple, our_cost, their_cost)
    if case.model is not adam:  # whose inputs are other ones after each step
        compare(eager(), ours(), case)
    if GPU:
        sides = {"ours": ours, "inductor": theirs, "eager": eager}
        turns = [{name: milliseconds(run) for name, run in sides.items()} for _ in range(TURNS)]
        result.times = {name: median(turn[name] for turn in turns) for name in sides}
        turns = [{name: microseconds_of_host(run) for name, run in sides.items()} for _ in range(TURNS)]
        result.host = {name: min(turn[name] for turn in turns) for name in sides}
    return result


def compare(expected: Any, got: Any, case: Case) -> None:
    """Results must agree, relative to the largest element of all of them.

    Not of each result's own: the gradient of a bias before a batch norm is zero but for rounding. Convolutions may
    round to TF32.
    """
    wanted, found = ([x for x in tree_leaves(results) if x is not None] for results in (expected, got))
    largest = max(x.double().abs().max() for x in wanted)
    for x, y in zip(wanted, found, strict=True):
        off = float((x.double() - y.double()).abs().max() / largest)
        allowed = 3e-2 if x.dtype == torch.bfloat16 else 1e-5 if case.is_simple else 1e-3
        assert off < allowed, f"{case.name} is off by {off}"


def milliseconds(run: Callable[[], Any]) -> float:
    """The GPU's time, by `do_bench_cudagraph`."""
    return float(do_bench_cudagraph(run, rep=20, return_mode="median"))


def microseconds_of_host(run: Callable[[], Any]) -> float:
    """How long a call takes to put all of its work into the GPU's queue."""
    times = []
    for _ in range(RUNS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def table_of_work(results: Sequence[Result]) -> Table:
    """A line for each program: kernels, calls to PyTorch's operators, and bytes."""
    shown = Table("program", "kernels + calls", "Inductor's", "ratio", "MB", "Inductor's", "ratio")
    for result in results:
        ours, inductor = result.ours, result.inductor
        cells = [f"{ours.kernels} + {ours.calls}", f"{inductor.kernels} + {inductor.calls}", f"{result.launches:.2f}"]
        cells += [f"{ours.bytes / 1e6:.1f}", f"{inductor.bytes / 1e6:.1f}", f"{result.bytes:.2f}"]
        shown.add_row(result.name, *cells)
    return shown


def table_of_times(results: Sequence[Result]) -> Table:
    """A line for each program: the GPU's times, and the host's."""
    shown = Table("program")
    for title in ("ms", "Inductor's", "eager", "Inductor's / ours", "eager / ours", "host, µs", "Inductor's"):
        shown.add_column(title, justify="right")
    for result in results:
        cells = [f"{result.times[side]:.3f}" for side in ("ours", "inductor", "eager")]
        cells += [f"{result.speed(other):.2f}" for other in ("inductor", "eager")]
        cells += [f"{result.host[side]:.0f}" for side in ("ours", "inductor")]
        shown.add_row(result.name, *cells)
    if simple := [result for result in results if result.is_simple]:
        means = [f"{geometric_mean(result.speed(other) for result in simple):.2f}" for other in ("inductor", "eager")]
        shown.add_section()
        shown.add_row("geometric mean without products", "", "", "", *means)
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.fusion", description="Fusion beside Inductor.")
    parser.add_argument("--only", default="", help="programs with this in their names")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", module="torch")
    console = Console(width=max(120, Console().width))
    results = []
    torch.manual_seed(0)
    for case in cases():
        if options.only not in case.name:
            continue
        try:
            results.append(measure(case))
        except Exception as error:
            console.print(f"{case.name}: {type(error).__name__}: {str(error)[-300:]}", markup=False)
    console.print(table_of_work(results))
    if timed := [result for result in results if result.times]:
        console.print(table_of_times(timed))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
