"""Grading the user's targets: each milestone by itself, so that later ones are stubs; then one report."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata
from pathlib import Path

from grader.child import boundary
from grader.child import device as devices
from grader.child.job import EXAMPLES
from grader.child.overlay import Impl, filling
from grader.course.curriculum import Curriculum, load
from grader.parent.answers import Answer
from grader.parent.grading import Grading, OnEvent, Settings
from grader.report.pace import Pace
from grader.report.verdicts import ModuleOrigin, Report, Submission

_VERSIONS = ("pytest", "hypothesis", "numpy", "torch", "triton")


def grade(
    targets: Sequence[str],
    impl: Impl = "learner",
    fill: Impl = "reference",
    device: str = "auto",
    seed: int = 0,
    examples: int = EXAMPLES,
    learner_root: Path | None = None,
    bounded: bool = False,
    first: Collection[str] = (),
    stop: bool = False,
    jobs: int | None = None,
    on_event: OnEvent | None = None,
    cancelled: threading.Event | None = None,
    curriculum: Curriculum | None = None,
) -> Report:
    """Grade the milestones and tasks that `targets` names.

    Code of people who are not trusted must be `bounded`. The tests in `first` run before the other tests of their
    tasks; with `stop`, these other tests run only if all of `first` pass or time out. `jobs` milestones run at a time,
    by default as many as there are processors. `on_event` gets the child processes' events. If another thread sets
    `cancelled`, the grading ends with a `KeyboardInterrupt`. Raises `UnknownTarget` and `GraderFailed`.
    """
    started = time.perf_counter()
    curriculum = curriculum or load()
    fill = filling(curriculum, impl, fill)
    settings = Settings(
        impl, fill, devices.resolve(device), seed, examples, learner_root, first=frozenset(first), bounded=bounded
    )
    tasks = curriculum.resolve(targets)
    gradings = [
        Grading(curriculum, [task for task in tasks if task.milestone == number], settings, on_event, cancelled)
        for number in dict.fromkeys(task.milestone for task in tasks)
    ]
    if stop and first:
        _run_all(gradings, jobs, settings.first)
    if not any(grading.has_found for grading in gradings):
        _run_all(gradings, jobs)
    if impl == fill == "learner" and curriculum.has_solutions:
        from grader.parent import blame

        for grading in gradings:
            blame.assign(grading)
    report = Report(list(targets), impl, fill, settings.device, seed, versions())
    for grading in gradings:
        report.milestones.append(grading.milestone_result())
        for oracle, tier in grading.oracles.items():
            report.oracles[oracle] = _join(report.oracles.get(oracle, ""), tier)
    report.modules = _modules(gradings)
    report.submission = _protections(gradings) if bounded else None
    report.course = curriculum.version
    report.seconds = time.perf_counter() - started
    return report


def run_all(gradings: Sequence[Grading], what: str) -> None:
    """Run gradings that do not follow events themselves, and print how far the tests of `what` have come."""
    total = sum(len(tests) for grading in gradings for tests in grading.expected.values())
    with Pace(f"tests of {what}", total) as pace:
        for number, grading in enumerate(gradings):
            grading.on_event = partial(_count, pace, number)
        _run_all(gradings[::-1])  # the last milestones take longest, and the short ones then fill the gaps


def _count(pace: Pace, number: int, answer: Answer) -> None:
    if answer["event"] == "ran":
        pace.finish((number, answer["test"]))


def _run_all(gradings: Sequence[Grading], jobs: int | None = None, only: Collection[str] | None = None) -> None:
    """Run gradings in parallel: `jobs` at a time, by default as many as the machine has processors."""
    if len(gradings) == 1:
        gradings[0].run(only)
        return
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        running = [pool.submit(grading.run, only) for grading in gradings]
        try:
            for future in running:
                future.result()
        except BaseException:  # includes Ctrl-C, which children in their own process groups do not receive
            for future in running:
                future.cancel()
            for grading in gradings:
                grading.cancel()
            raise


def _modules(gradings: Sequence[Grading]) -> list[ModuleOrigin]:
    """Where every module came from; one that milestones had from different places is listed for each."""
    found = {(module.name, module.origin): module for grading in gradings for module in grading.modules}
    return [found[key] for key in sorted(found)]


def _join(tiers: str, more: str) -> str:
    """The judges of two milestones together."""
    return " + ".join(dict.fromkeys(part for part in f"{tiers} + {more}".split(" + ") if part))


def versions() -> dict[str, str]:
    """The versions of everything that may decide a verdict."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _protections(gradings: Sequence[Grading]) -> Submission:
    """The protections that held in every process that ran a submission, and those that did not."""
    held = [grading.protections for grading in gradings if grading.protections is not None]
    always = [name for name in boundary.PROTECTIONS if held and all(name in one for one in held)]
    return Submission("", protections=always, missing_protections=[n for n in boundary.PROTECTIONS if n not in always])
