"""Task 9.2: operations on constants become constants, and constants move to the beginning of their function."""

import functools
import random
import warnings
from typing import Any

import pytest
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.transforms.folding import FOLDED, FOLDING
from mini_triton.transforms.rewriting import Pattern

from tests.oracles import triton
from tests.support.m09_passes.rewrites import function, joined, rewriting
from tests.support.m09_passes.rules import Maker, Misfit, bits, outcome, root_type

# --- elementwise operations


def test_an_operation_on_constants() -> None:
    before = """
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %out = arith.muli %two, %three : i32
    """
    after = """
    %out = arith.constant 6 : i32
    """
    rewriting(function("", before), FOLDING).leaves_text(function("", after))


def test_operations_on_folded_values() -> None:
    before = """
    %two = arith.constant dense<2.0> : tensor<4xf32>
    %four = arith.mulf %two, %two : tensor<4xf32>
    %less = arith.cmpf olt, %two, %four : tensor<4xf32>
    %bits = arith.extui %less : tensor<4xi1> to tensor<4xi8>
    """
    after = """
    %bits = arith.constant dense<1> : tensor<4xi8>
    """
    rewriting(function("", before), FOLDING).leaves_text(function("", after))


def test_one_operand_that_is_not_a_constant() -> None:
    text = function(
        "%x: i32",
        """
        %two = arith.constant 2 : i32
        %a = arith.addi %x, %two : i32
        %b = arith.muli %two, %x : i32
        tt.return %a, %b : i32, i32
        """,
    )
    rewriting(text, FOLDING).leaves_text(text, "%x is not known before the kernel runs")


def test_numbers_wrap_around_and_overflow_silently() -> None:
    before = """
    %large = arith.constant 100 : i8
    %huge = arith.constant 60000.0 : f16
    %zero = arith.constant 0.0 : f16
    %a = arith.addi %large, %large : i8
    %b = arith.addf %huge, %huge : f16
    %c = arith.divf %huge, %zero : f16
    tt.return %a, %b, %c : i8, f16, f16
    """
    after = """
    %a = arith.constant -56 : i8
    %b = arith.constant 0x7C00 : f16
    %c = arith.constant 0x7C00 : f16
    tt.return %a, %b, %c : i8, f16, f16
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rewriting(function("", before), FOLDING).leaves_text(function("", after))


def test_nan_stays_an_operation() -> None:
    text = function(
        "",
        """
        %zero = arith.constant 0.0 : f32
        %nan = arith.divf %zero, %zero : f32
        """,
    )
    rewriting(text, FOLDING).leaves_text(text, "a constant does not keep the bits of a NaN")


def test_pointers_stay_operations() -> None:
    text = function(
        "",
        """
        %address = arith.constant 4096 : i64
        %p = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
        """,
    )
    rewriting(text, FOLDING).leaves_text(text, "there are no pointer constants")


def instances(name: str) -> list[str]:
    """Functions that return an operation of this name on constants of all types, with the limits of their ranges."""
    draw = random.Random(name)
    probe = Pattern(name, tuple("ABC"[: operands(name)]))
    found: dict[str, None] = {}
    for _ in range(20):
        try:
            maker = Maker(draw)
            found[print_module(maker.function(probe, root_type(probe, draw)))] = None
        except Misfit:
            continue
    return [*found]


def operands(name: str) -> int:
    """The number of an elementwise operation's operands."""
    return max(int(digit) for digit in "012" if f"{{{digit}}}" in str(TABLE[name].meaning)) + 1


NAMES = [name for name in FOLDED if TABLE[name].meaning and name not in ("tt.clampf", "arith.bitcast", "tt.mulhiui")]


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str) -> None:
    """Require that the constant has the bits that the interpreter computes."""
    for text in instances(name):
        expected = computed(parse_module(text))
        call = rewriting(text, FOLDING)
        module = call.left
        left = [operation.name for operation in module.walk() if operation.name in TABLE]
        if left and (expected == expected).all():
            call.refuse("a constant", left[0], f"its operands are constants, and its result is {expected}")
        got = computed(module)
        if bits(expected) != bits(got):
            call.refuse(f"the value that the operation computes, {expected}", f"{got}, from\n{print_module(module)}")


def computed(module: Module) -> Any:
    """The results of a function without parameters."""
    returned = outcome(module, [])
    assert returned
    return returned[0]


def alone(function: Operation) -> Module:
    """A module with only this function."""
    return parse_module("module {\n" + print_module(function) + "}\n")


@functools.cache
def theirs() -> list[tuple[str, Operation]]:
    """The result of real Triton's canonicalizer for operations on constants."""
    texts = [text for name in NAMES if name.startswith("arith.") for text in instances(name)]
    module = parse_module(triton.canonical(joined(texts), ["canonicalizer"]))
    return list(zip(texts, module.body.operations, strict=True))


def test_real_triton_folds_to_the_same() -> None:
    compared = 0
    for text, expected in theirs():
        constant, last = expected.regions[0].block.operations[0], expected.regions[0].block.operations[-1]
        if constant.name != "arith.constant" or last.operands != (constant.result,):
            continue  # not folded, or undefined
        call = rewriting(text, FOLDING)
        got, wanted = computed(call.left), computed(alone(expected))
        if bits(got) != bits(wanted):
            call.refuse(f"{wanted}, as after real Triton's canonicalizer", str(got))
        compared += 1
    assert compared > 200, f"real Triton should fold more than 200 of these operations, not {compared}"


# --- operations that move elements


