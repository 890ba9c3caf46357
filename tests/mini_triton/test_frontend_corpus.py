"""The front end on the corpus: real Triton accepts what it makes, and finds in it what its own front end makes.

All kernels are asked about at once, when the first test asks.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pytest
from hypothesis import settings
from mini_triton.errors import CompilationError
from mini_triton.ir.printer import print_module

from grader.job import EXAMPLES
from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import TARGETS, Case
from tests.mini_triton.explained import DIFFERENT_CODE, DIFFERENT_OPERATIONS, Explained
from tests.oracles import records, triton
from tests.support import sources
from tests.support.m05_frontend.difference import difference

INSTRUCTIONS = (
    *("ld.global", "st.global", "ld.shared", "st.shared", "ldmatrix", "atom", "red"),
    *("mma", "wgmma.mma_async", "cp.async"),
)
DISTINCT = tuple(
    {(case.kernel, repr(case.source())): case for case in CASES}.values()
)  # some differ in the launch only
SOME = DISTINCT[:: max(1, EXAMPLES // settings().max_examples)]  # compiled down to machine code, which takes long


@dataclass(frozen=True)
class Judged:
    """A kernel as both front ends make it."""

    ours: str  # as printed, or why our front end refused the kernel
    accepted: triton.Answer
    theirs: triton.Made


@functools.cache
def judged() -> dict[Case, Judged]:
    texts = [printed(case) for case in DISTINCT]
    theirs = triton.frontends([case.source() for case in DISTINCT])
    answers = zip(DISTINCT, texts, triton.accepts_many(texts), theirs, strict=True)
    return {case: Judged(ours, accepted, theirs) for case, ours, accepted, theirs in answers}


@functools.cache
def compiled(target: str) -> dict[Case, tuple[triton.Compiled, triton.Compiled]]:
    """Their machine code and ours."""
    theirs = triton.frontends([case.source(target) for case in SOME], lower=True)
    ours = triton.compile_many([judged()[case].ours for case in SOME], target)
    return {case: (a.compiled, b) for case, a, b in zip(SOME, theirs, ours, strict=True)}


def printed(case: Case) -> str:
    """What our front end makes of a kernel; a refusal is a text that real Triton does not accept, either."""
    try:
        return print_module(sources.compiled(case.source(), str(case.path)))
    except CompilationError as error:
        return str(error)


def judge(case: Case) -> Judged:
    """The judgement of a kernel that both front ends compile."""
    result = judged()[case]
    assert result.theirs, f"real Triton {triton.version()} refuses {case}: {result.theirs.diagnostic}"
    assert result.accepted, f"real Triton does not accept our {case}: {result.accepted.diagnostic}\n{result.ours}"
    return result


def explained(table: dict[str, Explained], case: Case, found: str) -> None:
    """What was found is what the table has for this kernel, or for all of its specialisations: mostly nothing."""
    entry = table.get(str(case)) or table.get(case.kernel)
    if entry and triton.version() != records.LEADING:
        return
    expected = entry.difference if entry else ""
    assert found == expected, (
        f"{case}: not what real Triton's front end makes of it\n  found     {found or 'no difference'}\n"
        f"  expected  {expected or 'no difference'}"
    )


@pytest.mark.parametrize("case", DISTINCT, ids=str)
def test_accepted(case: Case) -> None:
    judge(case)


@pytest.mark.parametrize("case", DISTINCT, ids=str)
def test_same_operations(case: Case) -> None:
    """How often each operation occurs, after real Triton's canonicalizer and CSE; theirs → ours where that differs."""
    result = judge(case)
    if triton.version() != records.LEADING:
        oracles.unavailable(f"the differences are explained for Triton {records.LEADING}")
    ours, theirs = triton.ops(result.ours, triton.COMMON_PASSES), result.theirs.ops
    counts = {name: (theirs.get(name, 0), ours.get(name, 0)) for name in sorted({*ours, *theirs})}
    explained(DIFFERENT_OPERATIONS, case, ", ".join(f"{name} {a} → {b}" for name, (a, b) in counts.items() if a != b))


@pytest.mark.parametrize("case", DISTINCT, ids=str)
def test_same_values(case: Case) -> None:
    """What is computed from what, and what is done to memory in which order."""
    result = judge(case)
    if " cf." in result.theirs.canonical:
        assert str(case) in DIFFERENT_OPERATIONS or case.kernel in DIFFERENT_OPERATIONS
        return
    if triton.version() != records.LEADING:
        oracles.unavailable(f"the differences are explained for Triton {records.LEADING}")
    found = difference(triton.canonical(result.ours), result.theirs.canonical)
    assert not found, f"{case}: not what real Triton's front end makes of it\n{found}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", SOME, ids=str)
def test_same_code(case: Case, target: str) -> None:
    """As many instructions of each kind for memory and matrices, and as much shared memory; theirs → ours."""
    judge(case)
    theirs, ours = compiled(target)[case]
    assert ours, f"real Triton does not compile our {case} for {target}: {ours.diagnostic}"
    assert ours.cubin_size > 0
    counts = {name: (theirs.count(name), ours.count(name)) for name in INSTRUCTIONS}
    counts["shared"] = theirs.shared, ours.shared
    explained(DIFFERENT_CODE, case, ", ".join(f"{name} {a} → {b}" for name, (a, b) in counts.items() if a != b))
