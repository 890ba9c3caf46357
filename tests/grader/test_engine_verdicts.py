"""Whatever learner code does, it gets the right verdict, and the other tasks are still judged."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.course.curriculum import ROOT
from grader.parent import forks
from grader.report.verdicts import Verdict
from tests.checks import calling
from tests.grader import small_course
from tests.grader.small_course import Course, verdicts

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


@pytest.mark.skipif(not forks.CAN_FORK, reason="children are ordinary processes")
@pytest.mark.parametrize("deaths", [1, 2])
def test_a_server_of_forks_that_dies(solved: Course, monkeypatch: pytest.MonkeyPatch, deaths: int) -> None:
    """It is restarted once; then the child is an ordinary process."""
    left, run = [None] * deaths, forks.Server.run

    def killed_first(server: forks.Server, *request: Any) -> forks.Fork | None:
        if left:
            left.pop()
            os.kill(server.process.pid, signal.SIGKILL)
        return run(server, *request)

    monkeypatch.setattr(forks.Server, "run", killed_first)
    assert verdicts(solved.grade()) == ALL_PASS


def test_stubs_are_not_implemented(tiny: Course) -> None:
    results = tiny.grade()
    assert set(verdicts(results).values()) == {Verdict.NOT_IMPLEMENTED}
    assert results["test_property"].message == "Task 1.1: Add"
    assert results["test_property"].location == "exercises/tiny/number.py:8"


def test_a_stub_ends_its_test(solved: Course) -> None:
    """The third case of `test_cases` would fail, but does not run."""
    replace_add(solved, "if a == 5:\n    raise NotImplementedError('Task 1.1: Add')\nreturn a + b if a else 7")
    assert solved.grade()["test_cases"].verdict is Verdict.NOT_IMPLEMENTED


@pytest.mark.parametrize(
    "body, test, facts",
    [
        (
            "return a + b if a < 1000 else a",
            "test_property",
            {
                "counterexample": "a=1000, b=1",
                "message": "assert 1000 == (1000 + 1)",
                "location": "exercises/tiny/number.py:8",  # where the wrong result was returned
                "functions": "add",
            },
        ),
        (
            "return a + b if a != 5 or b != 5 else 11",
            "test_cases",
            {"counterexample": "a=5, b=5, result=10", "message": "5 and 5 make 10"},
        ),
        (
            "return [a][b]",
            "test_property",
            {"message": "IndexError: list index out of range", "location": "exercises/tiny/number.py:8"},
        ),
        (
            "for i in range(9): print('line', i, a)\nreturn a + b if a < 1000 else a",
            "test_property",
            {"printed": "… 6 earlier lines\nline 6 1000\nline 7 1000\nline 8 1000"},
        ),
    ],
)
def test_wrong_results(solved: Course, body: str, test: str, facts: dict[str, str]) -> None:
    replace_add(solved, body)
    results = solved.grade()
    assert results[test].verdict is Verdict.FAIL
    for name, text in facts.items():
        assert text in getattr(results[test], name)
    assert {results[name].verdict for name in ("test_double", "test_zero", "test_shout")} == {Verdict.PASS}


def test_a_message_survives_a_pytest_that_wants_a_terminal(solved: Course) -> None:
    """As pytest 9.0 does for the comparison of numbers."""
    replace_add(solved, "return a - b")
    solved.write(
        "tests/conftest.py",
        "from grader.child.plugin import pytest_addoption, pytest_collection_modifyitems, pytest_configure\n"
        "def pytest_assertrepr_compare(): raise AssertionError\n",
    )
    assert solved.grade()["test_cases"].message == "1 and 2 make 3"


@pytest.mark.parametrize(
    "body, verdict, message",
    [
        pytest.param(
            "while True: pass", Verdict.TIMEOUT, "still running after 2 seconds, at the line below.", marks=POSIX
        ),
        ("import sys; sys.exit(0)", Verdict.ERROR, "sys.exit(0)"),
        ("import os; os._exit(0)", Verdict.ERROR, "ended with exit code 0"),
        pytest.param("import os; os.kill(os.getpid(), 11)", Verdict.ERROR, "SIGSEGV", marks=POSIX),
        pytest.param("import os; os.kill(os.getpid(), 9)", Verdict.MEMORY, "memory", marks=POSIX),
        pytest.param("return len(bytearray(8 << 30))", Verdict.MEMORY, "memory limit", marks=POSIX),
        pytest.param("x = []\nwhile True: x.append(bytearray(1 << 26))", Verdict.MEMORY, "memory limit", marks=POSIX),
        ("raise NotImplementedError('later')", Verdict.ERROR, "later"),
        ("raise KeyboardInterrupt", Verdict.ERROR, "interrupted the tests"),
        ("breakpoint()", Verdict.ERROR, "The code calls breakpoint()"),
        ("import unittest; raise unittest.SkipTest('x')", Verdict.ERROR, "Skipped: x"),
        ("import os; os.closerange(3, 100); return 1", Verdict.ERROR, ""),
        ("import pytest", Verdict.ERROR, "exercises/tiny/number.py imports pytest, which is refused"),
        ("import triton", Verdict.ERROR, "imports triton, which is refused"),
        ("from solutions.tiny.number import add as f; return f(a, b)", Verdict.ERROR, "belongs to the reference"),
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
def test_an_endless_loop_ends_when_its_processor_time_is_used_up(solved: Course) -> None:
    solved.edit("m01_numbers.toml", "timeout = 2", "timeout = 60\nbusy = 1", tree="grader/curriculum")
    replace_add(solved, "while True: pass")
    results = solved.grade()
    assert results["test_cases"].verdict is Verdict.TIMEOUT
    assert "still running after 1 seconds" in results["test_cases"].message
    assert results["test_double"].verdict is Verdict.PASS


@POSIX
def test_a_loop_that_cannot_be_interrupted(solved: Course) -> None:
    replace_add(solved, "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass")
    results = solved.grade()
    assert results["test_cases"].verdict is Verdict.TIMEOUT
    assert results["test_cases"].location.startswith("exercises/tiny/number.py:")
    assert "test_1_1_add.py::test_cases" in results["test_cases"].message
    assert results["test_double"].verdict is Verdict.PASS


@POSIX
def test_a_wrong_result_is_wrong_even_if_a_smaller_one_cannot_be_found_in_time(solved: Course) -> None:
    replace_add(solved, "import time; time.sleep(0.3 if a > 50 else 0); return a + b - (a > 50)")
    result = solved.grade()["test_property"]
    assert result.verdict is Verdict.FAIL
    assert int(result.counterexample.partition(",")[0].removeprefix("a=")) > 50


@POSIX
def test_a_time_limit_does_not_make_results_unreliable(solved: Course) -> None:
    """The code, not hypothesis, catches the exception here; from then on the same input gives another result."""
    replace_add(
        solved,
        """
        import time, tiny.number
        try: time.sleep(0.3 if a > 50 else 0)
        except BaseException: tiny.number.late = True
        return a + b - (a > 50 and not hasattr(tiny.number, "late"))
        """,
    )
    result = solved.grade()["test_property"]
    assert result.verdict is Verdict.FAIL and "always" not in result.message, result.message
    assert int(result.counterexample.partition(",")[0].removeprefix("a=")) > 50


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


def test_output_threads_and_the_learners_pytest_files_do_not_change_verdicts(solved: Course) -> None:
    replace_add(solved, "import sys; print('x' * 10**6); sys.stderr.write('y' * 10**6); return a + b")
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    solved.edit("tiny/text.py", '"""Text."""\n', thread)
    solved.write("exercises/conftest.py", "raise SystemExit\n")
    solved.write("exercises/tiny/conftest.py", "raise SystemExit\n")
    solved.write("exercises/pytest.ini", "[pytest]\naddopts = --collect-only\n")
    assert verdicts(solved.grade(examples=5)) == ALL_PASS


def test_the_users_environment_does_not_change_verdicts(solved: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_add(solved, "return 0")
    for name, value in {
        "PYTEST_ADDOPTS": "--collect-only",
        "PYTHONOPTIMIZE": "2",
        "HYPOTHESIS_MAX_EXAMPLES": "0",
        "CI": "true",
    }.items():
        monkeypatch.setenv(name, value)
    assert solved.grade()["test_property"].verdict is Verdict.FAIL


def test_tests_that_two_tasks_share(solved: Course) -> None:
    solved.write(
        "tests/shared.py", "def test_shout():\n    from tiny.text import shout\n    assert shout('a') == 'A!'\n"
    )
    solved.write("tests/m01_numbers/test_1_3_shout.py", "from tests import shared\ntest_shout = shared.test_shout\n")
    assert solved.grade()["test_shout"].verdict is Verdict.PASS
    solved.edit("tiny/text.py", '"!"', '"?"')
    assert solved.grade()["test_shout"].verdict is Verdict.FAIL


def test_a_test_that_does_not_report_is_not_a_pass(solved: Course) -> None:
    solved.write("tests/m01_numbers/test_1_3_shout.py", "def test_shout():\n    pass\ndel test_shout\n")
    result = solved.grade()["test_shout"]
    assert (result.verdict, result.message) == (Verdict.ERROR, "pytest did not find this test.")


def test_no_run_is_watched_before_one_has_failed(solved: Course) -> None:
    """To watch every call takes several times as long."""
    solved.write(
        "tests/m01_numbers/test_1_3_shout.py",
        "import sys\nfrom hypothesis import example, given, strategies as st\n\n"
        "@given(st.integers())\n@example(0)\ndef test_shout(a):\n    assert sys.getprofile() is None\n",
    )
    assert solved.grade()["test_shout"].verdict is Verdict.PASS


def test_the_same_seed_gives_the_same_counterexample(solved: Course) -> None:
    replace_add(solved, "return a + b if abs(a) < 100_000 else hash(str(a))")
    first, second = (solved.grade(seed=7)["test_property"] for _ in range(2))
    assert first.message == second.message
    assert first.counterexample == second.counterexample != ""


class Word(str):
    """Equal to a plain string, and shown alike."""


class Anything:
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    "got, expected, shown",
    [
        ((4.0,), (4,), "(4.0,)"),
        ((True,), (1,), "(True,)"),
        ([4], (4,), "[4]"),
        (Word("i1"), "i1", "'i1', of type Word"),
        ([Anything()], [4], "Anything object"),
        (np.int64(4), True, "np.int64(4)"),
        ((np.float64(4.0),), (4,), "np.float64(4.0)"),
        ([np.int64(4)], (4,), "[np.int64(4)]"),
        ((4, np.int64(3)), (4, 2), "np.int64(3)"),
    ],
)
def test_equal_is_not_enough(got: object, expected: object, shown: str) -> None:
    with pytest.raises(AssertionError) as failure:
        calling(lambda: got).returns(expected)
    assert shown in str(failure.value)


def test_numbers_of_numpy_are_integers_too() -> None:
    for got, expected in ((np.int64(4), 4), ((np.int64(4), np.uint8(2)), (4, 2)), ([(np.int32(-4),)], [(-4,)])):
        calling(lambda got=got: got).returns(expected)


@pytest.mark.parametrize(
    "code, why",
    [
        ("import sys; sys.path.clear()", "says why"),
        ("import builtins; builtins.len = lambda x: 0", "exit code 1"),
    ],
)
def test_code_that_breaks_pytest_is_told_from_a_broken_grader(solved: Course, code: str, why: str) -> None:
    solved.write("exercises/tiny/number.py", code + "\n")
    results = solved.grade()
    assert set(verdicts(results).values()) == {Verdict.ERROR}
    assert any(why in result.message for result in results.values())


@POSIX
def test_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    course = small_course.make(tmp_path / "[my] kata::1 é")
    course.solve()
    assert set(verdicts(course.grade()).values()) == {Verdict.PASS}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_grader_that_is_ended_ends_its_children(tmp_path: Path) -> None:
    loop = tmp_path / "mini_triton" / "__init__.py"
    loop.parent.mkdir()
    loop.write_text("while True: pass")
    grade = [sys.executable, "-m", "grader", "grade", "m1", "--submission", str(tmp_path)]
    with subprocess.Popen(grade, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while not (busy := [pid for pid in descendants(process.pid) if seconds_of(pid) > 1]):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=5)[1] == "Stopped.\n"
    end = time.monotonic() + 5
    while left := [pid for pid in busy if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < end, f"{left} still run"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [one for child in children for one in (child, *descendants(child))]


def seconds_of(pid: int) -> float:
    """The time that a process has computed."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0
