"""Task 6.8: divergent loops, and branches in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.analysis.axes import PROGRAM, Varying
from mini_triton.ir.parser import parse_module

from tests.checks import one_in
from tests.corpus import named
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen.kernels import about, counted, judge, judge_corpus, judge_counted, kernel
from tests.support.m06_codegen.random_programs import BRANCHES_AND_LOOPS, judge_random, kernels

COUNTS = ([0, 1, 2, 3, 4], [4, 0, 2, 0, 1, 0, 3], [0, 0, 0], [5], [-1, 2], [3, 3, 3, 3])
each_counts = pytest.mark.parametrize("counts", COUNTS)

# --- for


@pytest.mark.parametrize("k", [0, 1, 7, -2])
def test_a_uniform_loop(k: int) -> None:
    lines = """
        for i in range(1, k, 2):
            n += i
        tl.store(out + pid, n)
    """
    judge_counted(lines, [4, 0, 9], f"the loop runs over range(1, {k}, 2)", k=k)


def test_a_sum_of_constants_is_a_bound() -> None:
    lines = """
        for i in range(0, tl.sum(tl.full((1, 4), 1, tl.int32), 1).item()):
            n += i
        tl.store(out + pid, n)
    """
    judge_counted(lines, [4, 0, 9], "the sum of four ones is the same in all programs")


@pytest.mark.parametrize("bound", ["2000", "n + 2000"])
def test_the_variable_wraps_around(bound: str) -> None:
    """The induction variable is not a Python integer: the cube of 2000 does not fit in 32 bits."""
    lines = f"""
        total = n
        for i in range(0, {bound}, k):
            total += i * i * i
        tl.store(out + pid, total)
    """
    judge_counted(lines, [0, 1], "the induction variable is an i32, and its cube wraps around", k=400)


@pytest.mark.parametrize("step", ["k", "n + 2"])
def test_a_loop_ends_where_numbers_end(step: str) -> None:
    """A step past the upper bound would overflow, and `x` has no element for the result."""
    lines = f"""
        for i in range(2147483640 + n, 2147483647, {step}):
            pid += tl.load(x + (i - 2147483640))
        tl.store(out + tl.program_id(0), pid)
    """
    because = "a program leaves the loop before its induction variable wraps around to the smallest number"
    judge_counted(lines, [0, 1, 5, 2], because, x=[1, 2, 4, 8, 16, 32, 64])


def test_a_variable_of_64_bits() -> None:
    lines = """
        total = 0
        for i in range(4294967296, 4294967296 + n.to(tl.int64) * 4294967297, 4294967297):
            total += i.to(tl.int32)
        tl.store(out + pid, total)
    """
    judge_counted(lines, [0, 3, 1, 5], "the induction variable is an i64")


BOUNDS = {"upper": "range(0, n)", "lower": "range(n, 3)", "step": "range(0, k, (n & 3) + 1)"}
each_bounds = pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)


@each_bounds
@each_counts
def test_a_divergent_loop(counts: list[int], bounds: str) -> None:
    """Programs differ in their lower bounds, upper bounds, or steps."""
    lines = f"""
        total, last = pid, k
        for i in {bounds}:
            total, last = total * 3 + i, i
        tl.store(out + pid, total + last)
    """
    because = f"the loop is over {bounds}; a program that has left it keeps its carried values"
    judge_counted(lines, counts, because, k=5)


@each_bounds
@each_counts
def test_carried_values_that_start_uniform(counts: list[int], bounds: str) -> None:
    """A count of iterations starts uniform and grows uniformly, but programs leave the loop at different times."""
    lines = f"""
        rounds = 0
        for i in {bounds}:
            rounds += 2
        tl.store(out + pid, rounds)
    """
    judge_counted(lines, counts, "a program counts its own iterations", k=5)


@pytest.mark.parametrize("bounds", ["range(0, n)", "range(0, k)", "range(n, 300)"])
def test_hundreds_of_iterations(bounds: str) -> None:
    """Loops of up to 300 iterations, which do not fit in 8 bits."""
    lines = f"""
        total = pid
        for i in {bounds}:
            total += i
        tl.store(out + pid, total)
    """
    judge_counted(lines, [300, 1, 130, 0], f"the loop runs over {bounds}", k=300)


@pytest.mark.parametrize("bound", ["n", "k"])
def test_swapped_values(bound: str) -> None:
    lines = f"""
        a, b, c = k - 2, k - 1, k
        for i in range(0, {bound}):
            a, b, c = b, a + b, a
        tl.store(out + pid, a * b + c)
    """
    because = "all carried values change at once, as in `a, b = b, a + b`"
    judge_counted(lines, [0, 1, 2, 9], because)


def test_tensors_are_carried() -> None:
    """One carried value starts as zeros, and the other as a range; both are uniform at first."""
    lines = """
        lanes = tl.arange(0, 4)
        a, b = tl.zeros((4,), tl.int32), lanes
        for i in range(0, n):
            a, b = a + b, i + b
        tl.store(out + pid * 4 + lanes, a + b)
    """
    judge_counted(lines, [2, 0, 3, 1], "each program has its own tensors")


@each_counts
def test_pointers_are_carried(counts: list[int]) -> None:
    """A pointer moves in each iteration, until its program leaves the loop."""
    lines = """
        p = out + pid * 8
        for i in range(0, n):
            tl.store(p, i)
            p += 1
        tl.store(p, k)
    """
    judge_counted(lines, counts, "the last store follows the elements that the loop stored", out=64)


def test_loops_in_loops() -> None:
    """A program that has left the outer loop does not run the inner one; after both, all programs continue."""
    lines = """
        total = 0
        for i in range(0, n):
            for j in range(i, k):
                for m in range(0, j):
                    total += m
                total += 1
                tl.store(out + 8 + pid, i)
        tl.store(out + pid, total + k)
    """
    judge_counted(lines, [2, 0, 5, 1], "only programs that are in the outer loop run the inner loops", k=4)


@pytest.mark.parametrize(
    "bounds",
    [
        "range(0, n, tl.load(x + pid))",
        "range(0, n.to(tl.int64) * 4294967296, tl.load(x + pid).to(tl.int64) * 4294967296)",
        "range(2147483640 + pid, 2147483647, k - 1)",
    ],
)
def test_the_variable_wraps_around_after_a_program_has_left(bounds: str) -> None:
    """While other programs continue, `first + iterations * step` of a program that has left may wrap around."""
    lines = f"""
        rounds = 0
        for i in {bounds}:
            tl.store(out + rounds, 3)
            rounds += 1
        tl.store(out + 100 + pid, rounds)
    """
    because = "a program that has left a loop does not re-enter it, even if its variable wraps around"
    judge_counted(lines, [10, 100], because, x=[2**29, 1], out=102)


# --- memory


def test_a_loop_touches_memory_for_its_programs_only() -> None:
    """Program p reads x[p], ..., x[p + n - 1]. A further iteration of the first two programs is out of bounds."""
    lines = """
        total = 0
        for i in range(0, n):
            y = tl.load(x + i + pid)
            tl.store(out + pid, y)
            total += y
        tl.store(out + 8 + pid, total)
    """
    because = "a program that has left the loop neither reads %x nor stores y"
    judge_counted(lines, [4, 3, 0, 1, 0, 0], because, x=[1, 2, 4, 8])


def test_a_loop_in_a_branch() -> None:
    """Only programs in the branch run the loop."""
    lines = """
        if n > 1:
            for i in range(0, n):
                tl.store(out + pid, i)
    """
    judge_counted(lines, [1, 3, 1, 0, 2], "programs with %n <= 1 do nothing")


# --- while


@each_counts
def test_while(counts: list[int]) -> None:
    """Quotient and remainder of a division by 3."""
    lines = """
        times = 0
        while n >= 3:
            tl.store(out + pid, n)
            n -= 3
            times += 1
        tl.store(out + 20 + pid, 10 * times + n)
    """
    because = "a program stops when its condition is false, and keeps its carried values"
    judge_counted(lines, [3 * n + 1 for n in counts], because)


@pytest.mark.parametrize("condition", ["rounds < n", "rounds < k"], ids=["divergent", "uniform"])
def test_a_while_counts(condition: str) -> None:
    """Values that start uniform and change uniformly, in a loop that programs leave one by one or together."""
    lines = f"""
        rounds, last = 0, k
        while {condition}:
            rounds, last = rounds + 1, rounds * 2
        tl.store(out + pid, rounds * 100 + last)
    """
    judge_counted(lines, [2, 0, 3, 1], "a program keeps the values that were forwarded last")


def test_a_uniform_while_in_a_branch() -> None:
    """All programs in the branch leave the loop together; the others do not store."""
    lines = """
        times = 0
        if n > 1:
            while times < k:
                tl.store(out + pid * 4 + times, n + times)
                times += 1
        tl.store(out + 24 + pid, times)
    """
    judge_counted(lines, [2, 0, 3, 1], "programs with %n <= 1 do not run the loop")


def test_while_inside() -> None:
    """A while loop that some programs do not reach, and whose condition reads memory."""
    lines = """
        if n > 0:
            while tl.load(x + n) != k:
                n += 1
            tl.store(out + pid, n)
    """
    because = "a program that has left the loop, or did not reach it, reads nothing"
    judge_counted(lines, [1, -100, 3, -5, 0, 2], because, x=[7, 5, 3, 6, 3])


SEARCH = """
    %pid = tt.get_program_id x : i32
    %at = tt.addptr %counts, %pid : !tt.ptr<i32>, i32
    %n = tt.load %at : !tt.ptr<i32>
    %one = arith.constant 1 : i32
    %r:2 = scf.while (%i = %n) : (i32) -> (i32, i32) {
      %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
      %y = tt.load %p : !tt.ptr<i32>
      %more = arith.cmpi slt, %y, %k : i32
      scf.condition(%more) %i, %y : i32, i32
    } do {
    ^bb0(%j: i32, %z: i32):
      %next = arith.addi %j, %one : i32
      scf.yield %next : i32
    }
    %ten = arith.constant 10 : i32
    %tens = arith.muli %r#0, %ten : i32
    %both = arith.addi %tens, %r#1 : i32
    %to = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %to, %both : !tt.ptr<i32>
