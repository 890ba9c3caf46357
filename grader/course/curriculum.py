"""Milestones and their tasks, as declared in `grader/curriculum/*.toml` and nowhere else."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"

TIME_LIMIT = 20.0  # seconds for one test, unless a milestone or a task says otherwise
BUSY_LIMIT = 20.0  # the limit in processor time, which an endless loop uses up even on a busy machine

SKELETON = "skeleton"
"""The folder that takes the place of `solutions/` in a copy for learners."""

ASSETS = (".c", ".css", ".h", ".html", ".js")
"""Files that packages read, beside their modules."""

_TEST_FILE = re.compile(r"test_(\d+)_(\d+)_\w+\.py")


class CurriculumError(Exception):
    """A declaration that cannot be read."""


class UnknownTarget(Exception):
    """A name that is neither a milestone nor a task."""


@dataclass(frozen=True)
class Task:
    """One exercise of a milestone: some functions to write, and the tests that judge them."""

    id: str  # "1.4"
    title: str
    points: int
    minutes: int
    built: str = ""  # a sentence on what the learner has built once it has passed
    hints: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()  # other tasks whose code this task's tests also run
    timeout: float = TIME_LIMIT
    busy: float = BUSY_LIMIT
    libraries: tuple[str, ...] = ()  # slow libraries, which are loaded before any time limit runs
    processes: bool = False  # its tests start processes, such as a C compiler

    @property
    def milestone(self) -> int:
        """The number of the milestone it belongs to."""
        return int(self.id.partition(".")[0])

    @property
    def number(self) -> int:
        """Its number within the milestone."""
        return int(self.id.partition(".")[2])


@dataclass(frozen=True)
class Milestone:
    """A chapter: the modules it asks for and its tasks, in order."""

    number: int
    key: str
    title: str
    summary: str
    modules: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()

    @property
    def id(self) -> str:
        return f"milestone{self.number}"

    @property
    def directory(self) -> str:
        """Name of its folder of tests, and of its chapter: `m01_types`."""
        return f"m{self.number:02}_{self.key}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a user may call it by."""
        return self.id, f"m{self.number}", str(self.number), self.key


@dataclass(frozen=True)
class Route:
    """A way through the course, which takes some of its tasks."""

    key: str
    title: str
    targets: tuple[str, ...]  # milestones, tasks, or all
    without: tuple[str, ...]  # tasks of the targets that the route skips
    finale: str  # the program with which it ends


@dataclass(frozen=True)
class Curriculum:
    """All milestones, in order, and the places of their files under `root`."""

    milestones: tuple[Milestone, ...]
    root: Path = ROOT
    routes: tuple[Route, ...] = ()  # none in a copy for learners, in which all later tasks need all earlier ones
    _by_module: dict[str, Milestone] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_module = {module: milestone for milestone in self.milestones for module in milestone.modules}
        object.__setattr__(self, "_by_module", by_module)

    @property
    def exercises(self) -> Path:
        return self.root / "exercises"

    @property
    def solutions(self) -> Path:
        """The reference; in a copy for learners, a skeleton with stubs in place of what they write."""
        return _reference(self.root)

    @property
    def toolbox(self) -> Path:
        """Given modules and files, in one copy for the reference and for every learner; nobody writes in them."""
        return self.root / "toolbox"

    @property
    def has_solutions(self) -> bool:
        """Whether this is the course itself, and not a copy for learners."""
        return self.solutions.name != SKELETON

    @property
    def tests(self) -> Path:
        return self.root / "tests"

    @property
    def scratch(self) -> Path:
        """The folder of the grader's files, such as backups and progress; elsewhere if the project is read-only."""
        inside = self.root / ".kata"
        if os.access(inside if inside.exists() else self.root, os.W_OK):
            return inside
        project = hashlib.sha256(os.fsencode(f"{self.root} {os.path.expanduser('~')}")).hexdigest()
        return Path(tempfile.gettempdir(), f"kata-{project[:16]}")  # a folder for this user and this project

    @property
    def version(self) -> str:
        """The version of the course in `pyproject.toml`."""
        project = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
        return project.get("version", "")

    def with_points(self, points: Mapping[str, int]) -> Curriculum:
        """The same course with different points for some tasks."""
        milestones = (
            replace(milestone, tasks=tuple(replace(t, points=points.get(t.id, t.points)) for t in milestone.tasks))
            for milestone in self.milestones
        )
        return replace(self, milestones=tuple(milestones))

    @property
    def tasks(self) -> list[Task]:
        return [task for milestone in self.milestones for task in milestone.tasks]

    @property
    def modules(self) -> list[str]:
        """Every declared module, in order."""
        return list(self._by_module)

    @property
    def assets(self) -> list[Path]:
        """Every file that a declared package reads, beside its modules: paths relative to the reference or toolbox."""
        packages = [self.file_of(module).parent for module in self.modules if self.file_of(module).stem == "__init__"]
        folders = [(root, root / package) for package in packages for root in (self.solutions, self.toolbox)]
        files = ((root, file) for root, folder in folders if folder.is_dir() for file in folder.iterdir())
        return sorted(file.relative_to(root) for root, file in files if file.suffix in ASSETS)

    def milestone(self, number: int) -> Milestone:
        """The milestone with this number."""
        return next(milestone for milestone in self.milestones if milestone.number == number)

    def task(self, id: str) -> Task:
        """The task with this id; `UnknownTarget` if there is none."""
        for task in self.tasks:
            if task.id == id:
                return task
        raise UnknownTarget(f"There is no task {id}. Tasks: {', '.join(task.id for task in self.tasks)}.")

    def route(self, key: str) -> Route:
        """The route with this key; `UnknownTarget` if there is none."""
        for route in self.routes:
            if route.key == key:
                return route
        raise UnknownTarget(f"There is no route {key!r}. Routes: {', '.join(route.key for route in self.routes)}.")

    def along(self, route: Route) -> Curriculum:
        """The course with the tasks of a route only."""
        tasks = [task for task in self.resolve(route.targets) if task.id not in route.without]
        milestones = (
            replace(milestone, tasks=tuple(task for task in milestone.tasks if task in tasks))
            for milestone in self.milestones
        )
        return replace(self, milestones=tuple(milestone for milestone in milestones if milestone.tasks), routes=())

    @property
    def optional(self) -> list[Task]:
        """The tasks on no route."""
        on_routes = [task for route in self.routes for task in self.along(route).tasks]
        return [task for task in self.tasks if on_routes and task not in on_routes]

    def milestone_of(self, module: str) -> Milestone | None:
        """The milestone that declares `module`."""
        return self._by_module.get(module)

    def file_of(self, module: str) -> Path:
        """The path of `module` relative to the tree that holds it: the reference, the learner's or the toolbox."""
        path = Path(*module.split("."))
        package = path / "__init__.py"  # not the folder: a removed package may leave caches in it
        return package if self.original(package).is_file() else path.with_suffix(".py")

    def is_tool(self, file: Path) -> bool:
        """Whether the toolbox holds the file with this relative path, so that learners' trees do not."""
        return (self.toolbox / file).is_file()

    def original(self, file: Path) -> Path:
        """The hand-written file with this relative path: the toolbox's, or else the reference's."""
        return (self.toolbox if self.is_tool(file) else self.solutions) / file

    def source_of(self, module: str) -> Path:
        """The hand-written file of `module`."""
        return self.original(self.file_of(module))

    def resolve(self, targets: Iterable[str]) -> list[Task]:
        """The tasks that the user's names stand for, each once, in order.

        A name is a milestone (`milestone3`, `m3`, `3`, `builder`), a task (`3.2`) or `all`.
        """
        wanted: set[str] = set()
        for target in targets:
            tasks = self._named(target.strip().lower())
            if not tasks:
                raise UnknownTarget(f"There is no milestone or task {target!r}. {self._valid_targets()}")
            wanted.update(task.id for task in tasks)
        return [task for task in self.tasks if task.id in wanted]

    def test_files(self, task: Task) -> list[Path]:
        """The files whose tests judge `task`."""
        folder = self.tests / self.milestone(task.milestone).directory
        return sorted(path for path in folder.glob("test_*.py") if task_id(path) == task.id)

    def _named(self, name: str) -> list[Task]:
        if name == "all":
            return self.tasks
        for milestone in self.milestones:
            if name in milestone.names:
                return list(milestone.tasks)
        return [task for task in self.tasks if task.id == name]

    def _valid_targets(self) -> str:
        milestones = ", ".join(f"{milestone.id} ({milestone.key})" for milestone in self.milestones)
        return f"Valid targets: all, {milestones}, or a task such as {self.tasks[0].id}."


