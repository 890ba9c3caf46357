"""Declarations, the maintainers' rules, wrong and right solutions, reports."""

import sys

import pytest

from grader.course import stubs
from grader.course.curriculum import load
from grader.parent import blame, runner
from grader.parent.answers import Answer
from grader.report.verdicts import Verdict
from grader.upkeep import alternatives, check, mistakes, order, together
from tests.grader.small_course import Course

NUMBERS, CHAINS = "grader/curriculum/m01_numbers.toml", "grader/curriculum/m02_chains.toml"
SHOUT, MISTAKES = "tests/m01_numbers/test_1_3_shout.py", "tests/mistakes/m01_numbers.toml"
TEXT, CHAIN = "tests/alternatives/m01_numbers/a/tiny/text.py", "tests/alternatives/m02_chains/a/tiny/chain.py"


@pytest.mark.parametrize(
    "targets, tasks",
    [
        (["all"], "1.1 1.2 1.3 2.1"),
        (["milestone1"], "1.1 1.2 1.3"),
        (["m2"], "2.1"),
        (["2"], "2.1"),
        (["Chains"], "2.1"),
        (["1.3", "1.1", "1.3"], "1.1 1.3"),
        (["2.1", "numbers"], "1.1 1.2 1.3 2.1"),
    ],
)
def test_targets(tiny: Course, targets: list[str], tasks: str) -> None:
    assert [task.id for task in tiny.curriculum.resolve(targets)] == tasks.split()


