"""Misconceptions that the tests must catch: the reference with one passage changed, as a learner might write it.

They are listed in `tests/mistakes/*.toml`, and graded as `trials`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course import stubs
from grader.course.curriculum import Curriculum, load
from grader.upkeep import trials
from grader.upkeep.trials import Outcome


@dataclass(frozen=True)
class Mistake:
    """A misconception, as a change to a module of the reference."""

    task: str
    name: str
    module: str
    find: str
    replace: str
    path: Path  # where it is listed
    line: int

    def text(self, curriculum: Curriculum) -> str:
        """The wrong module."""
        source = stubs.read(curriculum.source_of(self.module))
        return source.replace(self.find, self.replace)


def list_mistakes(curriculum: Curriculum) -> list[Mistake]:
    """All listed mistakes."""
    found = []
    for path in sorted((curriculum.tests / "mistakes").glob("*.toml")):
        text = stubs.read(path)
        headers = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[mistake]]"]
        entries = tomllib.loads(text).get("mistake", [])
        found += [Mistake(**entry, path=path, line=line) for entry, line in zip(entries, headers, strict=True)]
    return found


def run(targets: Sequence[str], sample: int | None = None, seed: int = 0, trust: bool = False) -> bool:
    """Print how many of the tasks' mistakes are caught, and which are not; True if all are.

    With `trust`, the reference is not graded first.
    """
    curriculum = load()
    of_tasks: dict[str, list[Mistake]] = {task.id: [] for task in curriculum.resolve(targets)}
    for mistake in list_mistakes(curriculum):
        if mistake.task in of_tasks:
            of_tasks[mistake.task].append(mistake)
    broken = set() if trust else trials.find_broken(of_tasks.keys(), curriculum)
    tried = trials.draw({id: mistakes for id, mistakes in of_tasks.items() if id not in broken}, sample, seed)
    outcomes: Counter[Outcome] = Counter()
    for mistake, outcome in trials.judge_all("wrong solutions", tried, curriculum):
        outcomes[outcome] += 1
        if outcome is Outcome.SURVIVED:
            place = f"{mistake.path.relative_to(curriculum.root)}:{mistake.line}"
            print(f"{place}: task {mistake.task}, {mistake.name!r}: no test of the task notices.")
    if unjudged := outcomes[Outcome.UNJUDGED]:
        print(f"Not judged, because this machine lacks a judge: {unjudged} of {len(tried)}.")
    caught, judged = outcomes[Outcome.CAUGHT], len(tried) - unjudged
    rate = f" ({caught / judged:.0%})" if judged else ""
    print(f"Wrong solutions caught: {caught} of {judged}{rate}.")
    return not broken and caught == judged
