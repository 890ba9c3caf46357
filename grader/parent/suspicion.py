"""Remarks about a submission for a person to read: they cost no points, and an honest learner may have reasons."""

from __future__ import annotations

import ast
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from grader.course import markers, stubs, syntax, workspace
from grader.course.curriculum import Curriculum
from grader.parent.intake import Intake

MOST = 40  # findings
_ALIKE, _LEAST = 0.97, 40  # minimum similarity of two functions, and minimum number of nodes
_NOT_NEEDED = frozenset(
    ("builtins", "ctypes", "gc", "hypothesis", "inspect", "marshal", "multiprocessing", "pickle", "pytest", "signal")
    + ("socket", "solutions", "subprocess", "tests", "threading", "grader", "urllib", "http", "atexit", "_pytest")
)
_REACHING = frozenset(("_getframe", "f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "meta_path"))
_RUNNING = frozenset(("exec", "eval", "compile", "__import__", "globals", "vars", "setattr"))
_FORGED = frozenset(("__eq__", "__class__", "__instancecheck__", "__getattribute__"))


def look(intake: Intake, curriculum: Curriculum, milestones: Collection[int]) -> list[str]:
    """Lines for a report: `mini_triton/ir/types.py:7 imports ctypes`. Things that the reference also does are left out.

    Modules of other milestones are not looked at: they do not run.
    """
    unasked = [milestone for milestone in curriculum.milestones if milestone.number not in milestones]
    others = {curriculum.file_of(module).as_posix() for milestone in unasked for module in milestone.modules}
    found: list[str] = []
    alike: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in intake.files if name not in others):
        source, path = (intake.root / name).read_bytes(), curriculum.solutions / name
        reference = path.read_bytes() if path.is_file() else b""
        if not reference:
            found.append(f"{name} is a module of the learner's own")
        try:
            usual = set() if source == reference else {finding.what for finding in _findings(syntax.parse(reference))}
            fresh = [] if source == reference else _findings(syntax.parse(source))
            found += [f"{name}:{finding.line} {finding.what}" for finding in fresh if finding.what not in usual]
            for task, function in _copied(intake.root / name, path):
                alike[task].append(function)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found.append(f"{name} is not Python")
    order = [task.id for task in curriculum.tasks]
    found += [
        f"task {id}: as in the reference, except for names: {_few(alike[id])}" for id in sorted(alike, key=order.index)
    ]
    return [*found[:MOST], *([f"and {len(found) - MOST} more"] if len(found) > MOST else [])]


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@dataclass(frozen=True)
class _Finding:
    line: int
    what: str


def _findings(tree: ast.Module) -> Iterator[_Finding]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    modules = {alias.asname or alias.name for node in imports for alias in node.names}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Import(names=names):
                tops = [alias.name.partition(".")[0] for alias in names]
                yield from (_Finding(line, f"imports {top}") for top in tops if top in _NOT_NEEDED)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _NOT_NEEDED:
                yield _Finding(line, f"imports {module.partition('.')[0]}")
            case ast.Attribute(attr=name) if name in _REACHING:
                yield _Finding(line, f"uses {name}")
            case ast.Call(func=ast.Name(id=name)) if name in _RUNNING:
                yield _Finding(line, f"calls {name}")
            case ast.FunctionDef(name=name) if name in _FORGED:
                yield _Finding(line, f"defines {name}")
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name))]) if name in modules:
                yield _Finding(line, f"writes into the module {name}")


def _copied(file: Path, reference: Path) -> Iterator[tuple[str, str]]:
    """Tasks and functions in which the learner's code is that of the reference, or nearly."""
    theirs = stubs.read(reference) if reference.is_file() else ""
    tasks = sorted({region.task for region in markers.regions(theirs)})
    if not tasks:
        return
    source = stubs.read(file)
    mine = {function.name: function for function in workspace.functions(source)}
    for task in tasks:
        for function in workspace.task_functions(theirs, task):
            other = mine.get(function.name)
            if other and _likeness("".join(other.lines(source)), "".join(function.lines(theirs))) >= _ALIKE:
                yield task, function.name


def _likeness(one: str, other: str) -> float:
    """The similarity of two functions, from 0 to 1, without names, comments and docstrings; 0 for short functions."""
    a, b = _shape(one), _shape(other)
    if len(b) < _LEAST:
        return 0.0
    if a == b:
        return 1.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE else 0.0


def _shape(text: str) -> list[str]:
    try:
        tree = syntax.parse(textwrap.dedent(text))
    except SyntaxError:
        return []
    shape = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        shape.append(type(node).__name__ + (repr(node.value) if isinstance(node, ast.Constant) else ""))
    return shape
