"""Task 9.7: a call becomes the body of its callee."""

import pytest
from mini_triton.errors import CompilationError, Loc
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F32, I32
from mini_triton.transforms.inlining import copy, inline_calls

from tests.checks import described
from tests.corpus import CASES
from tests.oracles import triton
from tests.support.m09_passes.passing import flow, put


def function(name: str, header: str, lines: str, results: str = "", kind: str = "private") -> str:
    """The text of a function: `function("f", "x: i32", lines, "%y, %z: i32, i32")`."""
    parameters = ", ".join(f"%{part}" for part in header.split(", "))
    _, _, types = results.partition(": ")
    arrow = f" -> ({types})" if types else ""
    end = f"tt.return {results.replace(':', ' :')}"
    return f"tt.func {kind} @{name}({parameters}){arrow} attributes {{noinline = false}} {{\n{lines}\n{end}\n}}"


def module(*functions: str) -> str:
    return "\n".join(["module {", *functions, "}"])


def kernel(lines: str, name: str = "kernel") -> str:
    return function(name, "p: !tt.ptr<i32>, a: i32, b: i32, c: i1, z: tensor<8xf32>", lines, kind="public")


def judge(text: str, because: str) -> None:
    """Require that no call is left, and that each kernel equals the result of real Triton's inliner."""
    __tracebackhide__ = True
    asked = put(inline_calls, text)
    left = asked.leaves({"tt.call": 0}, because)
    tidy = ("canonicalizer", "cse")
    ours = triton.canonical(print_module(left), tidy)
    theirs = triton.canonical(text.replace("noinline = true", "noinline = false"), ("inliner", *tidy, "symbol_dce"))
    if flow(parse_module(ours)) != flow(parse_module(theirs)):
        asked.refuse(f"\n{theirs}", f"\n{ours}", f"{because}. Real Triton's canonicalizer and CSE ran on both")


def calls(*lines: str) -> str:
    """A kernel that stores %r."""
    return kernel("\n".join([*lines, "tt.store %p, %r : !tt.ptr<i32>"]))


DOUBLE = function("double", "x: i32", "%y = arith.addi %x, %x : i32", "%y: i32")
CALL = "%r = tt.call @double(%a) : (i32) -> i32"


# --- one call


def test_a_call() -> None:
    """The body's operations replace the call, and the private function is erased."""
    asked = put(inline_calls, module(calls(CALL), DOUBLE))
    asked.leaves_text(module(calls("%r = arith.addi %a, %a : i32")), "the body's copy has %a in place of %x")


def test_a_call_without_results() -> None:
    save = function("save", "q: !tt.ptr<i32>, x: i32", "tt.store %q, %x : !tt.ptr<i32>")
    lines = "tt.call @save(%p, %b) : (!tt.ptr<i32>, i32) -> ()\ntt.call @save(%p, %a) : (!tt.ptr<i32>, i32) -> ()"
    stores = "tt.store %p, %b : !tt.ptr<i32>\ntt.store %p, %a : !tt.ptr<i32>"
    put(inline_calls, module(kernel(lines), save)).leaves_text(module(kernel(stores)), "calls happen in order")


RETURNED = {
    "two results": ("%v = arith.addi %x, %y : i32\n%w = arith.subi %x, %y : i32", "%w, %v: i32, i32"),
    "its own arguments, swapped": ("", "%y, %x: i32, i32"),
    "one value twice": ("%v = arith.muli %x, %y : i32", "%v, %v: i32, i32"),
    "a constant": ("%v = arith.constant 5 : i32", "%v, %x: i32, i32"),
}


@pytest.mark.parametrize("what", RETURNED)
def test_what_a_function_returns(what: str) -> None:
    callee = function("f", "x: i32, y: i32", *RETURNED[what])
    call = "%v:2 = tt.call @f(%a, %b) : (i32, i32) -> (i32, i32)\n%r = arith.subi %v#0, %v#1 : i32"
    judge(module(calls(call), callee), f"the function returns {what}")


def test_several_calls_of_one_function() -> None:
    """Each call has its own copy; one call uses the result of another."""
    more = ["%s = tt.call @double(%r0) : (i32) -> i32", "%r = tt.call @double(%s) : (i32) -> i32"]
    judge(module(calls(CALL.replace("%r", "%r0"), *more), DOUBLE), "three calls are three additions")


INSIDE = {
    "a loop": """
        %r = scf.for %i = %a to %b step %a iter_args(%s = %a) -> (i32) : i32 {
          %v = tt.call @double(%s) : (i32) -> i32
          %w = tt.call @double(%i) : (i32) -> i32
          %d = arith.subi %v, %w : i32
          scf.yield %d : i32
        }
    """,
    "a branch": """
        %r = scf.if %c -> (i32) {
          %v = tt.call @double(%a) : (i32) -> i32
          scf.yield %v : i32
        } else {
          %w = tt.call @double(%b) : (i32) -> i32
          scf.yield %w : i32
        }
    """,
}


@pytest.mark.parametrize("where", INSIDE)
def test_calls_inside_of_control_flow(where: str) -> None:
    judge(module(calls(INSIDE[where]), DOUBLE), f"the body replaces the call in {where}")


