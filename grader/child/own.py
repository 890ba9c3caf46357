"""The learner's functions that belong to a task: in a long traceback, the line to look at is in one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType

from grader.child.overlay import ModulePlan
from grader.course import stubs, workspace
from grader.course.curriculum import Curriculum

IsOwn = Callable[[CodeType], bool]


Others = dict[str, dict[str, list[str]]]
"""For each task and each of its files: the functions in the file that are given, or belong to another task."""


def others_of_tasks(curriculum: Curriculum, milestone: int, plan: ModulePlan) -> Others:
    """For each task of a milestone: the parts of its files that belong to other tasks, read off the reference."""
    tasks = curriculum.milestone(milestone).tasks
    others: Others = {task.id: {} for task in tasks}
    for module in curriculum.milestone(milestone).modules:
        source = stubs.read(curriculum.source_of(module))
        everything = {function.name for function in workspace.functions(source)}
        for task in tasks:
            if mine := {function.name for function in workspace.task_functions(source, task.id)}:
                others[task.id][str(plan.sources[module].path)] = sorted(everything - mine)
    return others


def functions(files: Mapping[str, Collection[str]]) -> tuple[str, list[str]]:
    """The file, and the names of the learner's functions in it that belong to a task."""
    for file, others in files.items():
        source = stubs.read(Path(file))
        with suppress(SyntaxError, ValueError):
            names = [function.name for function in workspace.functions(source) if function.name not in others]
            if names:
                return file, [name for name in names if not any(name.startswith(f"{outer}.") for outer in names)]
    return "", []


def of_tasks(others: Others) -> dict[str, IsOwn]:
    """For each task, whether code is in one of its files, and neither given there nor another task's."""
    return {id: partial(_is_own, files) for id, files in others.items()}


def _is_own(files: dict[str, list[str]], code: CodeType) -> bool:
    name = code.co_qualname.partition(".<locals>")[0]
    return code.co_filename in files and name not in files[code.co_filename]
