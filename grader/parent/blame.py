"""Find the earlier module that makes a milestone fail when the earlier milestones are also the learner's."""

from __future__ import annotations

from dataclasses import replace

from grader.parent.grading import Grading
from grader.report.verdicts import TestResult, Verdict

SEVERAL = "several earlier modules"


def assign(grading: Grading) -> None:
    """Set `blame` on failing tests that pass as soon as the reference stands in for earlier modules.

    A test that called a stub is not tried again, because its message names the stub's task.
    """
    number = grading.tasks[0].milestone
    earlier = [milestone for milestone in grading.curriculum.milestones if milestone.number < number]
    open_tests = {
        name: result
        for name, result in grading.results.items()
        if "::" in name and result.verdict not in (Verdict.PASS, Verdict.UNAVAILABLE, Verdict.NOT_IMPLEMENTED)
    }
    everything = frozenset(module for milestone in earlier for module in milestone.modules)
    to_blame = _passing(grading, open_tests, everything)
    unexplained = dict(to_blame)
    for milestone in reversed(earlier):
        # Whole milestones first, then their modules: two short searches instead of one long one.
        suspects = _passing(grading, unexplained, frozenset(milestone.modules))
        for module in milestone.modules:
            for name in _passing(grading, suspects, frozenset([module])):
                to_blame[name].blame = module
                del suspects[name], unexplained[name]
    for result in unexplained.values():
        result.blame = SEVERAL


def _passing(grading: Grading, tests: dict[str, TestResult], from_reference: frozenset[str]) -> dict[str, TestResult]:
    """The tests among `tests` that pass when the modules `from_reference` come from the reference."""
    if not tests:
        return {}
    settings = replace(grading.settings, from_reference=from_reference)
    trial = Grading(grading.curriculum, grading.tasks, settings)
    trial.run(only=tests.keys())
    return {name: result for name, result in tests.items() if trial.results[name].verdict is Verdict.PASS}
