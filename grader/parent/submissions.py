"""Grade submissions so that their code can change neither the course nor anybody's points.

`intake` makes a private copy of a submission, `boundary` confines its tests, and every milestone's `capstone` asks it
questions from outside. Points count only if the capstone agrees with the tests.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from grader.child import boundary
from grader.child.overlay import Impl
from grader.course.curriculum import Curriculum
from grader.parent import capstone, runner, suspicion
from grader.parent.grading import OnEvent
from grader.parent.intake import Intake, Nothing, take_in
from grader.parent.seal import Seal
from grader.parent.workfolder import workfolder
from grader.report.verdicts import MilestoneResult, Report, Submission, TaskResult, TestResult, Verdict


def grade(
    targets: Sequence[str],
    submission: Path,
    curriculum: Curriculum,
    *,
    fill: Impl,
    device: str,
    seed: int,
    examples: int,
    jobs: int | None = None,
    on_event: OnEvent | None = None,
    cancelled: threading.Event | None = None,
) -> Report:
    """Grade a folder, a fork or an archive. The result is always a report."""
    with workfolder("kata-submission-") as folder:
        try:
            intake = take_in(submission, folder, curriculum)
        except Nothing as reason:
            return _refuse(targets, submission.resolve().name, str(reason), curriculum, device, seed)
        capstone.add_assets(curriculum, folder)
        seal = Seal(curriculum, bytecode=boundary.FILES not in boundary.probe())
        report = runner.grade(
            targets,
            fill=fill,
            device=device,
            seed=seed,
            examples=examples,
            learner_root=folder,
            bounded=True,
            jobs=jobs,
            on_event=on_event,
            cancelled=cancelled,
            curriculum=curriculum,
        )
        _describe(report, intake, curriculum)
        report.course = course_version(curriculum, seal)
        if changed := seal.changed():
            _discount(report, changed)
    return report


def course_version(curriculum: Curriculum, seal: Seal) -> str:
    """The version of the course, and a hash of everything that judges: equal only for the same grader and questions."""
    return f"{curriculum.version}+{seal.digest[:8]}"


def _describe(report: Report, intake: Intake, curriculum: Curriculum) -> None:
    assert report.submission
    report.submission.name = intake.name
    report.submission.sha256 = intake.sha256
    report.submission.files = len(intake.files)
    report.submission.left_out = intake.left_out
    report.submission.added = len(intake.added)
    report.submission.outdated = intake.outdated
    ran = {module.path for module in report.modules if module.origin == "learner"}
    report.submission.look_here = suspicion.look(intake, curriculum, ran)


def _discount(report: Report, changed: Sequence[str]) -> None:
    for milestone in report.milestones:
        for task in milestone.tasks:
            task.unconfirmed = "the course changed meanwhile"
    assert report.submission
    report.submission.look_here.insert(0, f"files of the course changed meanwhile: {', '.join(changed[:5])}")


def _refuse(targets: Sequence[str], name: str, reason: str, curriculum: Curriculum, device: str, seed: int) -> Report:
    """The report on a submission in which nothing can be judged: the reason, and no points."""
    report = Report(list(targets), "learner", "reference", device, seed, runner.versions())
    report.course = curriculum.version
    report.submission = Submission(name, refused=reason)
    tasks = curriculum.resolve(targets)
    for number in dict.fromkeys(task.milestone for task in tasks):
        milestone = curriculum.milestone(number)
        asked = [task for task in tasks if task.milestone == number]
        missing = TestResult("submission", Verdict.ERROR, reason, ran=False)
        results = [TaskResult(task.id, task.title, task.points, [missing], task.minutes) for task in asked]
        whole = len(asked) == len(milestone.tasks)
        report.milestones.append(MilestoneResult(milestone.id, milestone.key, results, whole))
    return report
