"""The learner's screen: the course, one line for each task, the first failing task in full, the next command.

This module turns a report into lines. It neither runs tests nor decides verdicts.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.course import chapters
from grader.course.chapters import part_of
from grader.course.curriculum import ROOT, Curriculum, Route, Task
from grader.report.messages import message_lines
from grader.report.progress import TaskProgress
from grader.report.terminal import WIDTH, Line, Span, line, safe, wrap
from grader.report.verdicts import MilestoneResult, Report, Submission, TaskResult, TestResult, Verdict
from grader.report.wording import MARKS, counts, hours, judges, minutes, missing_judge, state, waits_for

_NOTES = 6  # remarks on a submission, unless --verbose
UPDATE = "git pull --no-rebase -X ours UPSTREAM main, where UPSTREAM is the course's repository"
_LABEL = 9  # columns of a label, such as `case`
_WIDTH = 40  # width of a task's title, so that the verdicts line up


def report_lines(
    report: Report,
    course: tuple[int, int],
    verbose: bool = False,
    modules: bool = False,
    following: Task | None = None,
    compares: bool = True,
    ending: Iterable[Line] = (),
) -> Iterator[Line]:
    """The whole screen. `course` is the learner's points so far and the points of all tasks.

    `following` is the task that comes next if all graded tasks have passed. `compares` is true if solutions exist.
    `ending` shows a milestone that is complete.
    """
    opened = first_failing(report)
    if report.submission:
        yield line("Grading submissions", "bold")
    elif report.impl == "learner":
        yield course_bar(*course)
    else:
        yield line(f"Grading the {report.impl}'s code, not yours", "bold")
    if report.submission:
        yield from _submission(report.submission, verbose)
    for milestone in report.milestones:
        yield from _milestone(milestone, folded=len(report.milestones) > 1 and not verbose, opened=opened)
    if modules:
        yield from _modules(report)
    if verbose:
        for task in _tasks(report):
            if task.verdict is not Verdict.PASS:
                yield from opened_lines(task, verbose)
    elif opened:
        yield from opened_lines(opened)
    yield line()
    tests = [test for task in _tasks(report) for test in task.tests]
    yield line(f"Tests   {counts(tests)} in {report.seconds:.1f} s (seed {report.seed})", "dim")
    yield from (line(text, "dim") for text in wrap(f"Judges  {judges(report.oracles)}", hanging=" " * 8))
    yield from ending
    yield from _next(report, opened, course, following, compares)


def course_lines(
    curriculum: Curriculum, history: Mapping[str, TaskProgress], unfolded: Collection[int] = ()
) -> Iterator[Line]:
    """Every task of the course as it was when last graded. A milestone that is done, or not begun, has one line
    unless it is in `unfolded`."""

    def is_done(task: Task) -> bool:
        return task.id in history and history[task.id].passes

    def reached(tasks: Iterable[Task]) -> int:
        return sum(task.points for task in tasks if is_done(task))

    yield course_bar(reached(curriculum.tasks), sum(task.points for task in curriculum.tasks))
    optional = curriculum.optional
    begun = {int(id.partition(".")[0]) for id, past in history.items() if past.attempts or past.hints or past.passes}
    for milestone in curriculum.milestones:
        tasks = milestone.tasks
        open_tasks = [task for task in tasks if not is_done(task)]
        total = sum(task.points for task in tasks)
        if (open_tasks and milestone.number in begun) or milestone.number in unfolded:
            yield line()
            yield milestone_line(str(milestone.number), milestone.key, reached(tasks), total)
            yield from (_past_line(task, history.get(task.id, TaskProgress()), task in optional) for task in tasks)
        else:
            heading = milestone_line(str(milestone.number), milestone.key, reached(tasks), total)
            time = hours(sum(task.minutes for task in open_tasks))
            ahead = Span(f"  {len(tasks)} task{'s' * (len(tasks) != 1)}, {time}", "dim")
            done = Span(f"  all {len(tasks)} passed; see finale {milestone.number}", "green")
            yield [*heading, ahead if open_tasks else done]
    yield line()
    left = [task for task in curriculum.tasks if not is_done(task)]
    reading = sum(chapters.reading(m.directory, left, curriculum.root) for m in curriculum.milestones)
    times = f"{hours(sum(task.minutes for task in left))} of tasks, {hours(round(reading))} of reading"
    yield [Span("Left    ", "bold"), Span(times)]
    yield from routes_lines(curriculum)


def route_lines(curriculum: Curriculum, route: Route, history: Mapping[str, TaskProgress]) -> Iterator[Line]:
    """Every task of a route as it was when last graded, and how to follow the route."""
    course = curriculum.along(route)
    yield line(f"{route.title}: {len(course.tasks)} of the course's {len(curriculum.tasks)} tasks", "bold")
    yield from course_lines(course, history, [milestone.number for milestone in course.milestones])
    yield from command_lines("Follow", "-m grader", "follow", route.key)


def routes_lines(curriculum: Curriculum) -> Iterator[Line]:
    """The command that shows shorter ways through the course."""
    if curriculum.routes:
        first, *others = (route.key for route in curriculum.routes)
        remark = line(f"or {', '.join(others)}", "dim")
        yield from command_lines("Routes", "-m grader", "list", "--route", first, remark=remark)


def _past_line(task: Task, past: TaskProgress, is_optional: bool) -> Line:
    """A task in its state of the last grading."""
    verdict = Verdict(past.last or Verdict.NOT_IMPLEMENTED)
    words = (past.state or MARKS[verdict][1]) + ("" if past.passes else minutes(task.minutes))
    words = words.replace("not started", "optional") if is_optional else words
    if past.attempts:
        words += f", {past.attempts} {'try' if past.attempts == 1 else 'tries'}"
    if past.hints:
        words += f", {past.hints} of {len(task.hints)} hints"
    return task_line(task.id, task.title, verdict, words)


def hint_lines(task: Task, number: int, known: int, passed: bool = False, has_solutions: bool = True) -> Iterator[Line]:
    """A task's first `number` hints; `known` of them were seen before."""
    yield line(f"{task.id} {task.title}", "bold")
    for i, hint in enumerate(task.hints[:number], 1):
        yield line()
        yield line(f"Hint {i} of {len(task.hints)}{', new' if i > known else ''}", "yellow")
        yield from (line(text) for text in wrap(hint, "  "))
    if number == len(task.hints) and not has_solutions:
        return
    yield line()
    if number < len(task.hints):
        yield from command_lines("More", "-m grader", "hint", task.id)
    elif passed:
        yield from command_lines("Compare", "-m grader", "diff", task.id)
    else:
        yield from command_lines("Last", "-m grader", "solution", task.id, "--anyway")


