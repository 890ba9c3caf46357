"""Wrong modules, tested as a learner's would be: catalogued mistakes, and mutants."""

from __future__ import annotations

import enum
import os
import random
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from grader.course.curriculum import Curriculum, Task
from grader.parent.answers import Answer
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.report.pace import Pace
from grader.report.verdicts import Verdict

_FAILED = (Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY)


class Trial(Protocol):
    """A wrong version of one module of the reference."""

    @property
    def task(self) -> str: ...

    @property
    def module(self) -> str: ...

    def text(self, curriculum: Curriculum) -> str:
        """The whole module."""


T = TypeVar("T", bound=Trial)


class Outcome(enum.StrEnum):
    """The verdict of a task's tests on a wrong module."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    UNJUDGED = "unjudged"  # a test of the task could not judge: an oracle is missing, or a stub was reached


def draw(
    of_tasks: Mapping[str, Sequence[T]], sample: int | None, seed: int, is_wanted: Callable[[T], bool] = lambda _: True
) -> list[T]:
    """A sample in which each task has its share: in proportion to its trials, and at least one if there is room."""
    shares = allot({id: len(of_task) for id, of_task in of_tasks.items()}, sample, seed)
    drawn: list[T] = []
    for id, share in shares.items():
        shuffled = random.Random(f"{seed} {id}").sample(of_tasks[id], len(of_tasks[id]))
        drawn += islice(filter(is_wanted, shuffled), share)
    return drawn


def draw_tasks(tasks: Sequence[Task], sample: int | None, seed: int) -> list[Task]:
    """A sample of these tasks, in their order; all if there is no `sample`."""
    drawn = allot({task.id: 1 for task in tasks}, sample, seed)
    return [task for task in tasks if drawn[task.id]]


def allot(counts: Mapping[str, int], sample: int | None, seed: int) -> dict[str, int]:
    """How many of each task's trials to draw; all if there is no `sample`."""
    total = sum(counts.values())
    if sample is None or sample >= total:
        return dict(counts)
    ids = [id for id, count in counts.items() if count]
    if sample < len(ids):
        chosen = set(random.Random(seed).sample(ids, sample))
        return {id: int(id in chosen) for id in counts}
    wish = {id: (sample - len(ids)) * (counts[id] - 1) / (total - len(ids)) for id in ids}
    shares = dict.fromkeys(counts, 0) | {id: 1 + int(wish[id]) for id in ids}
    for id in sorted(ids, key=lambda id: int(wish[id]) - wish[id])[: sample - sum(shares.values())]:
        shares[id] += 1
    return shares


def judge_all(what: str, trials: Sequence[T], curriculum: Curriculum) -> Iterator[tuple[T, Outcome]]:
    """Each trial with its outcome, as it finishes. Trials run in as many processes as the machine has cores."""
    survived = 0
    with Pace(what, len(trials)) as pace, ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(judge, trial, curriculum): number for number, trial in enumerate(trials)}
        try:
            for future in as_completed(running):
                outcome = future.result()
                survived += outcome is Outcome.SURVIVED
                pace.finish(running[future])
                pace.note = f"; {survived} survived"
                yield trials[running[future]], outcome
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def judge(trial: Trial, curriculum: Curriculum) -> Outcome:
    """Grade one wrong module, up to the first test that fails."""
    task = curriculum.task(trial.task)
    others = set(curriculum.milestone(task.milestone).modules) - {trial.module}
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        path = Path(folder, curriculum.file_of(trial.module))
        path.parent.mkdir(parents=True)
        path.write_text(trial.text(curriculum), encoding="utf-8")
        settings = Settings(learner_root=Path(folder), from_reference=frozenset(others), shrink=False)
        grading = Grading(curriculum, [task], settings, _stop_at_failure)
        try:
            grading.run()
        except _Caught:
            return Outcome.CAUGHT
    verdicts = {result.verdict for result in grading.results.values()}
    if verdicts & set(_FAILED):
        return Outcome.CAUGHT
    return Outcome.SURVIVED if verdicts == {Verdict.PASS} else Outcome.UNJUDGED


def find_broken(ids: Collection[str], curriculum: Curriculum) -> set[str]:
    """The tasks in which the reference itself fails, so that trials have no meaning. Prints each task."""
    tasks = [task for task in curriculum.tasks if task.id in ids]
    gradings = [Grading(curriculum, [task], Settings(impl="reference")) for task in tasks]
    run_all(gradings, "the reference")
    verdicts = {task.id: task.verdict for grading in gradings for task in grading.milestone_result().tasks}
    broken = {id for id, verdict in verdicts.items() if verdict in _FAILED or verdict is Verdict.NOT_IMPLEMENTED}
    for id in verdicts:
        if id in broken:
            print(f"{id}: the reference itself does not pass, so its wrong versions prove nothing.")
    return broken


class _Caught(Exception):
    """The rest of the tests need not run."""


def _stop_at_failure(answer: Answer) -> None:
    if answer["event"] in ("ran", "uncollectable") and Verdict(answer["verdict"]) in _FAILED:
        raise _Caught
