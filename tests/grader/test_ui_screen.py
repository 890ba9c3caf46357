"""The screen is made from a report alone, and says the right thing for each verdict."""

import io

import pytest

from grader.report import screen, terminal, wording
from grader.report.verdicts import MilestoneResult, Report, TaskResult, TestResult, Verdict
from tests.grader.small_course import TASKS, report, result

WRONG = result(
    "1.2",
    Verdict.FAIL,
    "expected 1\n     got 2",
    counterexample="x=3",
    location="exercises/tiny/number.py:12",
    reproduce=".kata/counterexamples/test_1_2_case__test_works.py",
)


def shown(report: Report, verbose: bool = False, modules: bool = False) -> str:
    stream = io.StringIO()
    terminal.show(screen.report_lines(report, (1, 3), verbose, modules), stream)
    return stream.getvalue()


def test_a_wrong_task_is_opened_with_all_that_helps() -> None:
    text = shown(report(("1.1", [result("1.1", Verdict.PASS)]), ("1.2", [WRONG])))
    for part in (
        "1 of 3 points",
        "✓ 1.1  Add",
        "✗ 1.2  Double",
        "expected 1\n         got 2",
        "case   x=3",
        "code   exercises/tiny/number.py:12",
        "-m grader hint 1.2",
        ".kata/counterexamples/test_1_2_case__test_works.py",
        "docs/m01_numbers.md",
        "2 ran, 1 passed in 1.5 s",
        "answers recorded from real Triton 3.7.1",
    ):
        assert part in text
    assert "\x1b" not in text, "plain when piped"


PASSED = ("1.1", [result("1.1", Verdict.PASS)])


@pytest.mark.parametrize("whole", [True, False])
def test_only_whole_milestones_are_folded(whole: bool) -> None:
    """Tasks that the learner named are listed by name, even if they are in several milestones."""
    both = report(PASSED)
    both.milestones[0].whole = whole
    both.milestones.append(MilestoneResult("milestone2", "chains", [TaskResult("2.1", *TASKS["2.1"], [])]))
    assert ("✓ 1.1  Add" in shown(both)) is not whole


