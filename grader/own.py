"""Which of the learner's functions a task is about: in a long traceback the line to look at is in one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import CodeType

from grader import stubs, workspace
from grader.curriculum import Curriculum
from grader.overlay import Plan

IsOwn = Callable[[CodeType], bool]


def of_tasks(curriculum: Curriculum, milestone: int, plan: Plan) -> dict[str, IsOwn]:
    """For each task of a milestone, whether code is in one of its files, and neither given there nor another task's.

    Reads the reference, so it must be asked before the reference is closed.
    """
    tasks = curriculum.milestone(milestone).tasks
    others: dict[str, dict[str, set[str]]] = {task.id: {} for task in tasks}
    for module in curriculum.milestone(milestone).modules:
        source = stubs.read(curriculum.solutions / curriculum.file_of(module))
        everything = {function.name for function in workspace.functions(source)}
        for task in tasks:
            if mine := {function.name for function in workspace.task_functions(source, task.id)}:
                others[task.id][str(plan.sources[module].path)] = everything - mine
    return {id: partial(_is_own, files) for id, files in others.items()}


def _is_own(files: dict[str, set[str]], code: CodeType) -> bool:
    name = code.co_qualname.partition(".<locals>")[0]
    return code.co_filename in files and name not in files[code.co_filename]
