"""Rewrite rules as data, and the driver that applies them until its worklist is empty.

    rule("arith.addi(x, 0)", "x")
    rule("arith.xori(arith.xori(x, C), D)", "arith.xori(x, arith.xori(C, D))")
    rule("tt.trans(tt.trans(x))", compose_orders)

A pattern is a tree of operations. A lowercase letter matches any value, but the same value wherever the letter occurs.
A capital letter matches any constant, and a number matches a constant with this value. A constant is a scalar or a
tensor of equal elements. The name of a comparison ends with its predicate: `arith.cmpi.slt(x, y)`. The replacement is a
pattern or a function.

Source: MLIR's "Pattern Rewriting", `GreedyPatternRewriteDriver.cpp`, and rules such as those of
`ArithCanonicalization.td`.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mini_triton.analysis.effects import is_dead
from mini_triton.errors import CompilationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.elementwise import is_float, width
from mini_triton.ir.types import I1, Type, element_type

Number = bool | int | float
Match = dict[str, Value]
Rewrite = Callable[["Rewriter", Operation], "Sequence[Value] | Value | None"]
"""Returns a value for each result of an operation (or the only value); None if the rule does not match.

A rule that returns None must not have created operations, because the driver would erase them and report a change.
"""

HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
"""Attributes with promises of a kernel's author about an operation. No rule replaces an operation that has one."""
PATIENCE = 20
"""The maximum number of applications of rules per operation. If more are needed, rules undo each other."""


