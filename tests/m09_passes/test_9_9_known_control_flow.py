"""Task 9.9: branches and loops with known control flow, and selects in place of small branches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.control_flow import count_rounds, replace_known, simplify_control_flow, unwrap_known
from mini_triton.transforms.predication import BUDGET, is_worth_it, predicate_branches

from tests.checks import described, one_in
from tests.oracles import triton
from tests.support.m05_frontend.random_kernels import Kernel, kernels
from tests.support.m09_passes.passing import Pass, corpus, judge_random, kernel, operations, put

PARAMETERS = "p: *i32, q: *f32, a: i32, b: i32, x: f32, c: i1, d: i1, t: tensor<8xi32>"
CONSTANTS = "%true = arith.constant true\n%false = arith.constant false\n%k0 = arith.constant 0 : i32\n" + "".join(
    f"%k{n} = arith.constant {n} : i32\n" for n in (1, 4, 7, 10)
)


def judge(run: Pass, before: str, after: str, because: str) -> None:
    """Require the expected lines, and no more control flow than real Triton's canonicalizer leaves."""
    __tracebackhide__ = True
    asked = put(run, kernel(PARAMETERS, CONSTANTS + before))
    asked.leaves_text(kernel(PARAMETERS, CONSTANTS + after), because)
    if run is unwrap_known:
        asked.leaves_no_more_than("canonicalizer", "cse", tidy="cse")


def stays(run: Pass, lines: str, because: str) -> None:
    """Require that a pass does not change these lines of a kernel."""
    __tracebackhide__ = True
    judge(run, lines, lines, because)


STORE = "tt.store %p, {} : !tt.ptr<i32>\n"


# --- numbers of iterations


ROUNDS = {
    "%k0 to %k10 step %k1": 10,
    "%k0 to %k10 step %k4": 3,
    "%k0 to %k4 step %k4": 1,
    "%k7 to %k10 step %k10": 1,
    "%k1 to %k4 step %k1": 3,
    "%k0 to %k1 step %k1": 1,
    "%k7 to %k7 step %k1": 0,
    "%k7 to %k7 step %a": 0,
    "%k10 to %k0 step %k1": 0,
    "%least to %k0 step %k10": 214748365,
    "%k10 to %minus step %a": 0,
    "%a to %a step %k1": 0,
    "%a to %a step %b": 0,
    "%a to %b step %k1": None,
    "%k0 to %a step %k1": None,
    "%a to %k0 step %k1": None,
    "%k0 to %k10 step %a": None,
    "%k0 to %k10 step %k0": None,
    "%k0 to %k10 step %minus": None,
}


@pytest.mark.parametrize("bounds", ROUNDS)
def test_how_often_a_loop_runs(bounds: str) -> None:
    more = "%minus = arith.constant -1 : i32\n%least = arith.constant -2147483648 : i32\n"
    text = kernel(PARAMETERS, f"{CONSTANTS}{more}scf.for %i = {bounds} : i32 {{\n{STORE.format('%i')}}}")
    (loop,) = [operation for operation in parse_module(text).walk() if operation.name == "scf.for"]
    call = described(
        f"count_rounds(scf.for %i = {bounds}), where %kN is N, %minus -1, %least -2 ** 31", count_rounds, loop
    )
    call.returns(ROUNDS[bounds])


# --- known branches and loops


BRANCH = """
%v:2 = scf.if {} -> (i32, i32) {{
  %m = arith.addi %a, %b : i32
  tt.store %p, %m : !tt.ptr<i32>
  scf.yield %m, %a : i32, i32
}} else {{
  %n = arith.subi %a, %b : i32
  scf.yield %b, %n : i32, i32
}}
%r = arith.muli %v#0, %v#1 : i32
tt.store %p, %r : !tt.ptr<i32>
"""
THEN = "%m = arith.addi %a, %b : i32\n" + STORE.format("%m") + "%r = arith.muli %m, %a : i32\n" + STORE.format("%r")
ELSE = "%n = arith.subi %a, %b : i32\n%r = arith.muli %b, %n : i32\n" + STORE.format("%r")


def test_branches_with_a_known_condition() -> None:
    judge(unwrap_known, BRANCH.format("%true"), THEN, "the first branch runs")
    judge(unwrap_known, BRANCH.format("%false"), ELSE, "the second branch runs")
    stays(unwrap_known, BRANCH.format("%c"), "%c is not known")


def test_a_branch_without_else() -> None:
    branch = "scf.if {} {{\n" + STORE.format("%a") + "}}\n"
    judge(unwrap_known, branch.format("%true"), STORE.format("%a"), "the branch runs")
    judge(unwrap_known, branch.format("%false"), "", "there is no other branch, so nothing runs")


