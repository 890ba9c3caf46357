"""What the sanitizer costs beside the generated code alone: `python -m bench.sanitizer`.

    python -m bench.sanitizer                   launches of the corpus
    python -m bench.sanitizer --workloads       launches of real sizes, whose outputs nobody has written yet
    python -m bench.sanitizer --only softmax --kinds races,masked

Warm launches with the sanitizer and without it take turns; a line has the best times of both, of the processor. A `*`
marks launches whose programs ran one by one. Exit code 1 if the total or the geometric mean is more than promised.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from bench import clock, measure
from bench.workloads import WORKLOADS, Workload

ROUNDS, PROMISED = 15, 3.0
Launch = Callable[[bool], float]
"""Launches a kernel, with the sanitizer or without it, and returns the seconds that this takes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    from mini_triton.sanitizer.launch import SanitizedKernel
    from mini_triton.sanitizer.reports import KINDS

    parser = argparse.ArgumentParser(prog="python -m bench.sanitizer", description="What the sanitizer costs.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the best of so many counts (%(default)s)")
    parser.add_argument("--only", metavar="WORDS", default="", help="only launches with this in their names")
    parser.add_argument("--kinds", default=",".join(KINDS), help="what to look for (%(default)s)")
    parser.add_argument("--workloads", action="store_true", help="launches of real sizes")
    options = parser.parse_args(arguments)
    rows = []
    for name, launch in workloads(options.kinds) if options.workloads else corpus(options.kinds):
        if options.only in name:
            run = SanitizedKernel.run_one_by_one
            with mock.patch.object(SanitizedKernel, "run_one_by_one", autospec=True, side_effect=run) as one_by_one:
                before, after = best_times(launch, options.rounds)
            rows.append((after / before, before, after, name, "*" if one_by_one.called else ""))
    print(f"{'':36}{'generated':>12}{'sanitized':>12}{'ratio':>8}")
    for ratio, before, after, name, mark in sorted(rows):
        print(f"{name:36}{before * 1e3:9.3f} ms{after * 1e3:9.3f} ms{ratio:8.2f} {mark}")
    before, after = sum(row[1] for row in rows), sum(row[2] for row in rows)
    mean = statistics.geometric_mean(row[0] for row in rows)
    print(f"{f'total of {len(rows)} launches':36}{before * 1e3:9.3f} ms{after * 1e3:9.3f} ms{after / before:8.2f}")
    print(f"{'geometric mean of the ratios':60}{mean:8.2f}")
    if max(mean, after / before) > PROMISED:
        raise SystemExit(1)


def best_times(launch: Launch, rounds: int) -> list[float]:
    """Seconds without the sanitizer and with it, which take turns; the first ones warm up."""
    times: list[list[float]] = [[], []]
    with contextlib.redirect_stdout(io.StringIO()):  # kernels print, too
        gc.collect()
        gc.disable()
        for _ in range(rounds + 1):
            for sanitized in (False, True):
                times[sanitized].append(launch(sanitized))
        gc.enable()
    return [min(taken[1:]) for taken in times]


def corpus(kinds: str) -> Iterator[tuple[str, Launch]]:
    """The launches of the corpus: that of the compiled code alone, which is all that the sanitizer replaces."""
    from mini_triton.codegen import compile_module
    from mini_triton.ir.printer import print_module
    from mini_triton.sanitizer.facts import facts_of
    from mini_triton.sanitizer.launch import SanitizedKernel

    from tests.corpus import CASES
    from tests.corpus.cases import Case
    from tests.corpus.inputs import inputs
    from tests.support import sources
    from tests.support.m06_codegen.numpy_backend import prepare

    def launcher(case: Case) -> Launch:
        with contextlib.redirect_stdout(io.StringIO()):
            module = sources.compiled(case.source(), str(case.path))
        facts = facts_of(print_module(module, locations=True))
        kernels: list[Any] = [compile_module(module), SanitizedKernel(facts, frozenset(kinds.split(",")))]

        def launch(sanitized: bool) -> float:
            _, given, reachable = prepare(module, *inputs(case, 0))
            start = clock()
            kernels[sanitized](tuple(case.grid), given, reachable)
            return clock() - start

        return launch

    return ((str(case), launcher(case)) for case in CASES)


def workloads(kinds: str) -> Iterator[tuple[str, Launch]]:
    """Launches of real sizes, as users make them. Outputs that a kernel does not read are marked as uninitialized."""
    from mini_triton import sanitizer
    from mini_triton.environment import SANITIZE

    from tests.support import sources

    def launcher(workload: Workload) -> Launch:
        arguments, outputs = measure.copied(workload)
        kernel = sources.load(workload.path.read_text(encoding="utf-8"), str(workload.path))[workload.kernel]

        def launch(sanitized: bool) -> float:
            if workload.kernel != "adam":  # which changes its outputs in place
                for output in outputs:
                    sanitizer.uninitialized(output) if sanitized else sanitizer.initialized(output)
            with mock.patch.dict(os.environ, {SANITIZE: kinds if sanitized else ""}):
                start = clock()
                kernel[tuple(workload.grid)](**arguments, **workload.constants)
                return clock() - start

        return launch

    return ((workload.name, launcher(workload)) for workload in WORKLOADS)


if __name__ == "__main__":
    main()