@pytest.mark.parametrize(
    "whole, words",
    [
        (report(PASSED, ("1.2", [result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.2: Double")])), "○ 1.2  Double"),
        (report(("1.1", [result("1.1", Verdict.ERROR, "why")])), "could not run"),
        (report(("1.1", [result("1.1", Verdict.TIMEOUT, "why")])), "did not finish in time"),
        (report(("1.1", [result("1.1", Verdict.MEMORY, "why")])), "used too much memory"),
        (report(("1.1", [result("1.1", Verdict.UNAVAILABLE, "why")])), "no judge on this machine"),
        (report(("1.1", [*PASSED[1], result("1.1", Verdict.UNAVAILABLE, "no torch", "other")])), "0 of 2"),
        (report(PASSED, ("1.2", [result("1.2", Verdict.PASS)])), "which judges are missing here"),
        (report(("1.1", [])), "a defect in the course"),
        (report(PASSED, impl="reference"), "reference's code, not yours"),
        (report(("1.2", [result("1.2", Verdict.FAIL, "no", blame="tiny.text")])), "fix tiny.text first"),
        (report(("1.1", [TestResult("test_1_1_case.py::test_works", Verdict.ERROR, "lost")])), "lost"),
    ],
)
def test_every_verdict_is_told_in_plain_words(whole: Report, words: str, long_python: None) -> None:
    text = shown(whole)
    assert words in text and all(len(line) <= terminal.WIDTH for line in text.splitlines() if "-m grader" in line)
    passed = [task.id for task in whole.milestones[0].tasks if task.verdict is Verdict.PASS]
    assert all((f"✓ {id}" in text) == (id in passed) for id in ("1.1", "1.2"))


def test_a_wrong_result_is_shown_before_a_test_that_ran_out_of_time() -> None:
    slow = result("1.1", Verdict.TIMEOUT, "still running", "large")
    text = shown(report(("1.1", [slow, result("1.1", Verdict.FAIL, "expected 3, got 4", "small")])))
    assert "did not finish in time" in text, "the task's verdict"
    assert "expected 3, got 4" in text and "still running" not in text


def test_recorded_answers_are_named_once() -> None:
    tiers = "gpu 3.6.0 + records 3.7.1 (also 3.6.0, 3.8.0) + records 3.6.0 on NVIDIA H200 + records 3.7.1"
    recorded = "answers recorded from real Triton 3.7.1 (also 3.6.0, 3.8.0), 3.6.0 on NVIDIA H200"
    assert wording.judges({"triton": tiers}) == f"real Triton 3.6.0 (GPU), {recorded}"


def next_line(whole: Report) -> str:
    return " ".join(shown(whole).partition("\nNext ")[2].split())


def test_a_missing_judge_is_no_dead_end() -> None:
    missing = result("1.1", Verdict.UNAVAILABLE, "real Triton is not installed")
    assert "hint" not in next_line(report(("1.1", [missing])))
    assert "nothing here is wrong: install Triton" in next_line(report(("1.1", [missing])))
    whole = report(("1.1", [missing]), ("1.2", [result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.2: Double")]))
    assert "hint 1.2" in next_line(whole), "first what can be judged"
    whole.milestones[0].tasks[0].stands = True
    assert "– 1.1" in shown(whole) and "passed before, with Triton" in shown(whole) and "2 of 3" in shown(whole)


def test_a_task_that_waits_for_another_leads_there() -> None:
    text = next_line(report(("1.2", [result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.1: Add")])))
    assert "-m grader 1.1 1.2 needs 1.1: read docs/m01_numbers.md" in text and "hint" not in text


def test_the_whole_screen_names_one_missing_judge() -> None:
    torch = result("1.1", Verdict.UNAVAILABLE, "PyTorch is not installed: pip install torch", "a")
    other = result("1.1", Verdict.UNAVAILABLE, "ml_dtypes is not installed in /usr/bin/python3", "b")
    text = shown(report(("1.1", [torch, other])))
    assert "PyTorch is not installed" in text and "install PyTorch" in text and "ml_dtypes" not in text


@pytest.mark.parametrize("others", [[], [result("1.1", Verdict.PASS, name="other")]])
def test_a_missing_package_is_named_and_nobody_blamed(others: list[TestResult]) -> None:
    lost = result("1.1", Verdict.UNAVAILABLE, "ml_dtypes is not installed in /usr/bin/python3: …", ran=False)
    whole = report(("1.1", [*others, lost]))
    assert "1.1  Add" in shown(whole) and "needs ml_dtypes" in shown(whole)
    assert "install -c constraints.txt ml_dtypes" in next_line(whole) and "mend" not in shown(whole)


def test_only_the_first_failing_task_is_opened() -> None:
    first = result("1.1", Verdict.FAIL, "the first message")
    second = result("1.2", Verdict.FAIL, "the second message")
    whole = report(("1.1", [first]), ("1.2", [second]))
    assert "the first message" in shown(whole) and "the second message" not in shown(whole)
    assert "the second message" in shown(whole, verbose=True)
    assert "exercises/tiny/number.py" not in shown(whole, verbose=True)
    assert "exercises/tiny/number.py" in shown(whole, modules=True), "provenance"


def test_a_learners_text_cannot_steer_the_terminal() -> None:
    text = shown(report(("1.1", [result("1.1", Verdict.FAIL, "\x1b[2J all passed")])))
    assert "\x1b" not in text and "\\x1b[2J all passed" in text


def test_a_long_message_leaves_the_screen_readable() -> None:
    long = result("1.1", Verdict.FAIL, "\n".join(f"line {i}" for i in range(1000)))
    assert len(shown(report(("1.1", [long]))).splitlines()) < 40
    assert "line 999" in shown(report(("1.1", [long])), verbose=True)


def test_ascii_terminals_get_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    terminal.show(screen.report_lines(report(("1.2", [WRONG])), (1, 3)), stream)
    assert b"x 1.2  Double" in raw.getvalue()


def test_a_log_names_the_tasks_that_lost_points() -> None:
    (milestone,) = report(PASSED, ("1.2", [WRONG])).milestones
    assert screen.milestone_summary(milestone).endswith("2 ran, 1 passed; no points for 1.2")
    (milestone,) = report(PASSED).milestones
    assert screen.milestone_summary(milestone).endswith("1 ran, 1 passed")


@pytest.mark.parametrize(("minutes", "shown"), [(40, "about 40 min"), (150, "about 2½ h"), (470, "about 8 h")])
def test_hours_are_halves_as_in_the_readme(minutes: int, shown: str) -> None:
    assert wording.hours(minutes) == shown