def course_bar(points: int, total: int) -> Line:
    """How far the learner has come."""
    filled = max(30 * points // total, points > 0) if total else 0
    return [
        Span("Course  ", "bold"),
        Span("█" * filled, "green"),
        Span("░" * (30 - filled), "dim"),
        Span(f"  {points} of {total} points"),
    ]


def milestone_line(number: str, name: str, points: int, total: int) -> Line:
    """A milestone's heading."""
    return [Span(f"{number:>2} {name:<{_WIDTH + 6}}", "bold"), Span(f"{points:>3} of {total}")]


def milestone_summary(milestone: MilestoneResult) -> str:
    """A graded milestone in one plain line, for a log, with the tasks that lost points."""
    tests = [test for task in milestone.tasks for test in task.tests]
    points = f"{milestone.score} of {milestone.max_score} points"
    lost = [task.id for task in milestone.tasks if task.points < task.max_points]
    tasks = f"; no points for {', '.join(lost)}" if lost else ""
    return f"{milestone.id} ({milestone.key}): {points}, {counts(tests)}{tasks}"


def passed_lines(task: Task) -> Iterator[Line]:
    """A task that has just passed, and its subject."""
    points = f"{task.points} point{'s' * (task.points != 1)}"
    yield [Span("✓ ", "green"), Span(f"{task.id} {task.title}", "bold"), Span(f"  passed, {points}", "green")]
    yield from (line(text) for text in wrap(task.built, "  "))


def task_line(id: str, title: str, verdict: Verdict, words: str) -> Line:
    """One task and its state."""
    mark, _, style = MARKS[verdict]
    return [Span(f"   {mark} ", style), Span(f"{f'{id:<4} {title}':<{_WIDTH + 5}}"), Span(words, style)]


def first_failing(report: Report) -> TaskResult | None:
    """The task to look at now: the first that was started and is not right, else the first not started."""
    lost = [task for task in _tasks(report) if task.verdict is not Verdict.PASS and not task.stands]
    attempted = [task for task in lost if task.verdict not in (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE)]
    open_tasks = [task for task in lost if task.verdict is Verdict.NOT_IMPLEMENTED]
    return next(iter(attempted or open_tasks or lost), None)


def command(*arguments: str) -> str:
    """The command by which the learner runs something with the present Python."""
    python = Path(sys.executable)
    found = shutil.which("python")
    if sys.prefix == sys.base_prefix:  # no virtual environment
        python = Path("python" if found else "python3")
    elif found and Path(found).parent == python.parent:  # an active one
        python = Path("python")
    elif python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    return " ".join((str(python), *arguments))


def command_lines(label: str, *arguments: str, remark: Sequence[Span] = ()) -> Iterator[Line]:
    """A command with its label, and a remark on the same line if there is room."""
    first = [Span(f"{label:<8}", "bold"), Span(command(*arguments), "cyan")]
    if sum(len(span.text) for span in (*first, *remark)) + 2 <= WIDTH:
        yield [*first, Span("  "), *remark]
    else:
        yield from (first, [Span(" " * 8), *remark])


def location_span(location: str) -> Span:
    """`file:line`, clickable where the terminal knows links."""
    location = safe(location)
    path, _, number = location.rpartition(":")
    if not number.isdigit():
        path, number = location, ""
    return Span(location, "cyan", f"{(ROOT / path).as_uri()}{'#' if number else ''}{number}")


def _tasks(report: Report) -> list[TaskResult]:
    return [task for milestone in report.milestones for task in milestone.tasks]


def _milestone(milestone: MilestoneResult, folded: bool, opened: TaskResult | None) -> Iterator[Line]:
    yield line()
    if milestone.whole:
        number = milestone.id.removeprefix("milestone")
        reached = sum(task.max_points if task.stands else task.points for task in milestone.tasks)
        yield milestone_line(number, milestone.key, reached, milestone.max_score)
    verdicts = {task.verdict for task in milestone.tasks}
    doubted = any(task.unconfirmed for task in milestone.tasks)
    if folded and milestone.whole and len(verdicts) == 1 and opened not in milestone.tasks and not doubted:
        (verdict,) = verdicts
        mark, word, style = MARKS[verdict]
        yield line(f"   {mark} all {len(milestone.tasks)} tasks: {word}", style)
        return
    for task in milestone.tasks:
        yield task_line(task.id, task.title, task.verdict, state(task))
        if task.unconfirmed and task.verdict is Verdict.PASS:
            yield line(f"        {safe(task.unconfirmed)}", "red")


def _submission(submission: Submission, verbose: bool) -> Iterator[Line]:
    """The submission: its files, the protections while it ran, remarks for a person."""
    yield [Span("Work    ", "bold"), Span(f"{safe(submission.name)}  "), Span(submission.sha256[:12], "dim")]
    if submission.refused:
        yield [Span("Refused ", "bold"), Span(safe(submission.refused), "red")]
        return
    yield [Span("Bounds  ", "bold"), Span(", ".join(submission.protections) or "none", "dim")]
    if submission.missing_protections:
        missing = ", ".join(submission.missing_protections)
        advice = "Grade in a container: see docs/instructors.md"
        yield line(f"        This machine does not enforce: {missing}. {advice}", "red")
    if submission.outdated:
        files = ", ".join(submission.outdated[:3]) + (" and others" if len(submission.outdated) > 3 else "")
        yield [
            Span("Stubs   ", "bold"),
            Span(f"{safe(files)}: written for a different version of the course", "yellow"),
        ]
        yield line(f"        To update: {UPDATE}")
    notes = [f"left out: {text}" for text in submission.left_out] + submission.look_here
    for number, text in enumerate(notes if verbose else notes[:_NOTES]):
        yield [Span("        " if number else "Look    ", "bold"), Span(safe(text), "yellow")]
    if len(notes) > _NOTES and not verbose:
        yield line(f"        … and {len(notes) - _NOTES} more (--verbose shows them)", "dim")


def opened_lines(task: TaskResult, verbose: bool = False) -> Iterator[Line]:
    """A task that has not passed, from its first failing test."""
    style = MARKS[task.verdict][2]
    yield line()
    yield [Span(f"{task.id} {task.title}", "bold"), Span(f"  {state(task)}{minutes(task.minutes)}", style)]
    if not task.tests:
        yield line("  This task has no test: a defect in the course, not in your code.", style)
        return
    lost = _lost(task)
    if task.verdict is Verdict.NOT_IMPLEMENTED:
        yield from _not_started(lost)
        return
    for test in lost if verbose else lost[:1]:
        yield from _test(test, verbose)
    more = sum("::" in test.name for test in lost[1:])  # an import that failed is not a test
    if more and not verbose:
        yield line(f"  … and {more} more of this task's tests (--verbose shows them)", "dim")


def _lost(task: TaskResult) -> list[TestResult]:
    """The tests that did not pass, first those to which the task owes its verdict.

    A wrong result comes first: it says more than a test that used up its time or memory, perhaps for the same reason.
    """
    lost = [test for test in task.tests if test.verdict is not Verdict.PASS]
    ran_out = task.verdict in (Verdict.TIMEOUT, Verdict.MEMORY)
    first = Verdict.FAIL if ran_out and any(test.verdict is Verdict.FAIL for test in lost) else task.verdict
    return sorted(lost, key=lambda test: (test.verdict is not first, not test.ran))


def _not_started(lost: list[TestResult]) -> Iterator[Line]:
    """Where to go on, at the first stub: nothing is wrong yet."""
    test = min((test for test in lost if test.location), key=_place, default=lost[0])
    if test.location:
        yield [Span("  code   ", "bold"), location_span(test.location), Span(f"  {test.message}", "dim")]
    yield [Span("  tests  ", "bold"), location_span(test.name.partition("::")[0])]


def _place(test: TestResult) -> tuple[str, int]:
    file, _, number = test.location.rpartition(":")
    return file, int(number) if number.isdigit() else 0


def _test(test: TestResult, verbose: bool) -> Iterator[Line]:
    yield line(f"  {test.name}", "dim")
    case = "" if _is_retold(test) and not verbose else safe(test.counterexample)
    yield from _labeled(
        "case", "\n".join(text[_LABEL:] for text in message_lines(case, " " * _LABEL, verbose)), "yellow"
    )
    message = textwrap.dedent(safe(test.message).removeprefix(f"{case}\n"))
    yield from (line(text) for text in message_lines(message, "    ", verbose))
    yield from _labeled("prints", safe(test.printed))
    if test.location:
        why = _returned(test)
        fits = _LABEL + len(test.location + why) <= WIDTH
        yield [Span("  code   ", "bold"), location_span(test.location), Span(why if fits else "", "dim")]
        yield from (line(text, "dim") for text in ([] if fits else wrap(why.strip(), " " * _LABEL)))
    if test.blame:
        blame = f"{test.blame}: with the reference's version instead, this test passes"
        yield [Span("  cause  ", "bold"), Span(blame, "yellow")]
    if test.reproduce:
        yield [Span("  debug  ", "bold"), Span(command(test.reproduce), "cyan")]


def _is_retold(test: TestResult) -> bool:
    """Whether the case is a recipe, such as `('add', 0, 1)`, which the message spells out."""
    return bool(re.search(r"\(['\"][^'\"]*['\"], ", test.counterexample)) and len(test.message.splitlines()) > 1


def _returned(test: TestResult) -> str:
    """The reason for showing a location from which no exception came."""
    functions = safe(test.functions)
    if functions and not test.location.rpartition(":")[2].isdigit():
        return f"  the task's functions: {functions}"
    if "," in functions:
        return f"  one of {functions}"
    return f"  {functions} returned here" if functions else ""


def _labeled(label: str, text: str, style: str = "") -> Iterator[Line]:
    for i, part in enumerate(text.splitlines()):
        yield [Span(f"{'' if i else f'  {label}':<{_LABEL}}", "bold"), Span(part, style)]


def _modules(report: Report) -> Iterator[Line]:
    yield line()
    yield line("Modules", "bold")
    width = max((len(module.name) for module in report.modules), default=0)
    for module in report.modules:
        yield line(f"    {module.name:<{width}}  {module.origin:<10} {module.sha256[:12]}  {module.path}", "dim")


def _next(
    report: Report, opened: TaskResult | None, course: tuple[int, int], following: Task | None, compares: bool
) -> Iterator[Line]:
    if report.impl != "learner" or report.submission:
        return
    if opened is None:
        yield from _compare(_tasks(report)) if compares else ()
        if course[0] == course[1]:
            yield [Span("Next    ", "bold"), Span("nothing: the course is complete", "green")]
        elif following:
            go_on = f"{following.title}{minutes(following.minutes)}"
            yield from command_lines("Next", "-m grader", following.id, remark=line(go_on))
        else:
            yield from command_lines("Next", "-m grader", "doctor", remark=line("which judges are missing here"))
        return
    yield from next_lines(report, opened, following)


def next_lines(report: Report, opened: TaskResult, following: Task | None = None) -> Iterator[Line]:
    """Where to go on with a task that is not right, or that cannot be judged here: with the `following` one."""
    if opened.verdict is Verdict.UNAVAILABLE:
        lacking = missing_judge(opened)
        if opened.lacks_package:
            install = ("install", "-c", "constraints.txt", lacking)
            remark = line("not all of your code could run; nothing here is wrong")
            yield from command_lines("Next", "-m pip", *install, remark=remark)
            return
        go_on = f", or go on with {following.id}" if following else ""
        remark = line(f"nothing here is wrong: install {lacking}{go_on}")
        yield from command_lines("Next", "-m grader", following.id if following else "doctor", remark=remark)
        return
    cause = next(iter(_lost(opened)), None)
    if cause and not cause.ran and cause.location:
        yield [Span("Next    ", "bold"), Span("fix "), location_span(cause.location)]
        yield line("        until then, nothing that needs it can run")
        return
    if cause and cause.blame:
        yield from command_lines("Next", "-m grader", remark=line(f"fix {cause.blame} first"))
        return
    milestone = next(milestone for milestone in report.milestones if opened in milestone.tasks)
    needed = waits_for(opened)
    id = [*needed, opened.id][0]
    number = int(id.partition(".")[0])  # the task that it waits for may be of another milestone
    key = milestone.key if milestone.id == f"milestone{number}" else ""
    chapter = location_span(part_of(f"m{number:02}_{key}", id))
    if needed:
        yield from command_lines("Next", "-m grader", id, remark=[Span(f"{opened.id} needs {id}: read "), chapter])
    else:
        yield from command_lines("Next", "-m grader", "hint", id, remark=[Span("or read ", "dim"), chapter])


def _compare(passed: list[TaskResult]) -> Iterator[Line]:
    """The commands that a learner can use after passing a single task."""
    if len(passed) == 1:
        remark = line("your code with the reference's")
        yield from command_lines("Compare", "-m grader", "diff", passed[0].id, remark=remark)
