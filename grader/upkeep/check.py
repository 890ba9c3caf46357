"""Check the maintainers' rules, and report each broken rule with file and line."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader.course import chapters, expected, markers, stubs
from grader.course.curriculum import Curriculum, Milestone, Task, UnknownTarget, task_id
from grader.course.problems import Problem
from grader.parent import capstone
from grader.upkeep import alternatives, mistakes, mutants
from grader.upkeep.mistakes import Mistake

HINTS = 3
MISTAKES = range(1, 6)  # the permitted numbers of mistakes for each task
ALTERNATIVES = 1  # at least, for each milestone
LINES = 600  # at most, in each file


def check(curriculum: Curriculum) -> list[Problem]:
    """Every broken rule, with paths relative to the project."""
    rules = (
        *(_declarations, _routes, _modules, _markers, _stubs, _lengths, _chapters),
        *(_tests, _capstones, _mistakes, _equivalents, _alternatives),
    )
    root = curriculum.root
    return [
        replace(problem, path=problem.path.relative_to(root)) if problem.path.is_relative_to(root) else problem
        for rule in rules
        for problem in rule(curriculum)
    ]


def _declarations(curriculum: Curriculum) -> Iterator[Problem]:
    """Tasks are numbered by their milestone, have points, and hints of growing directness."""
    known = {task.id for task in curriculum.tasks}
    for milestone in curriculum.milestones:
        path = _file(milestone, curriculum)
        for number, task in enumerate(milestone.tasks, 1):
            line = _line(path, f'id = "{task.id}"')
            if task.id != f"{milestone.number}.{number}":
                yield Problem(path, line, f"task {task.id} should be {milestone.number}.{number}")
            if len(task.hints) != HINTS or not all(hint.strip() for hint in task.hints):
                yield Problem(path, line, f"task {task.id} has {len(task.hints)} hints instead of {HINTS}")
            if not task.built.strip():
                yield Problem(path, line, f"task {task.id} does not say what is `built` once it has passed")
            if task.points < 1 or task.minutes < 1 or task.timeout <= 0:
                yield Problem(path, line, f"task {task.id}: points, minutes and timeout must be positive")
            for unknown in set(task.requires) - known:
                yield Problem(path, line, f"task {task.id} requires {unknown}, which does not exist")
    for name, count in Counter(name for milestone in curriculum.milestones for name in milestone.names).items():
        if count > 1:
            yield Problem(curriculum.root / "grader" / "curriculum", 0, f"{count} milestones are called {name!r}")


def _routes(curriculum: Curriculum) -> Iterator[Problem]:
    """A route's targets exist, its tasks require no task that it skips."""
    path = curriculum.root / "grader" / "routes.toml"
    for route in curriculum.routes:
        line = _line(path, f'key = "{route.key}"')
        try:
            tasks = curriculum.along(route).tasks
        except UnknownTarget as error:
            yield Problem(path, line, f"route {route.key}: {error}")
            continue
        for task in tasks:
            for skipped in set(task.requires) - {task.id for task in tasks}:
                yield Problem(path, line, f"route {route.key} has task {task.id}, but not {skipped}, which it requires")


def _modules(curriculum: Curriculum) -> Iterator[Problem]:
    """Every module of the reference is in exactly one milestone."""
    counts = Counter(module for milestone in curriculum.milestones for module in milestone.modules)
    for milestone in curriculum.milestones:
        path = _file(milestone, curriculum)
        for module in milestone.modules:
            line = _line(path, f'"{module}"')
            file = curriculum.file_of(module)
            if not curriculum.source_of(module).is_file():
                yield Problem(path, line, f"{module} has no file in solutions/ or toolbox/")
            if curriculum.is_tool(file) and (curriculum.solutions / file).is_file():
                yield Problem(path, line, f"{module} has two files: one in solutions/, and one in toolbox/")
            if counts[module] > 1:
                yield Problem(path, line, f"{module} is listed {counts[module]} times")
    for file, module in _reference_files(curriculum):
        if module not in counts:
            yield Problem(file, 0, f"{module} is in no milestone")