# --- bodies with regions


BODIES = {
    "a loop that carries values": """
        %y:2 = scf.for %i = %x to %n step %x iter_args(%s = %x, %t = %n) -> (i32, i32) : i32 {
          %d = arith.addi %s, %i : i32
          %e = arith.muli %t, %n : i32
          scf.yield %e, %d : i32, i32
        } {tt.num_stages = 2 : i32}
        %v = arith.subi %y#0, %y#1 : i32
    """,
    "a loop in a branch": """
        %m = arith.cmpi slt, %x, %n : i32
        %v = scf.if %m -> (i32) {
          %y = scf.for %i = %x to %n step %n iter_args(%s = %n) -> (i32) : i32 {
            %d = arith.addi %s, %i : i32
            scf.yield %d : i32
          }
          scf.yield %y : i32
        } else {
          %e = arith.subi %x, %n : i32
          scf.yield %e : i32
        }
    """,
    "a while loop": """
        %v = scf.while (%s = %x) : (i32) -> i32 {
          %m = arith.cmpi slt, %s, %n : i32
          scf.condition(%m) %s : i32
        } do {
        ^bb0(%k: i32):
          %d = arith.addi %k, %x : i32
          scf.yield %d : i32
        }
    """,
    "a reduction that uses a value from outside": """
        %f = arith.sitofp %n : i32 to f32
        %g = tt.splat %f : f32 -> tensor<8xf32>
        %h = "tt.reduce"(%g) <{axis = 0 : i32}> ({
        ^bb0(%l: f32, %r: f32):
          %d = arith.addf %l, %r : f32
          %e = arith.mulf %d, %f : f32
          tt.reduce.return %e : f32
        }) : (tensor<8xf32>) -> f32
        %k = arith.fptosi %h : f32 to i32
        %v = arith.addi %k, %x : i32
    """,
}


@pytest.mark.parametrize("what", BODIES)
def test_bodies_with_regions(what: str) -> None:
    """The copies of two calls share no values and no regions."""
    callee = function("f", "x: i32, n: i32", BODIES[what], "%v: i32")
    two = ["%q = tt.call @f(%a, %b) : (i32, i32) -> i32", "%r = tt.call @f(%b, %q) : (i32, i32) -> i32"]
    judge(module(calls(*two), callee), f"the body has {what}")


# --- functions that call functions


F = function("f", "x: i32", "%v = tt.call @g(%x) : (i32) -> i32\n%w = tt.call @h(%v) : (i32) -> i32", "%w: i32")
G = function("g", "x: i32", "%v = tt.call @h(%x) : (i32) -> i32\n%w = arith.subi %v, %x : i32", "%w: i32")
H = function("h", "x: i32", "%w = arith.muli %x, %x : i32", "%w: i32")
USES_F = calls("%v = tt.call @f(%a) : (i32) -> i32", "%r = tt.call @h(%v) : (i32) -> i32")
ORDERS = {"callers first": [USES_F, F, G, H], "callees first": [H, G, F, USES_F], "mixed": [G, USES_F, H, F]}


@pytest.mark.parametrize("order", ORDERS)
def test_functions_that_call_functions(order: str) -> None:
    judge(module(*ORDERS[order]), "f calls g and h, g calls h, and the kernel calls f and h")


def test_a_long_chain() -> None:
    """Forty functions, each called by the one before it."""
    chain = [
        function(
            f"f{i}", "x: i32", f"%v = tt.call @f{i + 1}(%x) : (i32) -> i32\n%w = arith.addi %v, %x : i32", "%w: i32"
        )
        for i in range(40)
    ]
    last = function("f40", "x: i32", "", "%x: i32")
    text = module(calls("%r = tt.call @f0(%a) : (i32) -> i32"), *chain, last)
    put(inline_calls, text).leaves({"arith.addi": 40, "tt.call": 0}, "each of the 40 functions adds once")


def test_functions_that_stay() -> None:
    """Public functions stay and private ones are erased, whether they are called or not."""
    other = kernel("tt.store %p, %b : !tt.ptr<i32>", "other")
    judge(module(calls(CALL), DOUBLE, other, H), "kernels are public, so they stay")
    public = DOUBLE.replace("private", "public")
    left = put(inline_calls, module(calls(CALL), public)).leaves({"tt.call": 0}, "public functions are also inlined")
    names = [function.attributes["sym_name"] for function in left.body.operations]
    assert names == ["kernel", "double"], f"a public function stays: expected kernel and double, got {names}"


def test_a_module_without_calls() -> None:
    text = module(kernel("tt.store %p, %b : !tt.ptr<i32>"))
    put(inline_calls, text).changes_nothing("there is nothing to inline")


def test_functions_that_are_not_to_be_inlined() -> None:
    """Back ends do not implement calls."""
    judge(
        module(calls(CALL), DOUBLE.replace("noinline = false", "noinline = true")),
        "noinline is only a hint",
    )


# --- recursion


CIRCLES = {
    "f": ["f"],
    "f and g": ["f", "g"],
    "f, g and h": ["f", "g", "h"],
}


