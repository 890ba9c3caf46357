"""How fast the front end is beside real Triton's, on the kernels of the corpus.

    python -m bench.frontend                    a table: ours, Triton's, the ratio of the two
    python -m bench.frontend --json FILE        the same as data
    python -m bench.frontend --kernels softmax_row matmul_kernel --rounds 50

What is timed, in one process, in turns: from the text of a kernel, which Python has imported already, to a module of
raw operations. Ours is `ast_to_ttir` of `mini_triton.frontend.compiler`: parsing, types, operations, calls inlined.
Triton's is `ast_to_ttir` of `triton.compiler.code_generator`: the same, but calls are left to be inlined, in an MLIR
context that is there already, and verified. Neither runs a pass or prints anything. Ours would keep what it parsed, so
it is told to forget it: Triton parses anew each time. No garbage is collected meanwhile. Times are those of the
processor.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support import sources

ROUNDS = 15


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.frontend", description="The front end beside real Triton's.")
    parser.add_argument("--kernels", nargs="+", metavar="KERNEL", help="only these")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the median is that of so many (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    options = parser.parse_args(arguments)
    import triton

    distinct = {case.kernel: case for case in CASES}
    chosen = [case for name, case in distinct.items() if not options.kernels or name in options.kernels]
    with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(io.StringIO()):  # kernels print, too
        rows = [measured(case, options.rounds) for case in chosen]
    for name, ours, theirs in sorted(rows, key=lambda row: row[1] / row[2]):
        print(f"{name:32} {ours * 1e3:9.2f} ms {theirs * 1e3:9.2f} ms {ours / theirs:7.2f}")
    ratio = statistics.geometric_mean(ours / theirs for _, ours, theirs in rows)
    total, other = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{f'{len(rows)} kernels, medians of {options.rounds}':32} {'ours':>12} {'Triton ' + triton.__version__:>12}")
    print(f"{'the sum':32} {total * 1e3:9.2f} ms {other * 1e3:9.2f} ms {total / other:7.2f}")
    print(f"{'the geometric mean of the ratios':56} {ratio:9.2f}")
    if options.json:
        kernels = {name: {"ours": ours, "triton": theirs} for name, ours, theirs in rows}
        report = {"triton": triton.__version__, "rounds": options.rounds, "ratio": ratio, "seconds": kernels}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def measured(case: Case, rounds: int) -> tuple[str, float, float]:
    """Our median and Triton's, in seconds. The two take turns, so that what slows one down slows the other."""
    with tempfile.TemporaryDirectory() as folder:
        contestants = ours(case), theirs(case, folder)
        times: tuple[list[float], list[float]] = [], []
        gc.collect()
        gc.disable()
        for _ in range(rounds + 1):  # the first one warms up
            for compile_once, taken in zip(contestants, times, strict=True):
                taken.append(compile_once())
        gc.enable()
        return case.kernel, statistics.median(times[0][1:]), statistics.median(times[1][1:])


def timed(work: Callable[[], Any]) -> float:
    """Seconds of this process's processors: what else the machine does counts for nothing."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(case: Case) -> Callable[[], float]:
    """A round of our front end."""
    from mini_triton.frontend.compiler import ast_to_ttir
    from mini_triton.frontend.function import KernelSource

    source = case.source()
    namespace = sources.load(source.text, str(case.path))
    constants = {name: sources.constant(value, namespace) for name, value in source.constexprs.items()}
    functions = [value for value in namespace.values() if isinstance(value, KernelSource)]
    kernel, signature, divisible = namespace[source.kernel], dict(source.signature), tuple(source.divisible)

    def once() -> float:
        for function in functions:
            vars(function).pop("tree", None)
        return timed(lambda: ast_to_ttir(kernel, signature, constants, divisible))

    return once


def theirs(case: Case, folder: str) -> Callable[[], float]:
    """A round of Triton's front end."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    from tests.oracles.server import frontend, written

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({"sanitize_overflow": False})
    implementation, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    context = frontend.new_context()
    loaded = written.loaded(case.source().text, folder)
    module = loaded.__enter__()  # its file is needed as long as the process: Triton reads it in each round
    source, _, _ = written.source(module, **question(case))

    def once() -> float:
        return timed(lambda: source.make_ir(target, options, implementation, modules, context))

    return once


def question(case: Case) -> dict[str, Any]:
    """A case as the oracle's server wants it."""
    return {name: value for name, value in case.source().question().items() if name != "text"}


if __name__ == "__main__":
    main()
