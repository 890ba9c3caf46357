"""Wrong solutions that the tests must catch: the reference with one passage replaced by a misconception.

They are listed in `tests/mistakes/*.toml`. Each is graded like a learner's module, by the tests of its own task.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from grader import stubs
from grader.curriculum import Curriculum, load
from grader.grading import Grading, Settings
from grader.runner import run_all
from grader.session import Answer
from grader.verdicts import Verdict

# A stub reached or an oracle missing says nothing about the tests.
_CAUGHT = (Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY)


@dataclass(frozen=True)
class Mistake:
    """What a learner might believe, as a change to a module of the reference."""

    task: str
    name: str
    module: str
    find: str
    replace: str
    path: Path  # where it is listed
    line: int

    def text(self, curriculum: Curriculum) -> str:
        """The wrong module."""
        source = stubs.read(curriculum.solutions / curriculum.file_of(self.module))
        return source.replace(self.find, self.replace)


def catalog(curriculum: Curriculum) -> list[Mistake]:
    """Every mistake that is listed."""
    found = []
    for path in sorted((curriculum.tests / "mistakes").glob("*.toml")):
        text = stubs.read(path)
        headers = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[mistake]]"]
        entries = tomllib.loads(text).get("mistake", [])
        found += [Mistake(**entry, path=path, line=line) for entry, line in zip(entries, headers, strict=True)]
    return found


def run(targets: Sequence[str], each: int | None = None) -> bool:
    """Print how many of the tasks' mistakes are caught, and which are not; True if all are.

    With `each`, only so many of each task are tried: those that are listed first.
    """
    curriculum = load()
    tasks = curriculum.resolve(targets)
    verdicts = _of_the_reference(curriculum, {task.id for task in tasks})
    wrong = [id for id, verdict in verdicts.items() if verdict not in (Verdict.PASS, Verdict.UNAVAILABLE)]
    for id in wrong:
        print(f"{id}: the reference itself does not pass, so its mistakes tell nothing.")
    of_tasks: dict[str, list[Mistake]] = {id: [] for id in verdicts}
    for mistake in catalog(curriculum):
        if mistake.task in of_tasks:
            of_tasks[mistake.task].append(mistake)
    listed = [mistake for mistakes in of_tasks.values() for mistake in mistakes[:each]]
    if unjudged := sum(verdicts[mistake.task] is Verdict.UNAVAILABLE for mistake in listed):
        print(f"Not tried, for want of a judge on this machine: {unjudged} of {len(listed)}.")
    judged = [mistake for mistake in listed if verdicts[mistake.task] is Verdict.PASS]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        caught = list(pool.map(lambda mistake: is_caught(mistake, curriculum), judged))
    for mistake, is_it in zip(judged, caught, strict=True):
        if not is_it:
            place = f"{mistake.path.relative_to(curriculum.root)}:{mistake.line}"
            print(f"{place}: task {mistake.task}, {mistake.name!r}: no test of the task notices.")
    rate = f" ({sum(caught) / len(judged):.0%})" if judged else ""
    print(f"Wrong solutions caught: {sum(caught)} of {len(judged)}{rate}.")
    return not wrong and all(caught)


def is_caught(mistake: Mistake, curriculum: Curriculum) -> bool:
    """Whether a test of its task fails on it."""
    task = curriculum.task(mistake.task)
    others = set(curriculum.milestone(task.milestone).modules) - {mistake.module}
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        path = Path(folder, curriculum.file_of(mistake.module))
        path.parent.mkdir(parents=True)
        path.write_text(mistake.text(curriculum), encoding="utf-8")
        settings = Settings(learner_root=Path(folder), from_reference=frozenset(others), shrink=False)
        grading = Grading(curriculum, [task], settings, _stop_when_caught)
        try:
            grading.run()
        except _Caught:
            return True
    return any(result.verdict in _CAUGHT for result in grading.results.values())


class _Caught(Exception):
    """The rest of the tests need not run."""


def _stop_when_caught(answer: Answer) -> None:
    if answer["event"] in ("ran", "uncollectable") and Verdict(answer["verdict"]) in _CAUGHT:
        raise _Caught


def _of_the_reference(curriculum: Curriculum, wanted: Iterable[str]) -> dict[str, Verdict]:
    """The reference's verdict on each task: only where it passes do wrong solutions tell something."""
    parts = [[task for task in milestone.tasks if task.id in wanted] for milestone in curriculum.milestones]
    gradings = [Grading(curriculum, tasks, Settings(impl="reference")) for tasks in parts if tasks]
    run_all(gradings)
    return {task.id: task.verdict for grading in gradings for task in grading.milestone_result().tasks}
