"""Right solutions written differently from the reference: the tests must accept them all.

`tests/alternatives/m01_types/<style>/` holds what a learner writes, and nothing that is given: each file is merged with
the reference's module (see `merging`) into a tree that is graded.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.child.job import EXAMPLES
from grader.course import stubs
from grader.course.curriculum import Curriculum, Milestone, Task, load
from grader.course.markers import MarkerError
from grader.course.problems import Problem
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.report.verdicts import TestResult, Verdict
from grader.upkeep import merging, trials
from grader.upkeep.merging import MergeError

_GOOD = (Verdict.PASS, Verdict.UNAVAILABLE)


@dataclass(frozen=True)
class Alternative:
    """One style of solving a milestone."""

    milestone: Milestone
    path: Path

    @property
    def name(self) -> str:
        return f"{self.milestone.directory}/{self.path.name}"

    def files(self) -> list[Path]:
        """The style's files, as paths relative to its folder."""
        return sorted(file.relative_to(self.path) for file in self.path.rglob("*.py"))

    def modules(self, curriculum: Curriculum) -> set[str]:
        """The declared modules that the style contains."""
        return {module for module in self.milestone.modules if curriculum.file_of(module) in self.files()}

    def text(self, file: Path, curriculum: Curriculum) -> str:
        """A whole module in this style. Raises `MergeError`."""
        own, reference = stubs.read(self.path / file), curriculum.solutions / file
        return merging.merge(stubs.read(reference), own) if reference.exists() else own

    def write(self, root: Path, curriculum: Curriculum) -> None:
        """Write the style's modules, merged with the reference, into a tree."""
        for file in self.files():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(self.text(file, curriculum), encoding="utf-8")

    def problems(self, curriculum: Curriculum) -> Iterator[Problem]:
        """The problems of this style, such as code that a learner does not write."""
        if not self.modules(curriculum):
            yield Problem(self.path, 0, f"has no module of {self.milestone.id}")
        for file in self.files():
            reference = stubs.read(curriculum.solutions / file)
            try:
                if ast.dump(ast.parse(self.text(file, curriculum))) == ast.dump(ast.parse(reference)):
                    yield Problem(self.path / file, 0, "has the same code as the reference")
            except MergeError as error:
                yield Problem(self.path / file, error.line, str(error))
            except (MarkerError, SyntaxError) as error:
                yield Problem(self.path / file, 0, f"cannot be merged with the reference: {error}")


def list_alternatives(curriculum: Curriculum) -> list[Alternative]:
    """Every alternative in the course."""
    return [
        Alternative(milestone, path)
        for milestone in curriculum.milestones
        for path in sorted((curriculum.tests / "alternatives" / milestone.directory).glob("[!_.]*"))
        if path.is_dir()
    ]


def run(targets: Sequence[str], examples: int = EXAMPLES, sample: int | None = None, seed: int = 0) -> bool:
    """Print how many alternatives of the targets' milestones pass, and the failures; True if all pass.

    With a `sample`, the tests of only this many tasks run.
    """
    curriculum = load()
    wanted = {task.milestone for task in curriculum.resolve(targets)}
    drawn = trials.draw_tasks([task for task in curriculum.tasks if task.milestone in wanted], sample, seed)
    tasks = {number: [task for task in drawn if task.milestone == number] for number in wanted}
    found = [one for one in list_alternatives(curriculum) if tasks.get(one.milestone.number)]
    if not are_sound(found, curriculum):
        return False
    passed = 0
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        roots = [Path(folder, alternative.name).resolve() for alternative in found]
        gradings = [
            _grading(one, tasks[one.milestone.number], root, curriculum, examples)
            for one, root in zip(found, roots, strict=True)
        ]
        run_all(gradings, "alternatives")
        for alternative, root, grading in zip(found, roots, gradings, strict=True):
            lines = describe_failures(grading, root)
            passed += not lines
            for line in lines:
                print(f"{alternative.name}: {line}")
    results = [result for grading in gradings for result in grading.results.values()]
    if unjudged := sum(result.verdict is Verdict.UNAVAILABLE for result in results):
        print(f"Not judged, because this machine lacks a judge: {unjudged} of {len(results)} tests.")
    print(f"Right solutions accepted: {passed} of {len(found)}.")
    return passed == len(found)


def are_sound(found: Sequence[Alternative], curriculum: Curriculum) -> bool:
    """Print the alternatives' code that a learner does not write; True if there is none."""
    problems = [problem for alternative in found for problem in alternative.problems(curriculum)]
    for problem in problems:
        print(problem)
    return not problems


def describe_failures(grading: Grading, root: Path) -> list[str]:
    """A line for each task that fails: how many of its tests fail, and the message of the first one."""
    lines = []
    for task in grading.milestone_result().tasks:
        if wrong := [result for result in task.tests if result.verdict not in _GOOD]:
            first = wrong[0]
            message, _, _ = first.message.partition("\n")
            text = f"{first.name}: {first.verdict}: {message} {_place(first, root)}"
            lines.append(f"task {task.id}: {len(wrong)} of {len(task.tests)} tests: {text}")
    return lines


def _place(result: TestResult, root: Path) -> str:
    """The text of the line that failed. Its number would not help: merging renumbers lines in a temporary tree."""
    path, _, line = result.location.rpartition(":")
    if not (root / path).is_file() or not line.isdigit():
        return result.location
    lines = stubs.read(root / path).splitlines()
    return f"{path}: {lines[int(line) - 1].strip()}"


def _grading(alternative: Alternative, tasks: list[Task], root: Path, curriculum: Curriculum, examples: int) -> Grading:
    alternative.write(root, curriculum)
    others = set(alternative.milestone.modules) - alternative.modules(curriculum)
    settings = Settings(learner_root=root, from_reference=frozenset(others), examples=examples)
    return Grading(curriculum, tasks, settings)
