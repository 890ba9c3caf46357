"""Names that learners' code must not use: the reference, the grader, its tests, and real Triton in early milestones.

The guard prevents points for mistakes and shortcuts. It is not a sandbox.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from grader.child.overlay import ModulePlan
from grader.course.curriculum import Curriculum

FIRST_WITH_TRITON = 8  # code of earlier milestones must not import Triton or start processes

_TESTS = "graded code must not see its tests"
_REFUSED = {
    "solutions": "it belongs to the reference",
    "grader": _TESTS,
    "tests": _TESTS,
    "pytest": _TESTS,
    "_pytest": _TESTS,
    "hypothesis": _TESTS,
    "triton": f"what you build before milestone {FIRST_WITH_TRITON} must work without it",
}
_STARTS_PROCESS = frozenset(
    ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
)
_STDLIB = os.path.dirname(os.__file__)


class Refused(ImportError):
    """Learner code imports a forbidden module."""


class Guard(MetaPathFinder):
    """Refuses imports by name, in the learner's modules only, except for `given` files as the course wrote them."""

    def __init__(self, plan: ModulePlan, given: Collection[str]) -> None:
        self.plan, self.given = plan, frozenset(given)
        self.milestones = {str(source.path): source.milestone for source in plan.sources.values()}

    def install(self) -> None:
        """Watch `import` statements, `importlib`, and all other ways that search for a module."""
        sys.meta_path.insert(0, self)
        builtins.__import__ = functools.partial(self._import, builtins.__import__)
        importlib.import_module = functools.partial(self._import_module, importlib.import_module)

    def close_files(self, curriculum: Curriculum) -> None:
        """Also refuse to open files of the tests and of the reference, except for files that the plan runs; to look
        into `sys.modules`, which contains modules of both; and to start processes.

        An audit hook cannot be removed, so only the grader's own child process may call this method.
        """
        solutions = os.path.realpath(curriculum.solutions) + os.sep
        tests = os.path.realpath(curriculum.tests) + os.sep
        open_to_all = {str(source.path) for source in self.plan.sources.values()}

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open" and isinstance(arguments[0], str | bytes):
                path = os.path.realpath(os.fsdecode(arguments[0]))
                if path.startswith(solutions) and path not in open_to_all:
                    raise PermissionError(f"{self.plan.display(path)} may not be opened: it belongs to the reference")
                if path.startswith(tests) and self._learners_file(_author(sys._getframe(1))):
                    raise PermissionError(f"{self.plan.display(path)} may not be opened: {_TESTS}")
            elif event == "compile" and self._is_learners(file := str(arguments[1])):
                if line := _line_of_sys_modules(arguments[0]):
                    place = f"{self.plan.display(file)}:{line}"
                    raise Refused(f"{place} looks into sys.modules, which is refused: {_TESTS}")
            elif event in _STARTS_PROCESS and self._is_early(_author(sys._getframe(1))):
                raise PermissionError(f"starting a process is refused before milestone {FIRST_WITH_TRITON}")

        sys.addaudithook(hook)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _REFUSED:
            self._check(fullname, _author(sys._getframe(1)))
        return None

    def _import(self, original: Callable[..., Any], name: str, *rest: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] in _REFUSED:
            self._check(name, _author(sys._getframe(1)))
        return original(name, *rest, **keywords)

    def _import_module(self, original: Callable[..., Any], name: str, package: str | None = None) -> Any:
        if name.partition(".")[0] in _REFUSED:
            self._check(name, _author(sys._getframe(1)))
        return original(name, package)

    def _check(self, name: str, frame: FrameType | None) -> None:
        top = name.partition(".")[0]
        file = self._learners_file(frame)
        if file and (top != "triton" or self._is_early(frame)):
            raise Refused(f"{self.plan.display(file)} imports {name}, which is refused: {_REFUSED[top]}")

    def _learners_file(self, frame: FrameType | None) -> str:
        """The learner's file whose code `frame` runs, or None. For code in `exec`, its globals name the file."""
        if frame is None:
            return ""
        files = frame.f_code.co_filename, str(frame.f_globals.get("__file__", ""))
        return next(filter(self._is_learners, files), "")

    def _is_learners(self, file: str) -> bool:
        return self.plan.is_learners(file) and file not in self.given

    def _is_early(self, frame: FrameType | None) -> bool:
        file = self._learners_file(frame)
        return bool(file) and self.milestones.get(file, 0) < FIRST_WITH_TRITON


def _author(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside the standard library, which has called the library."""
    while frame and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _line_of_sys_modules(source: object) -> int:
    """The line at which a source text reads `sys.modules`; 0 if it does not, or is not Python.

    `sys.modules[__name__]` is the module itself.
    """
    own: set[ast.AST] = set()  # the walk reaches a node before the node's parts
    try:
        tree = ast.parse(source) if isinstance(source, str | bytes) else ast.Module([], [])
    except (SyntaxError, ValueError):
        return 0
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name("sys")) as modules, slice=ast.Name("__name__")):
                own.add(modules)
            case ast.Attribute(value=ast.Name("sys"), attr="modules") if node not in own:
                return node.lineno
            case ast.ImportFrom(module="sys") if any(alias.name == "modules" for alias in node.names):
                return node.lineno
    return 0


@functools.cache  # hypothesis imports its own modules in functions that each example calls
def _is_library(file: str) -> bool:
    if file.startswith("<frozen") or Path(file) == Path(__file__):
        return True
    return file.startswith(_STDLIB) and "site-packages" not in file