FOR = """
%v:2 = scf.for %i = {} iter_args(%s = %a, %u = %b) -> (i32, i32) : i32 {{
  %m = arith.addi %s, %i : i32
  tt.store %p, %m : !tt.ptr<i32>
  scf.yield %u, %m : i32, i32
}}
%r = arith.subi %v#0, %v#1 : i32
tt.store %p, %r : !tt.ptr<i32>
"""
ONCE = "%m = arith.addi %a, %k7 : i32\n" + STORE.format("%m") + "%r = arith.subi %b, %m : i32\n" + STORE.format("%r")


def test_loops_of_one_iteration_or_none() -> None:
    judge(
        unwrap_known,
        FOR.format("%k7 to %k10 step %k4"),
        ONCE,
        "the loop runs once, with %i = 7, and its results are the yielded values",
    )
    none = "%r = arith.subi %a, %b : i32\n" + STORE.format("%r")
    judge(
        unwrap_known,
        FOR.format("%k7 to %k4 step %k1"),
        none,
        "the loop does not run, so its results are the initial values",
    )
    stays(unwrap_known, FOR.format("%k4 to %k7 step %k1"), "the loop runs three times")
    stays(unwrap_known, FOR.format("%k4 to %a step %k1"), "the number of iterations is not known")


def test_known_control_flow_inside_of_known_control_flow() -> None:
    """One run of the pass handles nested control flow; code that never runs is erased."""
    nested = """
    scf.if %true {
      scf.for %i = %k0 to %k1 step %k1 : i32 {
        scf.if %false {
          scf.for %j = %k0 to %k1 step %k1 : i32 {
            tt.store %p, %j : !tt.ptr<i32>
          }
        } else {
          tt.store %p, %i : !tt.ptr<i32>
        }
      }
      scf.if %c {
        scf.if %true {
          tt.store %p, %b : !tt.ptr<i32>
        }
      }
    }
    """
    after = STORE.format("%k0") + "scf.if %c {\n" + STORE.format("%b") + "}\n"
    judge(unwrap_known, nested, after, "only %c is not known")


# --- known values


def carrying(yielded: str, bounds: str = "%k0 to %a step %k1", more: str = "", uses: str = "%s") -> str:
    """A loop that carries %s and %u, and stores one of them."""
    return f"""
    %v:2 = scf.for %i = {bounds} iter_args(%s = %a, %u = %b) -> (i32, i32) : i32 {{
      {more}
      tt.store %p, {uses} : !tt.ptr<i32>
      scf.yield {yielded} : i32, i32
    }}
    %r = arith.subi %v#0, %v#1 : i32
    tt.store %p, %r : !tt.ptr<i32>
    """


def test_carried_values_that_never_change() -> None:
    """The loop yields the carried value itself, or its initial value."""
    add = "%m = arith.addi %u, %i : i32"
    for same in ("%s", "%a"):
        before, after = (
            carrying(f"{same}, %m", more=add),
            carrying(f"{same.replace('s', 'a')}, %m", more=add, uses="%a"),
        )
        after = after.replace("%v#0", "%a")
        judge(replace_known, before, after, "%s is %a in each iteration, and the result is %a as well")


def test_carried_values_that_change() -> None:
    stays(replace_known, carrying("%u, %s"), "the values are swapped in each iteration")
    stays(replace_known, carrying("%b, %a"), "%s is %a in the first iteration only, and the loop may not run at all")


def test_what_a_loop_that_runs_yields_from_outside() -> None:
    """The loop's result is the yielded value; its first iteration has the initial value."""
    before = carrying("%k7, %m", "%k0 to %k10 step %k1", "%m = arith.addi %u, %s : i32")
    judge(
        replace_known,
        before,
        before.replace("%v#0", "%k7"),
        "the loop runs, so its result is %k7; in the first iteration, %s is %a",
    )
    unknown = carrying("%k7, %m", more="%m = arith.addi %u, %s : i32")
    stays(replace_known, unknown, "if the loop does not run, the result is %a")


def test_what_both_branches_yield() -> None:
    lines = """
    %v:2 = scf.if %c -> (i32, i32) {{
      tt.store %p, %a : !tt.ptr<i32>
      scf.yield %a, %b : i32, i32
    }} else {{
      scf.yield %a, %a : i32, i32
    }}
    %r = arith.subi {}, %v#1 : i32
    tt.store %p, %r : !tt.ptr<i32>
    """
    judge(
        replace_known,
        lines.format("%v#0"),
        lines.format("%a"),
        "the first result is %a in any case; the second one is not",
    )


