"""The back end "ptx": how much of the corpus is right, and how fast its code is beside real Triton's.

python -m bench.threads               the corpus on the emulator: results, and costs beside real Triton's
python -m bench.threads --gpu         the corpus on this machine's GPU, and times beside real Triton
python -m bench.threads --random 300  random kernels instead, on the emulator or, with --gpu, on the GPU
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from mini_triton.backends.threads.assembler import usage
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.backends.threads.instructions import Unsupported
from mini_triton.emulator import emulate
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.manager import optimize

from bench.by_driver import Addresses, Gpu, Job, assemble
from tests.corpus import CASES
from tests.corpus.cases import KERNELS, Case
from tests.corpus.inputs import inputs
from tests.oracles import modules, values
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.emulator import compiled as compiled_by_triton
from tests.support.emulator import judge, launch
from tests.support.m05_frontend.random_kernels import launch as random_launch
from tests.support.m05_frontend.random_kernels import write
from tests.support.m06_codegen import closeness, numpy_backend

SOFTMAX = ((8192, 1024), (8192, 4096), (4096, 8192), (16384, 781))
LAYER_NORM = ((4096, 1024), (8192, 4096))
BLOCK, ROWS = 1024, 16
FIRST_LAUNCHES, TURNS, LAUNCHES = 3, 101, 20
"""First launches of each kernel; turns, in which each compiler's kernel is launched this many times."""


def compiled(warps: int) -> Iterator[tuple[Case, Code | str]]:
    """Each case with its code, or why there is none."""
    for case in CASES:
        module = parse_module(modules.text(case))
        optimize(module)
        try:
            yield case, compile_module(module, warps, 90)
        except Unsupported as error:
            yield case, f"refused: {error.message}"


def on_emulator(case: Case, code: Code) -> list[Any]:
    """All arguments after a launch on the emulator. Raises `AssertionError` if it has found errors."""
    report, after = launch(case, code.ptx, code.shared)
    total = report.total
    if total.bank_ways > total.shared:
        print(f"  {case}: {total.bank_ways / total.shared:.2f} cycles for an access to shared memory")
    assert not report.errors, str(report.errors[0])
    return after


def costs(codes: list[tuple[Case, Code | str]]) -> None:
    """Print what a launch costs, as a share of what real Triton's PTX costs, both on the emulator."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for case, code in codes:
        made = compiled_by_triton(case, "sm_90")
        if isinstance(code, str) or "wgmma" in made.ptx:
            continue
        ours, theirs = (
            vars(launch(case, ptx, shared)[0].total) | {"registers": usage(ptx, "sm_90a").registers}
            for ptx, shared in ((code.ptx, code.shared), (made.ptx, made.shared))
        )
        for name in ("instructions", "barriers", "sectors", "bank_ways", "registers"):
            ratios[name].append((ours[name] + 1) / (theirs[name] + 1))
    for name, found in ratios.items():
        fewer, more = sum(r < 1 for r in found), sum(r > 1 for r in found)
        mean = statistics.geometric_mean(found)
        print(f"{name:<14}{mean:>6.2f} of Triton's; fewer {fewer}, more {more} of {len(found)}")


@dataclass(frozen=True)
class Drawn:
    """A random kernel, its launch, and what the NumPy back end computes."""

    source: str
    code: Code | str  # or why there is none
    grid: tuple[int, ...]
    arguments: list[Any]
    expected: list[Any]
    rounding: closeness.Rounding


def draw(number: int) -> Drawn:
    """The random kernel with this number."""
    kernel = write(random.Random(number), exact=number % 4 != 0)
    asked = random_launch(kernel, number)
    assert isinstance(asked.kernel, Source)
    module = sources.compiled(asked.kernel)
    rounding, expected = closeness.rounding(module), numpy_backend.run(module, asked.grid, asked.arguments)
    code: Code | str
    try:
        code = compile_module(module, 4, 90)
    except Unsupported as error:
        code = f"refused: {error.message}"
    return Drawn(kernel.source, code, tuple(asked.grid), list(asked.arguments), list(expected), rounding)


def random_kernels(count: int, gpu: Gpu | None) -> None:
    """Run random kernels, and print what is not right."""
    found: Counter[str] = Counter()
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for number, drawn in enumerate(pool.map(draw, range(count), chunksize=8)):
            verdict = drawn.code if isinstance(drawn.code, str) else judge_drawn(drawn, drawn.code, gpu)
            found[verdict.partition(":")[0]] += 1
            if verdict != "right":
                print(f"  kernel {number}: {verdict}", flush=True)
    print(dict(found), flush=True)


def judge_drawn(drawn: Drawn, code: Code, gpu: Gpu | None) -> str:
    """ "right", or what is wrong with a random kernel's results."""
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in drawn.arguments]
    if gpu:
        after = gpu.launch(Job(code.ptx, assembled(code), drawn.grid, arguments, code.shared))
    else:
        report = emulate(code.ptx, drawn.grid, arguments, shared=code.shared)
        after = str(report.errors[0]) if report.errors else [v for v in arguments if isinstance(v, np.ndarray)]
    if isinstance(after, str):
        return f"wrong: {after}\n{drawn.source}"
    expected = [value for value in drawn.expected if isinstance(value, np.ndarray)]
    for mine, right in zip(after, expected, strict=True):
        if difference := closeness.difference(mine, right, drawn.rounding):
            return f"wrong: {difference}\n{drawn.source}"
    return "right"


