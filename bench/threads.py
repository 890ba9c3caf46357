"""The back end "ptx": how much of the corpus is right, and how fast its code is beside real Triton's.

python -m bench.threads            the corpus on the emulator: results, bank conflicts, barriers
python -m bench.threads --gpu      the corpus on this machine's GPU, and times beside real Triton
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.backends.threads.instructions import Unsupported
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.manager import optimize

from bench.by_driver import Addresses, Gpu, Job, assemble
from tests.corpus import CASES
from tests.corpus.cases import KERNELS, Case
from tests.corpus.inputs import inputs
from tests.oracles import modules, values
from tests.support import sources
from tests.support.emulator import judge, launch

SOFTMAX = ((8192, 1024), (8192, 4096), (4096, 8192), (16384, 781))
LAYER_NORM = ((4096, 1024), (8192, 4096))
BLOCK = 1024


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


def beside_triton(what: str, file: str, name: str, grid: int, outputs: int, arguments: list[Any], block: int) -> None:
    """Print the times of a kernel, compiled by real Triton and by this back end. The outputs come first."""
    import torch
    from triton.testing import do_bench_cudagraph

    times, results, starts = [], [], []
    for kernel, more in zip(both(file, name), ({}, {"backend": "ptx"}), strict=True):
        own = [*(value.clone() for value in arguments[:outputs]), *arguments[outputs:]]
        began = time.perf_counter()
        kernel[(grid,)](*own, BLOCK=block, **more)
        torch.cuda.synchronize()
        starts.append(time.perf_counter() - began)
        times.append(1e3 * do_bench_cudagraph(lambda k=kernel, a=own, m=more: k[(grid,)](*a, BLOCK=block, **m), rep=80))
        results.append(own[:outputs])
    close = all(torch.allclose(x.float(), y.float(), rtol=2e-3, atol=1e-4) for x, y in zip(*results, strict=True))
    theirs, ours = times
    print(
        f"{what:<28}{theirs:>10.1f}{ours:>10.1f}{theirs / ours:>8.3f}  {'equal' if close else 'DIFFERENT':<10}", end=""
    )
    print(f"first launch {starts[0]:.2f} s and {starts[1]:.2f} s", flush=True)


def speed() -> None:
    """Times on the GPU in microseconds, without launches, beside real Triton's, of the same source and tiles."""
    import torch

    def random(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.rand(*shape, device="cuda").to(dtype)

    print(f"{torch.cuda.get_device_name()}\n{'':<28}{'Triton':>10}{'ours':>10}{'speed':>8}")
    size = 1 << 26
    for dtype in (torch.float32, torch.float16):
        x, y = random(size, dtype=dtype), random(size, dtype=dtype)
        arguments = [x, y, torch.empty_like(x), size]
        beside_triton(f"add 2^26 {x.element_size()} bytes", "by_hand", "add_kernel", size // BLOCK, 3, arguments, BLOCK)
    for rows, columns in SOFTMAX:
        block, x = 1 << (columns - 1).bit_length(), random(rows, columns)
        arguments = [torch.empty_like(x), x, columns, columns]
        beside_triton(f"softmax {rows} x {columns}", "softmax", "softmax_row", rows, 1, arguments, block)
    for rows, columns in LAYER_NORM:
        x, weight, bias = (random(*shape, dtype=torch.float16) for shape in ((rows, columns), (columns,), (columns,)))
        arguments = [torch.empty_like(x), x, weight, bias, random(rows), random(rows), columns, columns, 1e-5]
        name = f"layer norm {rows} x {columns}"
        beside_triton(name, "normalisation", "layer_norm_forward", rows, 1, arguments, BLOCK)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--warps", type=int, default=4)
    options = parser.parse_args()
    if options.gpu:
        speed()
    codes = list(compiled(options.warps))
    if not options.gpu:
        corpus(on_emulator, codes)
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
