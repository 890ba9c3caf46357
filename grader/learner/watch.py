"""`grader watch`: after each save, show the current task's verdict; when it passes, go on to the next task."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from grader.course import workspace
from grader.course.curriculum import Curriculum, Task
from grader.learner import way
from grader.learner.finale import finale_lines
from grader.parent import forks, runner
from grader.parent.session import environment_of
from grader.report import counterexamples, screen
from grader.report.live import Live
from grader.report.progress import Progress, is_open
from grader.report.terminal import Line, Span, line, show
from grader.report.verdicts import Report, Verdict

SEED = 0
_SAVED = "\0"  # a marker among the lines that the learner types
_KEYS = "Save to grade; Enter grades again. With Enter: h hint, {}q quit"


class _SavedAgain(Exception):
    """The code that is being graded is not the newest."""


class Watch:
    """Grades one task of `tasks` after another, each as often as a file of `exercises/` changes."""

    def __init__(self, curriculum: Curriculum, history: Progress, tasks: Sequence[Task], options: Mapping[str, Any]):
        self.curriculum = curriculum
        self.history = history
        self.tasks = tasks
        self.options = options  # for each grading
        self.keys = _KEYS.format("d diff, " if curriculum.has_solutions else "")
        self.passed: Task | None = None  # the latest one
        self.events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.saved = threading.Event()  # since the grading began

    def run(self) -> bool:
        """Go on until every task has passed, or the learner has had enough; whether every task has."""
        for listen in (self._listen_to_files, self._listen_to_keys):
            threading.Thread(target=listen, daemon=True).start()
        while task := self._current():
            try:
                if self._judge(task):
                    continue
            except _SavedAgain:
                self._clear()
                continue
            self._say([line(), line(self.keys, "dim")])
            if forks.CAN_FORK:
                forks.server(environment_of(SEED), task.libraries)  # it loads libraries while the learner writes
            if not self._wait(task):
                return False
            self._clear()
        self._say([line(), line("Every task here has passed.", "green")])
        return True

    def _current(self) -> Task | None:
        known = self.history.tasks()
        return next((task for task in self.tasks if is_open(task.id, known)), None)

    def _judge(self, task: Task) -> bool:
        """Grade the task, first what failed the last time; show the result, and return whether to go on."""
        self.saved.clear()
        while not self.events.empty():
            self.events.get()
        with Live(sys.stderr, self.curriculum, [task], self.history.seconds()) as live:

            def note(event: Mapping[str, Any]) -> None:
                live.note(event)
                if self.saved.is_set():
                    raise _SavedAgain

            report = runner.grade(
                [task.id],
                first=self.history.failed(),
                stop=True,
                seed=SEED,
                on_event=note,
                curriculum=self.curriculum,
                **self.options,
            )
        counterexamples.write(report, self.curriculum.scratch / "counterexamples")
        before = self.history.tasks()
        self.history.record(report)
        result = report.milestones[0].tasks[0]
        if result.verdict is not Verdict.PASS and not result.stands:
            self._say(self._open(report))
            return result.verdict is Verdict.UNAVAILABLE and not result.lacks_package
        self.passed = task
        self._say(screen.passed_lines(task))
        if self.curriculum.has_solutions:
            diff = screen.command("-m grader", "diff", task.id)
            self._say([[Span("  Compare  ", "bold"), Span(diff, "cyan")]])
        for end in way.completed(self.curriculum, self.history, [task], before):
            self._say([*finale_lines(self.curriculum, end), line()])
        return True

    def _open(self, report: Report) -> list[Line]:
        """The task that is not right, and where to go on."""
        (task,) = report.milestones[0].tasks
        clock = line(f"{datetime.now():%H:%M:%S}  graded in {report.seconds:.1f} s", "dim")
        return [*screen.opened_lines(task), line(), *screen.next_lines(report, task, self._current()), clock]

    def _wait(self, task: Task) -> bool:
        """Wait for a save, obeying typed commands; return whether to grade again."""
        while True:
            match self._next_event().strip().lower():
                case "" | "\0":
                    return True
                case "q" | "quit" | "exit":
                    return False
                case "h" | "hint":
                    known = self.history.task(task.id).hints_seen
                    number = self.history.take_hint(task.id, len(task.hints))
                    has_solutions = self.curriculum.has_solutions
                    self._say(screen.hint_lines(task, number, known, has_solutions=has_solutions))
                case "d" | "diff" if not self.curriculum.has_solutions:
                    self._say([line("This copy of the course has no solutions.")])
                case "d" | "diff" if self.passed:
                    self._say(line(text) for text in self._diff(self.passed).splitlines())
                case "d" | "diff":
                    self._say([line("diff compares the task that passed last, but none has passed yet.")])
                case _:
                    self._say([line(self.keys, "dim")])

    def _next_event(self) -> str:
        while True:  # in short steps: on Windows, Ctrl-C does not interrupt a wait
            try:
                return self.events.get(timeout=0.5)
            except queue.Empty:
                continue

    def _diff(self, task: Task) -> str:
        try:
            return workspace.diff(self.curriculum, task) or "Your code is the reference's."
        except workspace.Untold as error:
            return str(error)

    def _listen_to_files(self) -> None:
        from watchfiles import PythonFilter, watch

        for _ in watch(self.curriculum.exercises, watch_filter=PythonFilter(), debounce=200, step=20):
            self.saved.set()
            self.events.put(_SAVED)

    def _listen_to_keys(self) -> None:
        for text in sys.stdin:
            self.events.put(text)

    def _say(self, lines: Any) -> None:
        show(lines, sys.stdout)

    def _clear(self) -> None:
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[3J\x1b[H")