def test_a_splat_is_a_constant() -> None:
    before = """
    %two = arith.constant 2.0 : f32
    %a = tt.splat %two : f32 -> tensor<1x4xf32>
    %b = tt.broadcast %a : tensor<1x4xf32> -> tensor<2x4xf32>
    %c = tt.trans %b {order = array<i32: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
    %d = tt.reshape %c : tensor<4x2xf32> -> tensor<8xf32>
    %e = tt.expand_dims %d {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
    """
    after = """
    %e = arith.constant dense<2.0> : tensor<1x8xf32>
    """
    rewriting(function("", before), FOLDING).leaves_text(function("", after))


def test_one_element() -> None:
    before = """
    %two = arith.constant dense<2> : tensor<1xi32>
    %a = tt.unsplat %two : tensor<1xi32>
    """
    after = """
    %a = arith.constant 2 : i32
    """
    rewriting(function("", before), FOLDING).leaves_text(function("", after))


def test_two_results() -> None:
    before = """
    %two = arith.constant dense<2> : tensor<4x2xi32>
    %a, %b = tt.split %two : tensor<4x2xi32> -> tensor<4xi32>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    tt.return %a, %c : tensor<4xi32>, tensor<1x4xi32>
    """
    after = """
    %a = arith.constant dense<2> : tensor<4xi32>
    %b = arith.constant dense<2> : tensor<1x4xi32>
    tt.return %a, %b : tensor<4xi32>, tensor<1x4xi32>
    """
    rewriting(function("", before), FOLDING).leaves_text(function("", after))


@pytest.mark.parametrize("name", ["join", "cat"])
@pytest.mark.parametrize("second", ["0.0", "-0.0", "1.0", "%x"])
def test_two_operands(name: str, second: str) -> None:
    result = "tensor<4x2xf32>" if name == "join" else "tensor<8xf32>"
    constant = f"%b = arith.constant dense<{second}> : tensor<4xf32>"
    text = function(
        "%x: tensor<4xf32>",
        f"""
        %a = arith.constant dense<0.0> : tensor<4xf32>
        {constant if second != "%x" else ""}
        %both = tt.{name} %a, {"%x" if second == "%x" else "%b"} : tensor<4xf32> -> {result}
        """,
    )
    folded = f"%both = arith.constant dense<0.0> : {result}\ntt.return %both : {result}"
    expected = function("%x: tensor<4xf32>", folded) if second == "0.0" else text
    rewriting(text, FOLDING).leaves_text(expected, f"the operands are 0.0 and {second}")


def test_constants_in_place() -> None:
    text = function("%x: i32", "%all = tt.splat %x : i32 -> tensor<4xi32>\ntt.return %all : tensor<4xi32>")
    rewriting(text, FOLDING).leaves_text(text, "%x is not known")


# --- the place of constants


def test_constants_inside_of_loops_and_branches() -> None:
    before = """
    %sum = scf.for %i = %x to %y step %x iter_args(%carried = %x) -> (i32) : i32 {
      %chosen = scf.if %c -> (i32) {
        %two = arith.constant 2 : i32
        %more = arith.muli %carried, %two : i32
        scf.yield %more : i32
      } else {
        scf.yield %i : i32
      }
      %three = arith.constant 3 : i32
      %next = arith.addi %chosen, %three : i32
      scf.yield %next : i32
    }
    tt.return %sum : i32
    """
    parameters = "%x: i32, %y: i32, %c: i1"
    call = rewriting(function(parameters, before), FOLDING)
    module = call.left
    placed = [operation for operation in module.walk() if operation.name == "arith.constant"]
    for constant in placed:
        around = constant.parent_op
        if around is None or around.name != "tt.func":
            call.fail(
                "all constants in the function's own block", around and around.name, "there they dominate all uses"
            )


def test_constants_at_the_end_of_a_function() -> None:
    text = function(
        "%x: i32",
        """
        %a = arith.muli %x, %x : i32
        %two = arith.constant 2 : i32
        %b = arith.addi %a, %two : i32
        """,
    )
    rewriting(text, FOLDING).leaves_text(
        text, "a constant in the function's own block is visible wherever it is needed"
    )


REDUCTION = """
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %two = arith.constant 2 : i32
      %three = arith.constant 3 : i32
      %six = arith.muli %two, %three : i32
      %more = arith.addi %a, %six : i32
      %total = arith.addi %more, %b : i32
      tt.reduce.return %total : i32
    }) : (tensor<4xi32>) -> i32
    tt.return %sum : i32
    """


def test_constants_inside_of_a_reduction() -> None:
    two, three, six = (
        line for line in REDUCTION.splitlines(keepends=True) if " = arith.constant" in line or "%six =" in line
    )
    after = "    %six = arith.constant 6 : i32" + REDUCTION.replace(two, "").replace(three, "").replace(six, "")
    rewriting(function("%x: tensor<4xi32>", REDUCTION), FOLDING).leaves_text(
        function("%x: tensor<4xi32>", after), "a region sees the values before its operation"
    )


def test_constants_in_a_branch_inside_of_a_reduction() -> None:
    before = """
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %chosen = scf.if %c -> (i32) {
        %two = arith.constant 2 : i32
        scf.yield %two : i32
      } else {
        scf.yield %b : i32
      }
      %total = arith.addi %a, %chosen : i32
      tt.reduce.return %total : i32
    }) : (tensor<4xi32>) -> i32
    tt.return %sum : i32
    """
    line = "        %two = arith.constant 2 : i32\n"
    text, after = (function("%x: tensor<4xi32>, %c: i1", body) for body in (before, line + before.replace(line, "")))
    rewriting(text, FOLDING).leaves_text(after, "constants move to the function's own block")
