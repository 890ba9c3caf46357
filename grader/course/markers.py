"""Task markers in the reference: they delimit what a learner writes.

# [task 1.4] The instruction, which may go on in the comment lines that follow.
...the reference's code...
# [end]
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course import syntax
from grader.course.curriculum import Curriculum
from grader.course.problems import Problem

_START = re.compile(r"( *)# \[task (\d+\.\d+)\] (\S.*)")
_END = re.compile(r" *# \[end\]")
_LOOKS_LIKE_ONE = re.compile(r"#\s*\[\s*/?\s*(task|end)\b", re.IGNORECASE)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class MarkerError(Exception):
    """Markers that cannot be paired; `line` counts from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class Region:
    """A region delimited by markers. Lines count from 1."""

    task: str
    indent: str
    instruction: tuple[str, ...]  # the first without marker or `#`, the others as in the file
    start: int  # the line of `# [task ...]`
    end: int  # the line of `# [end]`

    @property
    def code(self) -> range:
        """The numbers of the lines with the reference's code."""
        return range(self.start + len(self.instruction), self.end)


def regions(source: str) -> list[Region]:
    """Every region of a module, in order."""
    lines = source.splitlines()
    found: list[Region] = []
    opened: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines, 1):
        if start := _START.fullmatch(line):
            if opened:
                raise MarkerError(number, f"This marker is inside the one that begins on line {opened[0]}.")
            opened = number, start
        elif _END.fullmatch(line):
            if not opened:
                raise MarkerError(number, "`# [end]` without `# [task N.M]` before it.")
            found.append(_region(lines, *opened, number))
            opened = None
        elif _LOOKS_LIKE_ONE.search(line):
            raise MarkerError(number, "Not a marker: markers read `# [task N.M] instruction` and `# [end]`.")
    if opened:
        raise MarkerError(opened[0], "This marker has no `# [end]`.")
    return found


def _region(lines: list[str], first: int, start: re.Match[str], last: int) -> Region:
    indent, task, text = start.groups()
    instruction = [text]
    for line in lines[first : last - 1]:
        if not line.startswith(indent + "#"):
            break
        instruction.append(line)
    return Region(task, indent, tuple(instruction), first, last)


def check(source: str, path: Path, module: str, curriculum: Curriculum) -> list[Problem]:
    """The errors in the markers of `module`."""
    try:
        if not (found := regions(source)):
            return []
        tree = syntax.parse(source)
    except MarkerError as error:
        return [Problem(path, error.line, str(error))]
    except SyntaxError as error:
        return [Problem(path, error.lineno or 0, error.msg)]
    comments = _comment_lines(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    marked: dict[_Function, int] = {}
    problems = []
    for region in found:
        if curriculum.is_tool(curriculum.file_of(module)):
            problems.append(Problem(path, region.start, "Nobody writes in the toolbox: move this file to solutions/."))
            continue
        function = _innermost(functions, region)
        text = _place_in_curriculum(region, module, curriculum) or _place_in_code(region, source, function)
        if not text and not {region.start, region.end} <= comments:
            text = "This marker is part of a string."
        if not text and function and marked.setdefault(function, region.start) != region.start:
            text = f"{function.name} already has a marker (line {marked[function]}): join the two regions."
        if text:
            problems.append(Problem(path, region.start, text))
    return problems


def _innermost(functions: list[_Function], region: Region) -> _Function | None:
    """The innermost function whose code `region` marks."""
    around = (function for function in functions if holds(function, region))
    return max(around, key=lambda function: function.lineno, default=None)


def holds(function: _Function, region: Region) -> bool:
    """Whether `region` is in the function, or in one inside it."""
    return function.lineno < region.start <= (function.end_lineno or 0)


def _place_in_curriculum(region: Region, module: str, curriculum: Curriculum) -> str:
    milestone = curriculum.milestone_of(module)
    if milestone is None:
        return f"{module} is in no milestone of the curriculum."
    if region.task not in {task.id for task in curriculum.tasks}:
        return f"The curriculum has no task {region.task}."
    if region.task not in {task.id for task in milestone.tasks}:
        return f"Task {region.task} is not a task of {milestone.id}, to which {module} belongs."
    return ""


def _place_in_code(region: Region, source: str, function: _Function | None) -> str:
    if function is None:
        return "A marker must be inside a function."
    statements = list(_statements(function))
    inside = [node for node in statements if node.lineno in region.code]
    if not inside:
        return "This region has no code."
    lines = source.splitlines()
    shallow = [n for n in region.code if lines[n - 1].strip() and not lines[n - 1].startswith(region.indent)]
    if shallow or inside[0].col_offset != len(region.indent):
        return f"Indent the marker and its code alike (line {(shallow or [inside[0].lineno])[0]})."
    for node in statements:
        starts_inside = node.lineno in region.code
        ends_inside = (node.end_lineno or node.lineno) in region.code
        holds_it = node.lineno < region.start and node.col_offset < len(region.indent)  # such as the `if` around it
        if starts_inside != ends_inside and not holds_it:
            return f"This region cuts the statement on line {node.lineno} in two."
    return ""


def _statements(function: _Function) -> Iterator[ast.stmt]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            yield node


def _comment_lines(source: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
