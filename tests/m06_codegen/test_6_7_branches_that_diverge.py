"""Task 6.7: divergent branches."""

from typing import Any

import numpy as np
import pytest
from mini_triton.ir.storage import OutOfBounds

from tests.checks import calling
from tests.support.m06_codegen.kernels import counted, judge, judge_counted, running

COUNTS = ([0, 1, 2, 3, 4], [4, 0, 2, 0, 1, 0, 3], [0, 0, 0], [5], [-1, 2], [3, 3, 3, 3])


@pytest.mark.parametrize("counts", COUNTS)
def test_results_of_both_sides(counts: list[int]) -> None:
    """All programs take one side, all take the other, or some take each."""
    lines = """
        if n > 1:
            a, b = n * 3, k
        else:
            a, b = pid - k, n
        tl.store(out + pid, a - b)
    """
    judge_counted(lines, counts, "a program's result is yielded by the side that it takes")


def test_tensors_and_pointers_as_results() -> None:
    lines = """
        p = out + 2 * n
        y = tl.full((4,), 1, tl.int32)
        if n > 2:
            p += n
            y = tl.arange(0, 4)
        tl.store(p + tl.arange(0, 4), y)
    """
    judge_counted(lines, [4, 0, 8, 2], "each program has its own tensor and its own pointer")


def test_a_branch_touches_memory_for_its_programs_only() -> None:
    """There are more programs than elements, so `if pid < k` guards the accesses."""
    lines = """
        if pid < k:
            tl.store(out + pid, tl.load(x + pid))
    """
    judge_counted(lines, [0] * 9, "programs 3 and above neither read nor write", x=[5, 6, 7], out=3)


STORES = {"a value": "out, pid", "a mask": "out, k, mask=pid > 1", "nothing": "out, k, mask=k < 0"}


@pytest.mark.parametrize("differ", STORES)
def test_one_element_for_all_programs(differ: str) -> None:
    """The pointer is uniform; the stored value or the mask varies."""
    lines = f"if n == 2:\n    tl.store({STORES[differ]})"
    judge_counted(lines, [0, 1, 2, 3, 0], "only program 2 stores something")
    judge_counted(lines, [2, 1, 0, 3, 0], "only program 0 is in the branch")


@pytest.mark.parametrize("counts", [[9, 9], [2, 3], [9, 2]], ids=str)
def test_a_side_that_no_program_takes(counts: list[int]) -> None:
    """A side without programs is skipped: nothing in its stores differs between programs, so they have no mask."""
    lines = """
        if n > 5:
            tl.store(out, 1)
        else:
            tl.store(out + 1, 2)
    """
    judge_counted(lines, counts, "a side that no program takes stores nothing")


def test_values_that_are_the_same_for_all_programs() -> None:
    """A load whose operands are uniform has a uniform result, even in a branch: it needs no mask."""
    lines = """
        if n > 1:
            lanes = tl.arange(0, 4)
            tl.store(out + pid * 4 + lanes, tl.load(x) + tl.load(x + lanes))
    """
    judge_counted(lines, [2, 0, 3, 5], "`tl.load(x)` is one number for all programs")


@pytest.mark.parametrize("load", ["x + 9, mask=n < 1", "x + 9, mask=n < 1, other=7", "x + tl.where(n < 1, 9, 0)"])
def test_loads_of_inactive_programs(load: str) -> None:
    """The pointer is uniform, and the mask varies, or the other way around. Only inactive programs would read x[9]."""
    lines = f"if n > 1:\n    tl.store(out + pid, tl.load({load}))"
    judge_counted(lines, [0, 2, 1, 3], "programs with %n <= 1 read nothing")


@pytest.mark.parametrize("k", [0, 2, 4])
def test_a_mask_of_an_inactive_program(k: int) -> None:
    """The access has its own mask, and is in a divergent branch."""
    lines = """
        lanes = tl.arange(0, 4)
        at = pid * 4 + lanes
        if pid < k:
            y = tl.load(x + at, mask=lanes < n, other=pid)
            tl.store(out + at, y)
    """
    because = f"only lanes of programs below {k} whose mask is true read; other lanes may be out of bounds"
    judge_counted(lines, [4, 2, 4, 1, 3, 4], because, x=range(9, 9 + 4 * k) or [1], out=max(4 * k, 6), k=k)


def test_a_branch_in_a_branch() -> None:
    """Only programs that are in the outer branch run the inner branch."""
    lines = """
        if n > 1:
            if pid > 1:
                tl.store(out + pid, pid)
            else:
                tl.store(out + pid, n)
            tl.store(x + pid, -n)
    """
    n, pid, out = np.array([0, 2, 1, 3, 0, 5], np.int32), np.arange(6, dtype=np.int32), np.full(6, -7, np.int32)
    x = n.copy()
    expected = [n, np.where(n > 1, -n, x), np.where(n > 1, np.where(pid > 1, pid, n), out), 0]
    because = "a program with %n <= 1 takes neither side of the inner branch, and does not run what comes after it"
    judge(counted(lines), (6,), [n, x, out, 0], expected, because)


def test_the_error_names_the_program() -> None:
    """Programs 1 and 4 are in the branch; program 4 reads out of bounds."""
    text = counted("if n > 0:\n    tl.store(out + pid, tl.load(x + n))")
    arguments: list[Any] = [np.array(numbers, np.int32) for numbers in ([-9, 3, -8, 0, 77, 0], [1, 2, 3, 4], [0] * 6)]
    call = running(text, (6,), [*arguments, 0])
    call.raises(OutOfBounds)
    try:
        call()
    except OutOfBounds as error:
        calling(getattr, error, "program").returns((4, 0, 0), "programs whose condition is false read nothing")
        calling(getattr, error, "element").returns(77)
