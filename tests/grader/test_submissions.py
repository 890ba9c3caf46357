"""Submissions: the files taken in, the rights of their code, and the points that count."""

import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy
import pytest

from grader import cli
from grader.child import boundary, overlay
from grader.child.overlay import Impl
from grader.course.curriculum import ROOT, load
from grader.learner import doctor
from grader.parent import answers, capstone, judges, limited, session, submissions
from grader.parent.intake import FILE, Intake, Nothing, take_in
from grader.parent.seal import Seal
from grader.parent.workfolder import is_too_large
from grader.report import junit
from grader.report.terminal import show
from grader.report.verdicts import Report, Verdict
from grader.upkeep import cheats, check
from tests.capstones import running
from tests.grader.small_course import Course
from tests.oracles import triton

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's protections are Linux's")
NUMBER = "def add(a, b): return a + b\n"
CAPSTONE = """
from tests.capstones import ask
def questions(random):
    a, b = (random.randrange(999) for _ in range(2))
    yield ask("1.1", "a sum", "from tiny.number import add\\nresult = add(A, B)", A=a, B=b)
    yield ask("1.2", "a double", "from tiny.number import double\\nresult = double(A)", A=a)
    yield ask("1.3", "a shout", "from tiny.text import shout\\nresult = shout('x' * A)", A=a % 9)
"""


# --- what is taken in


def taken(course: Course, submission: Path) -> Intake:
    folder = course.root / "copy"
    folder.mkdir(exist_ok=True)
    return take_in(submission, folder, course.curriculum)


@pytest.mark.parametrize("inside", ["", "exercises", "fork-main", "fork-main/exercises"])
@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz", "tar.xz"])
def test_wherever_the_packages_are(tiny: Course, inside: str, kind: str) -> None:
    work = tiny.root / "My work, é"
    texts = {"tiny/number.py": NUMBER, "tiny/sub/own.py": "X = 1\r\n", "solutions/tiny/number.py": "no", "README": "no"}
    files = {Path(inside) / name: text.encode() for name, text in texts.items()}
    if kind == "folder":
        for name, data in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(data)
    elif kind == "zip":
        with zipfile.ZipFile(work, "w") as archive:
            for name, data in files.items():
                archive.writestr(name.as_posix(), data)
    else:
        with tarfile.open(work, f"w:{kind[4:]}" if kind[4:] else "w") as tar:  # type: ignore[call-overload]
            for name, data in files.items():
                member = tarfile.TarInfo(name.as_posix())
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    intake = taken(tiny, work)
    assert sorted(intake.files) == ["tiny/number.py", "tiny/sub/own.py"]
    assert (intake.root / "tiny" / "number.py").read_text() == NUMBER
    assert len(intake.sha256) == 64


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX files")
def test_only_regular_files_of_reasonable_size(tiny: Course) -> None:
    work = tiny.root / "work"
    (work / "tiny").mkdir(parents=True)
    (work / "tiny" / "number.py").write_text(NUMBER)
    (work / "tiny" / "text.py").symlink_to(tiny.root / "solutions" / "tiny" / "text.py")
    (work / "tiny" / "linked").symlink_to(tiny.root / "solutions" / "tiny")
    (work / "tiny" / "large.py").write_bytes(b"#" * (FILE + 1))
    (work / "tiny" / "not-a-name.py").write_text("")
    (work / "tiny" / "folder.py").mkdir()
    (work / "tiny" / "folder.py" / "x.py").write_text("")
    os.mkfifo(work / "tiny" / "chain.py")
    intake = taken(tiny, work)
    assert intake.files == ["tiny/number.py"]
    assert sorted(intake.left_out) == [
        "tiny/chain.py is not a regular file",
        "tiny/folder.py/x.py is not a module's name",
        "tiny/large.py is too large",
        "tiny/linked is a link",
        "tiny/not-a-name.py is not a module's name",
        "tiny/text.py is a link",
    ]


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda work: work.mkdir(), "holds no module of the course"),
        (lambda work: work.write_text("hello"), "cannot be read"),
        (lambda work: work.write_bytes(b"PK\3\4" + bytes(99)), "cannot be read"),
        (lambda work: (work.mkdir(), (work / "exercises").symlink_to(ROOT / "solutions")), "exercises is a link"),
    ],
)
def test_nothing_to_judge_is_reported(tiny: Course, make: Callable[[Path], Any], reason: str) -> None:
    work = tiny.root / "work"
    make(work)
    with pytest.raises(Nothing, match=reason):
        taken(tiny, work)
    out = tiny.root / "report.json"
    assert cli.main(["grade", "all", "--submission", str(work), "--json", str(out)], tiny.root) == cli.LOST
    report = json.loads(out.read_text())
    assert report["score"] == 0 and report["max_score"] == 7
    assert reason in report["submission"]["refused"]


