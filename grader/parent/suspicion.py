"""Remarks about a submission for a person to read: they cost no points, and an honest learner may have reasons."""

from __future__ import annotations

import ast
import sys
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
    + ("importlib", "runpy", "pkgutil", "zipimport", "imp", "_imp", "code", "bdb", "pdb", "trace")
    + ("_ctypes", "_frozen_importlib", "_frozen_importlib_external", "_pickle", "_posixsubprocess", "_thread", "shelve")
    + ("cProfile", "doctest", "profile", "pydoc", "site", "timeit", "unittest")  # they run or find what a text names
)
_REACHING = frozenset(
    ("_getframe", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "meta_path", "path_hooks")
    + ("_current_frames", "settrace", "setprofile", "addaudithook", "__subclasses__", "__globals__", "get_type_hints")
    + ("__builtins__", "__loader__", "__spec__")  # also names, in every module
)
_OF_SYS = frozenset(("modules", "__dict__", "__getattribute__", "*"))
_WITH_SYS = sys.stdlib_module_names - {"cmath", "math", "operator"}  # modules that may have `sys` as an attribute
_RUNNING = frozenset(("exec", "eval", "compile", "__import__", "globals", "setattr"))
_FORGED = frozenset(("__eq__", "__class__", "__instancecheck__", "__getattribute__"))


def look(intake: Intake, curriculum: Curriculum, ran: Collection[str]) -> list[str]:
    """Lines for a report: `mini_triton/ir/types.py:7 imports ctypes`. Things that the reference also does are left out.

    `ran` are the files to look at: the others were out of reach of the code that was judged.
    """
    found: list[str] = []
    alike: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in intake.files if name in ran):
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
    tops = [(alias, alias.name.partition(".")[0]) for node in imports for alias in node.names]
    aliases = {alias.asname or top: top for alias, top in tops}
    plain: set[ast.AST] = set()  # uses of a module for a value; the walk reaches a node before its parts
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Attribute) and node.attr not in _OF_SYS:
            plain.add(node.value)
        match node:
            case ast.Import(names=names):
                found = {alias.name.partition(".")[0] for alias in names}
                yield from (_Finding(line, f"imports {top}") for top in sorted(found & _NOT_NEEDED))
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _NOT_NEEDED:
                yield _Finding(line, f"imports {module.partition('.')[0]}")
            case ast.ImportFrom(module=module, names=names):
                found = {alias.name for alias in names}
                yield from (_Finding(line, f"uses {name}") for name in sorted(found & _REACHING))
                if "sys" in found or module == "sys" and found & _OF_SYS:
                    yield _Finding(line, "looks into sys")
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _REACHING:
                yield _Finding(line, f"uses {name}")
            case ast.Subscript(ast.Attribute(ast.Name() as system, "modules"), ast.Name("__name__")):
                plain.add(system)  # the module itself
            case ast.Attribute(attr="sys"):
                yield _Finding(line, "looks into sys")
            case ast.Name(name, ast.Load()) if node not in plain and (top := aliases.get(name, "")) in _WITH_SYS:
                yield _Finding(line, f"looks into {top}")
            case ast.Call(func=ast.Name(id=name)) if name in _RUNNING:
                yield _Finding(line, f"calls {name}")
            case ast.Call(func=ast.Name("vars"), args=args) if not args or getattr(args[0], "id", "") in aliases:
                yield _Finding(line, "calls vars")
            case ast.FunctionDef(name=name) if name in _FORGED:
                yield _Finding(line, f"defines {name}")
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name))]) if name in aliases:
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
