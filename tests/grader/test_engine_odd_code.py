"""Code and surroundings that are odd rather than wrong: verdicts, places and messages stay true."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from grader import overlay
from grader.curriculum import ROOT
from grader.verdicts import Verdict
from tests.checks import calling
from tests.grader import engine_course
from tests.grader.engine_course import Course, verdicts

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="has neither such signals nor such folders")


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
    ],
)
def test_equal_is_not_enough(got: object, expected: object, shown: str) -> None:
    with pytest.raises(AssertionError) as failure:
        calling(lambda: got).returns(expected)
    assert shown in str(failure.value)


def test_what_a_message_shows_is_not_what_went_wrong(solved: Course) -> None:
    solved.edit(
        "tiny/number.py",
        "    return 2 * a\n",
        "    return Two()\n\n\nclass Two:\n    def __repr__(self):\n        return 'two'\n",
    )
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import double\ndef test_double():\n    got = double(4)\n    assert got == 8, repr(got)\n",
    )
    result = solved.grade()["test_double"]
    assert (result.message, result.location) == ("two", "exercises/tiny/number.py:12")


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
    course = engine_course.make(tmp_path / "[my] kata::1 é")
    course.solve()
    assert set(verdicts(course.grade()).values()) == {Verdict.PASS}


def test_what_is_written_beside_a_read_only_project(
    tiny: Course, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    stub = overlay.plan(tiny.curriculum, {1}, "learner").sources["tiny.chain"]
    assert stub.path.is_relative_to(elsewhere) and stub.path.exists()
    assert not (tiny.root / ".kata").exists()


@POSIX
def test_a_grader_that_is_ended_ends_its_children(tmp_path: Path) -> None:
    loop = tmp_path / "mini_triton" / "__init__.py"
    loop.parent.mkdir()
    loop.write_text("import os\nopen(__file__[:-2] + 'pid', 'w').write(str(os.getpid()))\nwhile True: pass")
    grade = [sys.executable, "-m", "grader", "grade", "m1", "--submission", str(tmp_path)]
    with subprocess.Popen(grade, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while not (pid := loop.with_suffix(".pid")).exists() or not pid.read_text():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=5)[1] == "Stopped.\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
