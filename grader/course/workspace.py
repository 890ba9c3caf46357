"""The learner's files beside the reference: a task's solution, the difference, the way back to the stub."""

from __future__ import annotations

import ast
import difflib
import functools
import io
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course import markers, stubs, syntax
from grader.course.curriculum import Curriculum, Task


class Untold(Exception):
    """A learner's file in which a task's functions cannot be found."""

    def __init__(self, path: Path, line: int | None, why: str) -> None:
        file = f"exercises/{path.as_posix()}"
        place = f"{file}:{line}" if line else file
        super().__init__(f"{place}: {why}\nFix that first, or reset the whole file: `reset {file}`.")


@dataclass(frozen=True)
class Function:
    """The lines of one function in a source text, decorators included."""

    name: str  # "TensorType.numel"
    first: int  # line numbers from 1, both included
    last: int

    def lines(self, source: str) -> list[str]:
        """Its lines, each with its newline."""
        return _lines(source)[self.first - 1 : self.last]


def solution(curriculum: Curriculum, task: Task) -> str:
    """The reference's functions that belong to a task, each after its place."""
    parts = []
    for path, source in _reference_files(curriculum, task):
        for function in task_functions(source, task.id):
            text = textwrap.dedent("".join(_without_markers(function, source)))
            parts.append(f"# solutions/{path.as_posix()}:{function.first}\n{text}")
    return "\n".join(parts)


def diff(curriculum: Curriculum, task: Task) -> str:
    """From the learner's functions of a task to the reference's, as a unified diff, without the stub's instructions."""
    parts: list[str] = []
    for path, source in _reference_files(curriculum, task):
        wanted = task_functions(source, task.id)
        mine = stubs.read(curriculum.exercises / path)
        my_lines = {function.name: function.lines(mine) for function in _learners(mine, path)} if wanted else {}
        instructions = _instructions(source)
        for function in wanted:
            parts += difflib.unified_diff(
                [text for text in my_lines.get(function.name, []) if text not in instructions],
                _without_markers(function, source),
                f"exercises/{path.as_posix()} {function.name}",
                f"solutions/{path.as_posix()} {function.name}",
            )
    return "".join(parts)


def reset(curriculum: Curriculum, tasks: Iterable[Task]) -> list[str]:
    """Restore the stubs of these tasks, keep the learner's version as a backup, and return lines that say what changed.

    For all tasks of a milestone, whole files are restored; otherwise, only the functions of the tasks are. Raises
    `Untold`, and changes nothing, if a function cannot be found in the learner's file.
    """
    wanted = {task.id for task in tasks}
    new: dict[Path, str] = {}
    notes: dict[Path, str] = {}
    for milestone in curriculum.milestones:
        ids = {task.id for task in milestone.tasks}
        for path in (curriculum.file_of(module) for module in milestone.modules if ids & wanted):
            if curriculum.is_tool(path):
                continue
            source = stubs.read(curriculum.solutions / path)
            stub = stubs.stub_text(source, curriculum)
            names = {function.name for id in ids & wanted for function in task_functions(source, id)}
            if ids <= wanted:
                new[path], notes[path] = stub, "the whole file"
            elif names:
                new[path], notes[path] = _partly(curriculum, path, stub, names)
    return _write(curriculum, new, notes)


def reset_file(curriculum: Curriculum, file: Path) -> list[str]:
    """Restore one file of exercises/, even a missing one; [] if the reference has no such file."""
    if not file.is_relative_to(curriculum.exercises):
        return []
    path = file.relative_to(curriculum.exercises)
    if not (curriculum.solutions / path).is_file():
        return []
    stub = stubs.stub_text(stubs.read(curriculum.solutions / path), curriculum)
    return _write(curriculum, {path: stub}, {path: "the whole file"})


def functions(source: str) -> list[Function]:
    """All functions of a source text in the order of their lines."""
    return list(_all_functions(source))


@functools.lru_cache(maxsize=64)  # a grading asks for each task of a file
def _all_functions(source: str) -> tuple[Function, ...]:
    tree = syntax.parse(stubs.encode(source))
    return tuple(sorted(_functions(tree, ""), key=lambda function: function.first))


def task_functions(source: str, id: str) -> list[Function]:
    """The functions of the reference that hold a region of the task: for each region the innermost one."""
    everything = functions(source)
    return [
        [f for f in everything if f.first <= region.start <= f.last][-1]
        for region in markers.regions(source)
        if region.task == id
    ]


def _lines(source: str) -> list[str]:
    """Lines as Python counts them, with their newlines: `splitlines` would split at a form feed, too."""
    return io.StringIO(source).readlines()


def _functions(node: ast.AST, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{child.name}."
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                yield Function(prefix + child.name, first, child.end_lineno or first)
        yield from _functions(child, inner)


def _without_markers(function: Function, source: str) -> list[str]:
    """The function as the learner would write it: neither markers nor instructions."""
    hidden: set[int] = set()
    for region in markers.regions(source):
        hidden |= {*range(region.start, region.code.start), region.end}
    return [text for number, text in enumerate(function.lines(source), function.first) if number not in hidden]


def _instructions(source: str) -> set[str]:
    """The comment lines of the stubs."""
    found = set()
    for region in markers.regions(source):
        first, *rest = region.instruction
        found |= {f"{region.indent}# Task {region.task}: {first}\n", *(f"{text}\n" for text in rest)}
    return found


def _learners(source: str, path: Path) -> list[Function]:
    """The functions in a file of the learner's."""
    try:
        return functions(source)
    except SyntaxError as error:
        raise Untold(path, error.lineno, error.msg) from None
    except ValueError as error:
        raise Untold(path, None, str(error)) from None


def _reference_files(curriculum: Curriculum, task: Task) -> Iterator[tuple[Path, str]]:
    for module in curriculum.milestone(task.milestone).modules:
        path = curriculum.file_of(module)
        yield path, stubs.read(curriculum.original(path))


def _partly(curriculum: Curriculum, path: Path, stub: str, names: set[str]) -> tuple[str, str]:
    """The learner's text with the stubs of these functions, and their names."""
    mine = stubs.read(curriculum.exercises / path)
    found = [function for function in _learners(mine, path) if function.name in names]
    for name in sorted(names):
        lines_of = [function.first for function in found if function.name == name]
        if len(lines_of) != 1:
            raise Untold(path, max(lines_of, default=None), f"{name} is defined {len(lines_of)} times, not once")
    stub_lines = {function.name: function.lines(stub) for function in functions(stub)}
    lines = _lines(mine)
    for function in reversed(found):  # from the bottom, so that line numbers above stay valid
        lines[function.first - 1 : function.last] = stub_lines[function.name]
    return "".join(lines), ", ".join(function.name for function in found)


def _write(curriculum: Curriculum, new: dict[Path, str], notes: dict[Path, str]) -> list[str]:
    """Write files of exercises/ and keep the old ones; return a line for each that changed."""
    root = curriculum.exercises
    changed = [path for path, text in new.items() if stubs.read(root / path) != text or not (root / path).exists()]
    kept = stubs.backup(curriculum, [root / path for path in changed if (root / path).exists()])
    for path in changed:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if (root / path).is_symlink():
            (root / path).unlink()  # the file that it leads to may be anybody's
        (root / path).write_bytes(stubs.encode(new[path]))
    done = [f"exercises/{path.as_posix()} is back to the stub: {notes[path]}." for path in changed]
    if kept:
        done.append(f"Your version is kept in {kept.relative_to(curriculum.root).as_posix()}/.")
    return done or ["Nothing to do: this is already the stub."]
