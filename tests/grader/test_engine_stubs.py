"""The learner's tree comes from the reference byte for byte, and a learner's work is never lost."""

import subprocess
from pathlib import Path

import pytest

from grader.course import stubs
from grader.course.curriculum import load
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.report.verdicts import Verdict
from tests.grader.small_course import Course

NUMBER_STUB = '''\
"""Numbers."""


def add(a: int, b: int) -> int:
    """The sum."""
    # Task 1.1: Add them.
    # Both are integers.
    raise NotImplementedError("Task 1.1: Add")


def double(a: int) -> int:
    """Twice the number."""
    # Task 1.2: Multiply.
    raise NotImplementedError("Task 1.2: Double")
'''


def tree(root: Path) -> dict[str, bytes]:
    """Every file below `root`."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_stubs_follow_the_reference(tiny: Course) -> None:
    assert (tiny.root / "exercises/tiny/number.py").read_text() == NUMBER_STUB
    assert stubs.write(tiny.curriculum) == stubs.check(tiny.curriculum) == []
    tiny.edit("tiny/text.py", "text.upper()", "text.title()", tree="solutions")
    assert stubs.check(tiny.curriculum) == [], "the reference's own code does not show"
    tiny.edit("tiny/text.py", "Capitals first", "Mark last", tree="solutions")
    assert [problem.path.name for problem in stubs.check(tiny.curriculum)] == ["text.py"]
    assert [path.name for path in stubs.write(tiny.curriculum)] == ["text.py"]
    assert stubs.check(tiny.curriculum) == []


def test_solved_tasks_are_no_fault_of_the_course(solved: Course) -> None:
    assert stubs.check(solved.curriculum), "by default everything that differs counts"
    assert stubs.check(solved.curriculum, is_learners=True) == []
    solved.edit("tiny/text.py", "Capitals first", "Mark last", tree="solutions")
    assert [problem.path.name for problem in stubs.check(solved.curriculum, is_learners=True)] == ["text.py"]
    (solved.root / "exercises/tiny/number.py").unlink()
    assert len(stubs.check(solved.curriculum, is_learners=True)) == 2, "a missing file is not a learner's work"


def test_what_a_package_reads_comes_along(tiny: Course) -> None:
    (tiny.root / "solutions/tiny/page.css").write_text("body {}\n")
    (tiny.root / "solutions/tiny/notes.txt").write_text("of maintainers\n")
    assert [problem.path.name for problem in stubs.check(tiny.curriculum)] == ["page.css"]
    assert stubs.write(tiny.curriculum) == [tiny.root / "exercises/tiny/page.css"]
    assert (tiny.root / "exercises/tiny/page.css").read_text() == "body {}\n"
    assert stubs.check(tiny.curriculum) == []


def test_a_learners_work_is_left_alone(tiny: Course) -> None:
    """Not even the other files change, and not even if the work is committed."""
    tiny.edit("tiny/number.py", 'raise NotImplementedError("Task 1.1: Add")', "return a + b")
    tiny.edit("tiny/number.py", "Multiply", "Multiply it", tree="solutions")
    tiny.edit("tiny/text.py", "Capitals first", "Mark last", tree="solutions")
    git = ["git", "-C", str(tiny.root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "mine"], check=True)
    before = tree(tiny.root / "exercises")
    with pytest.raises(stubs.WouldOverwrite) as refusal:
        stubs.write(tiny.curriculum)
    assert [path.name for path in refusal.value.paths] == ["number.py"]
    assert tree(tiny.root / "exercises") == before


@pytest.mark.parametrize("record", ["", "<<<<<<< HEAD\nno hash\n=======\n"])
def test_without_a_sound_record_everything_is_the_learners(tiny: Course, record: str) -> None:
    """The record is a file for `sha256sum`."""
    lines = (tiny.root / "exercises" / stubs.MANIFEST).read_text().splitlines()
    assert [line[64:] for line in lines] == [f"  tiny/{name}.py" for name in ("__init__", "chain", "number", "text")]
    tiny.write(f"exercises/{stubs.MANIFEST}", record)
    tiny.edit("tiny/text.py", "Capitals first", "Mark last", tree="solutions")
    with pytest.raises(stubs.WouldOverwrite):
        stubs.write(tiny.curriculum)


@pytest.mark.parametrize("work", [b"# caf\xe9\n", b"\xff\xfe#\0 \0", b"\xef\xbb\xbf# mine\n"])
def test_force_keeps_a_copy_in_any_encoding(tiny: Course, work: bytes) -> None:
    (tiny.root / "exercises/tiny/number.py").write_bytes(work)
    mine = tiny.write("exercises/tiny/mine.py", "x = 1\n")
    assert [problem.path.name for problem in stubs.check(tiny.curriculum)] == ["number.py"]
    with pytest.raises(stubs.WouldOverwrite):
        stubs.write(tiny.curriculum)
    stubs.write(tiny.curriculum, force=True)
    assert (tiny.root / "exercises/tiny/number.py").read_text() == NUMBER_STUB
    (copy,) = (tiny.root / ".kata/backups").rglob("number.py")
    assert copy.read_bytes() == work
    assert copy.parts[-3:] == ("exercises", "tiny", "number.py")
    assert mine.read_text() == "x = 1\n"
    assert stubs.check(tiny.curriculum) == []


@pytest.mark.parametrize("work", [NUMBER_STUB, "mine = 1\n"])
def test_a_module_that_is_gone(tiny: Course, work: str) -> None:
    """Its stub goes, a learner's work stays."""
    path = tiny.root / "grader/curriculum/m01_numbers.toml"
    path.write_text(path.read_text().replace('"tiny.number", ', ""))
    stub = tiny.root / "exercises/tiny/number.py"
    assert [problem.path.name for problem in stubs.check(tiny.curriculum)] == ["number.py"]
    stub.write_text(work)
    stubs.write(tiny.curriculum)
    assert stub.exists() == (work != NUMBER_STUB) and stubs.check(tiny.curriculum) == []