def archive_that_keeps_tarfile_busy(work: Path) -> None:
    """A header in which `tarfile` looks for a number, again from each of its digits (CVE-2024-6232)."""
    with tarfile.open(work, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        header = tarfile.TarInfo("header")
        header.type, header.size = tarfile.XHDTYPE, 1 << 20
        tar.addfile(header, io.BytesIO(b"0" * header.size))
        tar.addfile(tarfile.TarInfo("tiny/number.py"))


def modules_that_keep_the_parser_busy(work: Path) -> None:
    (work / "tiny").mkdir(parents=True)
    for number in range(20):
        (work / "tiny" / f"m{number}.py").write_text("f'" + "{a}" * (FILE // 3 - 1) + "'")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later versions of Python read both quickly")
@pytest.mark.parametrize("make", [archive_that_keeps_tarfile_busy, modules_that_keep_the_parser_busy])
def test_a_parser_is_ended(tiny: Course, make: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "SECONDS", 2)
    make(tiny.root / "work")
    started = time.monotonic()
    with pytest.raises(Nothing, match="takes too much time or memory to read, at "):
        taken(tiny, tiny.root / "work")
    assert time.monotonic() - started < 30


# --- what its code may do

SCRIPT = """
import json, os, sys
sys.path.insert(0, {root!r})
from grader.child import boundary
folder = {folder!r}
read, _ = boundary.libraries()
held = boundary.enter(boundary.Bounds([*read], [], [folder + "/work"], processes={processes}))
def may(action):
    try:
        action()
    except (OSError, ImportError):
        return False
    return True
import socket, subprocess
print(json.dumps(dict(
    held=held,
    read=may(lambda: open(folder + "/secret").read()),
    link=may(lambda: (os.symlink(folder + "/secret", folder + "/work/s"), open(folder + "/work/s").read())),
    write=may(lambda: open(folder + "/made", "w")),
    mode=may(lambda: os.chmod(folder + "/secret", 0)),
    own=may(lambda: open(folder + "/work/made", "w")),
    kill=may(lambda: os.kill({parent}, 0)),
    connect=may(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", 9))),
    start=may(lambda: subprocess.run(["true"])),
)))
"""


@LINUX
@pytest.mark.parametrize("processes", [False, True])
def test_the_kernel_refuses(tmp_path: Path, processes: bool) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_text("x")
    script = SCRIPT.format(root=str(ROOT), folder=str(tmp_path), parent=os.getpid(), processes=processes)
    command = boundary.command([sys.executable, "-I", "-c", script])
    done = subprocess.run(command, capture_output=True, text=True, env=boundary.environment(tmp_path / "work"))
    found = json.loads(done.stdout)
    held = found["held"]
    if boundary.FILES in held:
        assert (found["read"], found["link"], found["write"], found["own"]) == (False, False, False, True)
    if boundary.CALLS in held:
        assert (found["mode"], found["connect"], found["start"]) == (False, False, processes)
    if boundary.SIGNALS in held and not processes:
        assert not found["kill"]
    assert not (tmp_path / "made").exists()


@LINUX
def test_doctor_lists_the_protections(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["doctor"])
    text = capsys.readouterr().out
    assert all(meaning in text for meaning in boundary.MEANING.values())


def test_doctor_says_what_cannot_be_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "_version", lambda package: "1.0" if package in doctor.CORE else "")
    cli.main(["doctor"])
    text = capsys.readouterr().out
    assert sys.executable in text and "environment is not active" in text
    assert "triton        not found  (needed in milestones 0, 2, 3, 4, 5, 9, 10, 13, 14: it judges" in text
    assert "rich          not found  (optional" in text and "constraints.txt ml_dtypes" in text


def test_doctor_speaks_of_the_courses_milestones_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = load()
    monkeypatch.setattr(doctor, "_version", lambda package: "1.0" if package in doctor.CORE else "")
    show(doctor.doctor_lines(replace(course, milestones=course.milestones[:2])), sys.stdout)
    text = capsys.readouterr().out
    assert "triton        not found  (needed in milestone 0: it judges" in text
    assert "torch" not in text and "numba" not in text and "ml_dtypes" not in text


def test_a_changed_course_is_detected(tiny: Course) -> None:
    seal = Seal(tiny.curriculum, bytecode=True)
    assert seal.changed() == []
    tiny.write("tests/m01_numbers/test_1_2_double.py", "")
    tiny.write("grader/__pycache__/verdicts.pyc", "")
    assert seal.changed() == ["grader/__pycache__/verdicts.pyc", "tests/m01_numbers/test_1_2_double.py"]


# --- what it may say

RAN = {"event": "ran", "test": "t", "seconds": 1.5, "oracles": {}, "verdict": "pass", "message": "", "location": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"event": "applause"}, {"event": []}, {"test": "another"}, {"verdict": "excellent"}, {"seconds": float("nan")},
        {"seconds": -1}, {"message": None}, {"event": "importing", "module": "os"},
        {"event": "collected", "cases": {"t": "x"}}, {"oracles": {"triton": "\x1b[2J"}}, {"oracles": ["torch"]},
    ],
)  # fmt: skip
def test_answers_are_checked(change: dict[str, Any]) -> None:
    assert answers.is_sound(RAN, ["t"], ["m"])
    assert not answers.is_sound(RAN | change, ["t"], ["m"])


