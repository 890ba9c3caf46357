"""The pass manager: which passes run, in which order, and how often. (Given.)

    optimize(module)                                    the default pipeline
    optimize(module, "inline,cse,dce")                  these passes, one after the other
    optimize(module, "inline,(canonicalize,cse)*")      these two passes, repeated until neither changes the module

    MINI_TRITON_PASSES=inline,cse     the pipeline for all kernels; empty: no passes
    MINI_TRITON_PASS_LIMIT=17         run only the first 17 passes of a process, over all kernels that it compiles
    MINI_TRITON_PRINT=passes          print the module before and after each pass that changes it, with times
    MINI_TRITON_PASS_LOG=file         append a line of JSON for each pass (`tools/bisect.py` reads the file)

The manager verifies the module after each pass that changed it, and an error names the pass. It skips a pass that the
learner has not written yet, because kernels are correct without it.

Source: MLIR's "Pass Infrastructure" and `PassRegistry.cpp`; `opt_bisect_limit` of LLVM.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mini_triton.environment import is_printed
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify_after
from mini_triton.transforms.control_flow import simplify_control_flow
from mini_triton.transforms.cse import merge_equal
from mini_triton.transforms.dce import eliminate_dead_code
from mini_triton.transforms.descriptors import has_descriptors, lower_descriptors
from mini_triton.transforms.folding import FOLDING
from mini_triton.transforms.inlining import inline_calls
from mini_triton.transforms.licm import hoist_invariants
from mini_triton.transforms.peepholes import peepholes
from mini_triton.transforms.predication import predicate_branches
from mini_triton.transforms.rewriting import Rewriter, Rule, by_root

Pass = Callable[[Operation], bool]

VARIABLE, LIMIT, LOG = (f"MINI_TRITON_{name}" for name in ("PASSES", "PASS_LIMIT", "PASS_LOG"))
DEFAULT = "inline,(cse,canonicalize,simplify,predicate,licm,dce)*"
ROUNDS = 20
"""The maximum number of rounds of a repeated group. If a group needs more, its passes undo each other's work."""


@functools.cache
def rules() -> Mapping[str, Sequence[Rule]]:
    """The rules for folding and all peepholes, by the names of their roots."""
    return by_root((*FOLDING, *peepholes()))


def canonicalize(module: Operation) -> bool:
    """Fold constants and apply all peepholes, to a fixed point."""
    return Rewriter(rules()).rewrite(module)


PASSES: dict[str, Pass] = {
    "inline": inline_calls,
    "canonicalize": canonicalize,
    "simplify": simplify_control_flow,
    "predicate": predicate_branches,
    "cse": merge_equal,
    "licm": hoist_invariants,
    "dce": eliminate_dead_code,
    "descriptors": lower_descriptors,
}


@dataclass(frozen=True)
class Ran:
    """A pass that has run on a kernel, how long it took, and whether it changed anything."""

    name: str
    kernel: str
    seconds: float
    changed: bool
    missing: str = ""  # the reason, if the learner has not written the pass yet


@dataclass
class Manager:
    """Runs passes on a module, up to a `limit`, and keeps a record."""

    module: Module
    limit: int | None = None
    ran: list[Ran] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)  # passes that have run since the module last changed
    total: ClassVar[int] = 0  # number of passes run in this process

    def run(self, pipeline: str) -> None:
        """Run a pipeline."""
        for names, repeated in parse(pipeline):
            for _ in range(ROUNDS):
                if not any([self.run_pass(name) for name in names]) or not repeated:
                    break
            else:
                raise RuntimeError(f"the passes {','.join(names)} still change the module after {ROUNDS} rounds")
        if is_printed("passes") and self.ran:
            print(f"──── {self.kernel}: {summary(self.ran)}")

    def run_pass(self, name: str) -> bool:
        """Run one pass; return whether it changed the module."""
        if name in self.finished or (self.limit is not None and len(self.ran) >= self.limit):
            return False
        before = self.text if is_watched() else ""
        Manager.total += 1
        changed, missing = True, ""
        start = time.perf_counter()
        try:
            changed = PASSES[name](self.module)
        except NotImplementedError as error:
            changed, missing = False, str(error) or "not implemented"
        finally:
            self.ran.append(Ran(name, self.kernel, time.perf_counter() - start, changed, missing))
            if is_watched():
                show(self.ran[-1], before, self.text)
        if changed or missing:  # an unfinished pass may have broken the module
            verify_after(name, self.module)
        if changed:
            self.finished.clear()
        self.finished.add(name)
        return changed

    @property
    def kernel(self) -> str:
        """The name of the module's first function."""
        return str(self.module.body.operations[0].attributes["sym_name"]) if self.module.body.operations else ""

    @property
    def text(self) -> str:
        return print_module(self.module)


