"""Check that each task can be solved in order: its tests must pass while every later task is still a stub."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.course import stubs
from grader.course.curriculum import Curriculum, Task, load
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.upkeep.alternatives import describe_failures


def run(targets: Sequence[str], examples: int) -> bool:
    """Print which tasks need later ones; True if there are none."""
    curriculum = load()
    tasks = curriculum.resolve(targets)
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        roots = [Path(folder, task.id).resolve() for task in tasks]
        gradings = [_grading(*pair, curriculum, examples) for pair in zip(tasks, roots, strict=True)]
        run_all(gradings, "tasks in order")
        lines = [line for pair in zip(gradings, roots, strict=True) for line in describe_failures(*pair)]
    for line in lines:
        print(f"Without the later tasks, {line}")
    print(f"Tasks that pass without the later ones: {len(tasks) - len(lines)} of {len(tasks)}.")
    return not lines


def write_tree(curriculum: Curriculum, last: Task, root: Path) -> None:
    """Write the milestone's modules as they are after the task `last`: the later tasks are stubs."""
    milestone = curriculum.milestone(last.milestone)
    ids = [task.id for task in milestone.tasks]
    solved = ids[: ids.index(last.id) + 1]
    for module in milestone.modules:
        file = curriculum.file_of(module)
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        text = stubs.stub_text(stubs.read(curriculum.solutions / file), curriculum, solved)
        (root / file).write_text(text, encoding="utf-8")


def _grading(task: Task, root: Path, curriculum: Curriculum, examples: int) -> Grading:
    write_tree(curriculum, task, root)
    return Grading(curriculum, [task], Settings(learner_root=root, examples=examples))
