"""Progress is remembered, and losing it harms nothing."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.progress import Progress, TaskProgress
from grader.verdicts import Verdict
from tests.grader.ui_samples import report, result


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path / ".kata" / "progress.db")


def grade(progress: Progress, verdict: Verdict) -> None:
    progress.record(report(("1.2", [result("1.2", verdict)])))


def test_attempts_best_and_first_pass(progress: Progress) -> None:
    grade(progress, Verdict.NOT_IMPLEMENTED)
    assert progress.task("1.2") == TaskProgress(0, 0, "not_implemented", "not started")
    grade(progress, Verdict.FAIL)
    grade(progress, Verdict.PASS)
    first = progress.task("1.2")
    assert (first.attempts, first.best, first.passes) == (2, 1, True)
    grade(progress, Verdict.ERROR)
    assert progress.task("1.2") == TaskProgress(2, 1, "error", "could not run", first.first_pass)


def test_a_reset_reopens_a_task_and_keeps_its_history(progress: Progress) -> None:
    grade(progress, Verdict.PASS)
    progress.reopen(["1.2"])
    past = progress.task("1.2")
    assert not past.passes and past.first_pass and past.best == 1


def test_a_damaged_database_is_set_aside(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    progress.path.parent.mkdir()
    progress.path.write_bytes(b"this is no database" * 100)
    grade(progress, Verdict.FAIL)
    assert progress.task("1.2").attempts == 1
    assert "is damaged" in capsys.readouterr().err
    assert [path.read_bytes()[:7] for path in progress.path.parent.glob("*.broken-*")] == [b"this is"]


def test_a_foreign_schema_costs_history_but_no_verdict(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    progress.path.parent.mkdir()
    with sqlite3.connect(progress.path) as db:
        db.execute("CREATE TABLE progress (id TEXT)")
    grade(progress, Verdict.PASS)
    assert "progress was not" in capsys.readouterr().err


def test_runs_at_the_same_time_all_count(progress: Progress) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: grade(progress, Verdict.FAIL), range(24)))
    assert progress.task("1.2").attempts == 24
