"""Mutants: the changes, their places, the sampling, and the report on survivors."""

import json
from pathlib import Path

import pytest

from grader.upkeep import check, mutants
from grader.upkeep.mutants import list_mutants
from grader.upkeep.mutating import Source, edits
from grader.upkeep.trials import draw
from tests.grader.small_course import Course


@pytest.mark.parametrize(
    "line, changed",
    [
        ("f(a + b)", ["f(a - b)", "pass"]),
        ("return (a) not in (b)", ["return (a) in (b)", "return None"]),
        ("return a or b or c", ["return a and b or c", "return a or b and c", "return None"]),
        ("return not (a or b)", ["return (a or b)", "return not (a and b)", "return None"]),
        ("return -a", ["return a", "return None"]),
        ("return True", ["return False", "return None"]),
        ("return x[a:b]", ["return x[a:]", "return x[:b]", "return None"]),
        ("x = [i for i in y if i]", ["x = [i for i in y if True]", "pass"]),
        ("return 1", ["return 0", "return 2", "return None"]),
        ("return 'é', a + b", ['return "", a + b', "return 'é', a - b", "return None"]),
        ('return f"{a} to {b}"', ['return f"{a}{b}"', 'return f"{b} to {a}"', "return None"]),
        ("return min(a, b)", ["return max(a, b)", "return None"]),
        ("return f((a), k=b, *c)", ["return f((a), *c)", "return None"]),
        ("return range(n)", ["return range(n - 1)", "return None"]),
        ("x = a if b else c", ["x = a if True else c", "x = a if False else c", "x = a if not (b) else c", "pass"]),
        ("if a == b: f()", ["if a != b: f()", "if True: f()", "if False: f()", "if a == b: pass"]),
        ("while a: f()", ["while False: f()", "while a: pass"]),
        ("raise KeyError(f'{a} and {b}')", ["raise TypeError(f'{a} and {b}')", "pass"]),
        ("require(a, 'a is missing')", ["require('a is missing', a)", "pass"]),
        ("'A text.'", []),
        ("x: int", []),
        ("x: int = a", ["pass"]),
    ],
)
def test_changes(line: str, changed: list[str]) -> None:
    source = Source(f"def function():\n    {line}\n")
    made = [edit.apply(source.text) for edit in edits(source, range(2, 3))]
    assert sorted(made) == sorted(f"def function():\n    {other}\n" for other in changed)


def test_only_what_a_task_asks_for_is_changed(tiny: Course) -> None:
    of_tasks = list_mutants(["1.1", "2.1"], tiny.curriculum)
    lines = {id: {mutant.line for mutant in of_task} for id, of_task in of_tasks.items()}
    assert lines == {"1.1": {8}, "2.1": {9, 11, 12}}
    assert {mutant.module for mutant in of_tasks["2.1"]} == {"tiny.chain"}


def test_samples_are_shared_among_tasks_and_depend_on_the_seed_alone(tiny: Course) -> None:
    for sample in (2, 5):
        first, again, other = (
            [mutant.key for mutant in draw(list_mutants(["1.1", "2.1"], tiny.curriculum), sample, seed)]
            for seed in (1, 1, 2)
        )
        assert first == again != other
        assert len(first) == sample and {key[0] for key in first} == {"1.1", "2.1"}


@pytest.fixture
def tame(solved: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course that tests `double` with 0 alone."""
    solved.edit("test_1_2_double.py", "double(4) == 8", "double(0) == 0", tree="tests/m01_numbers")
    monkeypatch.setattr(mutants, "load", lambda: solved.curriculum)
    return solved


SURVIVOR = """\
solutions/tiny/number.py:15: task 1.2: no test of the task notices.
--- solutions/tiny/number.py
+++ solutions/tiny/number.py
@@ -12,5 +12,5 @@
 def double(a: int) -> int:
     \"\"\"Twice the number.\"\"\"
     # [task 1.2] Multiply.
-    return 2 * a
+    return 1 * a
     # [end]
"""


def test_survivors_are_shown(tame: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "survivors.json"
    assert not mutants.run(["1.2", "1.1"], trust=True, report=report)
    shown = capsys.readouterr().out
    assert SURVIVOR in shown
    assert shown.splitlines()[-2].split() == ["milestone1", "6", "4", "2", "0", "0", "66.7%"]
    first, second = json.loads(report.read_text())
    assert (first["path"], first["line"], first["task"]) == ("solutions/tiny/number.py", 15, "1.2")
    assert (first["before"], first["after"]) == ("return 2 * a", "return 1 * a")
    assert second["after"] == "return 3 * a"


EQUIVALENT = """\
[[equivalent]]
task = "1.2"
before = "return 2 * a"
after = "return {} * a"
reason = "Twice nothing is nothing."
"""


def test_equivalent_mutants_are_listed_once(tame: Course, capsys: pytest.CaptureFixture[str]) -> None:
    tame.write("tests/mutants/equivalent.toml", EQUIVALENT.format(1) + EQUIVALENT.format(3))
    assert mutants.run(["1.2"], trust=True)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "4", "2", "0", "0", "2", "100.0%"]
    tame.edit("tiny/number.py", '"""Numbers."""', '"""Numbers."""\n\nTWO = 2', tree="solutions")
    assert mutants.run(["1.2"], trust=True)
    tame.write("tests/mutants/equivalent.toml", EQUIVALENT.format(3) + EQUIVALENT.format(7))
    problems = [str(problem) for problem in check.check(tame.curriculum) if problem.path.name == "equivalent.toml"]
    assert problems == [
        "tests/mutants/equivalent.toml:6: no mutant of task 1.2 turns 'return 2 * a' into 'return 7 * a'"
    ]
