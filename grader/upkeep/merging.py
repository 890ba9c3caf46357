"""A module of the reference in another style: an alternative's code where a learner writes, the given code elsewhere.

An alternative's file holds
- functions, and methods in a plain `class Name:`, that have a task's region in the reference: their bodies replace
  the reference's bodies, but the reference's decorators, signatures and docstrings remain;
- imports that the reference lacks: they follow the reference's imports;
- helpers of its own, which are functions, methods, classes and constants: each stands before the next definition that
  both modules have, or at the end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NoReturn

from grader.course import markers

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Import = ast.Import | ast.ImportFrom


class MergeError(Exception):
    """The alternative contains more than a learner writes; `line` counts from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def merge(reference: str, alternative: str) -> str:
    """The text of the reference's module with the alternative's definitions. Raises `MergeError`."""
    return _Merge(reference, alternative).text()


class _Merge:
    """Collects what to change in the reference: from one line (from 0) up to another, and the lines to put there."""

    def __init__(self, reference: str, alternative: str) -> None:
        self.theirs = reference.splitlines()
        self.ours = alternative.splitlines()
        self.module = ast.parse(reference)
        self.regions = markers.regions(reference)
        self.changes: list[tuple[int, int, Sequence[str]]] = []
        try:
            module = ast.parse(alternative)
        except SyntaxError as error:
            raise MergeError(error.lineno or 0, error.msg) from error
        nodes = module.body[_has_docstring(module) :]
        self.add_imports(node for node in nodes if isinstance(node, _Import))
        others = [node for node in nodes if not isinstance(node, _Import)]
        self.merge(self.module.body, others, len(self.theirs), "")

    def text(self) -> str:
        lines, done = [], 0
        for start, stop, put in sorted(self.changes, key=lambda change: change[0]):
            lines += [*self.theirs[done:start], *put]
            done = stop
        return "\n".join([*lines, *self.theirs[done:], ""])

    def add_imports(self, nodes: Iterable[ast.stmt]) -> None:
        known = {name for node in self.module.body for name in _bound(node)}
        docstring = self.module.body[: _has_docstring(self.module)]
        above = [node for node in self.module.body if isinstance(node, _Import)] or docstring
        line = above[-1].end_lineno or 0 if above else 0
        for node in nodes:
            if again := known.intersection(_bound(node)):
                _refuse(node, f"{', '.join(sorted(again))}: the reference has this name already")
            self.changes.append((line, line, self.ours[node.lineno - 1 : node.end_lineno]))

    def merge(self, theirs: list[ast.stmt], ours: list[ast.stmt], end: int, prefix: str) -> None:
        """Merge the statements of two modules or classes; new ones that nothing follows go to the line `end`."""
        places = {name: node for node in theirs for name in _bound(node)}
        new: list[ast.stmt] = []
        for node in ours:
            if known := [name for name in _bound(node) if name in places]:
                self.add(new, _first(places[known[0]], self.theirs))
                new = []
                self.replace(places[known[0]], node, prefix + known[0])
            else:
                new.append(node)
        self.add(new, end)

    def add(self, nodes: list[ast.stmt], line: int) -> None:
        for node in nodes:
            self.changes.append((line, line, ["", *self.ours[_first(node, self.ours) : node.end_lineno], ""]))

    def replace(self, theirs: ast.stmt, ours: ast.stmt, name: str) -> None:
        if isinstance(theirs, ast.ClassDef) and isinstance(ours, ast.ClassDef):
            if ours.bases or ours.keywords or ours.decorator_list:
                _refuse(ours, f"{name} is given: write only `class {name}:` and methods")
            for node in ours.body:
                if not isinstance(node, _Function):
                    _refuse(node, f"{name} is given: add only methods")
            self.merge(theirs.body, ours.body, theirs.end_lineno or 0, f"{name}.")
        elif isinstance(theirs, _Function) and isinstance(ours, _Function):
            inside = [region.end for region in self.regions if markers.holds(theirs, region)]
            if not inside:
                _refuse(ours, f"{name} is given: no task asks for it")
            if ours.decorator_list:
                _refuse(ours, f"{name} has the reference's decorators: leave them out")
            if _parameters(theirs) != _parameters(ours):
                _refuse(ours, f"{name} differs from the reference's in its parameters")
            body = self.ours[_body(ours, self.ours) : ours.end_lineno]
            self.changes.append((_body(theirs, self.theirs), max(theirs.end_lineno or 0, *inside), body))
        else:
            _refuse(ours, f"{name} is given")


def _refuse(node: ast.stmt, text: str) -> NoReturn:
    raise MergeError(node.lineno, text)


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name for alias in node.names]
        case ast.Assign(targets=targets):
            pass
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            targets = [target]
        case _:
            return []
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _parameters(node: _Function) -> list[str]:
    return [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]


def _has_docstring(node: ast.Module | _Function) -> bool:
    return ast.get_docstring(node) is not None


def _body(node: _Function, lines: list[str]) -> int:
    """The line, from 0, after a function's signature and docstring."""
    return node.body[0].end_lineno or 0 if _has_docstring(node) else _first(node.body[0], lines)


def _first(node: ast.stmt, lines: list[str]) -> int:
    """The line, from 0, where a statement starts: with its decorators, and with the comments above."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line
