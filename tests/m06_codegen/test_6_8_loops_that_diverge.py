"""Task 6.8: loops and branches, which programs may take differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.axes import PROGRAM, Varying
from mini_triton.ir.parser import parse_module

from tests.checks import one_in
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen import counted_kernels as counted
from tests.support.m06_codegen.counted_kernels import BEGIN, PARAMETERS, judge_body, store
from tests.support.m06_codegen.kernels import about, judge_corpus, kernel
from tests.support.m06_codegen.random_programs import BRANCHES_AND_LOOPS, judge_random, kernels

COUNTS = ([0, 1, 2, 3, 4], [4, 0, 2, 0, 1, 0, 3], [0, 0, 0], [5], [-1, 2], [3, 3, 3, 3])


# --- for


@pytest.mark.parametrize("k", [0, 1, 7, -2])
def test_a_loop_for_all_alike(k: int) -> None:
    body = """
        %sum = scf.for %i = %c1 to %k step %c2 iter_args(%s = %n) -> (i32) : i32 {
          %next = arith.addi %s, %i : i32
          scf.yield %next : i32
        }
    """
    judge_body(body + store("%sum"), [4, 0, 9], f"the loop runs over range(1, {k}, 2)", k=k)


@pytest.mark.parametrize("bound", ["%c2000", "%many"])
def test_the_variable_wraps_around(bound: str) -> None:
    """It is no integer of Python's: the cube of 2000 is more than 32 bits have."""
    body = f"""
        %c2000 = arith.constant 2000 : i32
        %many = arith.addi %n, %c2000 : i32
        %sum = scf.for %i = %c0 to {bound} step %k iter_args(%s = %n) -> (i32) : i32 {{
          %square = arith.muli %i, %i : i32
          %cube = arith.muli %square, %i : i32
          %next = arith.addi %s, %cube : i32
          scf.yield %next : i32
        }}
    """
    judge_body(body + store("%sum"), [0, 1], "the variable is an i32, and its cube wraps around", k=400)


@pytest.mark.parametrize("step", ["%k", "%step"])
def test_a_loop_ends_where_numbers_end(step: str) -> None:
    """A step beyond the upper bound would be one beyond the largest number. No such element of x exists."""
    body = f"""
        %step = arith.addi %n, %c2 : i32
        %near = arith.constant 2147483640 : i32
        %last = arith.constant 2147483647 : i32
        %first = arith.addi %near, %n : i32
        %sum = scf.for %i = %first to %last step {step} iter_args(%s = %pid) -> (i32) : i32 {{
          %j = arith.subi %i, %near : i32
          %p = tt.addptr %x, %j : !tt.ptr<i32>, i32
          %y = tt.load %p : !tt.ptr<i32>
          %next = arith.addi %s, %y : i32
          scf.yield %next : i32
        }}
    """
    because = "a program leaves its loop where it ends, and does not begin again at the smallest number"
    judge_body(body + store("%sum"), [0, 1, 5, 2], because, x=[1, 2, 4, 8, 16, 32, 64], k=3)


def test_a_variable_of_64_bits() -> None:
    body = """
        %first = arith.constant 4294967296 : i64
        %step = arith.constant 4294967297 : i64
        %times = arith.extsi %n : i32 to i64
        %span = arith.muli %times, %step : i64
        %end = arith.addi %first, %span : i64
        %sum = scf.for %i = %first to %end step %step iter_args(%s = %c0) -> (i32) : i64 {
          %low = arith.trunci %i : i64 to i32
          %next = arith.addi %s, %low : i32
          scf.yield %next : i32
        }
    """
    judge_body(body + store("%sum"), [0, 3, 1, 5], "the variable is an i64")


BOUNDS = {"upper": "%c0 to %n step %c1", "lower": "%n to %c3 step %c1", "step": "%c0 to %k step %step"}


