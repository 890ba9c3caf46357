"""The screen while tests run: tasks as they finish, and a bar with the tests done and the time left."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TextIO

from grader.course.curriculum import Curriculum, Task, task_id
from grader.course.expected import tests_of
from grader.report import screen
from grader.report.pace import duration
from grader.report.terminal import Line, Span, styled
from grader.report.verdicts import TaskResult, TestResult, Verdict

_TASKS = 8  # finished tasks that stay in view
_WIDTH = 24
_SOON = 1.0  # seconds before the first estimate of the time left


class Live:
    """Follows the events of a grading. On a terminal, it shows a picture until the work is done; elsewhere, it
    prints a line for each milestone if there are several.

    `seconds` has the duration of each test's last run.
    """

    def __init__(self, stream: TextIO, curriculum: Curriculum, tasks: Sequence[Task], seconds: Mapping[str, float]):
        self.stream = stream
        self.tasks = {task.id: task for task in tasks}
        self.expected = {task.id: tests_of(task, curriculum) for task in tasks}
        self.many = len({task.milestone for task in tasks}) > 1
        tests = [test for names in self.expected.values() for test in names]
        known = [seconds[test] for test in tests if test in seconds]
        usual = sum(known) / len(known) if known else 1.0
        self.weights = {test: seconds.get(test, usual) + 0.01 for test in tests}
        self.cases: dict[str, int] = {}
        self.ran: Counter[str] = Counter()
        self.results: dict[str, list[TestResult]] = {id: [] for id in self.tasks}
        self.done: set[str] = set()
        self.finished: list[TaskResult] = []
        self.doing = "starting"
        self.started = time.monotonic()
        self._lock = threading.Lock()  # milestones are graded in parallel
        self._shown = ExitStack()

    def __enter__(self) -> Self:
        if self.stream.isatty():
            try:
                from rich.console import Console
                from rich.live import Live as Picture
            except ImportError:
                return self
            console = Console(file=self.stream, highlight=False)
            self._shown.enter_context(
                Picture(
                    get_renderable=self._picture,
                    console=console,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.close()

    def note(self, event: Mapping[str, Any]) -> None:
        """Handle an event of a grading."""
        with self._lock:
            match event["event"]:
                case "importing":
                    self.doing = event["module"]
                case "running":
                    self.doing = event["test"].rpartition("/")[2]
                case "collected":
                    self.cases |= event["cases"]
                case "ran":
                    self._ran(event["test"], TestResult(event["test"], Verdict(event["verdict"]), event["message"]))
                case "graded" if self.many and not self.stream.isatty():
                    print(screen.milestone_summary(event["milestone"]), file=self.stream, flush=True)

    def lines(self, seconds: float) -> list[Line]:
        """The picture after this many seconds."""
        tasks = [screen.task_line(task.id, task.title, task.verdict, screen.state(task)) for task in self.finished]
        share = sum(self.weights[test] for test in self.done) / (sum(self.weights.values()) or 1)
        filled = round(_WIDTH * share)
        left = f" · {duration(seconds * (1 - share) / share)} left" if share and seconds > _SOON else ""
        bar = [
            Span("█" * filled, "green"),
            Span("░" * (_WIDTH - filled), "dim"),
            Span(f" {len(self.done)} of {len(self.weights)} tests{left}"),
            Span(f" · {self.doing}", "dim"),
        ]
        return [*tasks[-_TASKS:], bar]

    def _ran(self, test: str, result: TestResult) -> None:
        """Count a finished case; its test, and the task, may be finished, too."""
        id = task_id(Path(test.partition("::")[0]))
        if id not in self.tasks:
            return
        self.ran[test] += 1
        self.results[id].append(result)
        if self.ran[test] >= self.cases.get(test, 1):
            self.done.add(test)
            if self.done.issuperset(self.expected[id]):
                task = self.tasks[id]
                self.finished.append(TaskResult(id, task.title, task.points, self.results[id]))

    def _picture(self) -> Any:
        from rich.text import Text

        with self._lock:
            lines = self.lines(time.monotonic() - self.started)
        text = Text("\n", no_wrap=True, overflow="ellipsis").join(styled(line, self.stream) for line in lines)
        text.no_wrap, text.overflow = True, "ellipsis"
        return text
