"""The pass manager: which passes run, in which order, and how often. (Given.)

    optimize(module)                                    the default pipeline
    optimize(module, "inline,cse,dce")                  these, one after the other
    optimize(module, "inline,(canonicalize,cse)*")      the two again and again, until neither changes anything

    MINI_TRITON_PASSES=inline,cse     for all kernels; empty: no passes
    MINI_TRITON_PRINT=passes          the module before and after each pass that changed it, with times

A module is verified after each pass that changed it, and the error names the pass. A pass that a learner has not
written yet is left out: kernels are right without it.

Source: MLIR's "Pass Infrastructure" and `PassRegistry.cpp`; `opt_bisect_limit` of LLVM.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mini_triton.ir.core import Module, Operation
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify_after
from mini_triton.transforms.control_flow import simplify_control_flow
from mini_triton.transforms.cse import merge_equal
from mini_triton.transforms.dce import eliminate_dead_code
from mini_triton.transforms.folding import FOLDING
from mini_triton.transforms.inlining import inline_calls
from mini_triton.transforms.licm import hoist_invariants
from mini_triton.transforms.peepholes import peepholes
from mini_triton.transforms.predication import predicate_branches
from mini_triton.transforms.rewriting import Rewriter, Rule, by_root

Pass = Callable[[Operation], bool]

PASSES_VARIABLE = "MINI_TRITON_PASSES"
DEFAULT = "inline,cse,(canonicalize,simplify,predicate,licm,cse,dce)*"
ROUNDS = 20
"""More of a repeated group are a mistake: one pass undoes what another one does."""


@functools.cache
def rules() -> Mapping[str, Sequence[Rule]]:
    """Folding and all peepholes, by the names of operations."""
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
}


@dataclass
class Ran:
    """A pass that has run, how long it took, and whether it changed anything."""

    name: str
    seconds: float
    changed: bool


@dataclass
class Manager:
    """Runs passes on a module, up to a `limit`, and keeps a record."""

    module: Module
    limit: int | None = None
    ran: list[Ran] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)  # passes after which nothing has changed

    def run(self, pipeline: str) -> None:
        """Run a pipeline."""
        for names, repeated in parse(pipeline):
            for _ in range(ROUNDS):
                if not any([self.run_pass(name) for name in names]) or not repeated:
                    break
            else:
                raise RuntimeError(f"the passes {','.join(names)} still change the module after {ROUNDS} rounds")

    def run_pass(self, name: str) -> bool:
        """Run one pass; whether it changed anything."""
        if name in self.finished or (self.limit is not None and len(self.ran) >= self.limit):
            return False
        printing = os.environ.get("MINI_TRITON_PRINT") == "passes"
        before = print_module(self.module) if printing else ""
        start = time.perf_counter()
        try:
            changed = PASSES[name](self.module)
        except NotImplementedError:
            changed = False
        self.ran.append(Ran(name, time.perf_counter() - start, changed))
        if changed:
            self.finished.clear()
            verify_after(name, self.module)
        self.finished.add(name)
        if changed and printing:
            print(f"──── before {name}\n{before}──── after {name}, {self.ran[-1].seconds * 1e3:.2f} ms")
            print(print_module(self.module))
        return changed


def parse(pipeline: str) -> Iterator[tuple[list[str], bool]]:
    """The groups of a pipeline: names of passes, and whether they are repeated."""
    rest = pipeline.replace(" ", "")
    while rest:
        found = re.match(r"(?:\(([\w,]+)\)\*|(\w+))(?:,|$)", rest)
        names = (found[1] or found[2]).split(",") if found else []
        if not found or any(name not in PASSES for name in names):
            raise ValueError(f"{rest!r} in {pipeline!r} is not a pipeline of the passes {', '.join(PASSES)}")
        yield names, bool(found[1])
        rest = rest[found.end() :]


def chosen() -> str:
    """The pipeline for all kernels."""
    return os.environ.get(PASSES_VARIABLE, DEFAULT)


def optimize(module: Module, pipeline: str | None = None, limit: int | None = None) -> list[Ran]:
    """Run a pipeline on a module, the chosen one if none is given; at most `limit` passes. Returns what ran."""
    manager = Manager(module, limit)
    manager.run(chosen() if pipeline is None else pipeline)
    return manager.ran


def bisect(make: Callable[[], Module], is_right: Callable[[Module], bool], pipeline: str = DEFAULT) -> Ran | None:
    """The pass after which a module is no longer right; None if it is right in the end.

    `make` makes the module anew, `is_right` runs it and looks.
    """

    def after(limit: int | None) -> tuple[bool, list[Ran]]:
        module = make()
        ran = optimize(module, pipeline, limit)
        return is_right(module), ran

    right, ran = after(None)
    if right:
        return None
    good, bad = 0, len(ran)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if after(middle)[0] else (good, middle)
    return ran[bad - 1]
