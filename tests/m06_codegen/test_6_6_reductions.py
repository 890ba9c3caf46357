"""Task 6.6: kernels with reductions, scans and dot products, of all programs at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen.kernels import judge_corpus, judge_counted
from tests.support.m06_codegen.random_programs import REDUCTIONS, judge_random, kernels


@one_in(4)
@given(kernel=kernels(REDUCTIONS), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """All programs at once store the same values as one program after the other, element by element."""
    judge_random(kernel, seed)


NAMES = "arg_reductions batched_dot concatenated custom_reductions group_norm half_reductions reduce_axes scan_axes"
NAMES += " segmented_sum several_results softmax_row three_axes"


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in NAMES.split()], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """The results equal a GPU's recorded results."""
    judge_corpus(case)


# --- operands that do not vary

SOURCES = {
    "alike everywhere": "tl.full((2, 4), 5, tl.int32)",
    "by program": "tl.full((2, 4), pid, tl.int32)",
    "by row": "tl.zeros((2, 4), tl.int32) + tl.arange(0, 2)[:, None]",
    "by column": "tl.zeros((2, 4), tl.int32) + tl.arange(0, 4)[None, :]",
    "by program and column": "tl.full((2, 4), pid, tl.int32) * 10 + tl.arange(0, 4)[None, :]",
}
OFFSETS = "rows, columns = tl.arange(0, 2), tl.arange(0, 4)\nall = pid * 8 + rows[:, None] * 4 + columns[None, :]\n"


@pytest.mark.parametrize("source", SOURCES)
def test_sums(source: str) -> None:
    """Reductions of values that are the same along an axis, or in all programs."""
    lines = f"""\
v = {SOURCES[source]}
tl.store(out + pid * 4 + columns, tl.sum(v, 0))
tl.store(out + 16 + pid * 2 + rows, tl.sum(v, 1))
for axis in tl.static_range(2):
    tl.store(out + 32 + axis * 32 + all, tl.cumsum(v, axis))
    tl.store(out + 96 + axis * 32 + all, tl.cumsum(v, axis, reverse=True))
"""
    judge_counted(OFFSETS + lines, [0, 0, 0], f"the operand's elements are given by `{SOURCES[source]}`", out=160)


def test_sums_of_constants() -> None:
    """They are numbers, and a reshape or a broadcast may follow."""
    lines = """\
v = tl.reshape(tl.sum(tl.full((2, 4, 4), 5, tl.int32), 0), (16,)) + tl.arange(0, 16)
tl.store(out + tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :], v[:, None] + tl.arange(0, 2)[None, :])
"""
    judge_counted(lines, [0, 0, 0], "all elements of the operands are equal", out=32)


LARGEST = """\
def largest(a, i, b, j):
    more = b > a
    return tl.where(more, b, a), tl.where(more, j, i)
"""


@pytest.mark.parametrize("other", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_operands_that_vary_differently(source: str, other: str) -> None:
    """A reduction of two operands finds the largest number of one, and the other operand's element at the same place.

    If several numbers are equal, the first counts. Two reductions and a scan run one after the other.
    """
    lines = f"""\
v, w = {SOURCES[source]}, {SOURCES[other]}
a, b = tl.reduce((v, w), 1, largest)
c, d = tl.reduce((w, 3 - v), 1, largest)
tl.store(out + pid * 2 + rows, a * 1000 + b * 100 + c * 10 + d)
e, f = tl.associative_scan((v, w), 1, largest, reverse=True)
tl.store(out + 32 + all, e * 100 + f)
"""
    judge_counted(
        OFFSETS + lines,
        [0, 0, 0],
        f"the operands are `{SOURCES[source]}` and `{SOURCES[other]}`",
        out=64,
        helper=LARGEST,
    )


CONSTANT = """\
def constant(a, i, b, j):
    return a + b, tl.full((), 7, tl.int32)
"""


def test_a_constant_combination() -> None:
    """One result is the same number for every pair. The first element of a scan is not combined."""
    lines = """\
v, w = tl.full((2, 4), pid, tl.int32), tl.zeros((2, 4), tl.int32) + columns[None, :]
a, b = tl.reduce((v, w), 1, constant)
c, d = tl.associative_scan((v, w), 1, constant)
tl.store(out + pid * 2 + rows, a * 100 + b)
tl.store(out + 32 + all, c * 100 + d)
"""
    judge_counted(OFFSETS + lines, [0, 0, 0], "a pair's second result is 7", out=64, helper=CONSTANT)


# --- dot

MATRICES = {
    "numbers": "square",
    "numbers of each program": "square + pid",
    "one number of each program": "tl.full((32, 32), pid + 1, tl.int32)",
    "one number": "tl.full((32, 32), 3, tl.int32)",
}


@pytest.mark.parametrize("a", MATRICES)
@pytest.mark.parametrize("b", MATRICES)
def test_dot(a: str, b: str) -> None:
    """Matrices and accumulators that vary between programs, that are uniform, or that are constant."""
    for c in ("one number", "one number of each program"):
        lines = f"""
            at = tl.arange(0, 1024).reshape(32, 32)
            square = at & 7
            a, b = ({MATRICES[a]}).to(tl.int8), ({MATRICES[b]}).to(tl.int8)
            tl.store(out + pid * 1024 + at, tl.dot(a, b, {MATRICES[c]}, out_dtype=tl.int32))
        """
        judge_counted(lines, [0, 0], f"this is the product of {a} and {b}, plus {c}", out=2048)