def test_the_condition_inside_of_its_branches() -> None:
    """The condition is true in one branch, and false in the other; after the branches, it is unknown."""
    lines = """
    scf.if %c {{
      scf.if %d {{
        %m = arith.andi {0}, %d : i1
        tt.print "m" {{hex = false, isSigned = array<i32: 0>}} : %m : i1
      }}
    }} else {{
      tt.print "c" {{hex = false, isSigned = array<i32: 0>}} : {1} : i1
    }}
    tt.print "c" {{hex = false, isSigned = array<i32: 0>}} : %c : i1
    """
    asked = put(replace_known, kernel(PARAMETERS, lines.format("%c", "%c")))
    left = asked.leaves({"scf.if": 2, "arith.constant": 3}, "%c is true in the first branch, and false in the second")
    values = [o.attributes["value"] for o in left.walk() if o.name == "arith.constant"]
    assert sorted(map(bool, values)) == [False, True, True], f"the constants in the branches are {values}\n{left}"


def test_one_simplification_enables_another() -> None:
    """%s never changes, so the condition is known; therefore the branch yields %u, which does not change either."""
    lines = """
    %v:2 = scf.for %i = %k0 to %a step %k1 iter_args(%s = %true, %u = %b) -> (i1, i32) : i32 {
      %m = scf.if %s -> (i32) {
        scf.yield %u : i32
      } else {
        scf.yield %i : i32
      }
      scf.yield %s, %m : i1, i32
    }
    scf.if %v#0 {
      tt.store %p, %v#1 : !tt.ptr<i32>
    }
    """
    asked = put(simplify_control_flow, kernel(PARAMETERS, CONSTANTS + lines))
    asked.leaves({"scf.if": 0, "tt.store": 1}, "%s is true in each iteration")
    stored = next(o.operands[1].name for o in asked.left.walk() if o.name == "tt.store")
    assert stored == "b", f"%b is stored, not %{stored}"


# --- selects


def branch(then: str, otherwise: str, yields: str = "%m, %b", types: str = "i32", result: str = "%v") -> str:
    """A branch with a result. Each side has its own lines, and yields one of the values `yields`."""
    first, second = (f"scf.yield {value} : {types}" for value in yields.split(", "))
    return f"{result} = scf.if %c -> ({types}) {{\n{then}\n{first}\n}} else {{\n{otherwise}\n{second}\n}}\n"


ADD = "%m = arith.addi %a, %b : i32"


def test_a_small_branch() -> None:
    """The operations of both sides stand before the selects."""
    before = branch(ADD, "%n = arith.subi %a, %b : i32", "%m, %n") + STORE.format("%v")
    after = ADD + "\n%n = arith.subi %a, %b : i32\n%v = arith.select %c, %m, %n : i32\n" + STORE.format("%v")
    judge(predicate_branches, before, after, "an addition and a subtraction cost less than a branch")
    asked = put(predicate_branches, kernel("p: *i32, a: i32, b: i32, c: i1", before))
    for condition in (True, False):
        asked.computes_the_same((1,), [np.zeros(1, np.int32), 5, 7, condition])


def test_locations() -> None:
    module = parse_module(kernel(PARAMETERS, branch(ADD, "", "%m, %a") + STORE.format("%v")))
    for operation in module.walk():
        operation.loc = Loc("kernel.py", {"scf.if": 5, "arith.addi": 6}.get(operation.name, 1))
    call = described("predicate_branches(an scf.if on line 5, with an addition on line 6)", predicate_branches, module)
    call.succeeds()
    lines = {operation.name: operation.loc and operation.loc.line for operation in module.walk()}
    if (lines["arith.select"], lines["arith.addi"]) != (5, 6):
        call.fail("the select on line 5, the addition on line 6", lines, "profilers and errors show these lines")


def test_several_results() -> None:
    """A value that both sides yield needs no select."""
    before = """
    %v:3 = scf.if %c -> (i32, f32, i32) {
      scf.yield %a, %x, %a : i32, f32, i32
    } else {
      %y = arith.negf %x : f32
      scf.yield %b, %y, %a : i32, f32, i32
    }
    tt.store %p, %v#0 : !tt.ptr<i32>
    tt.store %q, %v#1 : !tt.ptr<f32>
    tt.store %p, %v#2 : !tt.ptr<i32>
    """
    after = """
    %y = arith.negf %x : f32
    %v = arith.select %c, %a, %b : i32
    %w = arith.select %c, %x, %y : f32
    tt.store %p, %v : !tt.ptr<i32>
    tt.store %q, %w : !tt.ptr<f32>
    tt.store %p, %a : !tt.ptr<i32>
    """
    judge(predicate_branches, before, after, "the third result is %a in any case")


