"""The screen while tests run, and the order of tests."""

import io
from typing import Any

import pytest

from grader.parent import runner
from grader.parent.answers import Answer
from grader.report import live
from grader.report.verdicts import Verdict
from tests.grader.small_course import Course

PROPERTY, CASES = (f"tests/m01_numbers/test_1_1_add.py::{name}" for name in ("test_property", "test_cases"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ran(test: str, verdict: Verdict = Verdict.PASS) -> dict[str, Any]:
    return {"event": "ran", "test": test, "verdict": str(verdict), "message": "no"}


def text_of(shown: live.Live, seconds: float) -> list[str]:
    return ["".join(span.text for span in line) for line in shown.lines(seconds)]


def test_tasks_stream_in_and_a_bar_tells_what_is_left(tiny: Course) -> None:
    curriculum = tiny.curriculum
    shown = live.Live(io.StringIO(), curriculum, curriculum.tasks[:3], {PROPERTY: 6.0, CASES: 2.0})
    assert text_of(shown, 0) == ["░" * 24 + " 0 of 5 tests · starting"]
    shown.note({"event": "collected", "cases": {PROPERTY: 1, CASES: 3}})
    for _ in range(2):
        shown.note(ran(CASES))
    assert "0 of 5 tests" in text_of(shown, 2.0)[-1], "it has three cases"
    shown.note(ran(CASES))
    shown.note({"event": "running", "test": PROPERTY, "case": "test_property"})
    assert text_of(shown, 2.0)[-1].endswith("1 of 5 tests · 18 s left · test_1_1_add.py::test_property")
    shown.note(ran(PROPERTY, Verdict.FAIL))
    task, bar = text_of(shown, 8.0)
    assert task.startswith("   ✗ 1.1  Add") and "2 of 5 tests" in bar


def test_a_log_gets_a_line_for_each_milestone(solved: Course) -> None:
    def log(*targets: str) -> list[str]:
        stream = io.StringIO()
        with live.Live(stream, solved.curriculum, solved.curriculum.resolve(targets), {}) as shown:
            runner.grade(targets, curriculum=solved.curriculum, on_event=shown.note)
        return sorted(stream.getvalue().splitlines())

    assert log("all") == [
        "milestone1 (numbers): 4 of 4 points, 5 ran, 5 passed",
        "milestone2 (chains): 3 of 3 points, 2 ran, 2 passed",
    ]
    assert log("m1") == [], "the report says it all"


def test_a_terminal_is_restored(solved: Course) -> None:
    pytest.importorskip("rich")
    terminal = Terminal()
    with live.Live(terminal, solved.curriculum, solved.curriculum.tasks, {}) as shown:
        runner.grade(["m1"], curriculum=solved.curriculum, on_event=shown.note)
    assert "of 7 tests" in terminal.getvalue()
    assert terminal.getvalue().rstrip().endswith("\x1b[2K"), "the picture is wiped away"


def order(course: Course, *first: str, stop: bool = False) -> list[str]:
    """The tests of the first milestone, as they run."""
    events: list[Answer] = []
    runner.grade(["m1"], first=first, stop=stop, on_event=events.append, curriculum=course.curriculum)
    names = [event["test"].partition("::test_")[2] for event in events if event["event"] == "running"]
    return list(dict.fromkeys(names))


def test_single_cases_run_before_random_ones_and_what_failed_before_both(solved: Course) -> None:
    assert order(solved) == ["cases", "property", "double", "zero", "shout"]
    zero = "tests/m01_numbers/test_1_2_double.py::test_zero"
    assert order(solved, PROPERTY, zero) == ["property", "cases", "zero", "double", "shout"]


@pytest.mark.parametrize("stop", [False, True])
def test_after_a_timeout_of_what_failed_before_small_cases_run(solved: Course, stop: bool) -> None:
    solved.edit("tiny/number.py", "return a + b", "while a == b == 0: pass\n    return 4")
    report = runner.grade(["1.1"], first=[PROPERTY], stop=stop, curriculum=solved.curriculum)
    verdicts = {test.name.partition("::")[2]: test.verdict for test in report.milestones[0].tasks[0].tests}
    assert verdicts == {"test_property": Verdict.TIMEOUT, "test_cases": Verdict.FAIL}


def test_a_watcher_need_not_wait_for_the_others(solved: Course) -> None:
    solved.edit("tiny/number.py", "2 * a", "a")
    double = "tests/m01_numbers/test_1_2_double.py::test_double"
    assert order(solved, double, stop=True) == ["double"]
    solved.solve()
    assert order(solved, double, stop=True) == ["double", "cases", "property", "zero", "shout"]