@pytest.mark.parametrize("which", CIRCLES)
@pytest.mark.parametrize("kernel_first", [True, False])
def test_recursion(which: str, kernel_first: bool) -> None:
    """The last function calls the first one."""
    names = CIRCLES[which]
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    functions = [
        function(name, "x: i32", f"%v = tt.call @{following[name]}(%x) : (i32) -> i32", "%v: i32") for name in names
    ]
    start = calls("%s = tt.call @start(%a) : (i32) -> i32", f"%r = tt.call @{names[0]}(%s) : (i32) -> i32")
    start_function = function("start", "x: i32", f"%v = tt.call @{names[0]}(%x) : (i32) -> i32", "%v: i32")
    parts = [start, start_function, *functions] if kernel_first else [*functions, start_function, start]
    call = described(f"inline_calls(module), where {which} call each other", inline_calls, parse_module(module(*parts)))
    call.raises(CompilationError, " -> ".join([*names, names[0]]), because="inlining would never end")
    with pytest.raises(CompilationError) as raised:
        inline_calls(parse_module(module(*parts)))
    assert "start ->" not in str(raised.value), f"@start leads to the circle, but is not in it: {raised.value}"


def test_a_kernel_that_calls_itself() -> None:
    line = "tt.call @kernel(%p, %a, %b, %c, %z) : (!tt.ptr<i32>, i32, i32, i1, tensor<8xf32>) -> ()"
    call = described("inline_calls(a kernel that calls itself)", inline_calls, parse_module(module(kernel(line))))
    call.raises(CompilationError, "kernel -> kernel")


# --- copies


def test_a_copy() -> None:
    """A copy uses the new values, and has the old attributes, names and location. The old operation does not change."""
    block = Block([I32, I32, I32], ["x", "k", "a"])
    x, k, a = block.arguments
    loc = Loc("f.py", 3)
    old = Operation("arith.cmpi", [x, k], [I32], {"predicate": "slt"}, loc=loc)
    old.result.name = "y"
    values = {x: a}
    new = described("copy(%y = arith.cmpi slt, %x, %k, {%x: %a})", copy, old, values).succeeds()
    got = (new.name, new.operands, new.attributes, new.result.type, new.result.name, new.loc)
    assert got == ("arith.cmpi", (a, k), {"predicate": "slt"}, I32, "y", loc), (
        f"the copy of %y = arith.cmpi slt, %x, %k should use %a in place of %x, and change nothing else, but is {got}"
    )
    assert new is not old and new.parent is None and new.attributes is not old.attributes, (
        "the copy should be an operation of its own"
    )
    assert old.operands == (x, k), "the old operation should keep its operands"
    assert values == {x: a, old.result: new.result}, f"values are {values}: %y of the copy is missing"


def test_a_copy_of_regions() -> None:
    """A copied region has the same blocks, named arguments and operations. `values` replaces values from outside."""
    outside = Block([F32, F32], ["x", "y"])
    x, y = outside.arguments
    inner = Block([F32, F32], ["l", "r"])
    add = inner.append(Operation("arith.addf", [inner.arguments[0], x], [F32]))
    inner.append(Operation("tt.reduce.return", [add.result]))
    old = Operation("tt.reduce", [x], [F32], {"axis": 0}, [Region([inner]), Region()])
    new = described("copy(a reduction)", copy, old, {x: y}).succeeds()
    assert len(new.regions) == 2 and not new.regions[1].blocks, "the copy of an empty region should be empty"
    block = new.regions[0].block
    names = [(argument.name, argument.type) for argument in block.arguments]
    assert names == [("l", F32), ("r", F32)], f"the arguments of the copied block should be l and r of f32, not {names}"
    copied, end = block.operations
    assert copied.operands == (block.arguments[0], y), (
        "operations in the copy should use the new argument and the new value"
    )
    assert end.operands == (copied.result,), "a copied operation should use the copies of values from inside the region"
    assert len(inner.operations) == 2 and add.operands == (inner.arguments[0], x), "the old region must not change"


# --- kernels


JUMPING = ("early_exits", "helper_returns")
"""A function that returns early contains jumps, which the parser refuses."""


def test_real_tritons_kernels() -> None:
    """The corpus's kernels from real Triton's front end, which call helpers and library functions such as `tl.sum`."""
    cases = [case for case in CASES if not case.name.startswith(JUMPING)][::2]
    texts = [made.raw for made in triton.frontends([case.source() for case in cases], steps=True)]
    calling = {str(case): text for case, text in zip(cases, texts, strict=True) if "tt.call" in text}
    assert len(calling) > 20
    for name, text in calling.items():
        judge(text, f"the kernel is {name} of the corpus")


def test_locations_stay() -> None:
    """An operation keeps its location in the callee."""
    text = module(calls(CALL), DOUBLE.replace("%x, %x : i32", '%x, %x : i32 loc("helper.py":7:4)'))
    parsed = parse_module(text)
    inline_calls(parsed)
    (found,) = [operation.loc for operation in parsed.walk() if operation.name == "arith.addi"]
    assert found == Loc("helper.py", 7, 4), f"the addition comes from {found}, not from helper.py:7"