def test_a_branch_in_a_branch() -> None:
    """Without its inner branch, the outer branch is small enough for a select."""
    before = branch(branch("", "", "%a, %a", result="%w"), "", "%w, %b") + STORE.format("%v")
    after = "%v = arith.select %c, %a, %b : i32\n" + STORE.format("%v")
    judge(predicate_branches, before, after, "the inner branch yields %a in any case")


HARMFUL = {
    "a load": "%m = tt.load %p : !tt.ptr<i32>",
    "a store": STORE.format("%a") + ADD,
    "a print": 'tt.print "a" {hex = false, isSigned = array<i32: 1>} : %a : i32\n' + ADD,
    "an atomic operation": "%m = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32",
    "a division": "%m = arith.divsi %a, %b : i32",
    "a loop": "%m = scf.for %i = %a to %b step %b iter_args(%s = %a) -> (i32) : i32 {\nscf.yield %s : i32\n}",
}
EXPENSIVE = {
    "a square root": "%e = arith.sitofp %a : i32 to f32\n%f = math.sqrt %e : f32\n%m = arith.fptosi %f : f32 to i32",
    "a reduction": """
      %m = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%l: i32, %r: i32):
        %e = arith.addi %l, %r : i32
        tt.reduce.return %e : i32
      }) : (tensor<8xi32>) -> i32
    """,
}


@pytest.mark.parametrize("what", HARMFUL | EXPENSIVE)
@pytest.mark.parametrize("side", ["then", "else"])
def test_branches_that_stay(what: str, side: str) -> None:
    lines = (HARMFUL | EXPENSIVE)[what]
    sides = branch(lines, "", "%m, %b") if side == "then" else branch("", lines, "%b, %m")
    because = f"the branch prevents harm by {what}" if what in HARMFUL else f"{what} costs more than a branch"
    stays(predicate_branches, sides + STORE.format("%v"), because)


def test_tensors() -> None:
    """For a tensor, selects are cheap, but operations whose results may not be needed cost more than a branch."""
    more = "%s = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\ntt.store %s, %v : tensor<8x!tt.ptr<i32>>\n"
    double = "%m = arith.addi %t, %t : tensor<8xi32>"
    stays(predicate_branches, branch(double, "", "%m, %t", "tensor<8xi32>") + more, "%m has eight elements")
    outside = double + "\n" + branch("", "", "%m, %t", "tensor<8xi32>") + more
    after = f"{double}\n%v = arith.select %c, %m, %t : tensor<8xi32>\n{more}"
    judge(predicate_branches, outside, after, "both tensors exist already")


def test_the_budget_of_small_branches() -> None:
    """The operations of both sides count together; constants do not count."""

    def chain(name: str, count: int) -> str:
        lines = [f"%{name}{i} = arith.addi %{f'{name}{i - 1}' if i else 'a'}, %b : i32" for i in range(count)]
        return "\n".join(lines)

    for then, otherwise in (
        (BUDGET, 0),
        (0, BUDGET),
        (BUDGET - 1, 1),
        (BUDGET + 1, 0),
        (0, BUDGET + 1),
        (BUDGET - 1, 2),
    ):
        yields = f"{f'%m{then - 1}' if then else '%a'}, {f'%n{otherwise - 1}' if otherwise else '%b'}"
        constants = "\n".join(f"%y{i} = arith.constant {i} : i32" for i in range(BUDGET + 2))
        lines = branch(chain("m", then) + "\n" + constants, chain("n", otherwise), yields) + STORE.format("%v")
        (found,) = [o for o in parse_module(kernel(PARAMETERS, lines)).walk() if o.name == "scf.if"]
        call = described(f"is_worth_it(an scf.if with {then} and {otherwise} additions)", is_worth_it, found)
        call.returns(then + otherwise <= BUDGET, because=f"{BUDGET} operations are allowed, besides constants")


def test_a_branch_without_results_stays() -> None:
    stays(predicate_branches, "scf.if %c {\n" + ADD + "\n}\n", "there is nothing to select; a different pass erases it")


# --- kernels


def test_the_corpus() -> None:
    """Real Triton's canonicalizer unwraps no more loops and branches."""
    for name, text in corpus(4).items():
        ours = put(simplify_control_flow, text).left
        theirs = parse_module(triton.canonical(text))
        for kind in ("scf.for", "scf.if"):
            numbers = [operations(module)[kind] for module in (ours, theirs)]
            assert numbers[0] <= numbers[1], f"{name} has {numbers[0]} {kind} left; real Triton leaves {numbers[1]}"


@one_in(8)
@given(drawn=kernels(), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("run", [simplify_control_flow, predicate_branches])
def test_values_of_random_kernels(run: Pass, drawn: Kernel, seed: int) -> None:
    judge_random(run, drawn, seed)