def assembled(code: Code) -> bytes:
    """Machine code. Raises `AssertionError` with the assembler's message if it refuses the text."""
    made = assemble(code.ptx)
    assert isinstance(made, bytes), made
    return made


def on_gpu(gpu: Gpu, case: Case, code: Code, machine_code: bytes | str) -> list[Any]:
    """All arguments after a launch on the GPU."""
    assert isinstance(machine_code, bytes), machine_code
    given, hidden = inputs(case, values.SEED)
    arguments = [Addresses(v["addresses"]) if isinstance(v, dict) else v for v in given]
    after = gpu.launch(Job(code.ptx, machine_code, case.grid, arguments, code.shared, hidden))
    assert not isinstance(after, str), after
    buffers = iter(after)
    return [next(buffers) if isinstance(v, np.ndarray | dict) else v for v in (*given, *hidden)]


def corpus(run: Callable[[Case, Code], list[Any]], codes: list[tuple[Case, Code | str]]) -> None:
    """Print what is not right."""
    found: Counter[str] = Counter()
    for case, code in codes:
        verdict = code if isinstance(code, str) else "right"
        try:
            if isinstance(code, Code):
                judge(case, run(case, code))
        except AssertionError as error:
            verdict = f"wrong: {error}"
        found[verdict.partition(":")[0]] += 1
        if verdict != "right":
            print(f"  {case}: {verdict}")
    print(dict(found), flush=True)