@pytest.mark.parametrize("differ", BOUNDS)
@pytest.mark.parametrize("counts", COUNTS)
def test_a_loop_for_each_its_own(counts: list[int], differ: str) -> None:
    """Programs differ in where they begin, where they end, or in their steps."""
    body = f"""
        %odd = arith.andi %n, %c3 : i32
        %step = arith.addi %odd, %c1 : i32
        %sum:2 = scf.for %i = {BOUNDS[differ]} iter_args(%s = %pid, %last = %k) -> (i32, i32) : i32 {{
          %ten = arith.muli %s, %c3 : i32
          %next = arith.addi %ten, %i : i32
          scf.yield %next, %i : i32, i32
        }}
        %both = arith.addi %sum#0, %sum#1 : i32
    """
    because = f"the loop is over {BOUNDS[differ]}; a program that has left it keeps what it carried"
    judge_body(body + store("%both"), counts, because, k=5)


@pytest.mark.parametrize("differ", BOUNDS)
@pytest.mark.parametrize("counts", COUNTS)
def test_what_all_carry_alike(counts: list[int], differ: str) -> None:
    """A count of rounds starts alike and goes on alike; but programs leave at different times."""
    body = f"""
        %odd = arith.andi %n, %c3 : i32
        %step = arith.addi %odd, %c1 : i32
        %rounds = scf.for %i = {BOUNDS[differ]} iter_args(%count = %c0) -> (i32) : i32 {{
          %next = arith.addi %count, %c2 : i32
          scf.yield %next : i32
        }}
    """
    judge_body(body + store("%rounds"), counts, "a program counts the rounds that it makes itself", k=5)


def test_values_that_change_places() -> None:
    body = """
        %f:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1, %b = %c2, %c = %k) -> (i32, i32, i32) : i32 {
          %sum = arith.addi %a, %b : i32
          scf.yield %b, %sum, %a : i32, i32, i32
        }
        %d = arith.muli %f#0, %f#1 : i32
        %e = arith.addi %d, %f#2 : i32
    """
    because = "all that is carried gets its new value at once, as in `a, b = b, a + b`"
    judge_body(body + store("%e"), [0, 1, 2, 9], because)


def test_tensors_are_carried() -> None:
    """One that begins as a number all along, and one that has no program in it at first."""
    judge_body(counted.TENSORS_CARRIED, [2, 0, 3, 1], "each program has its own tensors")


@pytest.mark.parametrize("counts", COUNTS)
def test_pointers_are_carried(counts: list[int]) -> None:
    """A pointer moves on from round to round, and stays where its program left the loop."""
    body = """
        %eight = arith.constant 8 : i32
        %row = arith.muli %pid, %eight : i32
        %start = tt.addptr %out, %row : !tt.ptr<i32>, i32
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%p = %start) -> (!tt.ptr<i32>) : i32 {
          tt.store %p, %i : !tt.ptr<i32>
          %next = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
          scf.yield %next : !tt.ptr<i32>
        }
    """
    because = "the last store is behind those of the program's rounds"
    judge_body(body + store("%k", "%end"), counts, because, out=64)


def test_loops_in_loops() -> None:
    """Who has left the outer loop takes no part in the inner one; after both, all go on."""
    because = "a loop is run by the programs that are in it"
    judge_body(counted.LOOPS_IN_LOOPS + store("%last"), [2, 0, 5, 1], because, k=4)
    judge_body(counted.INNER_STORES, [2, 0, 5, 1], because)


@pytest.mark.parametrize(
    ("bounds", "type"),
    [
        ("%i = %c0 to %n step %step", "i32"),
        ("%i = %none to %long_n step %long_step", "i64"),
        ("%i = %near to %most step %c2", "i32"),
    ],
)
def test_the_variable_wraps_around_after_a_program_has_left(bounds: str, type: str) -> None:
    """Others go on with their rounds, in which `first + rounds * step` of this program may be small again."""
    body = counted.WRAPPING.format(bounds, type) + store("%rounds", "%result")
    because = "a program that has left a loop does not come back, whatever becomes of its variable"
    judge_body(body, [10, 100], because, x=[2**29, 1], out=102)


# --- memory


