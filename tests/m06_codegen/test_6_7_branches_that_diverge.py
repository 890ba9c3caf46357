"""Task 6.7: branches that programs take differently."""

from __future__ import annotations

import numpy as np
import pytest
from mini_triton.ir.storage import OutOfBounds

from tests.checks import calling
from tests.support.m06_codegen import counted_kernels as counted
from tests.support.m06_codegen.counted_kernels import BEGIN, PARAMETERS, judge_body, number, store
from tests.support.m06_codegen.kernels import judge, kernel, running

COUNTS = ([0, 1, 2, 3, 4], [4, 0, 2, 0, 1, 0, 3], [0, 0, 0], [5], [-1, 2], [3, 3, 3, 3])


@pytest.mark.parametrize("counts", COUNTS)
def test_results_of_both_ways(counts: list[int]) -> None:
    """All go one way, all the other, or some each."""
    body = """
        %some = arith.cmpi sgt, %n, %c1 : i32
        %y:2 = scf.if %some -> (i32, i32) {
          %more = arith.muli %n, %c3 : i32
          scf.yield %more, %c2 : i32, i32
        } else {
          %less = arith.subi %pid, %k : i32
          scf.yield %less, %n : i32, i32
        }
        %both = arith.subi %y#0, %y#1 : i32
    """
    judge_body(body + store("%both"), counts, "a result is what the way yields that the program went")


def test_tensors_and_pointers_as_results() -> None:
    judge_body(counted.TENSORS_CHOSEN, [4, 0, 8, 2], "each program has its own tensor and its own pointer")


def test_a_branch_touches_memory_for_its_programs_only() -> None:
    """The well-known guard: `if pid < k`. There are more programs than elements."""
    body = """
        %inside = arith.cmpi slt, %pid, %k : i32
        scf.if %inside {
          %p = tt.addptr %x, %pid : !tt.ptr<i32>, i32
          %y = tt.load %p : !tt.ptr<i32>
          tt.store %at_out, %y : !tt.ptr<i32>
        }
    """
    judge_body(body, [0] * 9, "programs from 3 on neither read nor write", x=[5, 6, 7], out=3)


@pytest.mark.parametrize("differ", counted.ALL_IN_ONE_PLACE)
def test_one_place_for_all(differ: str) -> None:
    """The pointer is the same for all programs; what they store there, or whether, is not."""
    because = "only program 2 stores something"
    judge_body(counted.ALL_IN_ONE_PLACE[differ], [0, 1, 2, 3, 0], because)
    judge_body(counted.ALL_IN_ONE_PLACE[differ], [2, 1, 0, 3, 0], "only program 0 is in the branch")


@pytest.mark.parametrize("k", [0, 2, 4])
def test_a_mask_of_a_program_that_takes_no_part(k: int) -> None:
    """An access has a mask of its own, and only some of the programs make it."""
    because = f"lanes of programs below {k} that their own mask lets through read; what is masked off may be anywhere"
    judge_body(counted.MASKED, [4, 2, 4, 1, 3, 4], because, x=list(range(9, 9 + 4 * k)) or [1], out=max(4 * k, 6), k=k)


def test_a_branch_in_a_branch() -> None:
    """What is inside is for programs that are inside all around it, too."""
    n, pid, out = number([0, 2, 1, 3, 0, 5]), np.arange(6, dtype=np.int32), np.full(6, -7, np.int32)
    expected = [n, n, np.where(n > 1, np.where(pid > 1, pid, n), out), 0]
    because = "a program whose %n is no more than 1 is in neither way of the inner branch"
    judge(kernel(PARAMETERS, BEGIN + counted.BRANCH_IN_BRANCH), (6,), [n, n, out, 0], expected, because)


def test_the_error_names_the_program() -> None:
    """Programs 1 and 4 are in the branch; the second of these reads what is not there."""
    body = """
        %some = arith.cmpi sgt, %n, %c0 : i32
        scf.if %some {
          %p = tt.addptr %x, %n : !tt.ptr<i32>, i32
          %y = tt.load %p : !tt.ptr<i32>
          tt.store %at_out, %y : !tt.ptr<i32>
        }
    """
    text = kernel(PARAMETERS, BEGIN + body)
    arguments = [number([-9, 3, -8, 0, 77, 0]), number([1, 2, 3, 4]), np.zeros(6, np.int32), 0]
    call = running(text, (6,), arguments)
    call.raises(OutOfBounds)
    try:
        call()
    except OutOfBounds as error:
        calling(getattr, error, "program").returns((4, 0, 0), "programs whose condition is false read nothing")
        calling(getattr, error, "element").returns(77)
