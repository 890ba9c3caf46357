"""What launches cost, here or beside another checkout: `python -m bench.launches --against DIR`.

    first      from an imported compiler to causal attention that can run, in a process that has compiled nothing else
    cold       the same, in a process that has compiled before
    found      the same, with the kernel on disk
    warm       a launch of one program that adds 1024 numbers, of a kernel launched before
    warm_gpu   the same with tensors on a GPU, up to the point where machine code would start; no GPU is needed

Each checkout's compiler runs in processes of its own, in turns, so that what slows one down slows the other. Kernels
and arguments are the same.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NAMES = ("first", "cold", "found", "warm", "warm_gpu")
ROUNDS = 9


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.launches", description="What launches cost.")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout of this project")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the median is that of so many (%(default)s)")
    parser.add_argument("--round", type=Path, metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.round:
        print(json.dumps(measure_here(options.round)))
        return
    trees = [ROOT, options.against.resolve()] if options.against else [ROOT]
    rounds = [[measure(tree) for tree in trees] for _ in range(options.rounds)]
    print(f"{'':9}{'here':>12}{'there' if options.against else '':>12}{'ratio' if options.against else '':>8}")
    for name in NAMES:
        here, *there = (statistics.median(times[i][name] for times in rounds) for i in range(len(trees)))
        texts = [f"{seconds * 1e6:9.1f} µs" for seconds in (here, *there)]
        print("".join([f"{name:9}", *texts, *(f"{here / seconds:8.2f}" for seconds in there)]))


def measure(tree: Path) -> dict[str, float]:
    """The seconds that a checkout's compiler takes, in a process of its own."""
    command = [sys.executable, str(Path(__file__)), "--round", str(tree)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def measure_here(tree: Path) -> dict[str, float]:
    """The same in this process, which has imported nothing of the compiler yet."""
    sys.path.insert(0, str(ROOT))
    import numpy as np

    from bench.workloads import WORKLOADS  # puts this checkout's compiler into the path
    from tests.support import sources

    sys.path.insert(0, str(tree / "solutions"))
    warm = import_compiler()
    assert tree in Path(warm.__file__).parents, f"{warm.__file__} is not the compiler of {tree}"
    gc.disable()

    def load(workload: Any) -> Any:
        return sources.load(workload.path.read_text(encoding="utf-8"), str(workload.path))[workload.kernel]

    def compile_once(folder: str) -> float:
        os.environ["MINI_TRITON_CACHE_DIR"] = folder
        kernel = load(attention)
        return timed(lambda: kernel.warmup(**arguments, **attention.constants))

    attention = next(workload for workload in WORKLOADS if workload.idea == "causal_attention")
    arguments = attention.arguments()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        times["first"] = compile_once(folder)
        times["cold"] = statistics.median(compile_once(str(Path(folder, str(i)))) for i in range(9))
        times["found"] = statistics.median(compile_once(folder) for _ in range(9))
        add = load(next(workload for workload in WORKLOADS if workload.kernel == "add_kernel"))
        x, y, out = np.ones((3, 1024), np.float32)
        add[(1,)](x, y, out, 1024, BLOCK=1024)
        times["warm"] = quick(lambda: add[(1,)](x, y, out, 1024, BLOCK=1024))
    launches = warm.WarmLaunches("add_kernel", add.parameters, add.references)
    tensors, constants = (OnGPU(), OnGPU(), OnGPU(), 1024), {"BLOCK": 1024}
    launches.remember(Compiled(), tensors, constants)
    assert launches.repeat((1,), tensors, constants)
    times["warm_gpu"] = quick(lambda: launches.repeat((1,), tensors, constants))
    return times


def import_compiler() -> Any:
    """Import all of the compiler, so that no import is timed. Returns the module with a GPU's quick launches."""
    try:
        from mini_triton.runtime import warm
    except ImportError:  # of an older checkout
        import importlib

        warm = importlib.import_module("mini_triton.runtime.warm")
        importlib.import_module("mini_triton.runtime.compiler")
    return warm


def timed(run: Callable[[], Any], calls: int = 1) -> float:
    """Seconds of the processor that a call takes."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def quick(run: Callable[[], Any]) -> float:
    """The same for a call that takes microseconds."""
    return statistics.median(timed(run, 500) for _ in range(30))


class OnGPU:
    """A tensor, as far as a launch looks at it."""

    is_cuda, shape, dtype = True, (1024,), "torch.float32"

    def data_ptr(self) -> int:
        return 4096

    def get_device(self) -> int:
        return 0


class Compiled:
    """A compiled kernel whose launcher starts nothing."""

    parameters = ("x", "y", "out", "n")
    launchers = {0: lambda grid, arguments: None}  # noqa: RUF012


if __name__ == "__main__":
    main()