def test_a_loop_touches_memory_for_its_programs_only() -> None:
    """Program p reads x[0], ..., x[n - 1], and x has no more elements than the longest loop has rounds."""
    body = """
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
          %j = arith.addi %i, %pid : i32
          %p = tt.addptr %x, %j : !tt.ptr<i32>, i32
          %y = tt.load %p : !tt.ptr<i32>
          tt.store %at_out, %y : !tt.ptr<i32>
          %next = arith.addi %s, %y : i32
          scf.yield %next : i32
        }
        %eight = arith.constant 8 : i32
        %q = tt.addptr %at_out, %eight : !tt.ptr<i32>, i32
    """
    because = "a program that is not in the loop any more reads nothing, and its element of %out stays"
    judge_body(body + store("%sum", "%q"), [4, 3, 0, 1, 0, 0], because, x=[1, 2, 4, 8])


def test_a_loop_in_a_branch() -> None:
    """What is inside is for programs that are inside all around it, too."""
    because = "programs whose %n is no more than 1 do nothing"
    judge_body(counted.LOOP_IN_BRANCH, [1, 3, 1, 0, 2], because)


# --- while


@pytest.mark.parametrize("counts", COUNTS)
def test_while(counts: list[int]) -> None:
    """How often 3 goes into a number, and what is left: what the first block forwards is not what it gets."""
    because = "a program stops when its condition is false, and results in what the first block forwarded last"
    judge_body(counted.DIVIDED + store("%sum", "%p"), [3 * n + 1 for n in counts], because)


def test_while_inside() -> None:
    """A while loop that some programs do not reach, and that reads memory with its condition already."""
    because = "a program whose loop is over, or that has none, reads nothing"
    judge_body(counted.GUARDED_WHILE, [1, -100, 3, -5, 0, 2], because, x=[7, 5, 3, 6, 3])


def test_what_a_condition_loads() -> None:
    """Where is the first element, from the program's own on, that is not below 9? Which one is it?"""
    because = "a program that has stopped keeps what was forwarded last, also if that was loaded"
    x = [3, 9, 4, 5, 8, 12, 10]
    judge_body(counted.SEARCH + store("%both"), [2, 0, 6, 1, 5], because, x=x, k=9)


# --- axes


def test_along_which_axes() -> None:
    """Programs that leave a loop at different times differ in what it carries, if they do not in anything else."""
    head = "%r = scf.for %i = {} iter_args(%s = %c0) -> (i32) : i32 {{"
    body = "%t = arith.addi %s, %c1 : i32\nscf.yield %t : i32\n}\n"
    for bounds, carried_differs, variable_differs in (
        ("%c0 to %k step %c1", False, False),
        ("%c0 to %n step %c1", True, False),
        ("%n to %k step %c1", True, True),
        ("%c0 to %k step %n", True, True),
    ):
        text = kernel(PARAMETERS, BEGIN + head.format(bounds) + body + store("%r"))
        (function,) = parse_module(text).body.operations
        axes = about("Varying(function).axes", text, lambda: Varying(function).axes).succeeds()  # noqa: B023
        (loop,) = [operation for operation in function.walk() if operation.name == "scf.for"]
        variable, carried = loop.regions[0].block.arguments
        got = [PROGRAM in axes[value] for value in (carried, loop.result, variable)]
        wanted = [carried_differs, carried_differs, variable_differs]
        assert got == wanted, (
            f"The loop over {bounds}, where only %n differs from program to program.\n"
            f"  expected  [carried, result, variable] differ: {wanted}\n  got       {got}"
        )


# --- all together


@one_in(2)
@given(kernel=kernels(BRANCHES_AND_LOOPS), seed=st.integers(0, 9))
def test_random_programs(kernel: Kernel, seed: int) -> None:
    """Loops and branches in each other, with loads and stores."""
    judge_random(kernel, seed)


CORPUS = [case for case in CASES if str(case) in ("loop_bounds", "unchanged_carry", "early_exits_2")]


@pytest.mark.parametrize("case", CORPUS, ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """Beside what a GPU has computed."""
    judge_corpus(case)
