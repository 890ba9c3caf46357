"""Whole models compiled by milestone 12's fusion, beside Inductor: seconds until the first training step is done.

    python -m bench.compilation                  on a machine with a GPU, with the GPU's compilers
    python -m bench.compilation --only GPT       only models with this in their names
    python -m bench.compilation --jobs 8         so many processes at once
    python -m bench.compilation --profile        on a GPU: a step's milliseconds by kind of kernel, and its memory
    python -m bench.compilation --mode reduce-overhead      another mode of `torch.compile`, for both

Each compilation runs in a process of its own: the first with empty caches, the second with the files of the first.
`processor` counts the seconds of all processes, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import ROOT

SIDES = ("ours", "inductor")
STAGES = {
    "lowering": ("fusion.program", "lower_graph"),
    "grouping": ("fusion.grouping", "Partition.fuse"),
    "source": ("fusion.program", "ProgramWriter.write"),
    "kernels": ("runtime.jit", "JITFunction.compile"),
    "ttir": ("runtime.pipeline", "ast_to_ttir"),
    "GPU": ("runtime.compiled_kernel", "CompiledKernel.lower"),
}
"""Functions whose time is shown: `ttir` and code for NumPy are parts of `kernels`."""
KINDS = {
    "attention": r"flash|fmha|attention|softmax_warp",
    "product": r"gemm|cutlass|nvjet|xmma.*gemm|cublas|triton_tem|dot|_mm_|fused_(mm|bmm)",
    "convolution": r"conv|wgrad|dgrad|fprop|cudnn|nchwToNhwc|nhwcToNchw",
    "copy": r"memcpy|memset|copy",
}


def child(name: str, side: str, profile: bool, mode: str | None) -> dict[str, Any]:
    """Compile a model in this process. Returns seconds, and milliseconds by kind of kernel."""
    import torch
    import torch._inductor.compile_fx
    from mini_triton.fusion.backend import mini_triton, programs

    from bench.models import make

    gpu = torch.cuda.is_available()
    torch.manual_seed(0)
    model, x = make(name, gpu)
    stages: defaultdict[str, float] = defaultdict(float)
    for stage, (module, path) in STAGES.items():
        watch(stage, f"mini_triton.{module}", path, stages)
    compiled = torch.compile(model, backend=mini_triton if side == "ours" else "inductor", mode=mode)

    def step() -> None:
        model.zero_grad()
        compiled(x).backward()
        if gpu:
            torch.cuda.synchronize()

    start, before = time.perf_counter(), processor()
    step()
    found: dict[str, Any] = {"wall": time.perf_counter() - start, "processor": processor() - before}
    found["stages"] = dict(stages)
    found["programs"] = [(len(p.kernels), len({k.name for k in p.kernels})) for p in programs]
    if profile:
        step()
        with open(Path(tempfile.gettempdir(), "bench.compilation.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found["profile"] = kernels_of(step)
            start = time.perf_counter()
            for _ in range(5):
                step()
            found["step"] = (time.perf_counter() - start) / 5 * 1e3
            torch.cuda.reset_peak_memory_stats()
            step()
            found["memory"] = torch.cuda.max_memory_allocated() / 2**20
            found["errors"] = errors_of(model, x, compiled)
    return found


def errors_of(model: Any, x: Any, compiled: Any) -> list[float]:
    """How far all gradients are off, compiled and eager, relative to eager in fp32."""
    import copy

    import torch

    torch.backends.cudnn.allow_tf32 = False
    exact = copy.deepcopy(model).float()
    sides = [(exact, exact, x.float() if x.is_floating_point() else x), (model, compiled, x), (model, model, x)]
    gradients = []
    for leaves, function, input in sides:
        leaves.zero_grad()
        function(input).backward()
        gradients.append(torch.cat([p.grad.flatten().float() for p in leaves.parameters()]))
    return [float((g - gradients[0]).norm() / gradients[0].norm()) for g in gradients[1:]]


def processor() -> float:
    """Seconds of the processor so far, of this process and of those that it has started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def watch(stage: str, module: str, path: str, stages: defaultdict[str, float]) -> None:
    """Add up the seconds of a function."""
    import importlib

    place = importlib.import_module(module)
    *classes, name = path.split(".")
    for part in classes:
        place = getattr(place, part)
    plain = getattr(place, name)

    def call(*arguments: Any, **keywords: Any) -> Any:
        start = time.thread_time()
        try:
            return plain(*arguments, **keywords)
        finally:
            stages[stage] += time.thread_time() - start

    setattr(place, name, call)