# --- pipelines


def parse(pipeline: str) -> list[tuple[list[str], bool]]:
    """The groups of a pipeline: names of passes, and whether to repeat them. Raises `ValueError` for unknown names."""
    groups = []
    for part in re.split(r",(?![^()]*\))", pipeline.replace(" ", "")) if pipeline.strip() else []:
        repeated = re.fullmatch(r"\((.*)\)\*", part)
        names = repeated[1].split(",") if repeated else [part]
        for name in names:
            if name not in PASSES:
                close = difflib.get_close_matches(name, PASSES, 1)
                hint = f"did you mean {close[0]}? " if close else ""
                known = f"The passes are {', '.join(PASSES)}; (cse,dce)* repeats passes until they change nothing"
                raise ValueError(f"{pipeline!r} is not a pipeline: there is no pass {name!r}; {hint}{known}")
        groups.append((names, bool(repeated)))
    return groups


def chosen() -> str:
    """The pipeline for all kernels: the one in the environment, else `DEFAULT`."""
    pipeline = os.environ.get(VARIABLE, DEFAULT)
    try:
        parse(pipeline)
    except ValueError as error:
        raise ValueError(f"{VARIABLE}: {error}") from None
    return pipeline


def remaining() -> int | None:
    """How many passes may still run in this process; None if there is no limit."""
    limit = os.environ.get(LIMIT, "")
    if limit and not limit.isdecimal():
        raise ValueError(f"{LIMIT} must be a number of passes, not {limit!r}")
    return max(0, int(limit) - Manager.total) if limit else None


def optimize(module: Module, pipeline: str | None = None, limit: int | None = None) -> list[Ran]:
    """Run a pipeline (by default `chosen()`) on a module, at most `limit` passes. Returns the passes that ran."""
    manager = Manager(module, remaining() if limit is None else limit)
    manager.run(chosen() if pipeline is None else pipeline)
    return manager.ran


def without_descriptors(module: Module) -> Module:
    """Lower tensor descriptors for a device without a copy engine, and optimize the module again if it has any."""
    if has_descriptors(module):
        optimize(module, f"inline,descriptors,{chosen()}".rstrip(","))
    return module


# --- output


def is_watched() -> bool:
    """Whether the environment asks to print or log each pass."""
    return is_printed("passes") or LOG in os.environ


def show(ran: Ran, before: str, after: str) -> None:
    """Print the module before and after a pass, and append the pass to the log, if the environment asks for it."""
    if is_printed("passes") and ran.changed:
        print(f"──── {ran.kernel}: before {ran.name}\n{before}")
        print(f"──── {ran.kernel}: after {ran.name}, {ran.seconds * 1e3:.2f} ms\n{after}")
    if path := os.environ.get(LOG):
        with Path(path).open("a", encoding="utf-8") as file:
            print(json.dumps(vars(ran) | {"before": before, "after": after}), file=file)


def summary(ran: Sequence[Ran]) -> str:
    """The number and the times of passes: "7 passes, 3.20 ms: canonicalize 1.82, cse 0.91, ..."."""
    times: dict[str, float] = {}
    for one in ran:
        times[one.name] = times.get(one.name, 0) + one.seconds * 1e3
    parts = [f"{name} {time:.2f}" for name, time in sorted(times.items(), key=lambda item: -item[1])]
    return f"{len(ran)} passes, {sum(times.values()):.2f} ms: {', '.join(parts)}"
