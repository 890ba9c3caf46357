"""Task 9.4: a value that is computed several times is computed once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.transforms.cse import merge_equal

from tests.checks import one_in
from tests.support.m05_frontend.random_kernels import Kernel, kernels
from tests.support.m09_passes.passing import corpus, judge_random, kernel, put, without_dead

PARAMETERS = "p: *i32, q: *f32, a: i32, b: i32, x: f32, y: f32, c: i1, t: tensor<8xf32>, u: tensor<8xi32>"


def use(*values: str) -> str:
    """Lines that store values, given as "%z: i32", so that they are not dead."""
    stores = []
    for value in values:
        name, type = value.split(": ")
        pointer = {"i32": "%p", "f32": "%q"}[type]
        stores.append(f"tt.store {pointer}, {name} : !tt.ptr<{type}>")
    return "\n".join(stores)


def sums(first: str, second: str) -> str:
    """Two reductions of %t. The lines `first` and `second` combine %l and %r."""
    region = """
    %{0} = "tt.reduce"(%t) <{{axis = 0 : i32}}> ({{
    ^bb0(%l: f32, %r: f32):
      {1}
    }}) : (tensor<8xf32>) -> f32
    """
    return region.format("v", first) + region.format("w", second) + use("%v: f32", "%w: f32")


def combined(*lines: str) -> str:
    return "\n".join([*lines, "tt.reduce.return %z : f32"])


# --- values


EQUAL = {
    "two additions": (
        "%v = arith.addi %a, %b : i32\n%w = arith.addi %a, %b : i32\n%d = arith.muli %v, %w : i32"
        + "\n"
        + use("%d: i32"),
        {"arith.addi": 1, "arith.muli": 1},
    ),
    "the operands of a sum in a different order": (
        "%v = arith.addi %a, %b : i32\n%w = arith.addi %b, %a : i32\n%d = arith.subi %v, %w : i32\n" + use("%d: i32"),
        {"arith.addi": 1, "arith.subi": 1},
    ),
    "whole expressions": (
        """
        %v = arith.addi %a, %b : i32
        %w = arith.muli %v, %a : i32
        %d = arith.addi %a, %b : i32
        %e = arith.muli %d, %a : i32
        """
        + use("%w: i32", "%e: i32"),
        {"arith.addi": 1, "arith.muli": 1},
    ),
    "constants and ranges": (
        """
        %v = arith.constant dense<2> : tensor<8xi32>
        %w = arith.constant dense<2> : tensor<8xi32>
        %d = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
        %e = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
        %f = arith.muli %v, %d : tensor<8xi32>
        %g = arith.muli %w, %e : tensor<8xi32>
        %h = arith.addi %f, %g : tensor<8xi32>
        %s = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
        %o = tt.addptr %s, %h : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
        tt.store %o, %h : tensor<8x!tt.ptr<i32>>
        """,
        {"arith.constant": 1, "tt.make_range": 1, "arith.muli": 1},
    ),
    "operations with two results": (
        """
        %m = tt.reshape %u : tensor<8xi32> -> tensor<4x2xi32>
        %v, %w = tt.split %m : tensor<4x2xi32> -> tensor<4xi32>
        %d, %e = tt.split %m : tensor<4x2xi32> -> tensor<4xi32>
        %f = arith.subi %v, %e : tensor<4xi32>
        %g = arith.subi %w, %d : tensor<4xi32>
        %h = arith.subi %f, %g : tensor<4xi32>
        %s = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
        tt.store %s, %h : tensor<4x!tt.ptr<i32>>
        """,
        {"tt.split": 1, "arith.subi": 3},
    ),
}
DIFFERENT = {
    "another operation": ("%v = arith.addi %a, %b : i32", "%w = arith.subi %a, %b : i32"),
    "other operands": ("%v = arith.addi %a, %b : i32", "%w = arith.addi %a, %a : i32"),
    "the operands of a difference in a different order": (
        "%v = arith.subi %a, %b : i32",
        "%w = arith.subi %b, %a : i32",
    ),
    "another predicate": ("%v = arith.cmpi slt, %a, %b : i32", "%w = arith.cmpi sle, %a, %b : i32"),
    "another axis": ("%v = tt.get_program_id x : i32", "%w = tt.get_program_id y : i32"),
    "a different result type": ("%v = arith.extsi %c : i1 to i32", "%w = arith.extsi %c : i1 to i64"),
    "1 and true": ("%v = arith.constant 1 : i8", "%w = arith.constant true"),
    "1 and 1.0": ("%v = arith.constant 1 : i32", "%w = arith.constant 1.0 : f32"),
    "0.0 and -0.0": ("%v = arith.constant 0.0 : f32", "%w = arith.constant -0.0 : f32"),
    "NaN and -NaN": ("%v = arith.constant 0x7FC00000 : f32", "%w = arith.constant 0xFFC00000 : f32"),
}


def typed(name: str, line: str) -> str:
    """A use of a value of any type in an operation that stays."""
    type = line.rsplit(" to ", 1)[-1] if " to " in line else line.rsplit(" : ", 1)[-1] if " : " in line else "i1"
    return (
        f'tt.print "{name}: " {{hex = false, isSigned = array<i32: 0>}} : %{name} : {"i1" if "cmp" in line else type}'
    )


@pytest.mark.parametrize("what", EQUAL)
def test_equal_operations(what: str) -> None:
    lines, left = EQUAL[what]
    asked = put(merge_equal, kernel(PARAMETERS, lines))
    asked.leaves(left, f"{what}: both operations compute the same values")
    asked.leaves_no_more_than("cse")


@pytest.mark.parametrize("what", DIFFERENT)
def test_different_operations(what: str) -> None:
    first, second = DIFFERENT[what]
    lines = "\n".join([first, second, typed("v", first), typed("w", second)])
    put(merge_equal, kernel(PARAMETERS, lines)).changes_nothing(f"{what}: these values differ")


# --- dominance


def test_values_from_outside_a_region() -> None:
    """A branch and a loop can use values that are defined before them."""
    lines = """
    %v = arith.addi %a, %b : i32
    scf.if %c {
      %w = arith.addi %a, %b : i32
      scf.for %i = %a to %b step %v : i32 {
        %d = arith.addi %a, %b : i32
        %e = arith.muli %d, %w : i32
        tt.store %p, %e : !tt.ptr<i32>
      }
    } else {
      %f = arith.addi %a, %b : i32
      tt.store %p, %f : !tt.ptr<i32>
    }
    """
    asked = put(merge_equal, kernel(PARAMETERS, lines))
    asked.leaves({"arith.addi": 1}, "%v dominates both branches, and the loop")
    asked.leaves_no_more_than("cse")


@pytest.mark.parametrize("second", ["} else {", "}\nscf.if %c {"], ids=["the other branch", "after the branch"])
def test_values_of_a_branch_stay_in_it(second: str) -> None:
    lines = f"""
    scf.if %c {{
      %v = arith.addi %a, %b : i32
      tt.store %p, %v : !tt.ptr<i32>
    {second}
      %w = arith.addi %a, %b : i32
      tt.store %p, %w : !tt.ptr<i32>
    }}
    """
    put(merge_equal, kernel(PARAMETERS, lines)).changes_nothing("%v does not dominate %w")


def test_values_of_a_loop_stay_in_it() -> None:
    """A value of one region of a `while` is not visible in the other region, nor after the `while`."""
    lines = """
    %z = scf.while (%n = %a) : (i32) -> i32 {
      %v = arith.muli %a, %b : i32
      %m = arith.cmpi slt, %n, %v : i32
      scf.condition(%m) %n : i32
    } do {
    ^bb0(%n: i32):
      %w = arith.muli %a, %b : i32
      %k = arith.addi %n, %w : i32
      scf.yield %k : i32
    }
    %d = arith.muli %a, %b : i32
    %e = arith.addi %z, %d : i32
    tt.store %p, %e : !tt.ptr<i32>
    """
    put(merge_equal, kernel(PARAMETERS, lines)).changes_nothing("none of the three products dominates another")


def test_values_of_a_function_stay_in_it() -> None:
    text = """
    module {
      tt.func private @f(%a: i32) -> i32 attributes {noinline = false} {
        %c = arith.constant 3 : i32
        %v = arith.addi %a, %c : i32
        tt.return %v : i32
      }
      tt.func private @g(%a: i32) -> i32 attributes {noinline = false} {
        %c = arith.constant 3 : i32
        %v = arith.addi %a, %c : i32
        tt.return %v : i32
      }
    }
    """
    put(merge_equal, text).changes_nothing("each function has its own values")


# --- regions


SAME_SUMS = {
    "sums": [combined("%z = arith.addf %l, %r : f32")] * 2,
    "sums in another order": [combined(f"%z = arith.addf {order} : f32") for order in ("%l, %r", "%r, %l")],
    "longer ones": [combined("%k = arith.addf %l, %r : f32", "%z = arith.mulf %k, %r : f32")] * 2,
    "one of which computes a value twice": [
        combined("%k = arith.addf %l, %r : f32", "%m = arith.addf %l, %r : f32", "%z = arith.mulf %k, %m : f32"),
        combined("%k = arith.addf %l, %r : f32", "%z = arith.mulf %k, %k : f32"),
    ],
    "that use a value from outside": [combined("%k = arith.addf %l, %r : f32", "%z = arith.mulf %k, %x : f32")] * 2,
}
OTHER_SUMS = {
    "a sum and a product": ["%z = arith.addf %l, %r : f32", "%z = arith.mulf %l, %r : f32"],
    "the first and the last element": ["%z = arith.subf %l, %r : f32", "%z = arith.subf %r, %l : f32"],
    "of different values inside": [
        "%k = arith.addf %l, %r : f32\n%z = arith.mulf %k, %k : f32",
        "%k = arith.addf %l, %r : f32\n%z = arith.mulf %k, %r : f32",
    ],
    "of different results inside": [
        "%k = arith.subf %l, %r : f32\n%m = arith.subf %r, %l : f32\n%z = arith.divf %k, %m : f32",
        "%k = arith.subf %l, %r : f32\n%m = arith.subf %r, %l : f32\n%z = arith.divf %m, %k : f32",
    ],
    "of different values from outside": [
        f"%k = arith.addf %l, %r : f32\n%z = arith.mulf %k, {x} : f32" for x in ("%x", "%y")
    ],
    "of a value from outside and one inside": [
        f"%k = arith.addf %l, %r : f32\n%z = arith.mulf %k, {x} : f32" for x in ("%l", "%x")
    ],
    "a long and a short one": [
        "%k = arith.addf %l, %r : f32\n%z = arith.addf %k, %r : f32",
        "%z = arith.addf %l, %r : f32",
    ],
}


@pytest.mark.parametrize("what", SAME_SUMS)
def test_equal_regions(what: str) -> None:
    asked = put(merge_equal, kernel(PARAMETERS, sums(*SAME_SUMS[what])))
    asked.leaves({"tt.reduce": 1}, f"{what}: both reductions combine elements in the same way")
    if what != "sums in another order":
        asked.leaves_no_more_than("cse")


@pytest.mark.parametrize("what", OTHER_SUMS)
def test_different_regions(what: str) -> None:
    lines = sums(*map(combined, OTHER_SUMS[what]))
    put(merge_equal, kernel(PARAMETERS, lines)).leaves({"tt.reduce": 2}, f"{what}: these reductions differ")


def test_equal_loops_and_branches() -> None:
    """Equal loops and branches without memory accesses become one, as other operations do."""
    loop = """
    %{0} = scf.for %i = %a to %b step %one iter_args(%s = %a) -> (i32) : i32 {{
      %k = scf.if %c -> (i32) {{
        %m = arith.addi %s, %i : i32
        scf.yield %m : i32
      }} else {{
        scf.yield %{1} : i32
      }}
      scf.yield %k : i32
    }}
    """
    one = "%one = arith.constant 1 : i32\n"
    same = one + loop.format("v", "i") + loop.format("w", "i") + use("%v: i32", "%w: i32")
    put(merge_equal, kernel(PARAMETERS, same)).leaves({"scf.for": 1, "scf.if": 1}, "both loops compute the same value")
    other = one + loop.format("v", "i") + loop.format("w", "s") + use("%v: i32", "%w: i32")
    put(merge_equal, kernel(PARAMETERS, other)).leaves(
        {"scf.for": 2, "scf.if": 2}, "the second branch yields %s, not %i"
    )


# --- memory


LOAD = "%{} = tt.load %p : !tt.ptr<i32>"
READING = "scf.if %c {\n%d = tt.load %q : !tt.ptr<f32>\n}"
CHOOSING = "%d = scf.if %c -> (i32) {\nscf.yield %a : i32\n} else {\nscf.yield %b : i32\n}"
FOR = "%d = scf.for %i = %a to %b step %a iter_args(%s = %a) -> (i32) : i32 {\nscf.yield %s : i32\n}"
WAITING = """
scf.while : () -> () {
  %l = tt.load %q : !tt.ptr<f32>
  %m = arith.cmpf one, %l, %x : f32
  scf.condition(%m)
} do {
  scf.yield
}
"""
SAME = {
    "nothing": ("", 1),
    "a load from a different address": ("%d = tt.load %q : !tt.ptr<f32>", 2),
    "a branch that reads": (READING, 2),
    "a branch that only computes": (CHOOSING, 1),
    "a loop that only computes": (FOR, 1),
}
CHANGED = {
    "a store": ("tt.store %p, %a : !tt.ptr<i32>", 2),
    "a store through a different pointer": ("tt.store %q, %x : !tt.ptr<f32>", 2),
    "a store in a branch": ("scf.if %c {\ntt.store %p, %a : !tt.ptr<i32>\n}", 2),
    "a store in a loop": ("scf.for %i = %a to %b step %a : i32 {\ntt.store %p, %i : !tt.ptr<i32>\n}", 2),
    "an atomic operation": ("%d = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32", 2),
    "a barrier": ("gpu.barrier", 2),
    "a loop that may wait, and a store": (WAITING + "tt.store %p, %a : !tt.ptr<i32>", 3),
}
BETWEEN = SAME | CHANGED


@pytest.mark.parametrize("what", BETWEEN)
def test_two_loads_with_something_between_them(what: str) -> None:
    between, loads = BETWEEN[what]
    lines = "\n".join([LOAD.format("v"), between, LOAD.format("w"), "%r = arith.subi %v, %w : i32", use("%r: i32")])
    because = "memory has not changed" if what in SAME else f"{what} may have changed memory"
    put(merge_equal, kernel(PARAMETERS, lines)).leaves({"tt.load": loads}, because)


def test_masks_of_loads() -> None:
    lines = """
    %v = tt.load %p, %c : !tt.ptr<i32>
    %w = tt.load %p, %c, %a : !tt.ptr<i32>
    %d = tt.load %p, %c, %b : !tt.ptr<i32>
    """
    text = kernel(PARAMETERS, lines + use(*(f"%{name}: i32" for name in "vwd")))
    put(merge_equal, text).changes_nothing("the loads differ in the value of masked-off elements")


ASSEMBLY = (
    '%{{}} = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" '
    '{{{{constraints = "=r,r", packed_element = 1 : i32, pure = {}}}}} %a : i32 -> i32'
)
STAY = {
    "loads that are volatile": "%{} = tt.load %p {{isVolatile = true}} : !tt.ptr<i32>",
    "atomic operations": "%{} = tt.atomic_rmw add, relaxed, gpu, %p, %a, %c : (!tt.ptr<i32>, i32, i1) -> i32",
    "assembly with effects": ASSEMBLY.format("false"),
}


@pytest.mark.parametrize("what", STAY)
def test_operations_with_effects(what: str) -> None:
    lines = "\n".join([STAY[what].format("v"), STAY[what].format("w"), use("%v: i32", "%w: i32")])
    put(merge_equal, kernel(PARAMETERS, lines)).changes_nothing(f"{what} have effects, so all of them stay")


def test_prints_and_stores_all_happen() -> None:
    lines = 'tt.print "a" {hex = false, isSigned = array<i32: 1>} : %a : i32\ntt.store %p, %a : !tt.ptr<i32>\n' * 2
    put(merge_equal, kernel(PARAMETERS, lines)).changes_nothing("all operations that write or print stay")


def test_assembly_without_effects() -> None:
    line = ASSEMBLY.format("true")
    lines = "\n".join([line.format("v"), line.format("w"), use("%v: i32", "%w: i32")])
    put(merge_equal, kernel(PARAMETERS, lines)).leaves(
        {"tt.elementwise_inline_asm": 1}, "the assembly is marked as pure"
    )


def test_the_second_iteration_of_a_loop() -> None:
    """A load in a loop comes after the store of the previous iteration, so it stays."""
    lines = """
    %one = arith.constant 1 : i32
    %v = tt.load %p : !tt.ptr<i32>
    %s = scf.for %i = %a to %b step %one iter_args(%t0 = %v) -> (i32) : i32 {
      %w = tt.load %p : !tt.ptr<i32>
      %d = arith.addi %w, %t0 : i32
      tt.store %p, %d : !tt.ptr<i32>
      scf.yield %d : i32
    }
    tt.store %p, %s : !tt.ptr<i32>
    """
    asked = put(merge_equal, kernel("p: *i32, a: i32, b: i32", lines))
    asked.leaves({"tt.load": 2}, "from the second iteration on, %w reads the value stored by the previous one")
    asked.computes_the_same((1,), [np.array([5], np.int32), 0, 3])


def test_a_loop_that_waits() -> None:
    """The `while` ends when another program has stored a different value: each iteration must load."""
    lines = """
    %v = tt.load %p : !tt.ptr<i32>
    %z = scf.while (%n = %v) : (i32) -> i32 {
      %m = arith.cmpi eq, %n, %a : i32
      scf.condition(%m) %n : i32
    } do {
    ^bb0(%n: i32):
      %w = tt.load %p : !tt.ptr<i32>
      scf.yield %w : i32
    }
    %d = tt.load %p : !tt.ptr<i32>
    %e = arith.addi %z, %d : i32
    tt.store %p, %e : !tt.ptr<i32>
    """
    put(merge_equal, kernel("p: *i32, a: i32", lines)).changes_nothing("another program may write while this one waits")


def test_loads_in_a_loop_that_only_reads() -> None:
    lines = """
    %one = arith.constant 1 : i32
    %v = tt.load %p : !tt.ptr<i32>
    %s = scf.for %i = %a to %b step %one iter_args(%k = %v) -> (i32) : i32 {
      %w = tt.load %p : !tt.ptr<i32>
      %d = arith.muli %w, %k : i32
      scf.yield %d : i32
    }
    tt.store %p, %s : !tt.ptr<i32>
    """
    put(merge_equal, kernel("p: *i32, a: i32, b: i32", lines)).leaves({"tt.load": 1}, "nothing is written in the loop")


# --- kernels


def test_the_corpus() -> None:
    """Real Triton's CSE leaves no fewer operations."""
    for text in corpus(4).values():
        put(merge_equal, without_dead(text)).leaves_no_more_than("cse")


@one_in(8)
@given(drawn=kernels(), seed=st.integers(0, 2**32 - 1))
def test_values_of_random_kernels(drawn: Kernel, seed: int) -> None:
    judge_random(merge_equal, drawn, seed)
