"""Where a learner is in the course, and where to go on: along the chosen route, or through all tasks in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.course.curriculum import Curriculum, Milestone, Route, Task, UnknownTarget
from grader.report.progress import Progress, TaskProgress, is_complete, is_open


def followed(curriculum: Curriculum, history: Progress) -> Route | None:
    """The route that the learner has chosen."""
    key = history.route()
    return next((route for route in curriculum.routes if route.key == key), None)


def ahead(curriculum: Curriculum, history: Progress) -> Curriculum:
    """The tasks of the learner's route while one of them is open, otherwise all tasks."""
    known, route = history.tasks(), followed(curriculum, history)
    course = curriculum.along(route) if route else curriculum
    return course if any(is_open(task.id, known) for task in course.tasks) else curriculum


def since(start: Task, course: Curriculum) -> list[Task]:
    """All tasks in the order for a learner at `start`: this milestone, then later milestones, then earlier ones."""

    def turn(task: Task) -> tuple[bool, int, bool]:
        is_before = task.milestone == start.milestone and task.number < start.number
        return task.milestone < start.milestone, task.milestone, is_before

    return sorted(course.tasks, key=turn)


def first_open(tasks: Sequence[Task], history: Progress) -> Task:
    """The first of these tasks that is open; the last one if none is."""
    known = history.tasks()
    return next((task for task in tasks if is_open(task.id, known)), tasks[-1])


def following(curriculum: Curriculum, history: Progress, graded: Sequence[Task]) -> Task | None:
    """The open task after the ones that were graded."""
    known = history.tasks()
    tasks = since(graded[-1], ahead(curriculum, history))
    return next((task for task in tasks if is_open(task.id, known)), None)


def completed(
    curriculum: Curriculum, history: Progress, graded: Sequence[Task], before: Mapping[str, TaskProgress]
) -> Iterator[Milestone | Route]:
    """What this grading has completed: the last graded task's milestone, and the learner's route.

    A milestone that was complete before counts again if it was graded as a whole.
    """
    known, milestone, route = history.tasks(), curriculum.milestone(graded[-1].milestone), followed(curriculum, history)
    is_new = not is_complete(milestone.tasks, before) or set(milestone.tasks) <= set(graded)
    if is_new and is_complete(milestone.tasks, known):
        yield milestone
    if route and is_complete(tasks := curriculum.along(route).tasks, known) and not is_complete(tasks, before):
        yield route


def is_underway(curriculum: Curriculum, history: Progress) -> bool:
    """Whether the milestones graded last are begun, but not complete."""
    known, last = history.tasks(), {task.milestone for task in _last(curriculum, history)}
    tasks = [task for task in ahead(curriculum, history).tasks if task.milestone in last]
    return any(known[task.id].attempts for task in tasks if task.id in known) and any(
        is_open(task.id, known) for task in tasks
    )


def resume(curriculum: Curriculum, history: Progress) -> list[str]:
    """The targets of a command without targets: those graded last, while one of them is open; then the next task.

    After a whole milestone, they are the next milestone's tasks; on a route, only those on the route.
    """
    course, last = ahead(curriculum, history), _last(curriculum, history)
    task = following(curriculum, history, last or course.tasks[:1])
    if task is None:
        return ["all"]
    if task in last and len({each.milestone for each in last}) == 1:
        return history.last()
    if len(last) == 1:
        return [task.id]
    milestone = course.milestone(task.milestone)
    is_whole = milestone == curriculum.milestone(task.milestone)
    return [milestone.id] if is_whole else [each.id for each in milestone.tasks]


def _last(curriculum: Curriculum, history: Progress) -> list[Task]:
    """The tasks graded last; none if the course has changed since then."""
    try:
        return curriculum.resolve(history.last())
    except UnknownTarget:
        return []
