"""Statements of generated code as data, and a table that prints them as Python. (Given.)

    For(Name("i0"), [4], [Assign(Name("t"), Name("i0"), "+=")])

prints as

    for i0 in range(4):
        t += i0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mini_triton.codegen.numba_gen.expressions import FALSE, Expression, Operand, apply


@dataclass(frozen=True)
class Statement:
    """A statement. `line` is a line of the kernel's source, printed as a comment; 0 prints no comment."""

    line: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Assign(Statement):
    target: Expression
    value: Expression
    operator: str = "="


@dataclass(frozen=True)
class AssignAll(Statement):
    """Assign several values at once."""

    targets: Sequence[Expression]
    values: Sequence[Expression]


@dataclass(frozen=True)
class Call(Statement):
    value: Expression


@dataclass(frozen=True)
class Return(Statement):
    value: Expression


@dataclass(frozen=True)
class Break(Statement):
    pass


@dataclass(frozen=True)
class Comment(Statement):
    text: str


@dataclass(frozen=True)
class For(Statement):
    """A loop over `range(*bounds)`."""

    variable: Expression
    bounds: Sequence[Operand]
    body: Sequence[Statement]


@dataclass(frozen=True)
class While(Statement):
    test: Expression
    body: Sequence[Statement]


@dataclass(frozen=True)
class If(Statement):
    test: Expression
    body: Sequence[Statement]
    otherwise: Sequence[Statement] | None = None


FORMS: dict[type[Statement], Callable[[Any], str]] = {
    Assign: lambda it: f"{it.target} {it.operator} {it.value}",
    AssignAll: lambda it: f"{_together(it.targets)} = {_together(it.values)}",
    Call: lambda it: str(it.value),
    Return: lambda it: f"return {it.value}",
    Break: lambda it: "break",
    Comment: lambda it: f"# {it.text}",
    For: lambda it: f"for {it.variable} in range({_together(it.bounds)}):",
    While: lambda it: f"while {it.test}:",
    If: lambda it: f"if {it.test}:",
}
"""The text of each kind of statement, without its body."""


def _together(values: Sequence[Operand]) -> str:
    return ", ".join(map(str, values))


def printed(statements: Sequence[Statement], indent: str = "") -> Iterator[str]:
    """The lines of statements."""
    for statement in statements:
        mark = f"  # {statement.line}" if statement.line else ""
        yield f"{indent}{FORMS[type(statement)](statement)}{mark}"
        if isinstance(statement, (For, While, If)):
            yield from _body(statement.body, indent + "    ")
        if isinstance(statement, If) and statement.otherwise is not None:
            yield f"{indent}else:"
            yield from _body(statement.otherwise, indent + "    ")


def _body(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    yield from printed(statements, indent)
    if all(isinstance(statement, Comment) for statement in statements):
        yield f"{indent}pass"


def stop_if(condition: Expression, line: int) -> Statement:
    """The statement by which a program gives up if a condition holds."""
    return If(condition, [Return(FALSE, line=line)], line=line)


def stop_unless(condition: Expression, line: int) -> Statement:
    """The statement by which a program gives up unless a condition holds."""
    return stop_if(apply("not", condition), line)