@pytest.fixture
def sound(solved: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course that keeps every rule, and that the maintainers' commands work on."""
    mistakes_of = {
        "m01_numbers": [
            ("1.1", "number", "a + b", "a | b"),
            ("1.2", "number", "2 * a", "a * a"),
            ("1.3", "text", "text.upper()", '"HEY"'),
        ],
        "m02_chains": [("2.1", "chain", "result = 0", "result = 1")],
    }
    for directory, entries in mistakes_of.items():
        solved.write(f"docs/{directory}.md", "# Chapter\n")
        solved.write(
            f"tests/mistakes/{directory}.toml",
            "\n".join(
                f'[[mistake]]\ntask = "{task}"\nname = "x"\nmodule = "tiny.{module}"\n'
                f"find = '{find}'\nreplace = '{replace}'\n"
                for task, module, find, replace in entries
            ),
        )
    solved.write(TEXT, 'MARK = "!"\n\n\ndef shout(text: str) -> str:\n    return text.upper() + MARK\n')
    solved.write(CHAIN, "def total(numbers: list[int]) -> int:\n    result = 0\n    return result + sum(numbers)\n")
    for path in (solved.root / "exercises").rglob("*.py"):
        path.unlink()
    stubs.write(solved.curriculum)
    for command in (alternatives, mistakes, order, together):
        monkeypatch.setattr(command, "load", lambda: solved.curriculum)
    return solved


def test_a_sound_course_has_no_problems(sound: Course) -> None:
    assert check.check(sound.curriculum) == []


def test_this_course_is_sound() -> None:
    """What `python -m grader check` says, beside the other tests: alone, it takes one core for 20 seconds."""
    assert list(map(str, check.check(load()))) == []


@pytest.mark.parametrize(
    "file, old, new, problem",
    [
        (NUMBERS, '"Show."]\n[[task]]\nid = "1.2"', ']\n[[task]]\nid = "1.2"', "2 hints"),
        (NUMBERS, 'id = "1.3"', 'id = "1.4"', "should be 1.3"),
        (NUMBERS, ', "tiny.text"', "", "tiny.text is in no milestone"),
        (NUMBERS, '"tiny.text"', '"tiny.txt"', "has no file in solutions/ or toolbox/"),
        (CHAINS, '"tiny.chain"', '"tiny.chain", "tiny.text"', "is listed 2 times"),
        (CHAINS, 'requires = ["1.1"]', 'requires = ["9.1"]', "requires 9.1"),
        (CHAINS, "points = 3", "points = 0", "must be positive"),
        (CHAINS, 'built = "It counts."', "", "does not say what is `built`"),
        (CHAINS, 'key = "chains"', 'key = "numbers"', "2 milestones are called"),
        ("solutions/tiny/text.py", "# [task 1.3]", "# [task 1.2]", "task 1.3 has no marker"),
        ("solutions/tiny/text.py", '"""Text."""', '"""Text."""' + "\n" * 600, "more than 600"),
        ("solutions/tiny/text.py", "Capitals first", "Mark last", "is not what solutions/ generates"),
        (SHOUT, "def test_shout", "def check_shout", "task 1.3 has no test"),
        (SHOUT, "def test_shout", "async def test_shout", "has no test"),
        (SHOUT, "def test_", "class TestIt:\n  def test_", "functions, not methods"),
        ("tests/m01_numbers/test_1_2_double.py", "def test_zero", "def test_double", "is defined twice"),
        (MISTAKES, "find = 'text.upper()'", "find = 'text'", "occurs 2 times"),
        (MISTAKES, "replace = 'a | b'", "replace = 'a |'", "is not Python"),
        (MISTAKES, "replace = 'a | b'", "replace = 'a + b'", "changes nothing"),
        (MISTAKES, 'task = "1.1"', 'task = "1.2"', "task 1.1 has 0 wrong solutions instead of 1 to 5"),
        (MISTAKES, '"tiny.number"', '"tiny.chain"', "is not a module of task 1.1"),
        (TEXT, "MARK = ", "MARK = (", "text.py:1: '(' was never closed"),
        (TEXT, "(text: str)", "(words: str)", "text.py:4: shout differs"),
        (TEXT, None, 'def shout(text):\n    return text.upper() + "!"\n', "has the same code as the reference"),
        ("docs/m01_numbers.md", None, None, "docs/m01_numbers.md"),
        (CHAIN, None, None, "m02_chains/a"),
        ("tests/m01_numbers/test_1_9_x.py", None, "def test_x(): pass\n", "test_1_9_x.py"),
        ("tests/m09_x/test_9_1_x.py", None, "def test_x(): pass\n", "m09_x"),
        ("grader/routes.toml", '"1.1", "1.2"', '"1.2"', "route long has task 2.1, but not 1.1, which it requires"),
        ("grader/routes.toml", '"1.2", "2"', '"1.2", "5"', "route long: There is no milestone or task '5'"),
    ],
)
def test_broken_rules(sound: Course, file: str, old: str | None, new: str | None, problem: str) -> None:
    path = sound.root / file
    if new is None:
        path.unlink()
    elif old is None:
        sound.write(file, new)
    else:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
    problems = [str(problem) for problem in check.check(sound.curriculum)]
    assert any(problem in text for text in problems), problems


def test_mistakes(sound: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert mistakes.run(["1.1", "1.2", "m2"], trust=True)
    assert capsys.readouterr().out == "Wrong solutions caught: 3 of 3 (100%).\n"
    assert not mistakes.run(["1.3"])
    assert capsys.readouterr().out.splitlines() == [
        "tests/mistakes/m01_numbers.toml:15: task 1.3, 'x': no test of the task notices.",
        "Wrong solutions caught: 0 of 1 (0%).",
    ]
    sound.edit("tiny/text.py", '"!"', '"?"', tree="solutions")
    assert not mistakes.run(["1.3"])
    assert "1.3: the reference itself does not pass" in capsys.readouterr().out


def test_order(sound: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert order.run(["all"], examples=5)
    assert capsys.readouterr().out.splitlines() == ["Tasks that pass without the later ones: 4 of 4."]
    assert order.run(["all"], examples=5, sample=2)
    assert capsys.readouterr().out.splitlines() == ["Tasks that pass without the later ones: 2 of 2."]
    test = "from tiny.number import add, double\n\ndef test_both():\n    assert double(4) == add(4, 4)\n"
    sound.write("tests/m01_numbers/test_1_1_both.py", test)
    assert not order.run(["1.1", "1.2"], examples=5)
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Without the later tasks, task 1.1: 1 of 3 tests: tests/m01_numbers/test_1_1_both.py")
    assert "Task 1.2: Double" in first
    assert last == "Tasks that pass without the later ones: 1 of 2."


def test_alternatives(sound: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert alternatives.run(["all"])
    assert alternatives.run(["all"], sample=1)
    assert together.run()
    assert capsys.readouterr().out.splitlines() == [
        "Right solutions accepted: 2 of 2.",
        "Right solutions accepted: 1 of 1.",
        "the reference: 7 of 7 tests pass.",
        "m01_numbers/a, m02_chains/a: 7 of 7 tests pass.",
    ]
    sound.edit("text.py", "upper()", "upper().mark", tree="tests/alternatives/m01_numbers/a/tiny")
    assert not alternatives.run(["m1"])
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("m01_numbers/a: task 1.3: 1 of 1 tests: tests/m01_numbers/test_1_3_shout.py::test_shout")
    assert first.endswith("tiny/text.py: return text.upper().mark + MARK")
    assert last == "Right solutions accepted: 0 of 1."
    assert not together.run()
    assert "m01_numbers/a, m02_chains/a: 6 of 7 tests pass." in capsys.readouterr().out
    sound.edit("text.py", "def shout", "@print\ndef shout", tree="tests/alternatives/m01_numbers/a/tiny")
    assert not alternatives.run(["m1"]), "what is unsound is not graded"
    assert "text.py:5: shout has the reference's decorators: leave them out" in capsys.readouterr().out


def test_blame(solved: Course) -> None:
    solved.edit("tiny/number.py", "return a + b", "return a - b")
    grading = solved.grading(2, fill="learner")
    grading.run()
    blame.assign(grading)
    blamed = {name.partition("::")[2]: (result.verdict, result.blame) for name, result in grading.results.items()}
    assert blamed == {"test_total": (Verdict.FAIL, "tiny.number"), "test_nothing": (Verdict.PASS, "")}


def test_a_stub_needs_no_search_for_the_module_to_blame(solved: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the stub's task; the search runs the tests again for every earlier module."""
    solved.edit("tiny/number.py", "return a + b", 'raise NotImplementedError("Task 1.1: Add")')
    grading = solved.grading(2, fill="learner")
    grading.run()
    tried: list[object] = []
    monkeypatch.setattr(blame.Grading, "run", lambda *_, **__: tried.append(1))
    blame.assign(grading)
    assert not tried
    assert {result.message for result in grading.results.values()} == {"Task 1.1: Add", ""}
    assert not any(result.blame for result in grading.results.values())


def test_a_report(solved: Course) -> None:
    solved.edit("tiny/number.py", "return 2 * a", "return 3 * a")
    seen: list[Answer] = []
    report = runner.grade(["all"], device="cpu", on_event=seen.append, curriculum=solved.curriculum)
    assert [milestone.id for milestone in report.milestones] == ["milestone1", "milestone2"]
    assert [(task.id, task.points, task.verdict) for task in report.milestones[0].tasks] == [
        ("1.1", 2, Verdict.PASS),
        ("1.2", 0, Verdict.FAIL),
        ("1.3", 1, Verdict.PASS),
    ]
    assert (report.score, report.max_score) == (6, 7)  # milestone 2 does not feel the learner's milestone 1
    origins = {(module.name, module.origin) for module in report.modules}
    assert {("tiny.number", "learner"), ("tiny.number", "reference"), ("tiny.chain", "stub")} <= origins
    assert report.versions["python"].startswith(f"{sys.version_info.major}.")
    assert {answer["event"] for answer in seen} >= {"importing", "imported", "collected", "running", "ran", "finished"}


def test_a_task_is_graded_by_its_own_tests_and_never_by_none(solved: Course) -> None:
    solved.edit("tiny/number.py", "return 2 * a", "return 3 * a")
    report = runner.grade(["1.1"], curriculum=solved.curriculum)
    assert (report.score, report.max_score) == (2, 2)
    (solved.root / "tests/m01_numbers/test_1_3_shout.py").unlink()
    report = runner.grade(["1.3"], curriculum=solved.curriculum)
    assert (report.score, report.milestones[0].tasks[0].verdict) == (0, Verdict.ERROR)
