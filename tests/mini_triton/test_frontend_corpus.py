"""The front end on the corpus: our modules equal those of real Triton's front end, down to machine code."""

import functools

import pytest
from hypothesis import settings

from grader.child.job import EXAMPLES
from tests.corpus import CASES
from tests.corpus.cases import TARGETS, Case
from tests.oracles import records, triton
from tests.support.m05_frontend.compilation import judge_valid, outcome

INSTRUCTIONS = (
    *("ld.global", "st.global", "ld.shared", "st.shared", "ldmatrix", "atom", "red"),
    *("mma", "wgmma.mma_async", "cp.async"),
)
DIFFERENT_CODE = {
    # Triton unrolls the loop before this stage: a TTIR file is compiled from the next stage on.
    "dropout_matrix": "ld.global 4 → 2, st.global 3 → 1",
    # Triton's own passes on TTIR, which a TTIR file does not go through, change the order of its operations.
    "compact": "ld.shared 9 → 8, st.shared 9 → 8, shared 2048 → 1024",
}
"""Kernels whose machine code may differ: theirs → ours."""
DISTINCT = tuple(
    {(case.kernel, repr(case.source())): case for case in CASES}.values()
)  # some differ in the launch only
SOME = DISTINCT[:: max(1, EXAMPLES // settings().max_examples)]  # compiled down to machine code, which takes long


@functools.cache
def compiled(target: str) -> dict[Case, tuple[triton.Compiled, triton.Compiled]]:
    """Their machine code and ours, for all kernels in one request."""
    theirs = triton.frontends([case.source(target) for case in SOME], lower=True)
    ours = triton.compile_many([str(outcome(case.source())) for case in SOME], target)
    return {case: (a.compiled, b) for case, a, b in zip(SOME, theirs, ours, strict=True)}


@pytest.mark.parametrize("case", DISTINCT, ids=str)
def test_same_values(case: Case) -> None:
    """The flow of data, and the effects on memory in order."""
    judge_valid(case.source())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", SOME, ids=str)
def test_same_code(case: Case, target: str) -> None:
    """The same number of instructions for memory and matrices, by kind, and the same shared memory; theirs → ours."""
    theirs, ours = compiled(target)[case]
    assert ours, f"real Triton does not compile our {case} for {target}: {ours.diagnostic}"
    assert ours.cubin_size > 0
    counts = {name: (theirs.count(name), ours.count(name)) for name in INSTRUCTIONS}
    counts["shared"] = theirs.shared, ours.shared
    found = ", ".join(f"{name} {a} → {b}" for name, (a, b) in counts.items() if a != b)
    expected = DIFFERENT_CODE.get(case.kernel, "")
    if not expected or triton.version() == records.LEADING:
        assert found == expected, f"{case}: {found or 'no difference'}; expected {expected or 'no difference'}"
