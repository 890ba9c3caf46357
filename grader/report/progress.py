"""The learner's progress, in one small database. If the file is deleted, only history is lost."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from grader.course.curriculum import Task
from grader.report.verdicts import Report, TaskResult, Verdict
from grader.report.wording import missing_judge, state

_SCHEMA = """
CREATE TABLE IF NOT EXISTS progress (
    id TEXT PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    best INTEGER NOT NULL DEFAULT 0,
    last TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT '',
    first_pass TEXT NOT NULL DEFAULT '',
    hints INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS late_hints (id TEXT PRIMARY KEY, hints INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS passes (id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS unjudged (id TEXT PRIMARY KEY, lacks TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tests (name TEXT PRIMARY KEY, failed INTEGER NOT NULL, seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS last (id INTEGER PRIMARY KEY CHECK (id = 1), targets TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS route (id INTEGER PRIMARY KEY CHECK (id = 1), key TEXT NOT NULL);
"""

_RECORD = """
INSERT INTO progress (id, attempts, best, last, state, first_pass)
VALUES (:id, :attempt, :points, :verdict, :state, :passed_at)
ON CONFLICT (id) DO UPDATE SET
    attempts = attempts + CASE WHEN first_pass = '' THEN excluded.attempts ELSE 0 END,
    best = max(best, excluded.best),
    last = excluded.last,
    state = excluded.state,
    first_pass = CASE WHEN first_pass = '' THEN excluded.first_pass ELSE first_pass END"""

_JUDGES = {"Triton": "triton", "PyTorch": "torch"}  # the packages of the judges that a message names
_FAILED = (Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY)

T = TypeVar("T")


@dataclass(frozen=True)
class TaskProgress:
    """One task's history."""

    attempts: int = 0  # attempts up to the first pass
    best: int = 0
    last: str = ""  # the latest verdict; "" before the first run and after a reset
    state: str = ""  # the latest state in words
    first_pass: str = ""  # the date and time of the first pass, in ISO 8601
    hints: int = 0  # shown before the first pass
    late_hints: int = 0  # shown after the first pass, so they do not count as help
    lacks: str = ""  # the package that could have judged the task when it was last graded, but was not installed

    @property
    def hints_seen(self) -> int:
        return self.hints + self.late_hints

    @property
    def passes(self) -> bool:
        """Whether the task passed when it was last graded."""
        return self.last == Verdict.PASS


def is_open(id: str, history: Mapping[str, TaskProgress]) -> bool:
    """Whether a task is left to do: it has not passed, and does not merely lack a judge that is still missing."""
    past = history.get(id, TaskProgress())
    if past.last == Verdict.UNAVAILABLE:
        return bool(past.lacks) and find_spec(past.lacks) is not None
    return not past.passes


def is_complete(tasks: Iterable[Task], history: Mapping[str, TaskProgress]) -> bool:
    """Whether all these tasks passed when they were last graded."""
    return all(history.get(task.id, TaskProgress()).passes for task in tasks)


class Progress:
    """The database at `path`. Each call is one transaction, so runs at the same time are safe."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def record(self, report: Report, is_underway: bool = False) -> None:
        """Remember a run over the learner's own code. If other work is underway, a run that found only stubs does not
        change `last`.

        A pass stands, and the report says so, as long as code and tests are the same and only a judge is missing. The
        records of tasks for which a package is missing do not change.
        """
        now = _now()
        passes: dict[str, str] = dict(
            self._run(lambda db: db.execute("SELECT id, fingerprint FROM passes").fetchall(), [])
        )
        tasks = [task for milestone in report.milestones for task in milestone.tasks]
        for task in tasks:
            is_same = bool(task.fingerprint) and passes.get(task.id) == task.fingerprint
            task.stands = task.verdict is Verdict.UNAVAILABLE and is_same
        rows = [
            {
                "id": task.id,
                "attempt": _is_attempt(task),
                "points": task.points,
                "verdict": str(Verdict.PASS if task.stands else task.verdict),
                "state": state(task),
                "passed_at": now if task.verdict is Verdict.PASS else "",
            }
            for task in tasks
            if not task.lacks_package
        ]
        passed = [(task.id, task.fingerprint) for task in tasks if task.verdict is Verdict.PASS]
        lacks = [(task.id, _lacks(task)) for task in tasks if not task.lacks_package]
        tests = [
            (test.name, test.verdict in _FAILED, test.seconds) for task in tasks for test in task.tests if test.ran
        ]

        def write(db: sqlite3.Connection) -> None:
            db.executemany(_RECORD, rows)
            db.executemany("INSERT OR REPLACE INTO passes VALUES (?, ?)", passed)
            db.executemany("INSERT OR REPLACE INTO unjudged VALUES (?, ?)", lacks)
            db.executemany("INSERT OR REPLACE INTO tests VALUES (?, ?, ?)", tests)
            if not is_underway or any(row["attempt"] for row in rows):
                db.execute("INSERT OR REPLACE INTO last VALUES (1, ?)", (" ".join(report.target),))

        self._run(write, None)

    def last(self) -> list[str]:
        """The targets graded last; [] before the first run."""
        rows: list[tuple] = self._run(lambda db: db.execute("SELECT targets FROM last").fetchall(), [])
        return rows[0][0].split() if rows else []

    def follow(self, route: str) -> None:
        """Choose a route by its key; the next run starts with its first open task."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO route VALUES (1, ?)", (route,))
            db.execute("DELETE FROM last")

        self._run(write, None)

    def route(self) -> str:
        """The key of the chosen route; "" if there is none."""
        rows: list[tuple] = self._run(lambda db: db.execute("SELECT key FROM route").fetchall(), [])
        return rows[0][0] if rows else ""

    def failed(self) -> frozenset[str]:
        """The tests that failed when they last ran."""
        query = "SELECT name FROM tests WHERE failed"
        rows: list[tuple] = self._run(lambda db: db.execute(query).fetchall(), [])
        return frozenset(name for (name,) in rows)

    def seconds(self) -> dict[str, float]:
        """How long each test took when it last ran."""
        return dict(self._run(lambda db: db.execute("SELECT name, seconds FROM tests").fetchall(), []))

    def tasks(self) -> dict[str, TaskProgress]:
        """Every task that was ever graded or hinted at, by its id."""
        return self._run(_tasks, {})

    def task(self, id: str) -> TaskProgress:
        """One task's history; an empty one when there is none."""
        return self.tasks().get(id, TaskProgress())

    def take_hint(self, id: str, available: int) -> int:
        """Count one more hint as shown, and return the number of hints shown so far, including this one."""

        def take(db: sqlite3.Connection) -> int:
            past = _tasks(db).get(id, TaskProgress())
            if past.hints_seen >= available:
                return available
            table = "late_hints" if past.first_pass else "progress"
            count = "VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET hints = hints + 1"
            db.execute(f"INSERT INTO {table} (id, hints) {count}", (id,))
            return past.hints_seen + 1

        return self._run(take, 1)

    def reopen(self, ids: Iterable[str]) -> None:
        """Mark tasks as open again after a reset; keep their history."""
        rows = [(id,) for id in ids]
        self._run(lambda db: db.executemany("UPDATE progress SET last = '', state = '' WHERE id = ?", rows).rowcount, 0)

    def _run(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Do `action` in a transaction. If it fails, warn and return `otherwise`: history is not worth a failure."""
        try:
            return self._transaction(action)
        except (sqlite3.OperationalError, OSError) as error:  # locked for long, or a disk we may not write
            print(f"warning: progress was not read or saved ({self.path}: {error})", file=sys.stderr)
            return otherwise
        except sqlite3.DatabaseError as error:
            aside = self.path.with_name(f"{self.path.name}.broken-{_now().replace(':', '')}")
            with suppress(FileNotFoundError):  # another run may have moved it already
                self.path.rename(aside)
            print(f"warning: {self.path} is damaged ({error}); kept as {aside.name}", file=sys.stderr)
            return self._transaction(action)

    def _transaction(self, action: Callable[[sqlite3.Connection], T]) -> T:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=5)) as db, db:
            db.executescript(_SCHEMA)
            return action(db)


def _tasks(db: sqlite3.Connection) -> dict[str, TaskProgress]:
    query = """SELECT id, attempts, best, last, state, first_pass, progress.hints, coalesce(late_hints.hints, 0),
        coalesce(lacks, '') FROM progress LEFT JOIN late_hints USING (id) LEFT JOIN unjudged USING (id)"""
    return {id: TaskProgress(*facts) for id, *facts in db.execute(query)}


def _lacks(task: TaskResult) -> str:
    """The package of the task's judge, if this judge is not installed."""
    package = _JUDGES.get(missing_judge(task), "")
    return package if package and find_spec(package) is None else ""


def _is_attempt(task: TaskResult) -> bool:
    """Whether the learner's own code was judged: neither a stub, nor a file that cannot be imported."""
    nothing = (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE)
    return any(test.ran and test.verdict not in nothing for test in task.tests)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
