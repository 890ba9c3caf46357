"""What the learner sees: the course, a line a task, the first failing task opened, the next command.

A report goes in, lines come out; nothing here runs or decides anything.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from grader.curriculum import ROOT, Curriculum, Task
from grader.progress import TaskProgress
from grader.terminal import Line, Span, line, safe
from grader.verdicts import MilestoneResult, Report, TaskResult, TestResult, Verdict

# mark, word, style
MARKS = {
    Verdict.PASS: ("✓", "passed", "green"),
    Verdict.UNAVAILABLE: ("–", "no judge on this machine", "yellow"),
    Verdict.NOT_IMPLEMENTED: ("○", "not started", "dim"),
    Verdict.FAIL: ("✗", "wrong", "red"),
    Verdict.ERROR: ("✗", "could not run", "red"),
    Verdict.TIMEOUT: ("✗", "did not finish in time", "red"),
    Verdict.MEMORY: ("✗", "used too much memory", "red"),
}
_MESSAGE_LINES = 14  # of the opened test, unless --verbose
_WIDTH = 48  # of a task's title, so that the verdicts line up


def report_lines(report: Report, course: tuple[int, int], verbose: bool = False) -> Iterator[Line]:
    """The whole screen. `course` is the learner's points so far and the points of all tasks."""
    opened = first_failing(report)
    if report.impl == "learner":
        yield course_bar(*course)
    else:
        yield line(f"Grading the {report.impl}'s code, not yours", "bold")
    for milestone in report.milestones:
        yield from _milestone(milestone, folded=len(report.milestones) > 1 and not verbose, opened=opened)
    if verbose:
        for task in _tasks(report):
            if task.verdict is not Verdict.PASS:
                yield from _opened(task, verbose)
        yield from _modules(report)
    elif opened:
        yield from _opened(opened, verbose)
    yield line()
    yield line(_counts(report), "dim")
    yield line(_judges(report), "dim")
    yield from _next(report, opened)


def course_lines(curriculum: Curriculum, history: Mapping[str, TaskProgress]) -> Iterator[Line]:
    """Every task of the course as it was when last graded."""

    def reached(tasks: Iterable[Task]) -> int:
        return sum(task.points for task in tasks if task.id in history and history[task.id].passes)

    yield course_bar(reached(curriculum.tasks), sum(task.points for task in curriculum.tasks))
    for milestone in curriculum.milestones:
        total = sum(task.points for task in milestone.tasks)
        yield line()
        yield milestone_line(str(milestone.number), milestone.key, reached(milestone.tasks), total)
        for task in milestone.tasks:
            past = history.get(task.id, TaskProgress())
            word = MARKS[Verdict(past.last)][1] if past.last else f"open, about {task.minutes} minutes"
            tries = f"  {past.attempts} {'try' if past.attempts == 1 else 'tries'}" if past.attempts else ""
            hints = f", {past.hints} of {len(task.hints)} hints" if past.hints else ""
            verdict = Verdict(past.last or Verdict.NOT_IMPLEMENTED)
            yield task_line(task.id, task.title, verdict, word + tries + hints)


def hint_lines(task: Task, number: int) -> Iterator[Line]:
    """A task's newest hint; all of them once the last is reached."""
    yield line(f"{task.id} {task.title}", "bold")
    first = 1 if number == len(task.hints) else number
    for i, hint in enumerate(task.hints[first - 1 : number], first):
        yield line()
        yield line(f"Hint {i} of {len(task.hints)}", "yellow")
        yield from (line(f"  {text}") for text in textwrap.wrap(hint, 90, break_long_words=False))
    yield line()
    if number < len(task.hints):
        yield [Span("More    ", "bold"), Span(command("-m grader", "hint", task.id), "cyan")]
    else:
        yield [Span("Last    ", "bold"), Span(command("-m grader", "solution", task.id, "--anyway"), "cyan")]


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


def task_line(id: str, title: str, verdict: Verdict, word: str = "") -> Line:
    """One task and its verdict."""
    mark, usual_word, style = MARKS[verdict]
    return [Span(f"   {mark} ", style), Span(f"{id:<5}{title:<{_WIDTH}}"), Span(word or usual_word, style)]


def first_failing(report: Report) -> TaskResult | None:
    """The task to look at now: the first that was started and is not right, else the first not started."""
    lost = [task for task in _tasks(report) if task.verdict is not Verdict.PASS]
    attempted = [task for task in lost if task.verdict not in (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE)]
    open_tasks = [task for task in lost if task.verdict is Verdict.NOT_IMPLEMENTED]
    return next(iter(attempted or open_tasks or lost), None)


def command(*arguments: str) -> str:
    """What the learner types to run something with the Python that runs now."""
    python = Path(sys.executable)
    found = shutil.which("python")
    if sys.prefix == sys.base_prefix:  # no virtual environment
        python = Path("python" if found else "python3")
    elif found and Path(found).parent == python.parent:  # an active one
        python = Path("python")
    elif python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    return " ".join((str(python), *arguments))


def location_span(location: str) -> Span:
    """`file:line`, clickable where the terminal knows links."""
    path, _, number = location.rpartition(":")
    if not number.isdigit():
        path, number = location, ""
    return Span(location, "cyan", f"{(ROOT / path).as_uri()}{'#' if number else ''}{number}")


def _tasks(report: Report) -> list[TaskResult]:
    return [task for milestone in report.milestones for task in milestone.tasks]