def test_windows_line_endings_are_not_a_change(tiny: Course) -> None:
    path = tiny.root / "exercises/tiny/text.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert stubs.check(tiny.curriculum) == []
    tiny.edit("tiny/text.py", "Capitals first", "Mark last", tree="solutions")
    assert [changed.name for changed in stubs.write(tiny.curriculum)] == ["text.py"]


@pytest.mark.parametrize(
    "old, new, line, text",
    [
        ("# [task 1.1]", "# [task 1.9]", 6, "The curriculum has no task 1.9"),
        ("# [task 1.1]", "# [task 2.1]", 6, "Task 2.1 is not a task of milestone1"),
        ("# [task 1.1]", "# [Task 1.1]", 6, "Not a marker"),
        ("    # [task 1.2] Multiply.\n", "", 15, "without `# [task N.M]`"),
        ("    return a + b\n    # [end]\n", "    return a + b\n", 13, "inside the one that begins on line 6"),
        ("    return 2 * a\n    # [end]\n", "    return 2 * a\n", 14, "has no `# [end]`"),
        ("    return a + b\n    # [end]\n", "    # [end]\n    return a + b\n", 6, "has no code"),
        ("    # [task 1.1]", "  # [task 1.1]", 6, "Indent the marker and its code alike"),
        ("def add(a: int, b: int) -> int:\n", "if True:\n", 6, "must be inside a function"),
    ],
)  # fmt: skip
def test_bad_markers_are_reported_with_their_line(tiny: Course, old: str, new: str, line: int, text: str) -> None:
    tiny.edit("tiny/number.py", old, new, tree="solutions")
    with pytest.raises(stubs.BadMarkers) as refusal:
        stubs.write(tiny.curriculum)
    problem = refusal.value.problems[0]
    assert (problem.path.name, problem.line) == ("number.py", line)
    assert text in problem.text


def test_untouched_stubs_are_not_started() -> None:
    """Every test of every milestone reaches a stub, and no module keeps another from being imported."""
    curriculum = load()
    gradings = [Grading(curriculum, list(milestone.tasks), Settings()) for milestone in curriculum.milestones]
    run_all(gradings, "the stubs")
    for grading in gradings:
        for result in grading.results.values():
            assert result.verdict in (Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE), (result.name, result.message)
