"""Check that each task can be solved in order: its tests must pass while every later task is still a stub.

On a route, every task that the route skips is a stub, too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.course import stubs
from grader.course.curriculum import Curriculum, Task, load
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.upkeep import trials
from grader.upkeep.alternatives import describe_failures


def run(targets: Sequence[str], examples: int, route: str = "", sample: int | None = None, seed: int = 0) -> bool:
    """Print which tasks, or which of a `sample`, need later ones, or ones that the route skips; True if none do."""
    curriculum = load()
    way = (curriculum.along(curriculum.route(route)) if route else curriculum).tasks
    tasks = trials.draw_tasks([task for task in curriculum.resolve(targets) if task in way], sample, seed)
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        roots = [Path(folder, task.id).resolve() for task in tasks]
        for task, root in zip(tasks, roots, strict=True):
            write_tree(curriculum, way[: way.index(task) + 1], root)
        settings = [Settings(learner_root=root, examples=examples) for root in roots]
        gradings = [Grading(curriculum, [task], how) for task, how in zip(tasks, settings, strict=True)]
        run_all(gradings, "tasks in order")
        lines = [line for pair in zip(gradings, roots, strict=True) for line in describe_failures(*pair)]
    others = "other" if route else "later"
    for line in lines:
        print(f"Without the {others} tasks, {line}")
    print(f"Tasks that pass without the {others} ones: {len(tasks) - len(lines)} of {len(tasks)}.")
    return not lines


def write_tree(curriculum: Curriculum, solved: Sequence[Task], root: Path) -> None:
    """Write the modules of the last task's milestone as they are once the tasks `solved` are; all others are stubs."""
    for module in curriculum.milestone(solved[-1].milestone).modules:
        file = curriculum.file_of(module)
        if curriculum.is_tool(file):
            continue
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        text = stubs.stub_text(stubs.read(curriculum.solutions / file), curriculum, {task.id for task in solved})
        (root / file).write_text(text, encoding="utf-8")
