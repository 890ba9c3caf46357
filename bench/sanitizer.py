"""What the sanitizer costs, on the launches of the corpus: `python -m bench.sanitizer`.

    interpreted    by `ir/interpreter.py`, the plain back end: one program after the other, as the sanitizer does
    generated      by the NumPy code that is generated
    sanitized      with the sanitizer, looking for everything, or for one kind of defect

Seconds are sums over the corpus of each launch's best time. "Off" has no time of its own: generated code is the same.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Sequence
from typing import Any

from bench import clock

ROUNDS, PROMISED = 3, 3.0


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line. Exit code 1 if the sanitizer takes longer than promised."""
    parser = argparse.ArgumentParser(prog="python -m bench.sanitizer", description="What the sanitizer costs.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the best of so many counts (%(default)s)")
    parser.add_argument("--only", metavar="WORDS", default="", help="only cases with this in their names")
    options = parser.parse_args(arguments)
    ways = make_ways()
    times: dict[str, dict[str, float]] = {way: {} for way in ways}
    for name, case in cases(options.only):
        for way, make in ways.items():
            times[way][name] = min(launched(make(case), case) for _ in range(options.rounds))
    plain, fast = (sum(times[way].values()) for way in ("interpreted", "generated"))
    print(f"{len(times['interpreted'])} launches{'':16}{'seconds':>8}{'of interpreted':>16}{'of generated':>14}")
    for way, seconds in times.items():
        total = sum(seconds.values())
        print(f"{way:28}{total:8.3f}{total / plain:16.2f}{total / fast:14.1f}")
    worst = {name: seconds / times["interpreted"][name] for name, seconds in times["sanitized"].items()}
    slowest = max(worst, key=lambda name: worst[name])
    print(f"slowest beside interpreted: {slowest}, {worst[slowest]:.2f} of it")
    if worst[slowest] > PROMISED:
        raise SystemExit(1)


class Prepared:
    """A case of the corpus: its module, and arguments for a launch."""

    def __init__(self, case: Any) -> None:
        from tests.corpus.inputs import inputs
        from tests.support import sources

        self.grid = tuple(case.grid)
        self.module = sources.compiled(case.source(), str(case.path))
        self.arguments, self.hidden = inputs(case, 0)


def cases(words: str) -> list[tuple[str, Prepared]]:
    """The cases of the corpus with these words in their names."""
    from tests.corpus import CASES

    return [(str(case), Prepared(case)) for case in CASES if words in str(case)]


def make_ways() -> dict[str, Callable[[Prepared], Callable[..., None]]]:
    """What makes something of a module that can be launched."""
    from mini_triton.codegen import compile_module
    from mini_triton.ir import interpreter
    from mini_triton.ir.printer import print_module
    from mini_triton.sanitizer.launch import SanitizedKernel
    from mini_triton.sanitizer.plan import plan_of
    from mini_triton.sanitizer.reports import KINDS

    def sanitized(*kinds: str) -> Callable[[Prepared], Callable[..., None]]:
        return lambda case: SanitizedKernel(plan_of(print_module(case.module, locations=True)), [], frozenset(kinds))

    return {
        "interpreted": lambda case: lambda *launch: interpreter.run(case.module, *launch),
        "generated": lambda case: compile_module(case.module),
        "sanitized": sanitized(*KINDS),
        **{f"sanitized: {kind}": sanitized(kind) for kind in KINDS},
    }


def launched(kernel: Callable[..., None], case: Prepared) -> float:
    """Seconds that a launch takes."""
    from tests.support.m06_codegen.numpy_backend import prepare

    _, given, reachable = prepare(case.module, case.arguments, case.hidden)
    with contextlib.redirect_stdout(io.StringIO()):
        start = clock()
        kernel(case.grid, given, reachable)
        return clock() - start


if __name__ == "__main__":
    main()
