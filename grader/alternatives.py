"""Right solutions written differently from the reference: the tests must accept them all.

`tests/alternatives/m01_types/<style>/` holds whole modules that stand in for the reference's of that milestone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.curriculum import Curriculum, Milestone, load
from grader.grading import Grading, Settings
from grader.runner import run_all
from grader.verdicts import Verdict


@dataclass(frozen=True)
class Alternative:
    """One style of solving a milestone."""

    milestone: Milestone
    path: Path

    @property
    def name(self) -> str:
        return f"{self.milestone.directory}/{self.path.name}"

    def modules(self, curriculum: Curriculum) -> set[str]:
        """The declared modules that it brings."""
        return {module for module in self.milestone.modules if (self.path / curriculum.file_of(module)).exists()}


def catalog(curriculum: Curriculum) -> list[Alternative]:
    """Every alternative there is."""
    return [
        Alternative(milestone, path)
        for milestone in curriculum.milestones
        for path in sorted((curriculum.tests / "alternatives" / milestone.directory).glob("[!_.]*"))
        if path.is_dir()
    ]


def run(targets: Sequence[str]) -> bool:
    """Print how many alternatives of the targets' milestones pass, and what fails; True if all pass."""
    curriculum = load()
    wanted = {task.milestone for task in curriculum.resolve(targets)}
    found = [alternative for alternative in catalog(curriculum) if alternative.milestone.number in wanted]
    gradings = [_grading(alternative, curriculum) for alternative in found]
    run_all(gradings)
    passed = 0
    for alternative, grading in zip(found, gradings, strict=True):
        wrong = [r for r in grading.results.values() if r.verdict not in (Verdict.PASS, Verdict.UNAVAILABLE)]
        passed += not wrong
        for result in wrong:
            print(f"{alternative.name}: {result.name}: {result.verdict}: {result.message} {result.location}")
    results = [result for grading in gradings for result in grading.results.values()]
    if unjudged := sum(result.verdict is Verdict.UNAVAILABLE for result in results):
        print(f"Not judged, for want of a judge on this machine: {unjudged} of {len(results)} tests.")
    print(f"Right solutions accepted: {passed} of {len(found)}.")
    return passed == len(found)


def _grading(alternative: Alternative, curriculum: Curriculum) -> Grading:
    others = set(alternative.milestone.modules) - alternative.modules(curriculum)
    settings = Settings(learner_root=alternative.path, from_reference=frozenset(others))
    return Grading(curriculum, list(alternative.milestone.tasks), settings)
