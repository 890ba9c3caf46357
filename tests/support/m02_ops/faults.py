"""Everything that can be wrong with a program, each by its name.

A fault is a few operations that can end any block. One of them breaks a rule: the one that defines `wrong`, or else
the last one. They use the values of `programs.PARAMETERS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import Attribute, Block, Op, array, integer, segments, word
from tests.support.m02_ops.programs import PARAMETERS, Body, Region, Step, around

PLACES = ("for", "if", "else", "before", "after")
SLT = word("slt", 2, width=64)


def op(name: str, operands: str = "", results: Mapping[str, str] = {}, *regions: Region, **attributes: Attribute) -> Op:
    """An operation: its operands' names in one string, its results' types by name."""
    return Op(name, tuple(operands.split()), tuple(results.items()), attributes, regions)


def region(*operations: Op, **arguments: str) -> Region:
    """A region of one block; its arguments' types by name."""
    return (Block(tuple(arguments.items()), operations),)


def present(count: int) -> Attribute:
    """Which of a load's three operands are there."""
    return segments(*(i < count for i in range(3)))


def reduction(body: Region, *, source: str = "t", result: str = "f32", axis: int = 0) -> Op:
    return op("tt.reduce", source, {"wrong": result}, body, axis=integer(axis))


YIELD = op("scf.yield")
ONE = ir.constant("one", "i32")
LEFT = region(op("tt.reduce.return", "l"), l="f32", r="f32")
EIGHT, WIDE = "tensor<8xf32>", "tensor<2x4xf32>"

