"""Task 9.5: operations and values that nothing needs are erased."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.printer import print_module
from mini_triton.transforms.dce import eliminate_dead_code

from tests.checks import one_in
from tests.support import sources
from tests.support.m05_frontend.random_kernels import Kernel, kernels, to_source
from tests.support.m09_passes.passing import judge_random, kernel, put
from tests.support.m09_passes.planting import planted

PARAMETERS = "p: *i32, q: *f32, a: i32, b: i32, x: f32, c: i1, z: tensor<8xf32>"


def judge(before: str, after: str, because: str) -> None:
    """Require that the pass turns these lines of a kernel into the expected lines."""
    __tracebackhide__ = True
    asked = put(eliminate_dead_code, kernel(PARAMETERS, before))
    asked.leaves_text(kernel(PARAMETERS, after), because)
    asked.leaves_no_more_than("canonicalizer")


def stays(lines: str, because: str) -> None:
    """Require that all of these lines of a kernel remain."""
    __tracebackhide__ = True
    judge(lines, lines, because)


# --- operations


def test_results_that_nobody_uses() -> None:
    judge(
        """
        %v = arith.addi %a, %b : i32
        %w = arith.muli %v, %v : i32
        %d = arith.subi %a, %b : i32
        %e = tt.load %p : !tt.ptr<i32>
        tt.store %p, %d : !tt.ptr<i32>
        """,
        """
        %d = arith.subi %a, %b : i32
        tt.store %p, %d : !tt.ptr<i32>
        """,
        "%w and %e have no uses, and only %w uses %v",
    )


EFFECTS = {
    "a volatile load": "%v = tt.load %p {isVolatile = true} : !tt.ptr<i32>",
    "an atomic operation": "%v = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32",
    "a print": 'tt.print "a" {hex = false, isSigned = array<i32: 1>} : %a : i32',
    "an assertion": '%v = tt.splat %c : i1 -> tensor<1xi1>\ntt.assert %v, "c" : tensor<1xi1>',
    "a barrier": "gpu.barrier",
}


@pytest.mark.parametrize("what", EFFECTS)
def test_effects_stay(what: str) -> None:
    stays(EFFECTS[what], f"{what} has effects besides its results")


def test_what_a_function_returns_and_calls() -> None:
    text = """
    module {
      tt.func private @f(%a: i32) -> (i32, i32) attributes {noinline = false} {
        %v = arith.addi %a, %a : i32
        %w = arith.muli %a, %a : i32
        DEAD
        tt.return %v, %w : i32, i32
      }
      tt.func public @kernel(%p: !tt.ptr<i32>, %a: i32) {
        %s = arith.subi %a, %a : i32
        %d:2 = tt.call @f(%s) : (i32) -> (i32, i32)
        tt.return
      }
    }
    """
    asked = put(eliminate_dead_code, text.replace("DEAD", "%u = arith.subi %v, %w : i32"))
    asked.leaves_text(text.replace("DEAD", ""), "callers use returned values, and a call may have any effect")


# --- branches


def test_a_branch_without_effects() -> None:
    judge(
        """
        %m = arith.cmpi slt, %a, %b : i32
        %v = scf.if %m -> (i32) {
          %d = arith.addi %a, %b : i32
          scf.yield %d : i32
        } else {
          %e = tt.load %p : !tt.ptr<i32>
          scf.yield %e : i32
        }
        """,
        "",
        "%v has no uses, and then nothing needs the condition",
    )


def test_what_a_branch_with_effects_needs() -> None:
    """The branch keeps its condition, and each result with a use."""
    judge(
        """
        %m = arith.cmpi slt, %a, %b : i32
        %v:3 = scf.if %m -> (i32, f32, i32) {
          %d = arith.addi %a, %b : i32
          %e = arith.muli %a, %b : i32
          tt.store %p, %a : !tt.ptr<i32>
          scf.yield %d, %x, %e : i32, f32, i32
        } else {
          %f = arith.mulf %x, %x : f32
          scf.yield %a, %f, %b : i32, f32, i32
        }
        tt.store %p, %v#2 : !tt.ptr<i32>
        """,
        """
        %m = arith.cmpi slt, %a, %b : i32
        %v = scf.if %m -> (i32) {
          %e = arith.muli %a, %b : i32
          tt.store %p, %a : !tt.ptr<i32>
          scf.yield %e : i32
        } else {
          scf.yield %b : i32
        }
        tt.store %p, %v : !tt.ptr<i32>
        """,
        "only the last one of three results is used",
    )


def test_effects_deep_inside() -> None:
    """A store keeps the control flow around it, with conditions and bounds, but no other operations."""
    judge(
        """
        %m = arith.cmpi slt, %a, %b : i32
        %u = arith.addi %a, %b : i32
        scf.if %m {
          scf.for %i = %a to %u step %b : i32 {
            %n = arith.cmpi slt, %i, %b : i32
            %k = arith.addi %i, %b : i32
            scf.if %n {
              tt.store %p, %b : !tt.ptr<i32>
            }
          }
        }
        """,
        """
        %m = arith.cmpi slt, %a, %b : i32
        %u = arith.addi %a, %b : i32
        scf.if %m {
          scf.for %i = %a to %u step %b : i32 {
            %n = arith.cmpi slt, %i, %b : i32
            scf.if %n {
              tt.store %p, %b : !tt.ptr<i32>
            }
          }
        }
        """,
        "the store happens as often as before",
    )


# --- loops


def loop(carried: str, body: str, yielded: str, used: str = "") -> str:
    """Lines of a loop that stores, and carries integers such as "s = %a, t = %b"."""
    count = carried.count("=")
    types = ", ".join(["i32"] * count)
    head = f"iter_args({', '.join('%' + part for part in carried.split(', '))}) -> ({types}) " if count else ""
    result = ("%v = " if count == 1 else f"%v:{count} = ") if count else ""
    end = f"scf.yield {yielded} : {types}" if count else ""
    use = f"tt.store %p, {used} : !tt.ptr<i32>" if used else ""
    return f"""
    %v0 = arith.addi %a, %b : i32
    {result}scf.for %i = %a to %b step %v0 {head}: i32 {{
      tt.store %p, %i : !tt.ptr<i32>
      {body}
      {end}
    }}
    {use}
    """


ADD = "%{} = arith.addi %{}, %{} : i32\n"
DEAD = {
    "a carried value that nothing reads": ("s = %a", "", "%a"),
    "a carried value that only computes its own next value": ("s = %a", ADD.format("d", "s", "i"), "%d"),
    "two carried values that are swapped": ("s = %a, t = %b", "", "%t, %s"),
    "three carried values that rotate": ("s = %a, t = %b, u = %a", ADD.format("d", "u", "s"), "%t, %d, %s"),
}


@pytest.mark.parametrize("what", DEAD)
def test_dead_carried_values(what: str) -> None:
    judge(loop(*DEAD[what]), loop("", "", ""), f"{what}: nothing else depends on these values")


def test_live_carried_values() -> None:
    """Carried values stay if they reach a result after any number of iterations."""
    because = "the result is %{} of the last iteration but one"
    stays(loop("s = %a, t = %b", "", "%t, %s", "%v#0"), because.format("t"))
    stays(loop("s = %a, t = %b", ADD.format("d", "t", "i"), "%t, %d", "%v#0"), because.format("t"))
    stays(loop("s = %a", ADD.format("d", "s", "s") + "tt.store %p, %s : !tt.ptr<i32>\n", "%d"), "the loop stores %s")


def test_loops_without_effects() -> None:
    judge(
        """
        %v = scf.for %i = %a to %b step %b iter_args(%s = %a) -> (i32) : i32 {
          %d = tt.load %p : !tt.ptr<i32>
          %w = scf.for %j = %a to %d step %b iter_args(%k = %s) -> (i32) : i32 {
            %e = arith.addi %k, %j : i32
            scf.yield %e : i32
          }
          scf.yield %w : i32
        }
        """,
        "",
        "the loop writes nothing, and its results have no uses: it is erased with all operations inside",
    )


def test_values_through_two_loops() -> None:
    """%s is dead, although the inner loop adds to it and the outer loop carries it. %k is live."""
    inner = """
    %v{0} = scf.for %i = %a to %b step %b iter_args(%k = %a{1}) -> (i32{2}) : i32 {{
      %w{0} = scf.for %j = %a to %i step %b iter_args(%l = %k{3}) -> (i32{2}) : i32 {{
        %d = arith.addi %l, %j : i32
        {4}
        scf.yield %d{5} : i32{2}
      }}
      scf.yield %w{6} : i32{2}
    }}
    tt.store %p, %v{7} : !tt.ptr<i32>
    """
    before = inner.format(
        ":2", ", %s = %b", ", i32", ", %r = %s", "%e = arith.muli %r, %j : i32", ", %e", "#0, %w#1", "#0"
    )
    judge(before, inner.format("", "", "", "", "", "", "", ""), "%s and %r only compute each other")


WHILE = """
%v{0} = scf.while (%n = %a{1}) : (i32{2}) -> (i32{3}) {{
  %m = arith.cmpi slt, %n, %b : i32
  {4}
  scf.condition(%m) %n{5} : i32{3}
}} do {{
^bb0(%k: i32{6}):
  %d = arith.addi %k, %b : i32
  {7}
  scf.yield %d{8} : i32{2}
}}
tt.store %p, %v{9} : !tt.ptr<i32>
"""
PLAIN = WHILE.format(*[""] * 10)
WHILES = {
    "a carried value that nothing reads": (
        *(":2", ", %s = %b", ", i32", ", i32", "", ", %s"),
        *(", %t: i32", "", ", %t", "#0"),
    ),
    "a carried value that only computes its own next value": (
        *(":2", ", %s = %b", ", i32", ", i32", "%e = arith.addi %s, %n : i32", ", %e", ", %t: i32"),
        *("%f = arith.muli %t, %t : i32", ", %f", "#0"),
    ),
    "a carried value that the first block reads without need": (
        *("", ", %s = %b", ", i32", "", "%e = arith.addi %s, %n : i32", "", "", "", ", %k", ""),
    ),
    "a carried value that is forwarded without need": (":2", "", "", ", i32", "", ", %b", ", %t: i32", "", "", "#0"),
}  # fmt: skip


@pytest.mark.parametrize("what", WHILES)
def test_dead_values_of_while_loops(what: str) -> None:
    judge(WHILE.format(*WHILES[what]), PLAIN, f"{what} is dead")


def test_live_values_of_while_loops() -> None:
    stays(PLAIN, "the condition and the result depend on %n, %n on %d, and %d on %k")
    counted = WHILE.replace("tt.store %p, %v{9} : !tt.ptr<i32>", "tt.store %p, %v#1 : !tt.ptr<i32>")
    fill = (":2", ", %s = %b", ", i32", ", i32", "", ", %s", ", %t: i32", "%f = arith.addi %t, %t : i32", ", %f", "")
    stays(counted.format(*fill), "the second result depends on %s, and %s on %f")


def test_swapped_values_of_while_loops() -> None:
    """Two more values are swapped in each iteration. One of them is read, so both stay."""
    two = ", i32, i32"
    fill = (":3", ", %s = %a, %t = %b", two, two, "", ", %t, %s", ", %e: i32, %f: i32", "", ", %e, %f", "#1")
    stays(WHILE.format(*fill), "the second result is %t, which was %s in the previous iteration")


def test_the_first_value_of_a_while_loop_is_dead() -> None:
    """A value that is carried and forwarded, but only computes itself, is dead."""
    dead = """
    %g = arith.muli %b, %b : i32
    %v:2 = scf.while (%s = %g, %n = %a) : (i32, i32) -> (i32, i32) {
      %m = arith.cmpi slt, %n, %b : i32
      scf.condition(%m) %s, %n : i32, i32
    } do {
    ^bb0(%t: i32, %k: i32):
      %e = arith.addi %t, %t : i32
      %d = arith.addi %k, %b : i32
      scf.yield %e, %d : i32, i32
    }
    tt.store %p, %v#1 : !tt.ptr<i32>
    """
    judge(dead, PLAIN, "%s and %t only compute each other")


def test_while_loops_without_effects() -> None:
    judge(PLAIN.rsplit("\n", 2)[0], "", "loops are assumed to end, and %v has no uses")


def test_while_loops_with_effects() -> None:
    """Only the condition needs the carried value."""
    lines = """
    scf.while (%n = %a) : (i32) -> () {
      %m = arith.cmpi slt, %n, %b : i32
      scf.condition(%m)
    } do {
      %k = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %k : i32
    }
    """
    stays(lines, "the condition reads what the atomic operation returns")


# --- reductions


def test_regions_of_reductions() -> None:
    lines = """
    %y = arith.mulf %x, %x : f32
    %v = "tt.reduce"(%z) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %d = arith.addf %l, %r : f32
      %e = arith.mulf %d, %y : f32
      tt.reduce.return %e : f32
    }) : (tensor<8xf32>) -> f32
    """
    use = "tt.store %q, %v : !tt.ptr<f32>"
    stays(lines + use, "the value that the region returns is the result")
    judge(lines, "", "the result has no uses, so nothing needs %y")


# --- kernels


@one_in(8)
@given(drawn=kernels(), seed=st.integers(0, 2**32 - 1))
def test_planted_values(drawn: Kernel, seed: int) -> None:
    """The loops and branches of random kernels get a few more values, which are dead."""
    text = print_module(sources.compiled(to_source(drawn)))
    bare = put(eliminate_dead_code, text).left
    more = print_module(planted(text, seed))
    put(eliminate_dead_code, more).leaves_text(print_module(bare), "the other operations were planted, and are dead")


@one_in(8)
@given(drawn=kernels(), seed=st.integers(0, 2**32 - 1))
def test_values_of_random_kernels(drawn: Kernel, seed: int) -> None:
    judge_random(eliminate_dead_code, drawn, seed)
