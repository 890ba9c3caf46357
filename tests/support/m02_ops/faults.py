"""Faults of a program, by name. The tests of the type rules plant other faults.

A fault is a few lines that can end any block and use the values of `PARAMETERS`. The line that defines `%wrong` breaks
a rule; if no line defines `%wrong`, the last line breaks one.
"""

from collections.abc import Sequence

from tests.support.m02_ops.generic_form import PARAMETERS
from tests.support.m02_ops.programs import Body, Step, around

PLACES = ("for", "if", "else", "before", "after")
YIELD = '"scf.yield"() : () -> ()'
ONE = '%one = "arith.constant"() {value = 1 : i32} : () -> i32'
USE = '%wrong = "arith.addi"(%n, %one) : (i32, i32) -> i32'
YIELD_Y = '"scf.yield"(%y) : (f32) -> ()'
YIELD_X_N = '"scf.yield"(%x, %n) : (f32, i32) -> ()'
CONDITION = '"scf.condition"(%c) : (i1) -> ()'


def loop(*body: str, result: str = "wrong") -> str:
    """A loop that carries a float, called `%y`; its induction variable is `%j`."""
    inside, type = "\n".join(body), "(i32, i32, i32, f32) -> f32"
    return f'%{result} = "scf.for"(%n, %n, %n, %x) ({{\n^bb0(%j: i32, %y: f32):\n{inside}\n}}) : {type}'


def branch(then: str, other: str, type: str = "(i1) -> ()") -> str:
    """The text of an `scf.if` without its results."""
    return f'"scf.if"(%c) ({{\n{then}\n}}, {{\n{other}\n}}) : {type}'


def spin(before: str, after: str, type: str = "() -> ()", inits: str = "") -> str:
    """The text of an `scf.while` without its results."""
    return f'"scf.while"({inits}) ({{\n{before}\n}}, {{\n{after}\n}}) : {type}'


TYPES = {
    "two types added": '%wrong = "arith.addi"(%n, %x) : (i32, f32) -> i32',
    "a sum of another type": '%wrong = "arith.addi"(%n, %n) : (i32, i32) -> i64',
    "a result too many": '%wrong, %second = "arith.addi"(%n, %n) : (i32, i32) -> (i32, i32)',
    "a region on an operation that takes none": '%wrong = "arith.addi"(%n, %n) ({}) : (i32, i32) -> i32',
    "no result": '"arith.addi"(%n, %n) : (i32, i32) -> ()',
    "a comparison without a predicate": '%wrong = "arith.cmpi"(%n, %n) : (i32, i32) -> i1',
    "an operand too few": '%wrong = "arith.addi"(%n) : (i32) -> i32',
    "an operation that does not exist": '%wrong = "arith.addo"(%n, %n) : (i32, i32) -> i32',
    "a stored value of another type": '"tt.store"(%a, %i) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> ()',
    "a loop that yields a different type": loop('"scf.yield"(%j) : (i32) -> ()'),
    "a loop that yields too little": loop(YIELD),
    "branches of two types": "%wrong = "
    + branch('"scf.yield"(%n) : (i32) -> ()', '"scf.yield"(%x) : (f32) -> ()', "(i1) -> i32"),
    "a second result of another type": f"%wrong, %second = {branch(YIELD_X_N, YIELD_X_N, '(i1) -> (f32, f32)')}",
    "results in another order": f"%wrong, %second = {branch(YIELD_X_N, YIELD_X_N, '(i1) -> (i32, f32)')}",
    "a result without an else": '%wrong = "scf.if"(%c) ({"scf.yield"(%n) : (i32) -> ()}, {}) : (i1) -> i32',
    "a tensor as condition": f'"scf.if"(%m) ({{{YIELD}}}, {{{YIELD}}}) : (tensor<8xi1>) -> ()',
    "a while that yields a different type": "%wrong = "
    + spin(
        '^bb0(%j: i32):\n"scf.condition"(%c, %x) : (i1, f32) -> ()', f"^bb0(%y: f32):\n{YIELD_Y}", "(i32) -> f32", "%n"
    ),
}
ORDER = {
    "a value before it is defined": (
        '%wrong = "arith.addi"(%n, %later) : (i32, i32) -> i32\n%later = "arith.subi"(%n, %n) : (i32, i32) -> i32'
    ),
    "a value of itself": '%wrong = "arith.addi"(%wrong, %wrong) : (i32, i32) -> i32',
    "a value from inside a branch": f'"scf.if"(%c) ({{{ONE} {YIELD}}}, {{}}) : (i1) -> ()\n{USE}',
    "a value from the other branch": branch(f"{ONE}\n{YIELD}", f"{USE}\n{YIELD}"),
    "an induction variable after its loop": (
        loop(YIELD_Y, result="last") + '\n%wrong = "arith.addi"(%j, %n) : (i32, i32) -> i32'
    ),
    "a carried value outside its loop": (
        loop(YIELD_Y, result="last") + '\n%wrong = "arith.addf"(%y, %x) : (f32, f32) -> f32'
    ),
    "a result inside its own loop": loop('%wrong = "arith.negf"(%last) : (f32) -> f32', YIELD_Y, result="last"),
    "what the first region takes in the second": spin(
        f"^bb0(%one: i32):\n{CONDITION}", f'{USE}\n"scf.yield"(%n) : (i32) -> ()', "(i32) -> ()", "%n"
    ),
    "what the first region computes in the second": spin(f"{ONE}\n{CONDITION}", f"{USE}\n{YIELD}"),
    "a value of another function": '%wrong = "arith.addf"(%h, %h) : (f32, f32) -> f32',
}
TERMINATORS = {
    "a return in the middle": '"tt.return"() : () -> ()',
    "a yield in the middle": YIELD,
    "a branch without a yield": f'"scf.if"(%c) ({{{ONE}}}, {{}}) : (i1) -> ()',
    "an empty branch": branch(YIELD, "^bb0:"),
    "a loop that ends in a return": loop('"tt.return"() : () -> ()'),
    "a reduction that ends in a yield": (
        '%wrong = "tt.reduce"(%t) ({\n^bb0(%l: f32, %r: f32):\n"scf.yield"(%l) : (f32) -> ()\n}) {axis = 0 : i32}'
        " : (tensor<8xf32>) -> f32"
    ),
    "a condition at the end of the second region": spin(CONDITION, CONDITION),
}
FAULTS = {**TYPES, **ORDER, **TERMINATORS}


def spoiled(steps: Sequence[Step], fault: str, inside: Sequence[str] = ()) -> str:
    """The module that a recipe stands for, with a fault at the end.

    `inside` names the blocks around the fault, from the outside in: "for", "if", "else", "before" or "after".
    """
    for depth, where in enumerate(reversed(inside)):
        body = f"{fault}\n{CONDITION if where == 'before' else YIELD}"
        fault = {
            "for": f'"scf.for"(%n, %n, %n) ({{\n^bb0(%inner{depth}: i32):\n{body}\n}}) : (i32, i32, i32) -> ()',
            "if": branch(body, YIELD),
            "else": branch(YIELD, body),
            "before": spin(body, YIELD),
            "after": spin(CONDITION, body),
        }[where]
    return around([*Body(PARAMETERS.items()).follow(steps), fault])


def line_at_fault(fault: str, module: str) -> tuple[str, int]:
    """The name of the operation at fault, and its line in a module."""
    lines = fault.splitlines()
    wrong = next((line for line in lines if line.startswith("%wrong")), lines[-1])
    return wrong.split('"')[1], module.splitlines().index(wrong) + 1