@dataclass(frozen=True)
class Pattern:
    """An operation in a pattern. Operands are patterns, names of values, or numbers."""

    name: str
    operands: tuple[Pattern | str | Number, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """A rewrite to try on operations with the names in `roots`."""

    name: str  # for messages
    roots: tuple[str, ...]
    rewrite: Rewrite
    needs: frozenset[str] = frozenset()  # names of operations that must compute operands of a match
    pattern: Pattern | None = None  # None for a rule that has only a function


class RewriteError(CompilationError):
    """Raised for rules that would be applied forever."""


def parse(text: str) -> Pattern | str | Number:
    """Parse a pattern. (Given.)"""

    def of(node: ast.expr) -> Pattern | str | Number:
        if isinstance(node, ast.Call):
            dialect, name, *predicate = ast.unparse(node.func).split(".")
            attributes = {"predicate": predicate[0]} if predicate else {}
            return Pattern(f"{dialect}.{name}", tuple(map(of, node.args)), attributes)
        if isinstance(node, ast.Name):
            return {"true": True, "false": False}.get(node.id, node.id)
        number: Number = ast.literal_eval(node)
        return number

    return of(ast.parse(text, mode="eval").body)


def rule(pattern: str, replacement: str | Callable[..., Any], when: Callable[..., bool] | None = None) -> Rule:
    """A rule that replaces operations that match a pattern.

    A function as `replacement` takes the rewriter, the operation, and the matched values by name. The rule does not
    match if this function returns None, or if the condition `when`, which takes the matched values, is false.
    """
    root, built = parse(pattern), parse(replacement) if isinstance(replacement, str) else None
    assert isinstance(root, Pattern)

    def rewrite(rewriter: Rewriter, operation: Operation) -> Sequence[Value] | Value | None:
        found: Match = {}
        if not match_operation(root, operation, found) or (when and not when(**found)):
            return None
        if built is not None:
            if isinstance(built, str) and found[built].type != operation.result.type:
                return None
            return build(rewriter, built, found, operation.result.type)
        assert callable(replacement)
        result: Sequence[Value] | Value | None = replacement(rewriter, operation, **found)
        return result

    does = replacement if isinstance(replacement, str) else replacement.__name__
    return Rule(f"{pattern} -> {does}", (root.name,), rewrite, needs(root), root)


def needs(root: Pattern) -> frozenset[str]:
    """The names of the operations that must compute operands of a matching operation. (Given.)"""
    others = [operand for operand in root.operands if not (isinstance(operand, str) and operand.islower())]
    return frozenset(operand.name if isinstance(operand, Pattern) else "arith.constant" for operand in others)


def constant_of(value: Value) -> Number | None:
    """The number that a constant has in every element; None if the value is not a constant."""
    if isinstance(value, OpResult) and value.owner.name == "arith.constant":
        number = value.owner.attributes["value"]
        assert isinstance(number, bool | int | float)
        return number
    return None


def is_number(value: Value, number: Number) -> bool:
    """Whether a value is the constant `number`. (Given.)

    A float equals only a float, -0.0 does not equal 0.0, and `True` and `False` equal only booleans. Integers are equal
    if their bits are: -1 equals 255 in an `i8`, and true in an `i1`.
    """
    constant = constant_of(value)
    if constant is None or is_float(value.type) != isinstance(number, float):
        return False
    if isinstance(number, float):
        return constant == number and math.copysign(1, constant) == math.copysign(1, number)
    if isinstance(number, bool):
        return constant is number
    return (int(constant) - number) % 2 ** width(value.type) == 0


def match(pattern: Pattern | str | Number, value: Value, found: Match) -> bool:
    """Whether a value matches a pattern, which is a tree of operations, a name, or a number.

    Adds the value of each name to `found`. If the value does not match, the contents of `found` do not matter
    afterwards.
    """
    # Task 9.1: `arith.subi(arith.addi(x, y), y)` matches %r of `%s = addi %a, %b; %r = subi %s, %b`, and `found` is
    # then {x: %a, y: %b}. With %a in place of the last %b, the pattern does not match.
    raise NotImplementedError("Task 9.1: Rewrite rules")


def match_operation(pattern: Pattern, operation: Operation, found: Match) -> bool:
    """Whether an operation matches a pattern in its name, attributes and operands.

    Match operands from left to right.
    """
    # Task 9.1: `arith.cmpi.slt(x, y)` matches any `arith.cmpi` with the predicate slt. An operation may have more
    # attributes than the pattern, but not more operands.
    raise NotImplementedError("Task 9.1: Rewrite rules")


def build(rewriter: Rewriter, pattern: Pattern | str | Number, found: Match, type: Type) -> Value:
    """Build and return the value that a pattern describes, with the type `type`. The rewriter creates the operations.

    An operand that is a number or an operation has the type of the last operand that is a name: the 0 of
    `arith.select(c, x, 0)` has the type of `found["x"]`. If no operand is a name, it has the type of the result.
    """
    # Task 9.1: For `arith.addi(x, 2)` of type `i32`, first build the constant 2, then the `arith.addi`: operands come
    # before the operation. Casts need `type` as their result type; other operations ignore it. Given:
    # `rewriter.constant`, which takes a bool for `i1`; `rewriter.create`.
    raise NotImplementedError("Task 9.1: Rewrite rules")


class Rewriter(Builder):
    """Applies rules. A rule's new operations are inserted before the operation that they replace."""

    def __init__(self, rules: Mapping[str, Sequence[Rule]]) -> None:
        super().__init__()
        self.rules = rules
        self.worklist: dict[Operation, None] = {}  # operations to visit, each once; the last one is next
        self.changed = False

    def insert(self, operation: Operation) -> Operation:
        """Insert a new operation, and add it to the worklist, because rules may match it. (Given.)"""
        self.worklist[operation] = None
        return super().insert(operation)

    def like(self, operation: Operation, *operands: Value, result: Type | tuple[Type, ...] = ()) -> OpResult:
        """A copy of an operation with new operands, and with `result` as its type if it needs one. (Given.)"""
        attributes: dict[str, Any] = operation.attributes
        return self.create(operation.name, *operands, result=result, **attributes)

    def rewrite(self, root: Operation) -> bool:
        """Apply the rules to all operations in `root` until the worklist is empty; return whether anything changed.

        Erases dead operations along the way. Raises `RewriteError`, with the text that `explain` returns, as soon as
        the number of applied rules exceeds `PATIENCE` times the initial number of operations in `root.walk()`.
        """
        # Task 9.1: Operands should be in their final form before a rule looks at their users, so the first operation
        # of `root` comes first. Visit operations that `create` and `replace` add to `self.worklist`, a dictionary from
        # operations to None, before the operations that are already waiting. An operation that is added again while it
        # waits keeps its place.
        raise NotImplementedError("Task 9.1: Rewrite rules")

    def apply(self, operation: Operation) -> Rule | None:
        """Replace an operation by the first rule that matches, and return this rule; None if no rule matches."""
        # Task 9.1: `rule.rewrite(self, operation)` returns a value, a list with a value for each result, or None if
        # the rule does not match. New operations go before the old operation, and get its location: see `self.go_to`.
        # Given: `self.candidates`, in order; `self.replace`, below.
        raise NotImplementedError("Task 9.1: Rewrite rules")

    def go_to(self, operation: Operation) -> None:
        """From now on, insert new operations before this operation, with its source location. (Given.)"""
        self.block, self.anchor, self.loc = operation.parent, operation, operation.loc

    def candidates(self, operation: Operation) -> list[Rule]:
        """The rules that may match an operation, in order. A quick test excludes most rules. (Given.)"""
        rules = self.rules.get(operation.name, ())
        if not rules or any(hint in operation.attributes for hint in HINTS):
            return []
        makers = {operand.owner.name for operand in operation.operands if isinstance(operand, OpResult)}
        return [rule for rule in rules if rule.needs <= makers]

    def replace(self, operation: Operation, values: Sequence[Value]) -> None:
        """Replace an operation's results by these values, and erase the operation."""
        # Task 9.1: A value without a name gets the name of the result that it replaces. Which operations may now match
        # a rule that they did not match before?
        raise NotImplementedError("Task 9.1: Rewrite rules")

    def erase(self, operation: Operation) -> None:
        """Erase an operation, and revisit the operations that may now be dead or match a rule. (Given.)

        These are the operations that compute its operands, the only remaining user of an operand, and the operation
        around it.
        """
        self.changed = True
        inside = [*operation.walk()]
        used = [operand for inner in inside for operand in inner.operands if isinstance(operand, OpResult)]
        if operation.parent_op is not None:
            self.worklist[operation.parent_op] = None
        operation.erase()
        for operand in used:
            self.worklist[operand.owner] = None
            if len(operand.uses) == 1:
                self.worklist[operand.uses[0].user] = None
        for inner in inside:
            self.worklist.pop(inner, None)


def explain(applied: Sequence[Rule]) -> str:
    """A message with the rules that were applied last, the most frequent first. (Given.)"""
    names = [name for name, _ in Counter(rule.name for rule in applied[-PATIENCE:]).most_common(3)]
    return f"these rules never end (applied {len(applied)} times): " + "; ".join(names)


def by_root(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Rules by the names of their roots, in order. (Given.)"""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        for root in rule.roots:
            found.setdefault(root, []).append(rule)
    return found


def rewrite(root: Operation, rules: Iterable[Rule]) -> bool:
    """Apply rules to all operations in `root`, as `Rewriter.rewrite` does; return whether anything changed. (Given.)"""
    return Rewriter(by_root(rules)).rewrite(root)
