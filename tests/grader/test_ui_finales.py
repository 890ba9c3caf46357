"""The end of a milestone: a sentence, and what the learner's code shows, once all tasks have passed."""

import os
import runpy
from pathlib import Path
from unittest import mock

import pytest

from grader import cli
from grader.child import overlay
from grader.course.curriculum import Curriculum, Milestone, Route, load
from grader.learner import finale, python
from grader.report.terminal import WIDTH
from tests.grader.small_course import Course

WIDE = 100  # columns, of a picture
SHOWN = '"""You can count."""\nfrom tiny.number import add\nprint("3 + 4 is", add(3, 4))\n'
COURSE = load()
ENDS: list[Milestone | Route] = [*COURSE.milestones, *COURSE.routes]


@pytest.mark.parametrize("file", sorted({finale.file_of(COURSE, end) for end in ENDS}), ids=lambda file: file.stem)
def test_every_milestone_and_route_ends_with_something_that_computes(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sentence = finale.sentence_of(file)
    assert sentence.endswith(".") and len(sentence) < 2 * WIDTH and "\n" not in sentence
    with mock.patch.dict(os.environ):  # a finale may choose a back end
        runpy.run_path(str(file), run_name="__main__")
    shown = capfd.readouterr().out
    lines = shown.splitlines()
    assert 3 <= len(lines) < 30 and max(map(len, lines)) <= WIDE
    assert "OTHER" not in shown and "✗" not in shown


def test_kernels_run_before_their_interpreter_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference's interpreter runs them; all other modules of later milestones stay stubs."""
    plans: list[overlay.ModulePlan] = []

    def execute(course: Curriculum, plan: overlay.ModulePlan, program: list[str], report: object) -> bool:
        plans.append(plan)
        return True

    monkeypatch.setattr(python, "execute", execute)
    for number in (3, 8):
        assert finale.run(COURSE, COURSE.milestone(number))
    early, late = ({module: source.origin for module, source in plan.sources.items()} for plan in plans)
    assert early["mini_triton.ir.interpreter"] == early["mini_triton.exact.casts"] == "reference"
    assert early["mini_triton.ir.builder"] == "learner" and early["mini_triton.codegen.kernel"] == "stub"
    assert late["kernels.softmax"] == "learner" and late["mini_triton.tuning.autotuner"] == "stub"


def test_a_completed_milestone_is_shown(solved: Course, capsys: pytest.CaptureFixture[str]) -> None:
    def grade(*words: str) -> str:
        cli.main([*words, "--examples", "1"], solved.root)
        return capsys.readouterr().out

    solved.write("grader/workbench/finales/m01_numbers.py", SHOWN)
    assert "complete" not in grade("1.1") + grade("1.2")
    text = grade("1.3")
    assert text.index("Milestone 1 is complete\nYou can count.") < text.index("3 + 4 is 7") < text.index("\nNext ")
    assert "grader finale 1" in text and "list --route" in text
    assert "complete" not in grade("1.2"), "it was complete before"
    assert "3 + 4 is 7" in grade("1")
    assert "Milestone" not in grade("2.1"), "it has no finale"
    solved.write("grader/workbench/finales/m01_numbers.py", SHOWN + 'raise NotImplementedError("Task 2.1: A sum")\n')
    assert grade("1").count("Task") == 0 and "  This program needs task 2.1.\n" in grade("1")
    assert cli.main(["finale", "2"], solved.root) == cli.USAGE


def test_a_route_ends_with_the_learners_code(tiny: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """The reference's code takes the place of the stubs that are left."""
    program = "from tiny.number import add, double\nfrom tiny.chain import total\n"
    tiny.write("grader/workbench/finales/short.py", f'"""You can add."""\n{program}print(total([1, 2]), double(4))\n')
    tiny.edit("tiny/number.py", 'raise NotImplementedError("Task 1.1: Add")', 'print("mine", end=" "); return a + b')
    tiny.edit("tiny/chain.py", 'raise NotImplementedError("Task 2.1: Sum")', "return add(numbers[0], sum(numbers[1:]))")
    cli.main(["follow", "short"], tiny.root)
    for task, is_end in {"1.1": False, "2.1": False, "2": False}.items():
        cli.main([task, "--examples", "1"], tiny.root)
        assert ("Route short is complete" in capsys.readouterr().out) is is_end
    tiny.edit("tiny/chain.py", "numbers[0], sum(numbers[1:])", "0, sum(numbers)")
    assert cli.main(["2.1", "--examples", "1"], tiny.root) == cli.OK
    text = capsys.readouterr().out
    assert "Route short is complete\nYou can add.\n\n  mine 3 8\n" in text and "finale short\n" in text


@pytest.mark.parametrize(
    "program, shown", [("1 / 0", "ZeroDivisionError: division by zero"), ("while True: pass", "still running after")]
)
def test_a_finale_that_fails_is_one_line(
    solved: Course, program: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finale, "SECONDS", 3)
    solved.write("grader/workbench/finales/m01_numbers.py", f'"""You can count."""\n{program}\n')
    assert cli.main(["1", "--examples", "1"], solved.root) == cli.OK
    text = capsys.readouterr().out
    assert shown in text and "Traceback" not in text and "\nNext " in text
