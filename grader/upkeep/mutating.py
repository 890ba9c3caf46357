"""Small changes of code, similar to typing errors, for each kind of node in a syntax tree.

A change is an edit of the source text, as small as the change itself, so that a diff shows nothing else.
Some changes are not valid Python, or do not change the program; compiling the result detects both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Edit:
    """Put `text` in place of the source's characters from `start` to `end`."""

    start: int
    end: int
    text: str

    def apply(self, source: str) -> str:
        """The source after the edit."""
        return source[: self.start] + self.text + source[self.end :]


class Source:
    """A source text in which the nodes of its tree can be found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line))

    def start(self, node: Any) -> int:
        """Offset of a node's first character."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        """Offset after its last character."""
        return self._offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.AST) -> str:
        """A node's text."""
        return self.text[self.start(node) : self.end(node)]

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Another text for a node."""
        return Edit(self.start(node), self.end(node), text)

    def replace_between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Edit:
        """Another token between two nodes, where parentheses may stand as well."""
        gap = self.text[self.end(left) : self.start(right)]
        return Edit(self.end(left), self.start(right), gap.replace(old, new, 1))

    def swap(self, left: ast.AST, right: ast.AST) -> Edit:
        """Two nodes, exchanged."""
        gap = self.text[self.end(left) : self.start(right)]
        return Edit(self.start(left), self.end(right), self.of(right) + gap + self.of(left))

    def _offset(self, line: int, column: int) -> int:
        """The offset of a place in a syntax tree, whose columns count bytes."""
        return self._offsets[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


_Rule = Callable[[Any, Source], Iterator[Edit]]
_RULES: dict[type[ast.AST], list[_Rule]] = {}


def _rule(*kinds: type[ast.AST]) -> Callable[[_Rule], _Rule]:
    """Apply the decorated function to nodes of these kinds."""

    def add(rule: _Rule) -> _Rule:
        for kind in kinds:
            _RULES.setdefault(kind, []).append(rule)
        return rule

    return add


def edits(source: Source, lines: range) -> list[Edit]:
    """Every change of code in these lines, in the order of the text."""
    nodes = _walk(source.tree, lines)
    found = {edit for node in nodes for rule in _RULES.get(type(node), ()) for edit in rule(node, source)}
    changes = [edit for edit in found if source.text[edit.start : edit.end] != edit.text]
    return sorted(changes, key=lambda edit: (edit.start, edit.end, edit.text))


_MESSENGERS = ("require", "fail", "error")  # functions whose string arguments are the wording of an error
_PRECAUTIONS = ("strict", "copy", "stacklevel")  # keywords that do not change what correct code computes


def _walk(node: ast.AST, lines: range, words: bool = False) -> Iterator[ast.AST]:
    """The nodes in these lines that affect results: no annotations, docstrings, wording of errors, or precautions.

    Code inside an f-string has no reliable position before Python 3.12, so the f-string is one node.
    """
    fields = [value for name, value in ast.iter_fields(node) if name not in ("annotation", "returns")]
    for child in [child for value in fields for child in (value if isinstance(value, list) else [value])]:
        if not isinstance(child, ast.AST) or _is_text(child) and (words or isinstance(node, ast.Expr)):
            continue
        if isinstance(child, ast.keyword) and child.arg in _PRECAUTIONS:
            continue
        if getattr(child, "lineno", 0) in lines and getattr(child, "end_lineno", 0) in lines:
            yield child
        if not isinstance(child, ast.JoinedStr):
            yield from _walk(child, lines, words or _is_complaint(child))


def _is_complaint(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name | ast.Attribute) and ast.unparse(node.func).split(".")[-1] in _MESSENGERS
    return isinstance(node, ast.Raise)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


# Operators: the spelling of each, and its replacements.

_BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
_REGROUPING = (ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)  # the replacement has a different precedence
_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}


@_rule(ast.BinOp)
def _change_operator(node: ast.BinOp, source: Source) -> Iterator[Edit]:
    if type(node.op) in _BINARY:
        edit = source.replace_between(node.left, node.right, *_BINARY[type(node.op)])
        if isinstance(node.op, _REGROUPING):
            before, after = source.text[source.start(node) : edit.start], source.text[edit.end : source.end(node)]
            edit = source.replace(node, f"({before}{edit.text}{after})")
        yield edit


@_rule(ast.AugAssign)
def _change_assigning_operator(node: ast.AugAssign, source: Source) -> Iterator[Edit]:
    if type(node.op) in _BINARY:
        yield source.replace_between(node.target, node.value, *(f"{op}=" for op in _BINARY[type(node.op)]))


@_rule(ast.Compare)
def _change_comparison(node: ast.Compare, source: Source) -> Iterator[Edit]:
    for (left, right), op in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
        old, others = _COMPARISONS[type(op)]
        for new in others:
            yield source.replace_between(left, right, old, new)


@_rule(ast.BoolOp)
def _swap_and_with_or(node: ast.BoolOp, source: Source) -> Iterator[Edit]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in pairwise(node.values):
        yield source.replace_between(left, right, old, new)


@_rule(ast.UnaryOp)
def _drop_sign(node: ast.UnaryOp, source: Source) -> Iterator[Edit]:
    start, end = source.start(node), source.start(node.operand)
    sign = "not" if isinstance(node.op, ast.Not) else source.text[start]
    yield Edit(start, end, source.text[start:end].removeprefix(sign).lstrip())


# Values.


@_rule(ast.Constant)
def _change_constant(node: ast.Constant, source: Source) -> Iterator[Edit]:
    match node.value:
        case bool():
            yield source.replace(node, repr(not node.value))
        case int():
            yield source.replace(node, repr(node.value + 1))
            yield source.replace(node, repr(node.value - 1))
        case float():
            yield source.replace(node, repr(node.value + 1))
        case str():
            yield source.replace(node, '""' if node.value else '"x"')


@_rule(ast.JoinedStr)
def _change_f_string(node: ast.JoinedStr, source: Source) -> Iterator[Edit]:
    """Drop a part of the text, or swap two fields."""
    first, text = source.start(node), source.of(node)
    at = 0
    for part in [str(part.value) for part in node.values if isinstance(part, ast.Constant)]:
        if part.strip() and part in text[at:]:
            at = text.index(part, at)
            yield Edit(first + at, first + at + len(part), "")
            at += len(part)
    for left, right in pairwise(re.finditer(r"{[^{}]*}", text)):
        swapped = right[0] + text[left.end() : right.start()] + left[0]
        yield Edit(first + left.start(), first + right.end(), swapped)


@_rule(ast.Name)
def _change_function(node: ast.Name, source: Source) -> Iterator[Edit]:
    others = {"all": "any", "any": "all", "max": "min", "min": "max", "reversed": "list", "sorted": "list"}
    if node.id in others:
        yield source.replace(node, others[node.id])


@_rule(ast.Slice)
def _drop_bound(node: ast.Slice, source: Source) -> Iterator[Edit]:
    for bound in (node.lower, node.upper, node.step):
        if bound and source.of(bound) != "0":
            yield source.replace(bound, "")


# Calls.


@_rule(ast.Call)
def _swap_arguments(node: ast.Call, source: Source) -> Iterator[Edit]:
    if isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        return
    for left, right in pairwise(node.args):
        if not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
            yield source.swap(left, right)


@_rule(ast.Call)
def _drop_keyword(node: ast.Call, source: Source) -> Iterator[Edit]:
    arguments = sorted([*node.args, *node.keywords], key=source.start)
    for number, argument in enumerate(arguments):
        start, end = source.start(argument), source.end(argument)
        if isinstance(argument, ast.keyword) and argument.arg not in _PRECAUTIONS:
            if number > 0:
                start = source.text.index(",", source.end(arguments[number - 1]))
            elif len(arguments) > 1:
                end = source.start(arguments[1])
            yield Edit(start, end, "")


@_rule(ast.Call)
def _stop_one_early(node: ast.Call, source: Source) -> Iterator[Edit]:
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        stop = node.args[:2][-1]
        if isinstance(stop, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            yield source.replace(stop, f"{source.of(stop)} - 1")


# Statements.


@_rule(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Raise, ast.Assert, ast.Delete, ast.Break, ast.Continue)
def _drop_statement(node: ast.stmt, source: Source) -> Iterator[Edit]:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)  # a docstring, an ellipsis
    is_type = isinstance(node, ast.AnnAssign) and not node.value
    if not is_text and not is_type:
        yield source.replace(node, "pass")


@_rule(ast.Return)
def _return_none(node: ast.Return, source: Source) -> Iterator[Edit]:
    if node.value:
        yield source.replace(node.value, "None")


@_rule(ast.If, ast.IfExp)
def _force_branch(node: ast.If | ast.IfExp, source: Source) -> Iterator[Edit]:
    yield source.replace(node.test, "True")
    yield source.replace(node.test, "False")
    if not isinstance(node.test, ast.Compare | ast.UnaryOp):  # the changes of these nodes have the same effect
        yield source.replace(node.test, f"not ({source.of(node.test)})")


@_rule(ast.While)
def _skip_loop(node: ast.While, source: Source) -> Iterator[Edit]:
    yield source.replace(node.test, "False")


@_rule(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
def _drop_filter(node: ast.ListComp, source: Source) -> Iterator[Edit]:
    for test in [test for generator in node.generators for test in generator.ifs]:
        yield source.replace(test, "True")


@_rule(ast.Raise)
def _change_error(node: ast.Raise, source: Source) -> Iterator[Edit]:
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(error, ast.Name | ast.Attribute) and source.of(error).rpartition(".")[2][0].isupper():
        yield source.replace(error, "ValueError" if source.of(error) == "TypeError" else "TypeError")


@_rule(ast.ExceptHandler)
def _expect_another_error(node: ast.ExceptHandler, source: Source) -> Iterator[Edit]:
    if node.type:
        yield source.replace(node.type, "ZeroDivisionError")


@_rule(ast.FunctionDef, ast.ClassDef)
def _drop_decorator(node: ast.FunctionDef | ast.ClassDef, source: Source) -> Iterator[Edit]:
    for decorator, following in pairwise([*node.decorator_list, node]):
        end = source.start(following) - (following is not node)  # each has its @ before it
        yield Edit(source.start(decorator) - 1, end, "")
