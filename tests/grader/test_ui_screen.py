"""The screen is made from a report alone, and says the right thing for each verdict."""

import io

import pytest

from grader import screen, terminal, wording
from grader.verdicts import ModuleOrigin, Report, TestResult, Verdict
from tests.grader.ui_samples import report, result

WRONG = result(
    "1.2",
    Verdict.FAIL,
    "expected 1\n     got 2",
    counterexample="x=3",
    location="exercises/mini_triton/numbers.py:12",
    reproduce=".kata/counterexamples/test_1_2_case__test_works.py",
)


def shown(report: Report, verbose: bool = False) -> str:
    stream = io.StringIO()
    terminal.show(screen.report_lines(report, (1, 3), verbose), stream)
    return stream.getvalue()


def test_a_wrong_task_is_opened_with_all_that_helps() -> None:
    text = shown(report(("1.1", [result("1.1", Verdict.PASS)]), ("1.2", [WRONG])))
    for part in (
        "1 of 3 points",
        "✓ 1.1  Twice",
        "✗ 1.2  Half",
        "expected 1\n         got 2",
        "case   x=3",
        "code   exercises/mini_triton/numbers.py:12",
        "-m grader hint 1.2",
        ".kata/counterexamples/test_1_2_case__test_works.py",
        "docs/m01_numbers.md",
        "2 ran, 1 passed in 1.5 s",
        "answers recorded from real Triton 3.7.1",
    ):
        assert part in text
    assert "\x1b" not in text, "plain when piped"


def test_not_started_does_not_look_like_wrong() -> None:
    untouched = result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.2: Half")
    text = shown(report(("1.1", [result("1.1", Verdict.PASS)]), ("1.2", [untouched])))
    assert "○ 1.2" in text and "not started" in text
    assert "wrong" not in text and "✗" not in text
    assert "tests  tests/m01_numbers/test_1_2_case.py" in text, "where to begin"


def test_a_task_that_is_begun_goes_on_at_its_first_stub() -> None:
    tests = [
        result("1.2", Verdict.PASS),
        result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.2: Half", "b", location="exercises/a.py:100"),
        result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.2: Half", "c", location="exercises/a.py:20"),
    ]
    text = shown(report(("1.2", tests)))
    assert text.count("begun: 1 of 3 tests pass") == 2 and "not started" not in text
    assert "code   exercises/a.py:20" in text


def test_the_failure_that_decided_is_opened() -> None:
    tests = [
        result("1.1", Verdict.FAIL, "wrong"),
        result("1.1", Verdict.TIMEOUT, "still running here.", location="exercises/a.py:7"),
        result("1.1", Verdict.TIMEOUT, "Not run.", ran=False),
    ]
    text = shown(report(("1.1", tests)))
    assert "still running here." in text and "exercises/a.py:7" in text and "Not run." not in text
    assert "2 of 3 ran" in text


def test_what_cannot_be_imported_is_mended_first() -> None:
    test = result("1.1", Verdict.ERROR, "SyntaxError", location="exercises/a.py:7", ran=False)
    text = shown(report(("1.1", [test])))
    assert "Next    mend exercises/a.py:7" in text and "hint" not in text


def test_a_call_is_shown_once_and_what_it_printed() -> None:
    test = result("1.1", Verdict.FAIL, "f(1)\n  expected  2", counterexample="f(1)", printed="here\nthere")
    text = shown(report(("1.1", [test])))
    assert "  case   f(1)\n    expected  2\n  prints here\n         there\n" in text
    assert text.count("f(1)") == 1


def test_a_single_task_is_no_milestone() -> None:
    whole = report(("1.2", [WRONG]))
    whole.milestones[0].whole = False
    assert "numbers  " not in shown(whole)


def test_the_end_is_the_end() -> None:
    stream = io.StringIO()
    terminal.show(screen.report_lines(report(("1.1", [result("1.1", Verdict.PASS)])), (3, 3)), stream)
    assert "the course is complete" in stream.getvalue()


def test_judges_are_named_in_plain_words() -> None:
    tiers = "compiler 3.6.0 + parser 3.6.0 + records 3.7.1 (also 3.8.0)"
    assert wording.judges({"triton": tiers, "torch": "unavailable"}) == (
        "real Triton 3.6.0 (compiler, parser), answers recorded from real Triton 3.7.1 (also 3.8.0), "
        "PyTorch is unavailable"
    )