def both(file: str, name: str) -> tuple[Any, Any]:
    """A kernel of the corpus for real Triton, and for this compiler."""
    path = KERNELS / f"{file}.py"
    spec = importlib.util.spec_from_file_location(f"real_{file}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name), sources.load(path.read_text(encoding="utf-8"), str(path))[name]


@dataclass(frozen=True)
class Row:
    """A launch to time. The first `outputs` arguments are results; `constants` are the kernel's constants."""

    what: str
    file: str
    name: str
    grid: tuple[int, ...]
    outputs: int
    arguments: list[Any]
    constants: dict[str, int]


@dataclass(frozen=True)
class Found:
    """The speed as a multiple of Triton's; the first launch as a part of Triton's; microseconds more for a launch."""

    speed: float
    first: float
    more: float


def kernels_of(row: Row) -> list[tuple[Callable[[], None], list[Any]]]:
    """Launches of a kernel, for real Triton and this compiler, with their results. Neither has been compiled yet."""

    def launched(kernel: Any, **more: str) -> tuple[Callable[[], None], list[Any]]:
        own = [*(value.clone() for value in row.arguments[: row.outputs]), *row.arguments[row.outputs :]]
        return lambda: kernel[row.grid](*own, **row.constants, **more), own[: row.outputs]

    real, ours = both(row.file, row.name)
    return [launched(real), launched(ours, backend="ptx")]


def beside_triton(row: Row) -> Found:
    """Print the times of a kernel, compiled by real Triton and by this back end."""
    import torch
    from triton.testing import do_bench_cudagraph

    firsts = []
    for _ in range(FIRST_LAUNCHES):
        launches, written = zip(*kernels_of(row), strict=True)
        firsts.append(list(map(first_launch, launches)))
    results = [[value.clone() for value in values] for values in written]
    close = all(torch.allclose(x.float(), y.float(), rtol=2e-3, atol=1e-4) for x, y in zip(*results, strict=True))
    first = list(map(statistics.median, zip(*firsts, strict=True)))
    times = [1e3 * do_bench_cudagraph(run, rep=80) for run in launches]
    warm = microseconds_of_launches(launches)
    print(
        f"{row.what:<28}{times[0]:>10.1f}{times[1]:>10.1f}{times[0] / times[1]:>8.3f}"
        f"  {'equal' if close else 'DIFFERENT':<10}"
        f"{first[0]:>8.2f}{first[1]:>8.2f}{warm[0]:>8.1f}{warm[1]:>8.1f}",
        flush=True,
    )
    return Found(times[0] / times[1], first[1] / first[0], warm[1] - warm[0])


def first_launch(run: Callable[[], None]) -> float:
    """The seconds of a launch of a kernel that neither this process nor a cache on the disk knows."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = os.environ["MINI_TRITON_CACHE_DIR"] = folder
        began = time.perf_counter()
        run()
        torch.cuda.synchronize()
        return time.perf_counter() - began


def microseconds_of_launches(launches: Sequence[Callable[[], None]]) -> list[float]:
    """How long launches keep Python busy, if the GPU's queue is not full: medians of turns."""
    import torch

    turns = []
    for _ in range(TURNS):
        turn = []
        for run in launches:
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(LAUNCHES):
                run()
            turn.append(1e6 * (time.perf_counter() - began) / LAUNCHES)
        turns.append(turn)
    return list(map(statistics.median, zip(*turns, strict=True)))


def rows() -> Iterator[Row]:
    """The launches to time."""
    import torch

    def some(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.rand(*shape, device="cuda").to(dtype)

    half, size = torch.float16, 1 << 26
    for dtype in (torch.float32, half):
        x, y = some(size, dtype=dtype), some(size, dtype=dtype)
        arguments, what = [x, y, torch.empty_like(x), size], f"add 2^26 {x.element_size()} bytes"
        yield Row(what, "by_hand", "add_kernel", (size // BLOCK,), 3, arguments, {"BLOCK": BLOCK})
        arguments = [torch.empty_like(x), x, size, 0.3, 7]
        what = f"dropout 2^26 {x.element_size()} bytes"
        yield Row(what, "timed", "dropout", (size // BLOCK,), 1, arguments, {"BLOCK": BLOCK})
    for count, columns in SOFTMAX:
        x = some(count, columns)
        arguments, constants = [torch.empty_like(x), x, columns, columns], {"BLOCK": power(columns)}
        yield Row(f"softmax {count} x {columns}", "softmax", "softmax_row", (count,), 1, arguments, constants)
    for count, columns in LAYER_NORM:
        x, weight, bias = (some(*shape, dtype=half) for shape in ((count, columns), (columns,), (columns,)))
        arguments = [torch.empty_like(x), x, weight, bias, some(count), some(count), columns, columns, 1e-5]
        what = f"layer norm {count} x {columns}"
        yield Row(what, "normalisation", "layer_norm_forward", (count,), 1, arguments, {"BLOCK": BLOCK})
        sums = [some(count // ROWS, columns) for _ in range(2)]
        dy, mean, rstd = some(count, columns, dtype=half), some(count), some(count)
        arguments, constants = (
            [torch.empty_like(x), *sums, dy, x, weight, mean, rstd, columns],
            {"BLOCK": power(columns)},
        )
        what = f"layer norm back {count} x {columns}"
        yield Row(what, "timed", "layer_norm_backward", (count // ROWS,), 3, arguments, constants | {"ROWS": ROWS})
    for count, columns in ((4096, 8192), (2048, 32000)):
        x, labels = some(count, columns, dtype=half), torch.randint(columns, (count,), device="cuda")
        arguments, constants = [some(count), torch.empty_like(x), x, labels, columns], {"BLOCK": power(columns)}
        yield Row(f"cross entropy {count} x {columns}", "timed", "cross_entropy", (count,), 2, arguments, constants)
    x = some(8192, 32, 128, dtype=half)
    arguments = [torch.empty_like(x), x, some(8192, 64), some(8192, 64), 32]
    yield Row("rotary 8192 x 32 x 128", "timed", "rotary", (8192, 4), 1, arguments, {"HALF": 64, "BLOCK": 8})
    for dtype in (torch.float32, half):
        x = some(8192, 4096, dtype=dtype)
        arguments, grid = [torch.empty_like(x), x, 8192, 4096], (128, 64)
        yield Row(f"transpose {x.element_size()} bytes", "timed", "transpose", grid, 1, arguments, {"BLOCK": 64})
    x = some(4096, 16384)
    arguments, constants = [some(16384), x, 4096, 16384], {"ROWS": 32, "BLOCK": 64}
    yield Row("column sums 4096 x 16384", "timed", "column_sums", (256,), 1, arguments, constants)
    x = some(8192, 4096)
    for name, out in (("cumulative_sums", torch.empty_like(x)), ("largest", torch.empty(8192, device="cuda").int())):
        arguments = [out, x, 4096]
        yield Row(f"{name} 8192 x 4096", "timed", name, (8192,), 1, arguments, {"BLOCK": 4096})
    x = torch.randint(256, (size,), device="cuda", dtype=torch.int32)
    arguments, constants = [torch.zeros(256, device="cuda", dtype=torch.int32), x, size], {"BINS": 256, "BLOCK": 4096}
    yield Row("histogram 2^26", "timed", "histogram", (size // 4096,), 1, arguments, constants)


def power(count: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << (count - 1).bit_length()


def speed() -> None:
    """Times beside real Triton's, of the same source and tiles.

    On the GPU in microseconds without launches; of first launches in seconds; of launches in microseconds.

    Before a first launch, both compilers have compiled another kernel in this process, and the cache on the disk is a
    new folder. So neither imports anything, and neither finds the code of a kernel or of another size. Triton 3.6 also
    runs a C compiler, for about 0.2 s, to make a launcher for the signature; Triton 3.7 does not.
    """
    import torch

    print(f"{torch.cuda.get_device_name()}\n{'':<28}{'Triton':>10}{'ours':>10}{'speed':>8}{'first, launch':>40}")
    for run, _ in kernels_of(next(rows())):
        first_launch(run)
    found = [beside_triton(row) for row in rows()]
    speeds, firsts, more = ([getattr(one, name) for one in found] for name in ("speed", "first", "more"))
    print(f"speed: geometric mean {statistics.geometric_mean(speeds):.3f}, lowest {min(speeds):.3f}")
    print(
        f"first launch: at most half of Triton's time in {sum(part <= 0.5 for part in firsts)} of {len(found)},"
        f" geometric mean {statistics.geometric_mean(firsts):.2f}, highest {max(firsts):.2f}"
    )
    print(
        f"launch: no longer than Triton's in {sum(extra <= 0 for extra in more)} of {len(found)},"
        f" median {statistics.median(more):+.1f} us, highest {max(more):+.1f} us"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--random", type=int, metavar="COUNT")
    options = parser.parse_args()
    if options.random:
        gpu = Gpu() if options.gpu else None
        random_kernels(options.random, gpu)
        if gpu:
            gpu.close()
        return
    if options.gpu:
        speed()
    codes = list(compiled(options.warps))
    if not options.gpu:
        corpus(on_emulator, codes)
        costs(codes)
        return
    with ThreadPoolExecutor() as pool:
        made = dict(
            pool.map(lambda pair: (pair[0], assemble(pair[1].ptx)), ((c, k) for c, k in codes if isinstance(k, Code)))
        )
    gpu = Gpu()
    corpus(lambda case, code: on_gpu(gpu, case, code, made[case]), codes)
    gpu.close()


if __name__ == "__main__":
    main()
