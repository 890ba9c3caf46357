"""Choose the source of each module: the learner's file, the reference, a stub, or the toolbox.

Modules are found by name in a plan, and nowhere else. They keep the paths of their files, so that a traceback
names the learner's file and line.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Literal

from grader.course import stubs
from grader.course.curriculum import Curriculum
from grader.report.verdicts import ModuleOrigin, Verdict

Impl = Literal["learner", "reference"]


@dataclass(frozen=True)
class Source:
    """Where one module comes from."""

    path: Path
    origin: str  # "learner", "reference", "stub" or "toolbox"
    milestone: int  # the one that declares it, or for a learner's own module the one being graded


@dataclass(frozen=True)
class ModulePlan:
    """Every module that a graded program can import from the course's packages."""

    sources: dict[str, Source]
    learner_root: Path
    root: Path
    packages: frozenset[str] = field(init=False)
    has_learner: bool = field(init=False)

    def __post_init__(self) -> None:
        packages = frozenset(module.partition(".")[0] for module in self.sources)
        has_learner = any(source.origin == "learner" for source in self.sources.values())
        object.__setattr__(self, "packages", packages)
        object.__setattr__(self, "has_learner", has_learner)

    def provenance(self) -> list[ModuleOrigin]:
        """The facts of a report about each module; a missing file has no hash."""
        return [
            ModuleOrigin(module, source.origin, self.display(source.path), _sha256(source.path))
            for module, source in sorted(self.sources.items())
        ]

    def display(self, path: str | Path) -> str:
        """A path for messages: relative to the project or to the learner's tree if it lies inside."""
        path = Path(path)
        above = next((folder for folder in (self.root, self.learner_root) if path.is_relative_to(folder)), None)
        return path.relative_to(above).as_posix() if above else str(path)

    def is_learners(self, file: str) -> bool:
        """Whether a code object's file name is in the learner's tree."""
        return file.startswith(str(self.learner_root) + os.sep)

    def is_graded(self, file: str) -> bool:
        """Whether it is in the tree whose code is judged: the learner's, if any of it runs."""
        return self.is_learners(file) if self.has_learner else file.startswith(str(self.root / "solutions"))


class Unimportable(ImportError):
    """A module whose import has failed before: a new import raises the same error."""

    def __init__(self, message: str, verdict: Verdict, location: str) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.location = location


def filling(curriculum: Curriculum, impl: Impl, fill: Impl) -> Impl:
    """Whose earlier milestones run: in a copy without solutions, there are only the learner's."""
    return "learner" if impl == "learner" and not curriculum.has_solutions else fill


def plan(
    curriculum: Curriculum,
    milestones: Collection[int],
    impl: Impl,
    fill: Impl = "reference",
    learner_root: Path | None = None,
    from_reference: Collection[str] = (),
    stubs_exist: bool = False,
) -> ModulePlan:
    """Decide the source of every module: `impl` for `milestones`, `fill` for earlier milestones, stubs for later ones.

    Modules named in `from_reference` come from the reference where they would have come from the learner. Stubs are
    written unless `stubs_exist` is true: a process that may not read the reference cannot write them. A module of the
    toolbox always comes from there, even if the learner's tree has a copy from an earlier version of the course.
    """
    fill = filling(curriculum, impl, fill)
    learner_root = (learner_root or curriculum.exercises).resolve()
    last = max(milestones)
    roots = {"learner": learner_root, "reference": curriculum.solutions, "stub": curriculum.scratch / "stubs"}
    sources = {}
    for milestone in curriculum.milestones:
        origin = impl if milestone.number in milestones else fill if milestone.number < last else "stub"
        for module in milestone.modules:
            file = curriculum.file_of(module)
            if curriculum.is_tool(file):
                sources[module] = Source(curriculum.toolbox / file, "toolbox", milestone.number)
                continue
            whose = "reference" if origin == "learner" and module in from_reference else origin
            sources[module] = Source(roots[whose] / file, whose, milestone.number)
            if whose == "stub" and not stubs_exist:
                _write_stub(curriculum, file, sources[module].path)
    if any(source.origin == "learner" for source in sources.values()):
        for module, path in _python_files(learner_root, {module.partition(".")[0] for module in sources}):
            sources.setdefault(module, Source(path, "learner", last))
    return ModulePlan(sources, learner_root, curriculum.root)


class Overlay(MetaPathFinder):
    """The import system's view of a plan."""

    def __init__(self, plan: ModulePlan) -> None:
        self.plan = plan
        self.broken: dict[str, Unimportable] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        source = self.plan.sources.get(fullname)
        if source is None:
            return ModuleSpec(fullname, None, is_package=True) if self._is_namespace(fullname) else None
        if fullname in self.broken:
            # A new exception each time, because a raised exception collects tracebacks and notes.
            error = self.broken[fullname]
            raise Unimportable(error.msg, error.verdict, error.location)
        if not source.path.is_file():
            shown = self.plan.display(source.path)
            restored = f"; `python -m grader reset {shown}` restores it" * shown.startswith("exercises/")
            raise ImportError(f"{fullname}: there is no file {shown}{restored}", name=fullname, path=str(source.path))
        spec = spec_from_file_location(fullname, source.path, loader=_Loader(fullname, str(source.path)))
        if spec and spec.submodule_search_locations:
            spec.submodule_search_locations.clear()  # submodules are found in the plan or not at all
        return spec

    def _is_namespace(self, fullname: str) -> bool:
        """Whether the module is a learner's folder without `__init__.py`, which Python allows."""
        is_ours = fullname.partition(".")[0] in self.plan.packages
        return is_ours and any(module.startswith(fullname + ".") for module in self.plan.sources)


class _Loader(SourceFileLoader):
    """Always compiles the file: cached bytecode is stale when a file changes twice within a second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def install(plan: ModulePlan) -> Overlay:
    """Let `import` follow `plan` from now on, in this process."""
    loaded = [module for module in sys.modules if module.partition(".")[0] in plan.packages]
    if loaded:
        raise RuntimeError(f"imported before the overlay was installed: {', '.join(sorted(loaded))}")
    overlay = Overlay(plan)
    sys.meta_path.insert(0, overlay)
    return overlay


def installed() -> Overlay | None:
    """The overlay of this process, if there is one."""
    return next((finder for finder in sys.meta_path if isinstance(finder, Overlay)), None)


def _write_stub(curriculum: Curriculum, file: Path, path: Path) -> None:
    text = stubs.stub_text(stubs.read(curriculum.solutions / file), curriculum)
    if not path.is_file() or stubs.read(path) != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Another process or thread may write the same stub.
        unfinished = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)


def _python_files(root: Path, packages: Collection[str]) -> Iterator[tuple[str, Path]]:
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