def _milestone(milestone: MilestoneResult, folded: bool, opened: TaskResult | None) -> Iterator[Line]:
    yield line()
    number = milestone.id.removeprefix("milestone")
    yield milestone_line(number, milestone.key, milestone.score, milestone.max_score)
    verdicts = {task.verdict for task in milestone.tasks}
    if folded and len(verdicts) == 1 and opened not in milestone.tasks:
        (verdict,) = verdicts
        mark, word, style = MARKS[verdict]
        yield line(f"   {mark} all {len(milestone.tasks)} tasks: {word}", style)
        return
    for task in milestone.tasks:
        yield task_line(task.id, task.title, task.verdict, _word(task))


def _word(task: TaskResult) -> str:
    """The verdict in the learner's terms; `not started` must never look like `wrong`."""
    if not task.tests:
        return "has no tests"
    passed = sum(test.verdict is Verdict.PASS for test in task.tests)
    if task.verdict is Verdict.NOT_IMPLEMENTED:
        waits_for = {m[1] for test in task.tests if (m := re.match(r"Task (\d+\.\d+)", test.message))}
        if task.id not in waits_for and waits_for:
            return f"waits for {', '.join(sorted(waits_for))}"
        return f"begun: {passed} of {len(task.tests)} tests pass" if passed else ""
    if task.verdict is Verdict.PASS:
        return f"passed  {task.points}/{task.max_points}"
    return f"{MARKS[task.verdict][1]}: {passed} of {len(task.tests)} tests pass" if passed else ""


def _opened(task: TaskResult, verbose: bool) -> Iterator[Line]:
    """A task that is not right, from its first test that shows what is wrong."""
    _, word, style = MARKS[task.verdict]
    yield line()
    yield [Span(f"{task.id} {task.title}", "bold"), Span(f"  {word}", style)]
    if not task.tests:
        yield line("  This task has no test: a defect of the course, not of your code.", style)
        return
    lost = [test for test in task.tests if test.verdict is not Verdict.PASS]
    if all(test.verdict is Verdict.NOT_IMPLEMENTED for test in lost):
        yield from _not_started(lost[0])
        return
    lost.sort(key=lambda test: test.verdict in (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE))
    for test in lost if verbose else lost[:1]:
        yield from _test(test, None if verbose else _MESSAGE_LINES)
    if len(lost) > 1 and not verbose:
        yield line(f"  … and {len(lost) - 1} more of this task's tests (--verbose shows them)", "dim")


def _not_started(test: TestResult) -> Iterator[Line]:
    """Where to begin: nothing is wrong yet."""
    if test.location:
        yield [Span("  code   ", "bold"), location_span(test.location), Span(f"  {test.message}", "dim")]
    yield [Span("  tests  ", "bold"), location_span(test.name.partition("::")[0])]


def _test(test: TestResult, limit: int | None) -> Iterator[Line]:
    yield line(f"  {test.name}", "dim")
    message = safe(test.message).splitlines()
    for text in message[:limit]:
        yield line(f"    {text}")
    if len(message[:limit]) < len(message):
        yield line(f"    … {len(message[:limit])} of {len(message)} lines (--verbose shows all)", "dim")
    if test.counterexample:
        first, *rest = safe(test.counterexample).splitlines()
        yield [Span("  case   ", "bold"), Span(first, "yellow")]
        for text in rest:
            yield line(f"         {text}", "yellow")
    if test.location:
        yield [Span("  code   ", "bold"), location_span(test.location)]
    if test.blame:
        blame = f"{test.blame}: with the reference there instead, this test passes"
        yield [Span("  cause  ", "bold"), Span(blame, "yellow")]
    if test.reproduce:
        yield [Span("  debug  ", "bold"), Span(command(test.reproduce), "cyan")]


def _modules(report: Report) -> Iterator[Line]:
    yield line()
    yield line("Modules", "bold")
    for module in report.modules:
        yield line(f"    {module.name:<34}{module.origin:<10} {module.sha256[:12]}  {module.path}", "dim")


def _counts(report: Report) -> str:
    tests = [test for task in _tasks(report) for test in task.tests]
    counts = Counter(test.verdict for test in tests)
    not_run = sum(test.message.startswith("Not run") for test in tests)
    run = len(tests) - counts[Verdict.UNAVAILABLE] - not_run
    ran = f"{run} run, {counts[Verdict.UNAVAILABLE]} unavailable, {len(tests)} expected"
    return f"Tests   {ran}; {counts[Verdict.PASS]} passed in {report.seconds:.1f} s (seed {report.seed})"


def _judges(report: Report) -> str:
    judges = [f"{name}: {tier}" for name, tier in report.oracles.items()]
    return f"Judges  {'; '.join(judges) or 'the tests alone'}"


def _next(report: Report, opened: TaskResult | None) -> Iterator[Line]:
    if report.impl != "learner":
        return
    if opened is None:
        yield [Span("Next    ", "bold"), Span(command("-m grader"), "cyan"), Span("  all points here; go on")]
        return
    milestone = next(milestone for milestone in report.milestones if opened in milestone.tasks)
    chapter = f"docs/m{int(milestone.id.removeprefix('milestone')):02}_{milestone.key}.md"
    hint = Span(command("-m grader", "hint", opened.id), "cyan")
    yield [Span("Next    ", "bold"), hint, Span("  or read ", "dim"), location_span(chapter)]