def test_lines_without_the_token_are_ignored() -> None:
    assert answers.parse(b'{"token": "x", "event": "ran"}', "x") == {"event": "ran"}
    for line in (b'{"event": "ran"}', b"[1]", b"x", b"[" * 100_000, b'{"token": "y"}'):
        assert answers.parse(line, "x") is None


def test_long_texts_are_cut() -> None:
    (text,) = answers.parse(b'{"token": "x", "message": "%s"}' % (b"!" * 900_000), "x").values()  # type: ignore[union-attr]
    assert text.endswith("!… and 880000 more characters") and len(text) < 21_000


@pytest.mark.parametrize("at_end", [False, True])
def test_only_a_part_of_a_file_is_read(tmp_path: Path, at_end: bool) -> None:
    with (tmp_path / "trace").open("wb") as file:
        file.write(b"first")
        file.seek(200 << 20)
        file.write(b"last\xff")
    text = session.read_part(tmp_path / "trace", at_end)
    assert len(text) <= session.PART and ("last\ufffd" if at_end else "first") in text


def test_a_missing_judge_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(judges._ABSENT, "torch", lambda: True)
    assert judges.is_missing("PyTorch is not installed: pip install torch")
    monkeypatch.setitem(judges._ABSENT, "torch", lambda: False)
    assert not judges.is_missing("PyTorch is not installed: pip install torch")


@pytest.mark.skipif(not triton.available(), reason="real Triton is not installed")
@pytest.mark.parametrize(
    "file, text, hides",
    [
        ("__init__.py", "__version__ = '9.9'", False),
        ("__init__.py", "raise SystemExit(1)", True),
        ("runtime/interpreter.py", None, False),
        ("runtime/interpreter.py", "wrong = True", False),
        ("_C/libtriton.so", "", False),
    ],
)
def test_a_changed_judge_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str | None, hides: bool
) -> None:
    """Another Triton hides the installed one, or the installed one lacks a file or has another."""
    assert not judges.is_missing("real Triton is broken")
    installed = metadata.distribution("triton")
    names = ["triton"] if hides else ["triton", f"triton-{installed.version}.dist-info"]
    for name in names:
        shutil.copytree(str(installed.locate_file(name)), tmp_path / name, copy_function=os.symlink)
    changed = tmp_path / "triton" / file
    changed.unlink()
    if text is not None:
        changed.write_text(text)
    monkeypatch.setattr(judges, "_broken", set())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert judges.is_missing("real Triton is broken")
    fault = [sys.executable, "-c", "from tests.oracles import triton; print(triton.fault())"]
    output = subprocess.run(fault, cwd=ROOT, capture_output=True, text=True).stdout
    assert output == f"real Triton was changed: {changed} is not as it was installed\n"


def test_junit_knows_every_verdict() -> None:
    assert set(junit._OUTCOME) == set(Verdict)


# --- which points count


@pytest.fixture
def asked(solved: Course) -> Course:
    """The small course, solved, with a capstone."""
    solved.write("tests/capstones/m01_numbers.py", CAPSTONE)
    return solved