def test_a_task_that_waits_for_another_says_so() -> None:
    text = shown(report(("1.2", [result("1.2", Verdict.NOT_IMPLEMENTED, "Task 1.1: Twice")])))
    assert "waits for 1.1" in text


def test_only_the_first_failing_task_is_opened() -> None:
    first = result("1.1", Verdict.FAIL, "the first message")
    second = result("1.2", Verdict.FAIL, "the second message")
    whole = report(("1.1", [first]), ("1.2", [second]))
    assert "the first message" in shown(whole) and "the second message" not in shown(whole)
    assert "the second message" in shown(whole, verbose=True)
    assert "exercises/mini_triton/numbers.py" in shown(whole, verbose=True), "provenance"


def test_modules_are_listed_before_what_is_wrong() -> None:
    whole = report(("1.1", [result("1.1", Verdict.FAIL, "the message")]))
    whole.modules.append(ModuleOrigin("mini_triton.a_name_of_fifty_letters_that_nobody_would_choose", "stub", "", "00"))
    text = shown(whole, verbose=True)
    first, second = (text.splitlines()[text.splitlines().index("Modules") + place] for place in (1, 2))
    assert first.index("  learner  ") == second.index("  stub  "), "columns line up"
    assert text.index("Modules") < text.index("the message")


def test_what_was_tried_is_opened_before_what_was_not() -> None:
    untouched = result("1.1", Verdict.NOT_IMPLEMENTED, "Task 1.1: Twice")
    text = shown(report(("1.1", [untouched]), ("1.2", [WRONG])))
    assert "case   x=3" in text


@pytest.mark.parametrize(
    "verdict, word",
    [
        (Verdict.ERROR, "could not run"),
        (Verdict.TIMEOUT, "did not finish in time"),
        (Verdict.MEMORY, "used too much memory"),
        (Verdict.UNAVAILABLE, "no judge on this machine"),
    ],
)
def test_every_other_verdict_has_its_word(verdict: Verdict, word: str) -> None:
    assert word in shown(report(("1.1", [result("1.1", verdict, "why")])))


def test_unavailable_is_counted_and_is_no_pass() -> None:
    tests = [result("1.1", Verdict.PASS), result("1.1", Verdict.UNAVAILABLE, "no torch", "other")]
    text = shown(report(("1.1", tests)))
    assert "2 ran, 1 without a judge on this machine, 1 passed" in text
    assert "0 of 1" in text


def test_a_task_without_tests_is_no_pass() -> None:
    text = shown(report(("1.1", [])))
    assert "✗ 1.1" in text and "a defect of the course" in text


def test_the_reference_is_not_mistaken_for_the_learner() -> None:
    assert "reference's code, not yours" in shown(report(("1.1", [result("1.1", Verdict.PASS)]), impl="reference"))


def test_blame_names_the_earlier_module() -> None:
    test = result("1.2", Verdict.FAIL, "no", blame="mini_triton.ir.types")
    text = shown(report(("1.2", [test])))
    assert "cause  mini_triton.ir.types" in text and "mend mini_triton.ir.types first" in text


def test_a_learners_text_cannot_steer_the_terminal() -> None:
    text = shown(report(("1.1", [result("1.1", Verdict.FAIL, "\x1b[2J all passed")])))
    assert "\x1b" not in text and "\\x1b[2J all passed" in text


def test_a_long_message_leaves_the_screen_readable() -> None:
    long = result("1.1", Verdict.FAIL, "\n".join(f"line {i}" for i in range(1000)))
    assert len(shown(report(("1.1", [long]))).splitlines()) < 40
    assert "line 999" in shown(report(("1.1", [long])), verbose=True)


def test_colours_and_links_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    text = shown(report(("1.2", [WRONG])))
    assert "\x1b]8;" in text and "exercises/mini_triton/numbers.py" in text


def test_ascii_terminals_get_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    terminal.show(screen.report_lines(report(("1.2", [WRONG])), (1, 3)), stream)
    assert b"x 1.2  Half" in raw.getvalue()


def test_an_empty_report_is_not_green() -> None:
    test = TestResult("tests/m01_numbers/test_1_1_case.py::test_works", Verdict.ERROR, "not collected")
    assert "not collected" in shown(report(("1.1", [test])))
