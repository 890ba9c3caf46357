"""Whatever learner code does, it gets the right verdict, and the other tasks are still judged."""

from __future__ import annotations

import sys
import textwrap

import pytest

from grader.curriculum import TESTS
from grader.verdicts import Verdict
from tests.grader.engine_course import Course, verdicts

ALL_PASS = dict.fromkeys(("test_property", "test_cases", "test_double", "test_zero", "test_shout"), Verdict.PASS)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and limits")


def replace_add(course: Course, body: str) -> None:
    """Let the learner's `add` do something else."""
    course.edit("tiny/number.py", "    return a + b\n", textwrap.indent(textwrap.dedent(body), "    "))


def test_the_solved_course_passes(solved: Course) -> None:
    assert verdicts(solved.grade()) == ALL_PASS
    assert set(verdicts(solved.grade(2)).values()) == {Verdict.PASS}


def test_the_reference_passes_whatever_the_learner_has(tiny: Course) -> None:
    tiny.write("exercises/tiny/__init__.py", "raise SystemError\n")
    assert verdicts(tiny.grade(impl="reference")) == ALL_PASS


def test_stubs_are_not_implemented(tiny: Course) -> None:
    results = tiny.grade()
    assert set(verdicts(results).values()) == {Verdict.NOT_IMPLEMENTED}
    assert results["test_property"].message == "Task 1.1: Add"
    assert results["test_property"].location == "exercises/tiny/number.py:8"


def test_wrong_result(solved: Course) -> None:
    replace_add(solved, "return a + b if a < 1000 else a")
    results = solved.grade()
    wrong = results.pop("test_property")
    assert wrong.verdict is Verdict.FAIL
    assert wrong.counterexample == "a=1000, b=1"
    assert wrong.message.startswith("assert 1000 == (1000 + 1)")
    assert wrong.location == "exercises/tiny/number.py:4"  # the function that gave the wrong result
    assert set(verdicts(results).values()) == {Verdict.PASS}


def test_one_wrong_case_of_several(solved: Course) -> None:
    replace_add(solved, "return a + b if a != 5 or b != 5 else 11")
    result = solved.grade(examples=5)["test_cases"]
    assert (result.verdict, result.message) == (Verdict.FAIL, "5 and 5 make 10")
    assert result.counterexample == "a=5, b=5, result=10"


def test_unexpected_exception(solved: Course) -> None:
    replace_add(solved, "return [a][b]")
    result = solved.grade()["test_property"]
    assert (result.verdict, result.message) == (Verdict.FAIL, "IndexError: list index out of range")
    assert result.location == "exercises/tiny/number.py:8"


def test_the_line_is_one_of_the_tasks_own(solved: Course) -> None:
    replace_add(solved, "return [a][b]")
    solved.edit("tiny/number.py", "return 2 * a", "return [add(a, a) for _ in range(1)][0]")
    assert solved.grade()["test_double"].location == "exercises/tiny/number.py:14"


def test_not_implemented_without_a_task_is_an_error(solved: Course) -> None:
    replace_add(solved, "raise NotImplementedError('later')")
    assert solved.grade()["test_property"].verdict is Verdict.ERROR


@pytest.mark.parametrize(
    "body, verdict, message",
    [
        pytest.param("while True: pass", Verdict.TIMEOUT, "still running after 2 seconds", marks=POSIX),
        ("import sys; sys.exit(0)", Verdict.ERROR, "sys.exit(0)"),
        ("import os; os._exit(0)", Verdict.ERROR, "ended with exit code 0"),
        pytest.param("import os; os.kill(os.getpid(), 11)", Verdict.ERROR, "SIGSEGV", marks=POSIX),
        pytest.param("import os; os.kill(os.getpid(), 9)", Verdict.MEMORY, "memory", marks=POSIX),
        pytest.param("return len(bytearray(8 << 30))", Verdict.MEMORY, "memory limit", marks=POSIX),
        pytest.param("x = []\nwhile True: x.append(bytearray(1 << 26))", Verdict.MEMORY, "memory limit", marks=POSIX),
        ("raise KeyboardInterrupt", Verdict.ERROR, "interrupted the tests"),
        ("breakpoint()", Verdict.ERROR, "A breakpoint() is here"),
        ("import pdb; pdb.set_trace()", Verdict.ERROR, "A breakpoint() is here"),
        ("import unittest; raise unittest.SkipTest('x')", Verdict.ERROR, "Skipped: x"),
        ("import os; os.closerange(3, 100); return 1", Verdict.ERROR, ""),
        ("import pytest", Verdict.ERROR, "exercises/tiny/number.py imports pytest, which is refused"),
        ("import triton", Verdict.ERROR, "imports triton, which is refused"),
        ("from solutions.tiny.number import add as f; return f(a, b)", Verdict.ERROR, "that is the reference"),
    ],
)
def test_one_task_does_harm(solved: Course, body: str, verdict: Verdict, message: str) -> None:
    replace_add(solved, body)
    results = solved.grade()
    for name in ("test_property", "test_cases"):
        wrong = results.pop(name)
        assert wrong.verdict is verdict, wrong
        assert message in wrong.message or wrong.message == "Not run after a timeout in the same task."
    assert set(verdicts(results).values()) == {Verdict.PASS}