def grade(course: Course, seed: int = 1) -> Report:
    how: dict[str, Any] = {"fill": "reference", "device": "cpu", "seed": seed, "examples": 5}
    return submissions.grade(["m1"], course.root / "exercises", course.curriculum, **how)


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_honest_work_counts(asked: Course) -> None:
    report = grade(asked)
    assert (report.score, report.max_score) == (4, 4)
    assert report.submission and report.submission.files == 4
    assert report.to_json()["submission"]["sha256"] == report.submission.sha256


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_code_that_knows_where_it_runs_is_not_confirmed(asked: Course) -> None:
    asked.edit("tiny/text.py", '"!"', '"!" * ("pytest" in __import__("sys").__dict__["modul" + "es"])')
    report = grade(asked)
    (milestone,) = report.milestones
    task = milestone.tasks[2]
    assert (task.verdict, task.earned, task.points) == (Verdict.PASS, 1, 0)
    assert task.unconfirmed.startswith("asked from outside for a shout, the submission gives")
    assert report.score == 3


HONEST = """
import sys
here = sys.modules[__name__]
class NotText(AttributeError):
    "No text."
def shout(text):
    sys.stdout.write(f"{text} {sys.stdout.encoding}")
    with open("debug.log", "a") as log:
        print(text, file=log)
    if not isinstance(text, str):
        raise here.NotText(text)
    return text.upper() + "!"
"""


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_honest_habits_cost_nothing(asked: Course) -> None:
    code = "from tiny.text import shout\\ntry: shout(A)\\nexcept Exception as error: result = kind_of(error)"
    more = f'\n    yield ask("1.3", "an error", "{code}", A=a)\n'
    asked.write("tests/capstones/m01_numbers.py", CAPSTONE.rstrip() + more)
    asked.write("exercises/tiny/text.py", HONEST)
    report = submissions.grade(
        ["1.3"], asked.root / "exercises", asked.curriculum, fill="reference", device="cpu", seed=1, examples=5
    )
    assert report.score == 1, report.to_json()


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_an_answer_nested_too_deep_is_no_answer(asked: Course) -> None:
    file = asked.root / "exercises" / "tiny" / "number.py"
    nested = "if 'pytest' in __import__('sys').modules: return a + b\n    for _ in range(982): a = [a]\n    return a"
    file.write_text(file.read_text().replace("return a + b", nested))
    out = asked.root / "report.json"
    arguments = ["grade", "1.1", "--submission", str(asked.root / "exercises"), "--json", str(out)]
    assert cli.main(arguments, asked.root) == cli.LOST
    assert "its process ended without an answer" in out.read_text()


@LINUX
def test_files_of_other_milestones_are_out_of_reach(asked: Course) -> None:
    """A remark names what looks suspicious only in files that run."""
    asked.write("exercises/tiny/chain.py", "import ctypes")
    asked.edit("tiny/text.py", '"!"', 'open(__file__.replace("text.py", "chain.py")).read()[:0] + "!"')
    report = grade(asked)
    task = report.milestones[0].tasks[2]
    assert task.verdict is Verdict.FAIL and "PermissionError" in task.tests[0].message
    assert report.submission and not any("chain.py" in text for text in report.submission.look_here)


@LINUX
def test_remarks_name_code_of_earlier_milestones_that_runs(asked: Course) -> None:
    asked.edit("tiny/number.py", "return 2 * a", "import sys; sys.__dict__; return 2 * a")
    course, work = asked.curriculum, asked.root / "exercises"
    fills: dict[Impl, bool] = {"reference": False, "learner": True}
    for fill, seen in fills.items():
        report = submissions.grade(["m2"], work, course, fill=fill, device="cpu", seed=1, examples=5)
        assert report.submission
        assert (
            any("tiny/number.py:" in text and "looks into sys" in text for text in report.submission.look_here) is seen
        )


def test_without_a_capstone_nothing_counts(solved: Course) -> None:
    report = grade(solved)
    assert report.score == 0 and report.milestones[0].tasks[0].earned == 2


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_a_question_that_nobody_can_answer_confirms_nothing(asked: Course) -> None:
    asked.write("tests/capstones/m01_numbers.py", CAPSTONE.replace("A=a % 9", "A=a % 9, needs='no_such_package'"))
    task = grade(asked).milestones[0].tasks[2]
    assert (task.verdict, task.points) == (Verdict.PASS, 0)
    assert task.unconfirmed == "a shout: the question needs no_such_package"


@pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")
def test_a_question_waits_for_the_tasks_that_it_needs(asked: Course) -> None:
    """Without them, the task's other questions confirm it."""
    more = """    yield ask("1.3", "both", "from tiny.number import double\\nresult = double(3)", after="1.2")"""
    asked.write("tests/capstones/m01_numbers.py", f"{CAPSTONE}{more}\n")
    assert grade(asked).score == 4
    asked.edit("tiny/number.py", "return 2 * a", "return 3 * a")
    assert [task.points for task in grade(asked).milestones[0].tasks] == [2, 0, 1]


@LINUX
def test_a_renamed_function_costs_its_own_task_alone(tmp_path: Path) -> None:
    """Questions about other tasks import no module that needs it."""
    course = load()
    for file in map(course.file_of, course.milestone(1).modules):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(course.original(file).read_text().replace("broadcast_shapes", "broadcast"))
    plan = overlay.plan(course, {1}, "learner", "reference", tmp_path)
    doubts = capstone.doubts(plan, course, 1, [task.id for task in course.milestone(1).tasks], seed=1)
    assert list(doubts) == ["1.3"]


def test_a_task_without_a_question_is_reported(asked: Course) -> None:
    asked.write("tests/capstones/m02_chains.py", "def questions(random): return []")
    (problem,) = check._capstones(asked.curriculum)
    assert str(problem).endswith("m02_chains.py: has no question about task 2.1")


@pytest.mark.parametrize(
    "got, expected, alike",
    [
        ([1, 2.0, "x", None], [1, 2.0001, "x", None], True),
        (float("nan"), float("nan"), True),
        (1, True, False),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
        (1.0, 1.1, False),
    ],
)
def test_answers_agree_but_for_rounding(got: Any, expected: Any, alike: bool) -> None:
    assert capstone.agree(got, expected) is alike


@LINUX
@pytest.mark.parametrize("name", ["the sender of answers is replaced", "exercises is a link to the reference"])
def test_cheats(name: str) -> None:
    """Two of the catalogue; `python -m grader cheats` tries them all."""
    course = load()
    (cheat,) = [cheat for cheat in cheats.list_cheats(course) if cheat.name == name]
    report, _, found = cheats.attempt(cheat, course)
    assert not found and report.score == 0


def test_the_catalogue_is_sound() -> None:
    course = load()
    listed = cheats.list_cheats(course)
    assert len(listed) >= 60 and len({cheat.name for cheat in listed}) == len(listed)
    written = {course.file_of(module).as_posix() for milestone in course.milestones for module in milestone.modules}
    assert {cheat.module for cheat in listed} <= written
    assert random.choice(listed).path.is_file()


@LINUX
def test_folders_in_folders_are_too_large(tmp_path: Path) -> None:
    assert not is_too_large(tmp_path)
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2500):
        os.mkdir("x", dir_fd=here)
        inside = os.open("x", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inside
    os.close(here)
    assert is_too_large(tmp_path)
    subprocess.run(["rm", "-rf", str(tmp_path / "x")], check=True)


@pytest.mark.parametrize(
    "source, refused",
    [
        ("def k(x):\n    return np.array([abs(x)])\n", ""),
        ("def k(x):\n    def exec(y):\n        return y\n    return exec(h(x))\ndef h(x):\n    return x\n", ""),
        ("def other(eval): pass\ndef k(x):\n    eval('1')\n", "uses eval"),
        ("def k(x):\n    f = lambda exec: exec\n    exec('1')\n", "uses exec"),
        ("def k(x=open('x')): pass\n", "uses open"),
        ("@exec\ndef k(x): pass\n", "uses exec"),
        ("def k(x):\n    __builtins__['eval']('1')\n", "uses __builtins__"),
        ("def k(x):\n    np.load('x', allow_pickle=True)\n", "uses load"),
        ("def k(x):\n    x.tofile('x')\n", "uses tofile"),
        ("def k(x):\n    y = np\n    y.load('x')\n", "np as a value"),
        ("def k(x):\n    np.random.normal(x)\n", "the module random"),
    ],
)
def test_generated_code_reaches_only_what_its_header_imports(source: str, refused: str) -> None:
    names: dict[str, Any] = {}
    exec(running.INSPECT, names)
    header, given = "import numpy as np\n", {"np": numpy, "__builtins__": {}}
    if not refused:
        assert names["inspected"](header + source, header, given)
        return
    with pytest.raises(AssertionError, match=refused):
        names["inspected"](header + source, header, given)
