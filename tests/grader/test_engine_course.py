"""Declarations, the maintainers' rules, wrong and right solutions, reports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader import alternatives, blame, check, mistakes, runner, stubs, together
from grader.curriculum import CurriculumError, Milestone, UnknownTarget, load, task_id
from grader.grading import Grading, Settings
from grader.session import Answer
from grader.verdicts import Verdict
from tests.grader.engine_course import Course


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


def test_a_wrong_target_is_told_what_there_is(tiny: Course) -> None:
    with pytest.raises(UnknownTarget) as refusal:
        tiny.curriculum.resolve(["m3"])
    for part in ("'m3'", "milestone1 (numbers)", "milestone2 (chains)", "all", "1.1"):
        assert part in str(refusal.value)


@pytest.mark.parametrize(
    "old, new", [("title =", "titel ="), ("number = 1", ""), ("number = 1", "number = "), ("points", "poinst")]
)
def test_a_wrong_declaration_is_told_with_its_file(tiny: Course, old: str, new: str) -> None:
    path = tiny.root / "grader/curriculum/m01_numbers.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(CurriculumError, match="m01_numbers.toml"):
        load(tiny.root)


def test_a_test_file_names_its_task() -> None:
    assert task_id(Path("tests/m12_fusion/test_12_3_loops.py")) == "12.3"
    assert task_id(Path("tests/m12_fusion/test_loops.py")) is None


@pytest.fixture
def sound(solved: Course) -> Course:
    """A course that keeps every rule."""
    solved.write(
        "tests/mistakes/m01_numbers.toml",
        "\n".join(
            f'[[mistake]]\ntask = "{task}"\nname = "{name}"\nmodule = "tiny.{module}"\n'
            f"find = '{find}'\nreplace = '{replace}'\n"
            for task, module, find, changes in [
                ("1.1", "number", "a + b", ("a - b", "a | b")),
                ("1.2", "number", "2 * a", ("3 * a", "a * a")),
                ("1.3", "text", "text.upper()", ("text", '"HEY"')),
            ]
            for name, replace in zip("xy", changes, strict=True)
        ),
    )
    solved.write(
        "tests/mistakes/m02_chains.toml",
        "\n".join(
            f'[[mistake]]\ntask = "2.1"\nname = "{name}"\nmodule = "tiny.chain"\n'
            f"find = 'result = 0'\nreplace = 'result = {name}'\n"
            for name in "12"
        ),
    )
    others = {
        "tiny/text.py": 'MARK = "!"\n\n\ndef shout(text: str) -> str:\n    return text.upper() + MARK\n',
        "tiny/chain.py": "def total(numbers: list[int]) -> int:\n    result = 0\n    return result + sum(numbers)\n",
    }
    for milestone, (file, text) in zip(solved.curriculum.milestones, others.items(), strict=True):
        solved.write(f"docs/{milestone.directory}.md", "# Chapter\n")
        for style in "ab":
            solved.write(f"tests/alternatives/{milestone.directory}/{style}/{file}", text)
    for path in (solved.root / "exercises").rglob("*.py"):
        path.unlink()
    stubs.write(solved.curriculum)
    return solved


def test_a_sound_course_has_no_problems(sound: Course) -> None:
    assert check.check(sound.curriculum) == []


@pytest.mark.parametrize(
    "file, old, new, problem",
    [
        ("grader/curriculum/m01_numbers.toml", '"c"]\n[[task]]\nid = "1.2"', ']\n[[task]]\nid = "1.2"', "2 hints"),
        ("grader/curriculum/m01_numbers.toml", 'id = "1.3"', 'id = "1.4"', "should be 1.3"),
        ("grader/curriculum/m01_numbers.toml", ', "tiny.text"', "", "tiny.text is in no milestone"),
        ("grader/curriculum/m01_numbers.toml", '"tiny.text"', '"tiny.txt"', "has no file in solutions/"),
        ("grader/curriculum/m02_chains.toml", '"tiny.chain"', '"tiny.chain", "tiny.text"', "is listed 2 times"),
        ("grader/curriculum/m02_chains.toml", 'requires = ["1.1"]', 'requires = ["9.1"]', "requires 9.1"),
        ("grader/curriculum/m02_chains.toml", "points = 3", "points = 0", "must be positive"),
        ("grader/curriculum/m02_chains.toml", 'key = "chains"', 'key = "numbers"', "2 milestones are called"),
        ("solutions/tiny/text.py", "    # [task 1.3] Capitals first.\n", "", "tiny/text.py:7: `# [end]` without"),
        ("solutions/tiny/text.py", "# [task 1.3]", "# [task 1.2]", "task 1.3 has no marker"),
        ("solutions/tiny/text.py", '"""Text."""', '"""Text."""' + "\n" * 600, "more than 600"),
        ("solutions/tiny/text.py", "Capitals first", "Mark last", "is not what solutions/ generates"),
        ("tests/m01_numbers/test_1_3_shout.py", "def test_shout", "def check_shout", "task 1.3 has no test"),
        ("tests/m01_numbers/test_1_3_shout.py", "def test_shout", "async def test_shout", "has no test"),
        ("tests/m01_numbers/test_1_3_shout.py", "def test_", "class TestIt:\n  def test_", "functions, not methods"),
        ("tests/m01_numbers/test_1_3_shout.py", "def test_shout", "TestIt = object\n\ndef test_shout", "not methods"),
        ("tests/m01_numbers/test_1_2_double.py", "def test_zero", "def test_double", "is defined twice"),
        ("tests/mistakes/m01_numbers.toml", "find = 'text.upper()'", "find = 'text'", "occurs 2 times"),
        ("tests/mistakes/m01_numbers.toml", "replace = 'a | b'", "replace = 'a |'", "is no Python"),
        ("tests/mistakes/m01_numbers.toml", "replace = 'a | b'", "replace = 'a + b'", "changes nothing"),
        ("tests/mistakes/m01_numbers.toml", 'task = "1.1"', 'task = "1.7"', "there is no task 1.7"),
        ("tests/mistakes/m01_numbers.toml", '"tiny.number"', '"tiny.chain"', "is no module of task 1.1"),
        ("tests/alternatives/m01_numbers/b/tiny/text.py", "MARK = ", "MARK = (", "text.py:1: '(' was never closed"),
        ("tests/alternatives/m01_numbers/b/tiny/text.py", "(text: str)", "(words: str)", "text.py:4: shout has other"),
        ("tests/alternatives/m02_chains/b/tiny/chain.py", "def total", "add = 1\ndef total", "py:1: add is given"),
    ],
)  # fmt: skip
def test_broken_rules(sound: Course, file: str, old: str, new: str, problem: str) -> None:
    path = sound.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    problems = [str(problem) for problem in check.check(sound.curriculum)]
    assert any(problem in text for text in problems), problems


def test_tasks_with_too_few_or_too_many_mistakes(sound: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MISTAKES", range(3, 5))
    told = [str(problem) for problem in check.check(sound.curriculum)]
    assert [text.partition(": ")[2] for text in told] == [
        f"task {task} has 2 wrong solutions instead of 3 to 4" for task in ("1.1", "1.2", "1.3", "2.1")
    ]


@pytest.mark.parametrize("path", ["docs/m01_numbers.md", "tests/alternatives/m02_chains/a/tiny/chain.py"])
def test_missing_files(sound: Course, path: str) -> None:
    (sound.root / path).unlink()
    assert any(problem.path.as_posix() in path for problem in check.check(sound.curriculum))


@pytest.mark.parametrize("path", ["tests/m01_numbers/test_1_9_x.py", "tests/m09_x/test_9_1_x.py"])
def test_tests_without_a_task(sound: Course, path: str) -> None:
    sound.write(path, "def test_x(): pass\n")
    assert [problem.path.as_posix() in path for problem in check.check(sound.curriculum)] == [True]


def test_an_alternative_that_is_none(sound: Course) -> None:
    file = "tests/alternatives/m01_numbers/b/tiny/text.py"
    sound.write(file, 'def shout(text):\n    return text.upper() + "!"\n')
    assert [str(problem) for problem in check.check(sound.curriculum)] == [f"{file}: is written as the reference is"]


def test_mistakes(sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(mistakes, "load", lambda: sound.curriculum)
    assert mistakes.run(["1.1", "1.2", "m2"], trust=True)
    assert capsys.readouterr().out == "Wrong solutions caught: 6 of 6 (100%).\n"
    assert not mistakes.run(["1.3"])
    assert capsys.readouterr().out.splitlines() == [
        "tests/mistakes/m01_numbers.toml:36: task 1.3, 'y': no test of the task notices.",
        "Wrong solutions caught: 1 of 2 (50%).",
    ]


def test_mistakes_tell_nothing_if_the_reference_is_wrong(
    sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mistakes, "load", lambda: sound.curriculum)
    sound.edit("tiny/text.py", '"!"', '"?"', tree="solutions")
    assert not mistakes.run(["1.3"])
    assert capsys.readouterr().out.splitlines() == [
        "1.3: the reference itself does not pass, so its wrong versions tell nothing.",
        "Wrong solutions caught: 0 of 0.",
    ]


def test_alternatives(sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(alternatives, "load", lambda: sound.curriculum)
    assert alternatives.run(["all"])
    assert capsys.readouterr().out == "Right solutions accepted: 4 of 4.\n"
    sound.edit("chain.py", "result = 0", "result = 1", tree="tests/alternatives/m02_chains/b/tiny")
    assert not alternatives.run(["m2"])
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("m02_chains/b: task 2.1: 2 of 2 tests: tests/m02_chains/test_2_1_total.py::test_total: ")
    assert last == "Right solutions accepted: 1 of 2."


def test_an_alternative_that_fails_is_told_with_its_line(
    sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alternatives, "load", lambda: sound.curriculum)
    sound.edit("text.py", "upper()", "upper().mark", tree="tests/alternatives/m01_numbers/b/tiny")
    assert not alternatives.run(["m1"])
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("m01_numbers/b: task 1.3: 1 of 1 tests: tests/m01_numbers/test_1_3_shout.py::test_shout")
    assert first.endswith("tiny/text.py: return text.upper().mark + MARK")


def test_alternatives_that_are_unsound_are_not_graded(
    sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alternatives, "load", lambda: sound.curriculum)
    sound.edit("text.py", "def shout", "@print\ndef shout", tree="tests/alternatives/m01_numbers/b/tiny")
    assert not alternatives.run(["m1"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("m01_numbers/b/tiny/text.py:5: shout has the reference's decorators: leave them out")


def test_the_whole_course_from_one_tree(
    sound: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(together, "load", lambda: sound.curriculum)
    assert together.run()
    assert capsys.readouterr().out.splitlines() == [
        "the reference: 7 of 7 tests pass.",
        *(f"m01_numbers/{style}, m02_chains/{style}: 7 of 7 tests pass." for style in "ab"),
    ]
    sound.edit("chain.py", "result = 0", "result = 1", tree="tests/alternatives/m02_chains/b/tiny")
    assert not together.run()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "m01_numbers/b, m02_chains/b: 5 of 7 tests pass."
    assert lines[3].startswith("  task 2.1: 2 of 2 tests: tests/m02_chains/test_2_1_total.py::test_total: fail")
    assert len(lines) == 4


def test_blame(solved: Course) -> None:
    solved.edit("tiny/number.py", "return a + b", "return a - b")
    grading = solved.grading(2, fill="learner")
    grading.run()
    blame.assign(grading)
    blamed = {name.partition("::")[2]: (result.verdict, result.blame) for name, result in grading.results.items()}
    assert blamed == {"test_total": (Verdict.FAIL, "tiny.number"), "test_nothing": (Verdict.PASS, "")}


def test_no_earlier_module_to_blame(solved: Course) -> None:
    solved.edit("tiny/chain.py", "result = 0", "result = 1")
    report = runner.grade(["m2"], fill="learner", curriculum=solved.curriculum)
    assert {test.blame for test in report.milestones[0].tasks[0].tests} == {""}
    report = runner.grade(["m2"], curriculum=solved.curriculum)
    assert report.score == 0


def test_several_modules_to_blame(solved: Course) -> None:
    solved.edit("tiny/number.py", "return a + b", "return a - b")
    solved.write("exercises/tiny/__init__.py", "1 / 0\n")
    grading = solved.grading(2, fill="learner")
    grading.run()
    blame.assign(grading)
    assert grading.results["tests/m02_chains/test_2_1_total.py::test_total"].blame == blame.SEVERAL
    assert grading.results["tests/m02_chains/test_2_1_total.py::test_nothing"].blame == "tiny"


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


def test_a_single_task_runs_its_own_tests_only(solved: Course) -> None:
    solved.edit("tiny/number.py", "return 2 * a", "return 3 * a")
    report = runner.grade(["1.1"], curriculum=solved.curriculum)
    assert (report.score, report.max_score) == (2, 2)
    assert [test.name.partition("::")[2] for test in report.milestones[0].tasks[0].tests] == [
        "test_property",
        "test_cases",
    ]


def test_a_task_without_tests_is_no_pass(solved: Course) -> None:
    (solved.root / "tests/m01_numbers/test_1_3_shout.py").unlink()
    report = runner.grade(["1.3"], curriculum=solved.curriculum)
    assert (report.score, report.milestones[0].tasks[0].verdict) == (0, Verdict.ERROR)


@pytest.mark.parametrize("milestone", load().milestones, ids=lambda milestone: milestone.key)
def test_a_raise_in_any_module_turns_its_milestone_red(milestone: Milestone, tmp_path: Path) -> None:
    """Tried on the module that the fewest tests need: the last one."""
    curriculum, module = load(), milestone.modules[-1]
    path = tmp_path / curriculum.file_of(module)
    path.parent.mkdir(parents=True)
    path.write_text("raise RuntimeError('planted')\n")
    settings = Settings(learner_root=tmp_path, from_reference=frozenset(milestone.modules) - {module})
    grading = Grading(curriculum, list(milestone.tasks), settings)
    grading.run(only=grading.expected[milestone.tasks[0].id][:1])  # one test will do: all modules are imported
    assert any(result.verdict is not Verdict.PASS for result in grading.results.values())