def task_id(test_file: Path) -> str | None:
    """The task that a file of tests belongs to, by its name: `test_1_4_promotion.py` is task 1.4's."""
    match = _TEST_FILE.fullmatch(test_file.name)
    return f"{int(match[1])}.{int(match[2])}" if match else None


def load(root: Path = ROOT) -> Curriculum:
    """Read every declaration under `root`; `CurriculumError` names the file that is wrong."""
    root = root.resolve()
    files = sorted((root / "grader" / "curriculum").glob("*.toml"))
    if not files:
        raise CurriculumError(f"No milestone is declared in {root / 'grader' / 'curriculum'}.")
    trees = (_reference(root), root / "toolbox")
    milestones = sorted((_read(path, trees) for path in files), key=lambda milestone: milestone.number)
    return Curriculum(tuple(milestones), root, tuple(_routes(root / "grader" / "routes.toml")))


def _reference(root: Path) -> Path:
    solutions = root / "solutions"
    return solutions if solutions.is_dir() or not (root / SKELETON).is_dir() else root / SKELETON


def _read(path: Path, trees: Iterable[Path]) -> Milestone:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        common = {name: table.pop(name) for name in ("timeout", "busy", "libraries", "processes") if name in table}
        tasks = [_task(common | entry) for entry in table.pop("task", [])]
        modules = tuple(dict.fromkeys(module for name in table["modules"] for module in _modules(name, trees)))
        return Milestone(**table | {"modules": modules, "tasks": tuple(tasks)})
    except (KeyError, TypeError, ValueError) as error:
        raise CurriculumError(f"{path}: {error}") from error


def _routes(path: Path) -> Iterator[Route]:
    try:
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["route"] if path.is_file() else ():
            targets, without = tuple(table["tasks"]), tuple(table.get("without", ()))
            yield Route(table["key"], table["title"], targets, without, table["finale"])
    except (KeyError, TypeError, ValueError) as error:
        raise CurriculumError(f"{path}: {error}") from error


def _modules(name: str, trees: Iterable[Path]) -> list[str]:
    """The modules that a name stands for: itself, or for `package.*` the package and all modules in it."""
    package, star, _ = name.partition(".*")
    if not star:
        return [name]
    found = ((tree, file) for tree in trees for file in (tree / package.replace(".", "/")).rglob("*.py"))
    files = sorted(file.relative_to(tree) for tree, file in found)
    return [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]


def _task(entry: dict) -> Task:
    try:
        entry["hints"] = tuple(entry.get("hints", ()))
        entry["requires"] = tuple(entry.get("requires", ()))
        entry["libraries"] = tuple(entry.get("libraries", ()))
        return Task(**entry)
    except TypeError as error:
        raise TypeError(f"task {entry.get('id', 'without id')}: {error}") from error