def _markers(curriculum: Curriculum) -> Iterator[Problem]:
    """Markers are well formed and belong to tasks; every task has one."""
    marked = set()
    for file, module in _reference_files(curriculum):
        source = stubs.read(file)
        problems = markers.check(source, file, module, curriculum)
        yield from problems
        if not problems:
            marked |= {region.task for region in markers.regions(source)}
    for task in curriculum.tasks:
        if task.id not in marked:
            yield _of_task(task, curriculum, "has no marker in solutions/")


def _tests(curriculum: Curriculum) -> Iterator[Problem]:
    """Every task has tests, every file of graded tests has a task, and the grader sees each of its tests."""
    for task in curriculum.tasks:
        if not expected.tests_of(task, curriculum):
            yield _of_task(task, curriculum, "has no test")
    folders = {milestone.directory: milestone for milestone in curriculum.milestones}
    for folder in sorted(curriculum.tests.glob("m[0-9][0-9]_*")):
        milestone = folders.get(folder.name)
        if milestone is None:
            yield Problem(folder, 0, "belongs to no milestone")
            continue
        ids = {task.id for task in milestone.tasks}
        for file in sorted(folder.rglob("test*.py")):
            if file.parent != folder or task_id(file) not in ids:
                yield Problem(file, 0, f"belongs to no task of {milestone.id}")
            else:
                yield from _test_file(file)


def _capstones(curriculum: Curriculum) -> Iterator[Problem]:
    """Every task has a question from outside; without one its points do not count in a submission."""
    folder = curriculum.tests / "capstones"
    for milestone in curriculum.milestones if folder.is_dir() else ():
        always = [one for one in capstone.questions(curriculum, milestone.number, 0) if not one.after]
        asked = {id for question in always for id in question.tasks}
        for task in milestone.tasks:
            if task.id not in asked:
                yield Problem(folder / f"{milestone.directory}.py", 0, f"has no question about task {task.id}")


def _test_file(file: Path) -> Iterator[Problem]:
    """Tests are functions at the top level of the file; the grader expects reports from these functions only."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError as error:
        yield Problem(file, error.lineno or 0, error.msg)
        return
    top = {id(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    seen: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.Assign) and any(name.startswith("Test") for name in _names(node)):
            yield Problem(file, node.lineno, "tests are functions, not methods")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            if id(node) not in top:
                yield Problem(file, node.lineno, f"{node.name} is not at the top of the file: it is not graded")
            elif node.name in seen:
                yield Problem(file, node.lineno, f"{node.name} is defined twice: the first is not graded")
            seen.add(node.name)
    if not expected.functions(file):
        yield Problem(file, 0, "has no test")


def _names(node: ast.ClassDef | ast.Assign) -> list[str]:
    """The names that a statement defines; pytest also collects classes that are not made by a `class` statement."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _mistakes(curriculum: Curriculum) -> Iterator[Problem]:
    """Every task has wrong solutions, and each still applies to the reference."""
    try:
        listed = mistakes.list_mistakes(curriculum)
    except (TypeError, ValueError) as error:
        yield Problem(curriculum.tests / "mistakes", 0, f"cannot be read: {error}")
        return
    for mistake in listed:
        if text := _mistake(mistake, curriculum):
            yield Problem(mistake.path, mistake.line, f"{mistake.name!r}: {text}")
    for (id, name), count in Counter((mistake.task, mistake.name) for mistake in listed).items():
        if count > 1:
            yield Problem(curriculum.tests / "mistakes", 0, f"task {id} has {count} mistakes called {name!r}")
    counts = Counter(mistake.task for mistake in listed)
    for task in curriculum.tasks:
        if counts[task.id] not in MISTAKES:
            text = f"has {counts[task.id]} wrong solutions instead of {MISTAKES[0]} to {MISTAKES[-1]}"
            yield _of_task(task, curriculum, text)


