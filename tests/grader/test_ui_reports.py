"""JUnit and the counterexample files, from reports made by hand."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader.course import expected
from grader.course.curriculum import ROOT, load
from grader.learner import reproduce
from grader.report import counterexamples, junit
from grader.report.verdicts import TestResult, Verdict
from tests.checks import calling
from tests.grader.small_course import report, result


def test_junit_counts_and_properties() -> None:
    tests = [result("1.2", verdict, "why", f"case_{verdict}") for verdict in Verdict]
    root = ET.fromstring(junit.to_junit(report(("1.1", [result("1.1", Verdict.PASS)]), ("1.2", tests))))
    (suite,) = root
    assert suite.attrib["name"] == "milestone1"
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "8", "failures": "2", "errors": "3", "skipped": "1"}
    properties = {entry.attrib["name"]: entry.attrib["value"] for entry in suite[0].iter("property")}
    assert properties == {"milestone": "milestone1", "task": "1.1", "points": "2", "max_points": "2"}


def test_junit_survives_what_xml_cannot_hold() -> None:
    text = junit.to_junit(report(("1.1", [result("1.1", Verdict.FAIL, "a\x00b <&> \ud800")])))
    failure = ET.fromstring(text.encode("utf-8")).find(".//failure")
    assert failure is not None and "a\\x00b <&>" in (failure.text or "")


@pytest.mark.parametrize("arguments", ["x=3", "x=-1,\ny=(2, [3.0, nan, -inf])", "text='a\"\\n'"])
def test_plain_arguments_become_a_call(tmp_path: Path, arguments: str) -> None:
    text = _written(tmp_path, arguments)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (call,) = [node for node in calls if ast.unparse(node.func) == "test"]
    assert call.keywords[0].arg in ("x", "text")
    assert ("from math import nan" in text) == ("nan" in arguments)


@pytest.mark.parametrize("arguments", ["", "data=data(...)", "kernel=<function f>", "__import__('os')", "case-3"])
def test_other_arguments_fall_back_to_pytest(tmp_path: Path, arguments: str) -> None:
    text = _written(tmp_path, arguments)
    ast.parse(text)
    assert "rerun(" in text


def test_the_failing_call_is_found_without_stopping_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    def twice(x: int) -> int:
        breakpoint()
        print("called")
        return 2 * x if x < 3 else 0

    def test() -> None:
        for x in range(9):
            calling(twice, x).returns(2 * x)

    function, arguments, options = reproduce.failing_call(test)
    assert (function, arguments, options) == (twice, (3,), {})
    text = capsys.readouterr().out
    assert "twice(3)\n  expected  6\n  got       0" in text and "called" not in text
    assert reproduce.failing_call(lambda: None)[1:] == ((), {})


def test_only_failures_that_ran_get_a_file_until_they_pass(tmp_path: Path) -> None:
    _written(tmp_path, "x=1")
    tests = [
        result("1.1", Verdict.PASS),
        result("1.1", Verdict.NOT_IMPLEMENTED, name="b"),
        result("1.1", Verdict.TIMEOUT, "Not run", name="c", ran=False),
    ]
    counterexamples.write(report(("1.1", tests)), tmp_path / ".kata" / "counterexamples")
    assert not list(tmp_path.rglob("*.py")) and not any(test.reproduce for test in tests)


@pytest.mark.parametrize(
    "parameters, is_called", [("a", True), ("a, device", True), ("monkeypatch, a", False), ("a, data", False)]
)
def test_what_only_pytest_can_give_is_left_to_pytest(tmp_path: Path, parameters: str, is_called: bool) -> None:
    file = tmp_path / "tests" / "m01_numbers" / "test_1_1_case.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"@pytest.mark.parametrize('a', [1])\ndef test_works({parameters}): ...\n")
    text = _written(tmp_path, "a=1")
    assert ("test(a=1)" in text, "rerun(" in text) == (is_called, not is_called)


def _written(root: Path, arguments: str) -> str:
    test = result("1.1", Verdict.FAIL, "why", counterexample=arguments)
    counterexamples.write(report(("1.1", [test])), root / ".kata" / "counterexamples")
    assert test.reproduce == ".kata/counterexamples/test_1_1_case__test_works.py"
    return (root / test.reproduce).read_text(encoding="utf-8")


def test_the_files_run_both_ways(tmp_path: Path) -> None:
    curriculum = load()
    names = [name for task in curriculum.tasks for name in expected.tests_of(task, curriculum)]
    plain = next(name for name in names if not counterexamples.takes_arguments(name, curriculum.root))
    test = TestResult(plain, Verdict.FAIL, "why")
    whole = report(("1.1", [test]), impl="reference")
    folder = tmp_path / ".kata" / "counterexamples"

    counterexamples.write(whole, folder)
    assert "1 passed" in _run(tmp_path / test.reproduce)

    copy = tmp_path / plain.partition("::")[0]
    copy.parent.mkdir(parents=True)
    shutil.copy(curriculum.root / plain.partition("::")[0], copy)
    counterexamples.write(whole, folder)
    assert "This case passes now." in _run(tmp_path / test.reproduce)


def _run(file: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
