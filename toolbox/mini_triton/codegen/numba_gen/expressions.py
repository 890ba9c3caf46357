"""Expressions of generated code as data, and a table that prints them as Python. (Given.)

Apply("+", (Name("t"), Apply("int32", (Name("i0", 1),))))     t + int32(i0)
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

Level = int
"""0 for an expression that depends on no loop variable; otherwise the number of the innermost loop that it needs."""


CHOICE, OR, AND, NOT, COMPARISON, UNION, XOR, INTERSECTION, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(1, 14)
"""How tightly operators bind."""


class Expression:
    """A part of generated code that has a value. `str` prints it."""

    level: Level
    binds = 0  # how tightly the outermost operator binds

    def within(self, least: int) -> str:
        """The text as the operand of an operator; in parentheses if the operator binds more tightly."""
        return f"({self})" if self.binds < least else str(self)


@dataclass(frozen=True)
class Number(Expression):
    value: int | float

    level = 0

    @property
    def binds(self) -> int:  # type: ignore[override]
        return ATOM if self.value >= 0 else UNARY

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Name(Expression):
    """A variable, with the number of the loop in which it changes; also a constant such as `np.inf`."""

    name: str
    level: Level = field(default=0, compare=False)

    binds = ATOM

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Apply(Expression):
    """An operator of the table, or a function, and its operands."""

    operator: str
    operands: tuple[Expression, ...]

    @functools.cached_property
    def level(self) -> Level:  # type: ignore[override]
        return max((operand.level for operand in self.operands), default=0)

    @property
    def binds(self) -> int:  # type: ignore[override]
        return OPERATORS[self.operator].binds if self.operator in OPERATORS else ATOM

    @functools.cached_property
    def text(self) -> str:
        form = OPERATORS.get(self.operator)
        if form is None:
            return f"{self.operator}({', '.join(map(str, self.operands))})"
        first, *rest = self.operands
        if self.operator == "[]":
            return f"{first.within(ATOM)}[{', '.join(map(str, rest))}]"
        limits = (*form.operands, *[form.operands[-1]] * len(rest))
        parts = [operand.within(least) for operand, least in zip(self.operands, limits, strict=False)]
        return form.text.format(*parts) if form.text else f" {self.operator} ".join(parts)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Form:
    """How to print an operator: how tightly it binds, and its operands must bind; a text if it is not an infix."""

    binds: int
    operands: tuple[int, ...]
    text: str = ""


OPERATORS = {
    "if": Form(CHOICE, (OR, OR, CHOICE), "{1} if {0} else {2}"),
    "or": Form(OR, (AND, AND)),
    "and": Form(AND, (NOT, NOT)),
    "not": Form(NOT, (NOT,), "not {0}"),
    **{operator: Form(COMPARISON, (UNION, UNION)) for operator in ("==", "!=", "<", "<=", ">", ">=")},
    "between": Form(COMPARISON, (UNION, UNION, UNION), "{0} <= {1} < {2}"),
    "|": Form(UNION, (UNION, XOR)),
    "^": Form(XOR, (XOR, INTERSECTION)),
    "&": Form(INTERSECTION, (INTERSECTION, SHIFT)),
    **{operator: Form(SHIFT, (SHIFT, SUM)) for operator in ("<<", ">>")},
    **{operator: Form(SUM, (SUM, PRODUCT)) for operator in ("+", "-")},
    **{operator: Form(PRODUCT, (PRODUCT, UNARY)) for operator in ("*", "/", "//", "%")},
    "negative": Form(UNARY, (UNARY,), "-{0}"),
    "~": Form(UNARY, (UNARY,), "~{0}"),
    "[]": Form(ATOM, (ATOM,)),
}
"""Every other operator is a function."""
TRUE, FALSE, ZERO = Name("True"), Name("False"), Number(0)
Operand = Expression | str | int | float
"""An expression; the name of a variable; a number."""
Index = tuple[Expression, ...]
"""The index of an element, for each axis."""


def expression(operand: Operand) -> Expression:
    """The expression for a variable's name or a number."""
    if isinstance(operand, Expression):
        return operand
    return Name(operand) if isinstance(operand, str) else Number(operand)


def apply(operator: str, *operands: Operand) -> Expression:
    """`apply("int32", "t")` is `int32(t)`, and `apply("+", "t", 1)` is `t + 1`."""
    return Apply(operator, tuple(map(expression, operands)))


def add(*terms: Operand) -> Expression:
    """A sum of integers, with the constants added up."""
    found = [*map(expression, terms)]
    known = sum(int(term.value) for term in found if isinstance(term, Number))
    rest = [term for term in found if not isinstance(term, Number)]
    if known or not rest:
        rest.append(Number(known))
    return rest[0] if len(rest) == 1 else Apply("+", tuple(rest))


def both(*tests: Expression) -> Expression:
    """The conjunction of tests."""
    return tests[0] if len(tests) == 1 else Apply("and", tests)


def either(*tests: Expression) -> Expression:
    """The disjunction of tests."""
    return tests[0] if len(tests) == 1 else Apply("or", tests)


def is_simple(value: Expression) -> bool:
    """Whether an expression is as short as a variable: a name, a number, or a conversion of one."""
    if isinstance(value, Apply):
        short = len(value.operands) == 1 and not isinstance(value.operands[0], Apply)
        return short and (value.operator == "negative" or value.operator.isidentifier() and value.operator != "not")
    return True


# --- formulas: expressions of the table of elementwise operations, such as "exact.divsi({0}, {1})"

KINDS = "Add Sub Mult Div FloorDiv Mod LShift RShift BitOr BitXor BitAnd USub Invert Not Eq NotEq Lt LtE Gt GtE"
SYMBOLS = dict(zip(KINDS.split(), "+ - * / // % << >> | ^ & negative ~ not == != < <= > >=".split(), strict=True))
"""Operators by the names of Python's syntax nodes."""
SCALAR = {**{f"np.{name}": name for name in ("exp", "log", "log2")}, "np.maximum": "max", "np.minimum": "min"}
"""Functions that have other names for scalars."""


@functools.cache
def _formula(text: str) -> ast.expr:
    return ast.parse(text.format(*(f"_{number}" for number in range(4))), mode="eval").body


def apply_formula(text: str, operands: Sequence[Expression]) -> Expression:
    """A formula with expressions in the places of `{0}`, `{1}` and so on."""

    def build(node: ast.expr) -> Expression:
        match node:
            case ast.Name(id=name) if name[1:].isdigit():
                return operands[int(name[1:])]
            case ast.Name() | ast.Attribute():
                return Name(ast.unparse(node))
            case ast.Constant(value=int() | float() as value):
                return Number(value)
            case ast.Call(func=function, args=arguments):
                name = ast.unparse(function)
                return Apply(SCALAR.get(name, name), tuple(map(build, arguments)))
            case ast.UnaryOp(op=operator, operand=operand):
                return Apply(SYMBOLS[type(operator).__name__], (build(operand),))
            case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
                return Apply(SYMBOLS[type(operator).__name__], (build(left), build(right)))
            case ast.IfExp(test=test, body=body, orelse=other):
                return Apply("if", (build(test), build(body), build(other)))
        raise ValueError(f"{ast.unparse(node)} in the formula {text}")

    return build(_formula(text))