def kernels_of(step: Callable[[], None], steps: int = 3) -> dict[str, tuple[float, int]]:
    """Milliseconds and launches of each kernel in a step."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    step()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    events = [e for e in profiler.key_averages() if e.self_device_time_total > 0]
    return {e.key: (e.self_device_time_total / steps / 1e3, e.count // steps) for e in events}


def kind_of(kernel: str) -> str:
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, kernel, re.I)), "other")


def compile_model(name: str, side: str, profile: bool, mode: str | None, folder: Path) -> list[dict[str, Any]]:
    """Compile in two processes."""
    caches = {"MINI_TRITON_CACHE_DIR": "ours", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
    folders = {variable: str(folder / name / side / part) for variable, part in caches.items()}
    results = []
    for turn in range(2):
        command = [sys.executable, "-m", "bench.compilation", "--child", name, side]
        command += ["--profile"] if profile and turn else []
        command += ["--mode", mode] if mode else []
        done = subprocess.run(command, cwd=ROOT, env=os.environ | folders, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name} by {side}: {done.stderr[-2000:]}")
        results.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{name} by {side}, process {turn + 1}: {results[-1]['wall']:.1f} s", file=sys.stderr, flush=True)
    return results


def table_of_times(results: dict[str, dict[str, list[dict[str, Any]]]]) -> Table:
    """A line for each model: the seconds of both, their ratio, and our stages."""
    table = Table(
        "model", "kernels", "first, s", "Inductor", "ratio", "processor", "ratio", "second, s", "Inductor", "ratio"
    )
    table.add_column("our processor seconds by stage")
    ratios: list[list[float]] = [[], [], []]
    for name, sides in results.items():
        (first, second), (other_first, other_second) = (sides[side] for side in SIDES)
        pairs = [(first, other_first, "wall"), (first, other_first, "processor"), (second, other_second, "wall")]
        for place, (a, b, key) in enumerate(pairs):
            ratios[place].append(a[key] / b[key])
        row = [name, " + ".join(f"{all}/{different}" for all, different in first["programs"])]
        row += [f"{first['wall']:.1f}", f"{other_first['wall']:.1f}", f"{ratios[0][-1]:.2f}"]
        row += [f"{first['processor']:.1f}", f"{ratios[1][-1]:.2f}"]
        row += [f"{second['wall']:.1f}", f"{other_second['wall']:.1f}", f"{ratios[2][-1]:.2f}"]
        table.add_row(*row, ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in first["stages"].items()))
    means = [f"{geometric_mean(column):.2f}" for column in ratios]
    table.add_row("geometric mean", "", "", "", means[0], "", means[1], "", "", means[2])
    return table


def table_of_kinds(results: dict[str, dict[str, list[dict[str, Any]]]]) -> Table:
    """A line for each model and kind of kernel: milliseconds on the GPU, and launches."""
    table = Table("model", "kind", "ms", "Inductor", "launches", "Inductor")
    for name, sides in results.items():
        sums = []
        for side in SIDES:
            times: Counter[str] = Counter()
            counts: Counter[str] = Counter()
            for kernel, (milliseconds, count) in sides[side][1]["profile"].items():
                times[kind_of(kernel)] += milliseconds
                counts[kind_of(kernel)] += count
            sums.append((times, counts))
        (ours, many), (theirs, their_many) = sums
        for kind in sorted(ours | theirs):
            table.add_row(
                name, kind, f"{ours[kind]:.3f}", f"{theirs[kind]:.3f}", str(many[kind]), str(their_many[kind])
            )
        ratio = theirs.total() / ours.total()
        steps = [f"{sides[side][1]['step']:.2f}" for side in SIDES]
        title = f"all, {ratio:.2f} of Inductor's speed; wall"
        table.add_row("", title, f"{ours.total():.3f}", f"{theirs.total():.3f}", *steps)
        off = " and ".join("{:.1e} (eager {:.1e})".format(*sides[side][1]["errors"]) for side in SIDES)
        table.add_row("", f"gradients off by {off}")
        table.add_row("", "peak memory, MiB", *(f"{sides[side][1]['memory']:.0f}" for side in SIDES))
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    from bench.models import MODELS

    parser = argparse.ArgumentParser(prog="python -m bench.compilation", description="Compiling whole models.")
    parser.add_argument("--only", default="", help="models with this in their names")
    parser.add_argument("--jobs", type=int, default=1, help="so many processes at once (%(default)s)")
    parser.add_argument("--profile", action="store_true", help="on a GPU: milliseconds by kind of kernel")
    parser.add_argument("--mode", help="of `torch.compile`: reduce-overhead")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        name, side = options.child
        print(json.dumps(child(name, side, options.profile, options.mode)))
        return
    names = [name for name in MODELS if options.only in name]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        jobs = {
            (name, side): pool.submit(compile_model, name, side, options.profile, options.mode, Path(folder))
            for name in names
            for side in SIDES
        }
        console = Console(width=max(160, Console().width))
        for job, future in jobs.items():
            if error := future.exception():
                console.print(f"{job}: {error}", markup=False)
    good = [name for name in names if not any(jobs[name, side].exception() for side in SIDES)]
    results = {name: {side: jobs[name, side].result() for side in SIDES} for name in good}
    console.print(table_of_times(results))
    if options.profile:
        console.print(table_of_kinds(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
