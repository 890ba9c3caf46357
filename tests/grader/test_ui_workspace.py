"""Solutions are shown, differences too, and a reset never loses what the learner wrote."""

import os
import re
from pathlib import Path

import pytest

from grader import cli
from grader.course import stubs, workspace
from grader.course.curriculum import Curriculum
from tests.grader.small_course import Course

REFERENCE = '''"""Numbers."""


class Number:
    def twice(self, x: int) -> int:
        """Two times x."""
        # [task 1.1] Add.
        # It is its own neighbor.
        return x + x
        # [end]


def half(x: int) -> int:
    """Rounded down."""
    # [task 1.2] Divide.
    return x // 2
    # [end]
'''

MINE = '''"""Numbers."""

import math


class Number:
    def twice(self, x: int) -> int:
        return 2 * x


def helper() -> float:
    return math.pi


def half(x: int) -> int:
    return x // 3
'''


@pytest.fixture
def curriculum(tiny: Course) -> Curriculum:
    tiny.write("solutions/tiny/number.py", REFERENCE)
    stubs.write(tiny.curriculum)
    return tiny.curriculum


@pytest.fixture
def file(curriculum: Curriculum) -> Path:
    return curriculum.exercises / "tiny" / "number.py"


def backups(curriculum: Curriculum) -> list[str]:
    return [path.read_text() for path in (curriculum.scratch / "backups").rglob("*.py")]


def test_a_difference_goes_from_the_learner_to_the_reference(curriculum: Curriculum, file: Path) -> None:
    file.write_text(MINE)
    text = workspace.diff(curriculum, curriculum.task("1.2"))
    assert "-    return x // 3" in text and "+    return x // 2" in text
    assert "twice" not in text
    file.write_text(REFERENCE.replace("# [task 1.2]", "# Task 1.2:").replace("    # [end]\n", ""))
    assert workspace.diff(curriculum, curriculum.task("1.2")) == "", "an instruction is no difference"
    file.write_text("half(\n")
    with pytest.raises(workspace.Untold, match="number.py:1"):
        workspace.diff(curriculum, curriculum.task("1.2"))


def test_one_task_goes_back_and_the_rest_stays(curriculum: Curriculum, file: Path) -> None:
    file.write_text(MINE)
    done = workspace.reset(curriculum, [curriculum.task("1.2")])
    text = file.read_text()
    assert 'raise NotImplementedError("Task 1.2: Double")' in text
    assert "return 2 * x" in text and "def helper" in text
    assert "half" in done[0] and ".kata/backups/" in done[1]
    assert backups(curriculum) == [MINE]


@pytest.mark.parametrize(
    "text, why",
    [
        ("def twice(): ...\ndef half(:\n", "exercises/tiny/number.py:2: invalid syntax"),
        ("half = None\n", "half is defined 0 times"),
        ("def half(): ...\ndef half(): ...\n", "number.py:2: half is defined 2 times"),
    ],
)
def test_where_a_function_cannot_be_found_nothing_is_lost(
    curriculum: Curriculum, file: Path, text: str, why: str
) -> None:
    file.write_text(text)
    with pytest.raises(workspace.Untold, match=re.escape(why)):
        workspace.reset(curriculum, [curriculum.task("1.2")])
    assert file.read_text() == text
    assert workspace.reset_file(curriculum, file)[0].endswith("the whole file.")
    assert backups(curriculum) == [text]


def test_what_is_no_utf8_stays_as_it_was(curriculum: Curriculum, file: Path) -> None:
    mine = MINE.replace("import math\n", "import math  # caf\xe9\n\f\n").encode("latin-1")
    file.write_bytes(mine)
    workspace.reset(curriculum, [curriculum.task("1.2")])
    before, _, after = mine.partition(b"def half(x: int)")
    assert file.read_bytes().startswith(before)
    assert b"x // 3" in after and b"x // 3" not in file.read_bytes()


def test_resets_in_a_row_keep_every_version(curriculum: Curriculum, file: Path) -> None:
    stub = file.read_text()
    versions = [MINE, MINE + "# again\n", MINE + "# and again\n"]
    for text in versions:
        file.write_text(text)
        workspace.reset(curriculum, curriculum.milestone(1).tasks)
        assert file.read_text() == stub
    assert sorted(backups(curriculum)) == sorted(versions)


def test_only_the_courses_files_can_be_reset(curriculum: Curriculum, tmp_path: Path) -> None:
    (curriculum.exercises / "tiny" / "mine.py").write_text("x = 1\n")
    assert workspace.reset_file(curriculum, curriculum.exercises / "tiny" / "mine.py") == []
    assert workspace.reset_file(curriculum, tmp_path / "solutions" / "tiny" / "number.py") == []
    assert (tmp_path / "solutions" / "tiny" / "number.py").read_text() == REFERENCE


def test_a_reset_does_not_write_through_a_link(curriculum: Curriculum, file: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(MINE)
    file.unlink()
    file.symlink_to(outside)
    workspace.reset(curriculum, curriculum.milestone(1).tasks)
    assert outside.read_text() == MINE and not file.is_symlink() and "NotImplementedError" in file.read_text()
    assert backups(curriculum) == [MINE]


@pytest.mark.parametrize("make", ["mkdir", "mkfifo"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX files")
def test_a_folder_or_a_pipe_is_named(
    curriculum: Curriculum, file: Path, make: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.unlink()
    getattr(os, make)(file)
    for words in (["reset", "1.2"], ["reset", str(file)]):
        assert cli.main(words, curriculum.root) == cli.USAGE
        assert "number.py is not a regular file" in " ".join(capsys.readouterr().err.split())
    cli.main(["doctor"], curriculum.root)
    assert "number.py: not a regular file" in capsys.readouterr().out