"""


def test_what_a_condition_loads() -> None:
    """Find the first element that is not below 9, from element %n on, and its index.

    The first block receives one value, and forwards two.
    """
    because = "a program that has stopped keeps the values forwarded last, even loaded ones"
    arguments = [np.array(x, np.int32) for x in ([2, 0, 6, 1, 5], [3, 9, 4, 5, 8, 12, 10], [-7] * 5)]
    judge(kernel("counts: *i32, x: *i32, out: *i32, k: i32", SEARCH), (5,), [*arguments, 9], because=because)


# --- axes


def test_along_which_axes_in_a_for() -> None:
    """Programs that leave a loop at different times differ in its carried values, if in nothing else."""
    for bounds, carried_differs, variable_differs in (
        ("range(0, k)", False, False),
        ("range(0, n)", True, False),
        ("range(n, k)", True, True),
        ("range(0, k, n)", True, True),
    ):
        text = counted(f"rounds = 0\nfor i in {bounds}:\n    rounds += 1\ntl.store(out + pid, rounds)")
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


def test_along_which_axes_in_a_while() -> None:
    """The programs that are still in the loop agree about `first` and `rounds` unless their sources differ."""
    lines = """
        %pid = tt.get_program_id x : i32
        %at = tt.addptr %counts, %pid : !tt.ptr<i32>, i32
        %n = tt.load %at : !tt.ptr<i32>
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %r:2 = scf.while (%first = %zero, %rounds = %zero) : (i32, i32) -> (i32, i32) {
          %more = arith.cmpi slt, %rounds, BOUND : i32
          scf.condition(%more) %first, %rounds : i32, i32
        } do {
        ^bb0(%last: i32, %passed: i32):
          %next = arith.addi %passed, %one : i32
          scf.yield %one, %next : i32, i32
        }
        %sum = arith.addi %r#0, %r#1 : i32
        %to = tt.addptr %out, %pid : !tt.ptr<i32>, i32
        tt.store %to, %sum : !tt.ptr<i32>
    """
    for bound, wanted in (("%k", [False] * 6), ("%n", [False, True, True, True, True, True])):
        text = kernel("counts: *i32, out: *i32, k: i32", lines.replace("BOUND", bound))
        (function,) = parse_module(text).body.operations
        axes = about("Varying(function).axes", text, lambda: Varying(function).axes).succeeds()  # noqa: B023
        (loop,) = [operation for operation in function.walk() if operation.name == "scf.while"]
        values = [*loop.regions[0].block.arguments, *loop.regions[1].block.arguments, *loop.results]
        got = [PROGRAM in axes[value] for value in values]
        assert got == wanted, (
            f"The loop runs while %rounds < {bound}; only %n differs from program to program.\n"
            f"  expected  [first, rounds, last, passed, and both results] differ: {wanted}\n  got       {got}"
        )
        arguments = [np.array([2, 0, 3, 1], np.int32), np.full(4, -7, np.int32), 2]
        judge(text, (4,), arguments, because="%first is 0 in the first round, and 1 in later rounds")


# --- all together


@one_in(4)
@given(kernel=kernels(BRANCHES_AND_LOOPS), seed=st.integers(0, 9))
def test_random_programs(kernel: Kernel, seed: int) -> None:
    """Nested loops and branches, with loads and stores."""
    judge_random(kernel, seed)


@pytest.mark.parametrize("case", named("loop_bounds", "unchanged_carry"), ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """The results equal a GPU's recorded results."""
    judge_corpus(case)
