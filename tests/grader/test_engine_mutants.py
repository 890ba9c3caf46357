"""Mutants: which changes there are, where, which are drawn, and what is said of those that survive."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from grader import check, mutants, pace
from grader.mutants import is_real, list_mutants
from grader.mutating import Source, edits
from grader.trials import allot, draw
from tests.grader.engine_course import Course


@pytest.mark.parametrize(
    "line, changed",
    [
        ("f(a + b)", ["f(a - b)", "pass"]),
        ("x = (a) * (b + c)", ["x = (a) // (b + c)", "x = (a) * (b - c)", "pass"]),
        ("x = a ** b", ["x = (a * b)", "pass"]),
        ("x <<= y", ["x >>= y", "pass"]),
        ("return a < b", ["return a <= b", "return a >= b", "return None"]),
        ("return a is b", ["return a is not b", "return None"]),
        ("return (a) not in (b)", ["return (a) in (b)", "return None"]),
        ("return a or b or c", ["return a and b or c", "return a or b and c", "return None"]),
        ("return not (a or b)", ["return (a or b)", "return not (a and b)", "return None"]),
        ("return -a", ["return a", "return None"]),
        ("return 1", ["return 0", "return 2", "return None"]),
        ("return 0.5", ["return 1.5", "return None"]),
        ("return True", ["return False", "return None"]),
        ("return 'é', a + b", ['return "", a + b', "return 'é', a - b", "return None"]),
        ('return f"{a} to {b}"', ['return f"{a}{b}"', 'return f"{b} to {a}"', "return None"]),
        ("return min(a, b)", ["return max(a, b)", "return None"]),
        ("return x[a:b]", ["return x[a:]", "return x[:b]", "return None"]),
        ("return f((a), k=b, *c)", ["return f((a), *c)", "return None"]),
        ("return f(k=a, m=b)", ["return f(k=a)", "return f(m=b)", "return None"]),
        ("return range(n)", ["return range(n - 1)", "return None"]),
        ("x = [i for i in y if i]", ["x = [i for i in y if True]", "pass"]),
        ("x = a if b else c", ["x = a if True else c", "x = a if False else c", "x = a if not (b) else c", "pass"]),
        ("if a == b: f()", ["if a != b: f()", "if True: f()", "if False: f()", "if a == b: pass"]),
        ("while a: f()", ["while False: f()", "while a: pass"]),
        ("raise KeyError(f'{a} and {b}')", ["raise TypeError(f'{a} and {b}')", "pass"]),
        ("raise TypeError", ["raise ValueError", "pass"]),
        ("require(a, 'a is missing')", ["require('a is missing', a)", "pass"]),
        ("x: Literal[1] = y", ["pass"]),
        ("'A text.'", []),
    ],
)
def test_changes(line: str, changed: list[str]) -> None:
    source = Source(f"def function():\n    {line}\n")
    made = [edit.apply(source.text) for edit in edits(source, range(2, 3))]
    assert sorted(made) == sorted(f"def function():\n    {other}\n" for other in changed)


def test_changes_over_several_lines() -> None:
    source = Source("try:\n    @one\n    @two\n    def f(): pass\nexcept KeyError:\n    continue\n")
    made = {edit.apply(source.text) for edit in edits(source, range(1, 9))}
    assert made == {
        source.text.replace("@one\n    ", ""),
        source.text.replace("@two\n    ", ""),
        source.text.replace("KeyError", "ZeroDivisionError"),
        source.text.replace("continue", "pass"),
    }


def test_only_what_a_task_asks_for_is_changed(tiny: Course) -> None:
    of_tasks = list_mutants(["1.1", "2.1"], tiny.curriculum)
    lines = {id: {mutant.line for mutant in of_task} for id, of_task in of_tasks.items()}
    assert lines == {"1.1": {8}, "2.1": {9, 11, 12}}
    assert {mutant.module for mutant in of_tasks["2.1"]} == {"tiny.chain"}


def test_what_changes_nothing_is_no_mutant(tiny: Course) -> None:
    tiny.edit("tiny/number.py", "return 2 * a", "return a if True else a + a - a", tree="solutions")
    found = {mutant.key[2]: is_real(mutant) for mutant in list_mutants(["1.2"], tiny.curriculum)["1.2"]}
    assert not found["return a if not (True) else a + a - a"] or found["return a if False else a + a - a"]
    assert {text: found[text] for text in found if "True" in text or "None" in text} == {
        "return a if True else a - a - a": False,
        "return a if True else a + a + a": False,
        "return a if not (True) else a + a - a": True,
        "return None": True,
    }


def test_samples_are_shared_among_tasks() -> None:
    counts = {"1.1": 10, "1.2": 85, "1.3": 5, "1.4": 0}
    assert allot(counts, None, 0) == allot(counts, 1000, 0) == counts
    assert allot(counts, 20, 0) == {"1.1": 2, "1.2": 16, "1.3": 2, "1.4": 0}
    assert allot(counts, 3, 0) == {"1.1": 1, "1.2": 1, "1.3": 1, "1.4": 0}
    assert sum(allot(counts, 2, 0).values()) == 2
    for seed in range(20):
        many = {str(id): random.Random(seed + id).randrange(50) for id in range(30)}
        sample = random.Random(seed).randrange(1, sum(many.values()))
        shares = allot(many, sample, seed)
        assert sum(shares.values()) == sample and all(shares[id] <= many[id] for id in many)


def test_samples_depend_on_the_seed_alone(tiny: Course) -> None:
    first, again, other = (
        [mutant.key for mutant in draw(list_mutants(["1.1", "2.1"], tiny.curriculum), 5, seed)] for seed in (1, 1, 2)
    )
    assert first == again != other
    assert {key[0] for key in first} == {"1.1", "2.1"}


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


def test_equivalent_ones_are_listed_once(tame: Course, capsys: pytest.CaptureFixture[str]) -> None:
    tame.write("tests/mutants/equivalent.toml", EQUIVALENT.format(1) + EQUIVALENT.format(3))
    assert mutants.run(["1.2"], trust=True)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "4", "2", "0", "0", "2", "100.0%"]
    tame.edit("tiny/number.py", '"""Numbers."""', '"""Numbers."""\n\nTWO = 2', tree="solutions")
    assert mutants.run(["1.2"], trust=True)


def test_an_equivalent_one_that_does_not_exist_is_told(tame: Course) -> None:
    tame.write("tests/mutants/equivalent.toml", EQUIVALENT.format(3) + EQUIVALENT.format(7))
    told = [str(problem) for problem in check.check(tame.curriculum) if problem.path.name == "equivalent.toml"]
    assert told == [
        "tests/mutants/equivalent.toml:6: no mutant of task 1.2 turns 'return 2 * a' into 'return 7 * a'"
    ]


def test_the_pace_of_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "INTERVAL", 0.01)
    said: list[str] = []
    with pace.Pace("tests", 4, said.append) as work:
        while not said:  # it speaks although nothing comes of the work
            time.sleep(0.01)
        for test in ("a", "b", "a"):
            work.finish(test)
    assert said[0].startswith("tests: 0 of 4, ")
    assert work.line(40) == "tests: 2 of 4, 40 s, 0.1 a second, about 40 s left"
    assert pace.duration(200) == "3 min 20 s"


def test_a_wrong_reference_tells_nothing(tame: Course, capsys: pytest.CaptureFixture[str]) -> None:
    tame.edit("tiny/number.py", "return a + b", "return a - b", tree="solutions")
    assert not mutants.run(["1.1"])
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "1.1: the reference itself does not pass, so its wrong versions tell nothing."
    assert last.split() == ["all", "0", "0", "0", "0", "0", "-"]
