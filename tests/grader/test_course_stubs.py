"""The course as a learner finds it: everything is still to do, and nothing is wrong yet."""

from __future__ import annotations

from grader.curriculum import load
from grader.grading import Grading, Settings
from grader.runner import run_all
from grader.verdicts import Verdict


def test_untouched_stubs_are_not_started() -> None:
    """Every test of every milestone reaches a stub, and no module keeps another from being imported."""
    curriculum = load()
    gradings = [Grading(curriculum, list(milestone.tasks), Settings()) for milestone in curriculum.milestones]
    run_all(gradings, "the stubs")
    for grading in gradings:
        for result in grading.results.values():
            assert result.verdict in (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE), (result.name, result.message)