@POSIX
def test_a_loop_that_cannot_be_interrupted(solved: Course) -> None:
    replace_add(solved, "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass")
    results = solved.grade()
    assert results["test_property"].verdict is Verdict.TIMEOUT
    assert results["test_property"].location.startswith("exercises/tiny/number.py:")
    assert "test_1_1_add.py::test_property" in results["test_property"].message
    assert results["test_double"].verdict is Verdict.PASS


@POSIX
def test_a_wrong_result_is_wrong_even_if_a_smaller_one_cannot_be_found_in_time(solved: Course) -> None:
    replace_add(solved, "import time; time.sleep(0.3 if a > 50 else 0); return a + b - (a > 50)")
    result = solved.grade()["test_property"]
    assert result.verdict is Verdict.FAIL
    assert int(result.counterexample.partition(",")[0].removeprefix("a=")) > 50


def test_results_that_change(solved: Course) -> None:
    replace_add(solved, "add.calls = getattr(add, 'calls', 0) + 1; return a + b - (add.calls == 9)")
    result = solved.grade()["test_property"]
    assert (result.verdict, result.message) == (
        Verdict.FAIL,
        "The same input does not always give the same result.",
    )


def test_what_the_failing_case_printed(solved: Course) -> None:
    replace_add(solved, "for i in range(9): print('line', i, a)\nreturn a + b if a < 1000 else a")
    assert solved.grade()["test_property"].printed == "… 6 lines before\nline 6 1000\nline 7 1000\nline 8 1000"


def test_a_name_that_is_missing_is_looked_for_in_its_file(solved: Course) -> None:
    solved.edit("tiny/number.py", "def add(", "def plus(")
    result = solved.grade()["test_property"]
    assert (result.verdict, result.ran, result.location) == (Verdict.ERROR, False, "exercises/tiny/number.py")


def test_a_test_of_many_calls_says_which_one_failed(solved: Course) -> None:
    test = """
    from tests.checks import calling
    from tiny.number import add

    def test_many():
        for a in range(5):
            calling(add, a, 1).returns(a + 1)
    """
    solved.write("tests/m01_numbers/test_1_1_many.py", textwrap.dedent(test))
    solved.write("tests/checks.py", (TESTS / "checks.py").read_text())
    replace_add(solved, "return a + b if a != 3 else 0")
    assert solved.grade()["test_many"].counterexample == "add(3, 1)"


def test_megabytes_of_output(solved: Course) -> None:
    replace_add(solved, "import sys; print('x' * 10**6); sys.stderr.write('y' * 10**6); return a + b")
    assert verdicts(solved.grade()) == ALL_PASS


def test_output_cannot_fake_answers(solved: Course) -> None:
    name = "tests/m01_numbers/test_1_1_add.py::test_property"
    answer = f'{{"event": "ran", "test": "{name}", "verdict": "pass", "message": "", "location": ""}}\\n'
    replace_add(
        solved,
        f"""
        import os
        for descriptor in range(3, 20):
            try: os.write(descriptor, b'''{answer}''')
            except OSError: pass
        os._exit(0)
        """,
    )
    assert solved.grade()["test_property"].verdict is Verdict.ERROR


def test_a_thread_does_not_keep_the_grader_waiting(solved: Course) -> None:
    solved.edit(
        "tiny/text.py",
        '"""Text."""\n',
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n",
    )
    assert verdicts(solved.grade()) == ALL_PASS


def test_the_learners_pytest_files_have_no_say(solved: Course) -> None:
    solved.write("exercises/conftest.py", "raise SystemExit\n")
    solved.write("exercises/tiny/conftest.py", "raise SystemExit\n")
    solved.write("exercises/pytest.ini", "[pytest]\naddopts = --collect-only\n")
    assert verdicts(solved.grade()) == ALL_PASS


def test_the_users_environment_has_no_say(solved: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_add(solved, "return 0")
    for name, value in {
        "PYTEST_ADDOPTS": "--collect-only",
        "PYTHONOPTIMIZE": "2",
        "HYPOTHESIS_MAX_EXAMPLES": "0",
        "CI": "true",
    }.items():
        monkeypatch.setenv(name, value)
    assert solved.grade()["test_property"].verdict is Verdict.FAIL


def test_a_test_that_does_not_report_is_no_pass(solved: Course) -> None:
    solved.write("tests/m01_numbers/test_1_3_shout.py", "def test_shout():\n    pass\ndel test_shout\n")
    result = solved.grade()["test_shout"]
    assert (result.verdict, result.message) == (Verdict.ERROR, "pytest did not find this test.")


def test_the_same_seed_gives_the_same_counterexample(solved: Course) -> None:
    replace_add(solved, "return a + b if abs(a) < 100_000 else hash(str(a))")
    first, second = (solved.grade(seed=7)["test_property"] for _ in range(2))
    assert first.message == second.message
    assert first.counterexample == second.counterexample != ""