def _mistake(mistake: Mistake, curriculum: Curriculum) -> str:
    if mistake.task not in {task.id for task in curriculum.tasks}:
        return f"there is no task {mistake.task}"
    milestone = curriculum.milestone_of(mistake.module)
    if milestone is None or milestone.number != curriculum.task(mistake.task).milestone:
        return f"{mistake.module} is not a module of task {mistake.task}'s milestone"
    source = stubs.read(curriculum.source_of(mistake.module))
    if (count := source.count(mistake.find)) != 1:
        return f"the passage to replace occurs {count} times in {mistake.module}"
    try:
        compile(mistake.text(curriculum), mistake.module, "exec")
    except SyntaxError as error:
        return f"the result is not Python: {error.msg} (line {error.lineno})"
    return "" if mistake.find != mistake.replace else "it changes nothing"


def _equivalents(curriculum: Curriculum) -> Iterator[Problem]:
    """Each entry in the list of equivalent mutants still fits a mutant, and gives a reason."""
    try:
        listed = mutants.list_equivalents(curriculum)
        of_tasks = mutants.list_mutants({equivalent.task for equivalent in listed}, curriculum)
    except (TypeError, ValueError) as error:
        yield Problem(curriculum.tests / "mutants", 0, f"cannot be read: {error}")
        return
    except (markers.MarkerError, SyntaxError):
        return  # other rules report this
    keys = {mutant.key for of_task in of_tasks.values() for mutant in of_task}
    for equivalent in listed:
        if equivalent.key not in keys:
            text = f"no mutant of task {equivalent.task} turns {equivalent.before!r} into {equivalent.after!r}"
            yield Problem(equivalent.path, equivalent.line, text)
        if not equivalent.reason.strip():
            yield Problem(equivalent.path, equivalent.line, "gives no reason")


def _alternatives(curriculum: Curriculum) -> Iterator[Problem]:
    """Every milestone has right solutions in other styles, which contain only code that a learner writes."""
    listed = alternatives.list_alternatives(curriculum)
    for alternative in listed:
        yield from alternative.problems(curriculum)
    counts = Counter(alternative.milestone.number for alternative in listed)
    for milestone in curriculum.milestones:
        if counts[milestone.number] < ALTERNATIVES:
            folder = curriculum.tests / "alternatives" / milestone.directory
            yield Problem(folder, 0, f"has {counts[milestone.number]} styles instead of {ALTERNATIVES} or more")


def _chapters(curriculum: Curriculum) -> Iterator[Problem]:
    for milestone in curriculum.milestones:
        if not chapters.parts(milestone.directory, curriculum.root):
            chapter = curriculum.root / "docs" / f"{milestone.directory}.md"
            yield Problem(chapter, 0, f"is missing: the chapter of {milestone.id}")


def _stubs(curriculum: Curriculum) -> Iterator[Problem]:
    try:
        yield from stubs.check(curriculum, is_learners=True)
    except stubs.BadMarkers:
        return  # other rules report this


def _lengths(curriculum: Curriculum) -> Iterator[Problem]:
    """No file is too long to read in one sitting."""
    files = [file for file, _ in _reference_files(curriculum)]
    for file in [*files, *sorted((curriculum.root / "grader").glob("*.py"))]:
        lines = len(stubs.read(file).splitlines())
        if lines > LINES:
            yield Problem(file, LINES + 1, f"has {lines} lines, more than {LINES}")


def _reference_files(curriculum: Curriculum) -> Iterator[tuple[Path, str]]:
    """Every hand-written Python file of the reference and of the toolbox, and its name as a module."""
    for root in (curriculum.solutions, curriculum.toolbox):
        for file in sorted(root.rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            yield file, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _file(milestone: Milestone, curriculum: Curriculum) -> Path:
    """The file and line that declare a milestone."""
    for path in sorted((curriculum.root / "grader" / "curriculum").glob("*.toml")):
        if tomllib.loads(stubs.read(path))["number"] == milestone.number:
            return path
    raise FileNotFoundError(f"no declaration of {milestone.id}")


def _of_task(task: Task, curriculum: Curriculum, text: str) -> Problem:
    path = _file(curriculum.milestone(task.milestone), curriculum)
    return Problem(path, _line(path, f'id = "{task.id}"'), f"task {task.id} {text}")


def _line(path: Path, text: str) -> int:
    """The first line that has `text`, or 0."""
    lines = stubs.read(path).splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 0)