TYPES: dict[str, list[Op]] = {
    "two types added": [op("arith.addi", "n x", {"wrong": "i32"})],
    "floats added as integers": [op("arith.addi", "x x", {"wrong": "f32"})],
    "a sum of another type": [op("arith.addi", "n n", {"wrong": "i64"})],
    "a comparison that gives integers": [op("arith.cmpi", "i i", {"wrong": "tensor<8xi32>"}, predicate=SLT)],
    "a comparison without a predicate": [op("arith.cmpi", "i i", {"wrong": "tensor<8xi1>"})],
    "an operand too few": [op("arith.addi", "n", {"wrong": "i32"})],
    "an operation that does not exist": [op("arith.addo", "n n", {"wrong": "i32"})],
    "a cast to the same width": [op("arith.extf", "x", {"wrong": "f32"})],
    "a mask of another shape": [
        ir.constant("four", "tensor<4xi1>"),
        op("tt.load", "a four", {"wrong": EIGHT}, operandSegmentSizes=present(2)),
    ],
    "a mask of integers": [op("tt.store", "a t i")],
    "a scalar instead of a mask": [op("tt.store", "a t c")],
    "another value of another type": [op("tt.load", "a m i", {"wrong": EIGHT}, operandSegmentSizes=present(3))],
    "a load of another type": [op("tt.load", "a", {"wrong": "tensor<8xf16>"}, operandSegmentSizes=present(1))],
    "a load without a pointer": [op("tt.load", "i", {"wrong": EIGHT}, operandSegmentSizes=present(1))],
    "a stored value of another type": [op("tt.store", "a i")],
    "an offset of another shape": [op("tt.addptr", "a n", {"wrong": "tensor<8x!tt.ptr<f32>>"})],
    "a range of another length": [
        op("tt.make_range", "", {"wrong": "tensor<16xi32>"}, start=integer(0), end=integer(8))
    ],
    "an empty range": [op("tt.make_range", "", {"wrong": "tensor<8xi32>"}, start=integer(8), end=integer(8))],
    "a broadcast to another rank": [op("tt.broadcast", "t", {"wrong": "tensor<8x8xf32>"})],
    "a reshape to another size": [op("tt.reshape", "t", {"wrong": "tensor<4x4xf32>"})],
    "a transpose that forgets a dimension": [op("tt.trans", "w", {"wrong": "tensor<2x2xf32>"}, order=array((0, 0)))],
    "matrices that do not fit": [op("tt.dot", "w w w", {"wrong": WIDE})],
    "a reduction over the other axis": [reduction(LEFT, source="w", result="tensor<4xf32>", axis=1)],
    "a reduction that takes one element": [reduction(region(op("tt.reduce.return", "l"), l="f32"))],
    "a reduction that returns another type": [reduction(region(op("tt.reduce.return", "n"), l="f32", r="f32"))],
    "a loop that yields another type": [
        op("scf.for", "n n n x", {"wrong": "f32"}, region(op("scf.yield", "j"), j="i32", y="f32"))
    ],
    "a loop that yields too little": [op("scf.for", "n n n x", {"wrong": "f32"}, region(YIELD, j="i32", y="f32"))],
    "a loop with a result of another type": [
        op("scf.for", "n n n x", {"wrong": "i32"}, region(op("scf.yield", "y"), j="i32", y="f32"))
    ],
    "a loop with its results in another order": [
        op(
            "scf.for",
            "n n n x n",
            {"wrong": "i32", "other": "f32"},
            region(op("scf.yield", "y z"), j="i32", y="f32", z="i32"),
        )
    ],
    "a loop with bounds of two types": [
        ir.constant("true", "i1"),
        op("scf.for", "n true n", {}, region(YIELD, j="i32")),
    ],
    "branches of two types": [
        op("scf.if", "c", {"wrong": "i32"}, region(op("scf.yield", "n")), region(op("scf.yield", "x")))
    ],
    "a result without an else": [op("scf.if", "c", {"wrong": "i32"}, region(op("scf.yield", "n")), ())],
    "a tensor as condition": [op("scf.if", "m", {}, region(YIELD), region(YIELD))],
    "a while that forwards another type": [
        op("scf.while", "", {"wrong": "f32"}, region(op("scf.condition", "c x")), region(YIELD, j="i32"))
    ],
    "a while that yields another type": [
        op(
            "scf.while",
            "n",
            {"wrong": "f32"},
            region(op("scf.condition", "c x"), j="i32"),
            region(op("scf.yield", "y"), y="f32"),
        )
    ],
}
UNCHECKED: dict[str, list[Op]] = {  # not in every version of real Triton
    "an axis out of range": [reduction(LEFT, axis=1)],
    "a negative axis": [reduction(LEFT, axis=-1)],
    "a new dimension out of range": [op("tt.expand_dims", "t", {"wrong": "tensor<8x1xf32>"}, axis=integer(2))],
}
ORDER: dict[str, list[Op]] = {
    "a value before it is defined": [
        op("arith.addi", "n later", {"wrong": "i32"}),
        op("arith.subi", "n n", {"later": "i32"}),
    ],
    "a value of itself": [op("arith.addi", "wrong wrong", {"wrong": "i32"})],
    "a value from inside a branch": [
        op("scf.if", "c", {}, region(ONE, YIELD), ()),
        op("arith.addi", "n one", {"wrong": "i32"}),
    ],
    "a value from the other branch": [
        op("scf.if", "c", {}, region(ONE, YIELD), region(op("arith.addi", "one one", {"wrong": "i32"}), YIELD))
    ],
    "an induction variable after its loop": [
        op("scf.for", "n n n", {}, region(YIELD, j="i32")),
        op("arith.addi", "j n", {"wrong": "i32"}),
    ],
    "a carried value outside of its loop": [
        op("scf.for", "n n n x", {"last": "f32"}, region(op("scf.yield", "y"), j="i32", y="f32")),
        op("arith.addf", "y x", {"wrong": "f32"}),
    ],
    "a result inside its own loop": [
        op(
            "scf.for",
            "n n n x",
            {"last": "f32"},
            region(op("arith.negf", "last", {"wrong": "f32"}), op("scf.yield", "y"), j="i32", y="f32"),
        )
    ],
    "what the first region takes in the second": [
        op(
            "scf.while",
            "n",
            {},
            region(op("scf.condition", "c"), taken="i32"),
            region(op("arith.addi", "taken n", {"wrong": "i32"}), op("scf.yield", "n")),
        )
    ],
    "what the first region computes in the second": [
        op(
            "scf.while",
            "",
            {},
            region(ONE, op("scf.condition", "c")),
            region(op("arith.addi", "n one", {"wrong": "i32"}), YIELD),
        )
    ],
    "a value of another function": [op("arith.addf", "h h", {"wrong": "f32"})],
}
TERMINATORS: dict[str, list[Op]] = {
    "a return in the middle": [op("tt.return")],
    "a yield in the middle": [YIELD],
    "a branch without a yield": [op("scf.if", "c", {}, region(ONE), ())],
    "an empty branch": [op("scf.if", "c", {}, region(YIELD), region())],
    "a loop that ends in a return": [op("scf.for", "n n n", {}, region(op("tt.return"), j="i32"))],
    "a reduction without a return": [reduction(region(l="f32", r="f32"))],
    "a reduction that ends in a yield": [reduction(region(op("scf.yield", "l"), l="f32", r="f32"))],
    "a condition at the end of the second region": [
        op("scf.while", "", {}, region(op("scf.condition", "c")), region(op("scf.condition", "c")))
    ],
}
FAULTS = {**TYPES, **ORDER, **TERMINATORS}


def spoiled(steps: Sequence[Step], fault: Sequence[Op], inside: Sequence[str] = ()) -> tuple[Op, Op]:
    """The module that a recipe stands for with a fault at its end, and the operation at fault.

    `inside` names the blocks around the fault, from the outside in: "for", "if", "else", "before" or "after".
    """
    body = Body(PARAMETERS)
    body.follow(steps)
    body.operations += _nested(fault, inside)
    named = (inner for outer in fault for inner in outer.walk() if "wrong" in dict(inner.results))
    return around(body), next(named, fault[-1])


def _nested(operations: Sequence[Op], inside: Sequence[str]) -> Sequence[Op]:
    for depth, where in enumerate(reversed(inside)):
        end = op("scf.condition", "c") if where == "before" else YIELD
        body = region(*operations, end, **({f"inner{depth}": "i32"} if where == "for" else {}))
        wrapped = {
            "for": op("scf.for", "n n n", {}, body),
            "if": op("scf.if", "c", {}, body, region(YIELD)),
            "else": op("scf.if", "c", {}, region(YIELD), body),
            "before": op("scf.while", "", {}, body, region(YIELD)),
            "after": op("scf.while", "", {}, region(op("scf.condition", "c")), body),
        }
        operations = [wrapped[where]]
    return operations


def line_of(wrong: Op, module: Op) -> int:
    """The line that `ir.build` says an operation comes from."""
    return next(line for line, op in enumerate(module.walk(), 1) if op is wrong)
