"""Task 9.6: operations with the same result in each iteration move out of the loop, to just before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.transforms.licm import hoist_invariants

from tests.checks import one_in
from tests.support.m05_frontend.random_kernels import Kernel, kernels
from tests.support.m09_passes.passing import corpus, judge_random, kernel, put

PARAMETERS = "p: *i32, q: *f32, a: i32, b: i32, x: f32, c: i1, z: tensor<8xf32>"


def judge(before: str, after: str, because: str) -> None:
    """Require that the pass turns these lines of a kernel into the expected lines."""
    __tracebackhide__ = True
    put(hoist_invariants, kernel(PARAMETERS, before)).leaves_text(kernel(PARAMETERS, after), because)


def stays(lines: str, because: str) -> None:
    """Require that the pass moves nothing in these lines of a kernel."""
    __tracebackhide__ = True
    judge(lines, lines, because)


def loop(body: str, before: str = "", bounds: str = "%a to %b step %b", carried: str = "") -> str:
    """Lines of a `for`, after other lines. The loop carries %s, which is %w in the next iteration."""
    head, end = (f"iter_args(%s = {carried}) -> (i32) ", "scf.yield %w : i32") if carried else ("", "")
    result, use = ("%r = ", "tt.store %p, %r : !tt.ptr<i32>") if carried else ("", "")
    return f"{before}\n{result}scf.for %i = {bounds} {head}: i32 {{\n{body}\n{end}\n}}\n{use}\n"


STORE = "tt.store %p, {} : !tt.ptr<i32>\n"


# --- what is invariant


def test_invariant_operations() -> None:
    """A chain of invariant operations moves in order; operations that depend on the iteration stay."""
    constant = "%k = arith.constant 7 : i32\n"
    chain = "%v = arith.addi %a, %k : i32\n%w = arith.muli %v, %b : i32\n"
    rest = "%d = arith.addi %w, %i : i32\n%e = arith.muli %d, %v : i32\n" + STORE.format("%e")
    before, after = loop(constant + chain + rest), loop(rest, constant + chain)
    judge(before, after, "%v and %w are the same in each iteration, but %d and %e are not")
    put(hoist_invariants, kernel(PARAMETERS, before)).leaves_no_more_than("licm")


def test_carried_values_change() -> None:
    body = "%v = arith.addi %a, %b : i32\n%w = arith.muli %s, %v : i32"
    judge(
        loop(body, carried="%a"),
        loop("%w = arith.muli %s, %v : i32", "%v = arith.addi %a, %b : i32", carried="%a"),
        "%s has a different value in each iteration, even if it starts as %a",
    )


def test_out_of_several_loops() -> None:
    """Each operation moves as far as possible: %v leaves three loops, %w two, %d one, and %e none."""
    judge(
        """
        scf.for %i = %a to %b step %b : i32 {
          scf.for %j = %a to %b step %b : i32 {
            scf.for %k = %a to %b step %b : i32 {
              %v = arith.addi %a, %b : i32
              %w = arith.muli %v, %i : i32
              %d = arith.muli %w, %j : i32
              %e = arith.muli %d, %k : i32
              tt.store %p, %e : !tt.ptr<i32>
            }
          }
        }
        """,
        """
        %v = arith.addi %a, %b : i32
        scf.for %i = %a to %b step %b : i32 {
          %w = arith.muli %v, %i : i32
          scf.for %j = %a to %b step %b : i32 {
            %d = arith.muli %w, %j : i32
            scf.for %k = %a to %b step %b : i32 {
              %e = arith.muli %d, %k : i32
              tt.store %p, %e : !tt.ptr<i32>
            }
          }
        }
        """,
        "each operation leaves the loops that it does not depend on",
    )


def test_out_of_both_regions_of_a_while_loop() -> None:
    loop = """
    {0}%v = scf.while (%n = %a) : (i32) -> i32 {{
      {1}%m = arith.cmpi slt, %n, %d : i32
      scf.condition(%m) %n : i32
    }} do {{
    ^bb0(%k: i32):
      {2}%f = arith.addi %k, %e : i32
      scf.yield %f : i32
    }}
    tt.store %p, %v : !tt.ptr<i32>
    """
    moved = "%d = arith.muli %a, %b : i32\n", "%e = arith.addi %a, %b : i32\n"
    judge(loop.format("", *moved), loop.format("".join(moved), "", ""), "%d and %e are the same in each iteration")


# --- operations with regions


SUM = """
%v = "tt.reduce"(%z) <{{axis = 0 : i32}}> ({{
^bb0(%l: f32, %r: f32):
  %m = arith.addf %l, %r : f32
  %n = arith.mulf %m, {} : f32
  tt.reduce.return %n : f32
}}) : (tensor<8xf32>) -> f32
"""
USE = "tt.store %q, %v : !tt.ptr<f32>\n"


def test_a_reduction() -> None:
    judge(
        loop(SUM.format("%x") + USE),
        loop(USE, SUM.format("%x")),
        "the reduction uses only its own values and values from outside the loop",
    )


def test_a_reduction_whose_region_uses_what_changes() -> None:
    changing = "%y = arith.sitofp %i : i32 to f32\n" + SUM.format("%y") + USE
    stays(loop(changing), "its operand is invariant, but the region uses %y")


def test_a_loop_and_a_branch() -> None:
    """Invariant control flow moves as a whole; nothing moves out of a branch."""
    inner = """
    %v = scf.for %j = %a to %b step %b iter_args(%k = %a) -> (i32) : i32 {
      %m = arith.addi %k, %j : i32
      scf.yield %m : i32
    }
    %d = scf.if %c -> (i32) {
      %e = arith.addi %v, %b : i32
      scf.yield %e : i32
    } else {
      scf.yield %v : i32
    }
    """
    judge(
        loop(inner + STORE.format("%d")),
        loop(STORE.format("%d"), inner),
        "the inner loop and the branch use no values of the outer loop",
    )
    branch = (
        "%m = arith.cmpi slt, %i, %a : i32\nscf.if %m {\n%v = arith.addi %a, %b : i32\n" + STORE.format("%v") + "}\n"
    )
    stays(loop(branch), "the branch depends on the iteration, and nothing moves out of a branch")


# --- operations that do harm if the loop does not run


KNOWN = "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%four = arith.constant 4 : i32\n"
BOUNDS = {
    "four rounds": ("%zero to %four step %one", True),
    "one round": ("%zero to %one step %four", True),
    "an unknown step": ("%zero to %four step %a", True),
    "no round": ("%four to %zero step %one", False),
    "equal bounds": ("%four to %four step %one", False),
    "an unknown upper bound": ("%zero to %b step %one", False),
    "an unknown lower bound": ("%a to %four step %one", False),
}
HARMFUL = {
    "a load": "%v = tt.load %p : !tt.ptr<i32>\n",
    "a division": "%v = arith.divsi %a, %b : i32\n",
    "a remainder": "%v = arith.remui %a, %b : i32\n",
    "a division by -1": "%m = arith.constant -1 : i32\n%v = arith.divsi %a, %m : i32\n",
    "a load in a branch": (
        "%v = scf.if %c -> (i32) {\n%l = tt.load %p : !tt.ptr<i32>\nscf.yield %l : i32\n"
        "} else {\nscf.yield %a : i32\n}\n"
    ),
}
ADD = "%w = arith.addi %s, %v : i32"


@pytest.mark.parametrize("what", HARMFUL)
@pytest.mark.parametrize("rounds", BOUNDS)
def test_loops_that_may_not_run(what: str, rounds: str) -> None:
    (bounds, runs), harmful = BOUNDS[rounds], HARMFUL[what]
    before = loop(harmful + ADD, KNOWN, bounds, "%a")
    free = "".join(line for line in harmful.splitlines(True) if "constant" in line)
    if runs:
        judge(before, loop(ADD, KNOWN + harmful, bounds, "%a"), f"{rounds}: the loop runs")
    else:
        because = f"{rounds}: the loop may not run, and then {what} could do harm before it"
        judge(before, loop(harmful.replace(free, "") + ADD, KNOWN + free, bounds, "%a"), because)


@pytest.mark.parametrize("by", [1, 5, 2147483647, -2147483648, -2])
def test_harmless_divisions(by: int) -> None:
    """A division by a constant other than 0 and -1 is hoisted, as in real Triton."""
    divisions = f"%m = arith.constant {by} : i32\n%d = arith.divsi %a, %m : i32\n%v = arith.remsi %d, %m : i32\n"
    judge(loop(divisions + ADD, carried="%a"), loop(ADD, divisions, carried="%a"), f"a division by {by} does no harm")
    put(hoist_invariants, kernel(PARAMETERS, loop(divisions + ADD, carried="%a"))).leaves_no_more_than("licm")


def test_a_while_loop_in_a_loop() -> None:
    """A `while` is not hoisted: before a loop that does not run, it might never end."""
    inner = """
    %v = scf.while (%n = %a) : (i32) -> i32 {
      %m = arith.cmpi ne, %n, %b : i32
      scf.condition(%m) %n : i32
    } do {
    ^bb0(%k: i32):
      %d = arith.addi %k, %k : i32
      scf.yield %d : i32
    }
    """
    stays(loop(inner + ADD, carried="%a"), "the outer loop may not run")


def test_while_loops_may_not_run() -> None:
    """A load in a condition is not hoisted: another program may write while this one waits."""
    stays(
        """
        scf.while : () -> () {
          %v = tt.load %p : !tt.ptr<i32>
          %m = arith.cmpi ne, %v, %a : i32
          scf.condition(%m)
        } do {
          %d = tt.load %q : !tt.ptr<f32>
          tt.print "d" {hex = false, isSigned = array<i32: 0>} : %d : f32
          scf.yield
        }
        """,
        "the body may never run, and the load in the condition must run in each iteration",
    )


# --- memory


ROUND = "%zero to %four step %one"
LOAD = "%v = tt.load %p : !tt.ptr<i32>\n"
WRITING = {
    "a store": "tt.store %q, %x : !tt.ptr<f32>\n",
    "a store in a branch": "scf.if %c {\ntt.store %p, %i : !tt.ptr<i32>\n}\n",
    "a store in an inner loop": "scf.for %j = %a to %b step %b : i32 {\ntt.store %p, %j : !tt.ptr<i32>\n}\n",
    "an atomic operation": "%d = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32\n",
    "an assertion, which may end the program": (
        '%d = tt.splat %c : i1 -> tensor<1xi1>\ntt.assert %d, "c" : tensor<1xi1>\n'
    ),
    "a loop that may wait": """
      scf.while : () -> () {
        %d = tt.load %q : !tt.ptr<f32>
        %m = arith.cmpf one, %d, %x : f32
        scf.condition(%m)
      } do {
        scf.yield
      }
    """,
}


@pytest.mark.parametrize("what", WRITING)
def test_loads_from_memory_that_changes(what: str) -> None:
    moved = "%d = tt.splat %c : i1 -> tensor<1xi1>\n" if "assertion" in what else ""
    writing = WRITING[what]
    before = loop(LOAD + ADD + "\n" + writing, KNOWN, ROUND, "%a")
    after = loop(LOAD + ADD + "\n" + writing.replace(moved, ""), KNOWN + moved, ROUND, "%a")
    judge(before, after, f"{what}: the next iteration may read a different value")


def test_a_division_after_an_assertion() -> None:
    """A division is not hoisted over an operation that may end the program."""
    assertion = 'tt.assert %t, "c" : tensor<1xi1>\n%v = arith.divsi %a, %b : i32\n'
    before = KNOWN + "%t = tt.splat %c : i1 -> tensor<1xi1>\n"
    stays(loop(assertion + ADD, before, ROUND, "%a"), "the assertion may protect the division")


def test_writes_outside_of_the_loop_do_not_matter() -> None:
    body = loop(LOAD + ADD, KNOWN + STORE.format("%a"), ROUND, "%a")
    judge(body, loop(ADD, KNOWN + STORE.format("%a") + LOAD, ROUND, "%a"), "nothing in the loop changes the memory")


def test_loads_leave_the_loops_that_only_read() -> None:
    """A load leaves the inner loop, which does not store, but not the outer loop, which stores."""
    inner = (
        "%r = scf.for %j = %zero to %four step %one iter_args(%s = %i) -> (i32) : i32 {{\n{}\nscf.yield %w : i32\n}}\n"
    )
    body = LOAD + inner.format(ADD) + STORE.format("%r")
    judge(
        loop(inner.format(LOAD + ADD) + STORE.format("%r"), KNOWN, ROUND),
        loop(body, KNOWN, ROUND),
        "the load moves to just before the inner loop, and stays in the outer one",
    )


STAYING = {
    "stores": STORE.format("%a"),
    "atomic operations": "%d = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32\n",
    "volatile loads": "%v = tt.load %p {isVolatile = true} : !tt.ptr<i32>\n",
    "prints": 'tt.print "a" {hex = false, isSigned = array<i32: 1>} : %a : i32\n',
}


@pytest.mark.parametrize("what", STAYING)
def test_effects_happen_in_each_iteration(what: str) -> None:
    stays(loop(STAYING[what], KNOWN, ROUND), f"{what} happen four times")


# --- kernels


def test_the_corpus() -> None:
    """As many operations leave loops as in real Triton's loop-invariant code motion, which does not move loads."""
    for text in corpus(4).values():
        put(hoist_invariants, text).leaves_no_more_than("licm")


@one_in(8)
@given(drawn=kernels(), seed=st.integers(0, 2**32 - 1))
def test_values_of_random_kernels(drawn: Kernel, seed: int) -> None:
    judge_random(hoist_invariants, drawn, seed)
