"""A class: submissions in a folder, results that survive an interruption, and files made from the reports."""

import csv
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from grader import cli
from grader.course import stubs
from grader.course.curriculum import ROOT
from grader.report import shrink
from grader.report.verdicts import Report, Verdict
from grader.teaching import classroom, gradebook, platforms, roster
from tests.grader.small_course import Course, report, result

CAPSTONE = """
from tests.capstones import ask
def questions(random):
    a = random.randrange(999)
    yield ask("1.1", "a sum", "from tiny.number import add\\nresult = add(A, 2)", A=a)
    yield ask("1.2", "a double", "from tiny.number import double\\nresult = double(A)", A=a)
    yield ask("1.3", "a shout", "from tiny.text import shout\\nresult = shout('x' * A)", A=a % 9)
"""
OPTIONS = ["--milestones", "1", "--examples", "5", "--jobs", "2", "--csv"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="submissions are graded on POSIX systems")


@pytest.fixture
def course(solved: Course) -> Course:
    """The small course, with a capstone, and a folder of submissions."""
    solved.write("tests/capstones/m01_numbers.py", CAPSTONE)
    (solved.root / "class").mkdir()
    return solved


def hand_in(course: Course, name: str, old: str = "", new: str = "") -> Path:
    """A submission: the solution, with a passage replaced."""
    folder = course.root / "class" / name
    shutil.copytree(course.root / "exercises", folder)
    file = folder / "tiny" / "number.py"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new) if old else file.read_text(encoding="utf-8"))
    return folder


def grade(course: Course, *options: str) -> int:
    return cli.main(["class", str(course.root / "class"), *OPTIONS, *options], course.root)


def scores(course: Course) -> dict[str, str]:
    text = (course.root / "class-results" / "gradebook.csv").read_text(encoding="utf-8")
    return {row["submission"]: row["score"] for row in csv.DictReader(text.splitlines())}


# --- a whole class


@POSIX
def test_one_command_grades_all(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    perfect = hand_in(course, "anna")
    hand_in(course, "Ünï cødé 学生 (1)")
    hand_in(course, "syntax", "return a + b", "return a +")
    hand_in(course, "wrong", "return 2 * a", "return 3 * a")
    hand_in(course, "=forged()", "return 2 * a", "return 2 * a if 'pytest' in __import__('sys').modules else 0")
    crlf = hand_in(course, "crlf") / "tiny" / "number.py"
    crlf.write_bytes(b"\xef\xbb\xbf" + crlf.read_bytes().replace(b"\n", b"\r\n"))
    with tarfile.open(course.root / "class" / "tar.tar.gz", "w:gz") as tar:
        tar.add(perfect, "fork-main/exercises")
    with zipfile.ZipFile(course.root / "class" / "part.zip", "w") as archive:
        archive.write(perfect / "tiny" / "text.py", "tiny/text.py")
    (course.root / "class" / "empty").mkdir()
    (course.root / "class" / "notes.txt").write_text("see my mail")
    assert grade(course, "--html", "--gradescope", "--classroom50", "--junit") == cli.OK
    assert scores(course) == {
        **{"anna": "4", "Ünï cødé 学生 (1)": "4", "crlf": "4", "tar.tar.gz": "4"},
        **{"syntax": "1", "wrong": "3", "'=forged()": "3", "part.zip": "1", "empty": "0", "notes.txt": "0"},
    }
    results = course.root / "class-results"
    page = (results / "gradebook.html").read_text(encoding="utf-8")
    assert "unconfirmed: asked from outside for a double" in page and "holds no module of the course" in page
    assert "<script" not in page.partition("</table>")[0]
    text = (results / "learners" / "wrong" / "feedback.md").read_text(encoding="utf-8")
    assert "3 of 4 points" in text and "test_double" in text and "test_1_1" not in text
    assert json.loads((results / "learners" / "tar" / "results.json").read_text())["score"] == 4
    assert json.loads((results / "learners" / "tar" / "result.json").read_text())["max-score"] == 4
    suites = ET.parse(results / "learners" / "wrong" / "report.xml").getroot()
    points = [entry.attrib["value"] for entry in suites.iter("property") if entry.attrib["name"] == "points"]
    assert sum(map(int, points)) == 3 and len(points) == 3
    for file in results.rglob("re*"):
        assert file.stat().st_size <= shrink.LIMIT


@POSIX
def test_graded_submissions_are_not_graded_again(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "anna")
    changed = hand_in(course, "bert")
    assert grade(course) == cli.OK
    before = (course.root / "class-results" / "learners" / "anna" / "report.json").read_bytes()
    file = changed / "tiny" / "number.py"
    file.write_text(file.read_text().replace("return 2 * a", "return a"))
    capsys.readouterr()
    assert grade(course) == cli.OK
    assert "1 of 2 are graded already" in capsys.readouterr().out
    assert scores(course) == {"anna": "4", "bert": "3"}
    assert (course.root / "class-results" / "learners" / "anna" / "report.json").read_bytes() == before
    (one,) = [one for one in roster.find(course.root / "class") if one.name == "bert"]
    assert [entry["score"] for entry in classroom.history(course.root / "class-results", one)] == [4, 3]
    course.write("tests/m01_numbers/test_1_3_shout.py", "def test_other(): pass")  # another course asks again
    assert grade(course) == cli.OK
    assert "graded already" not in capsys.readouterr().out


def start(course: Course) -> subprocess.Popen[bytes]:
    """Grade the class in a process of its own."""
    arguments = ["class", str(course.root / "class"), *OPTIONS]
    run = f"cli.main({arguments}, Path({str(course.root)!r}))"
    heed = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell's background jobs ignore it
    script = f"import signal; from pathlib import Path; from grader import cli; {heed}; exit({run})"
    command, environment = [sys.executable, "-c", script], os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@POSIX
def test_killed_and_resumed(course: Course) -> None:
    for number in range(4):
        hand_in(course, f"learner{number}")
    process = start(course)
    results = course.root / "class-results"
    until = time.monotonic() + 120
    while not list(results.glob("learners/*/report.json")) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = {file: file.read_bytes() for file in results.glob("learners/*/report.json")}
    assert done
    assert grade(course) == cli.OK
    assert scores(course) == {f"learner{number}": "4" for number in range(4)}
    assert all(file.read_bytes() == data for file, data in done.items())


@POSIX
def test_ctrl_c_ends_a_submission_that_hangs(course: Course) -> None:
    hand_in(course, "hangs", "return a + b", "return a + b\n\n\nwhile True: pass")
    process = start(course)
    time.sleep(3)  # in the endless loop, or on the way to it
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=8) == cli.BROKEN


@POSIX
@pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="needs distributed")
def test_on_a_cluster(course: Course) -> None:
    """Its workers are started where the grader cannot be imported."""
    hand_in(course, "anna")
    hand_in(course, "wrong", "return 2 * a", "return 3 * a")
    (course.root / "class" / "empty").mkdir()
    script = """
from distributed import LocalCluster
with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
    print(cluster.scheduler_address, flush=True)
    __import__('sys').stdin.read()
"""
    command, pipe = [sys.executable, "-I", "-c", script], subprocess.PIPE
    with subprocess.Popen(command, cwd=course.root, stdin=pipe, stdout=pipe, text=True) as cluster:
        assert cluster.stdin and cluster.stdout
        try:
            assert grade(course, "--dask", cluster.stdout.readline().strip()) == cli.OK
        finally:
            cluster.stdin.close()
    assert scores(course) == {"anna": "4", "wrong": "3", "empty": "0"}


@POSIX
def test_other_points_roster_and_deadline(course: Course) -> None:
    folder = hand_in(course, "kata-Anna")
    points = course.write("points.toml", '"1.1" = 10\n')
    learners = course.write("roster.csv", "login,name\nanna,Anna Á.\nbert,Bert\n")
    for file in folder.rglob("*.py"):
        os.utime(file, (1_800_000_000, 1_800_000_000))
    when = datetime.fromtimestamp(1_800_000_000 - 7260, UTC).isoformat()
    assert grade(course, "--points", str(points), "--roster", str(learners), "--deadline", when) == cli.OK
    text = (course.root / "class-results" / "gradebook.csv").read_text(encoding="utf-8")
    anna, bert = csv.DictReader(text.splitlines())
    assert (anna["name"], anna["score"], anna["1.1"], anna["late"]) == ("Anna Á.", "12", "10", "2 h 1 min late")
    assert (bert["name"], bert["score"], bert["state"]) == ("Bert", "0", "nothing handed in")


@pytest.mark.parametrize(
    "options, said",
    [
        (["--milestones", "9"], "There is no milestone 9"),
        (["--milestones", "one"], "--milestones takes numbers"),
        (["--roster", "/nowhere"], "cannot be read"),
        (["--milestones", "2-1"], "--milestones takes numbers such as 1-5 or 0,1,4, not '2-1'"),
        (["--deadline", "tomorrow"], "--deadline takes a time such as 2026-11-22 18:00, not 'tomorrow'"),
        (["--points", "/nowhere"], "cannot be read"),
    ],
)
def test_wrong_options(course: Course, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["class", str(course.root / "class"), *options], course.root) == cli.USAGE
    assert said in capsys.readouterr().err


# --- old stubs


@POSIX
def test_old_stubs_are_brought_up_to_date(course: Course) -> None:
    """A learner began with another version of the course: what they have not touched becomes today's."""
    folder = hand_in(course, "anna")
    old = "def renamed(): pass\n"
    (folder / "tiny" / "text.py").write_text(old)
    manifest = stubs.recorded(folder) | {"tiny/text.py": stubs.digest(old), "tiny/number.py": "0" * 64}
    (folder / stubs.MANIFEST).write_text("".join(f"{digest}  {name}\n" for name, digest in manifest.items()))
    assert grade(course) == cli.OK
    data = json.loads((course.root / "class-results" / "learners" / "anna" / "report.json").read_text())
    assert [task["verdict"] for task in data["milestones"][0]["tasks"]] == ["pass", "pass", "not_implemented"]
    assert data["submission"]["outdated"] == ["tiny/number.py"]
    text = (course.root / "class-results" / "learners" / "anna" / "feedback.md").read_text()
    assert "a different version of the course: `tiny/number.py`" in text and "git pull" in text


# --- parts


def test_submissions_are_found_by_odd_names(tmp_path: Path) -> None:
    for name in ("a.zip", "a.tar.gz", "b", ".hidden", "c.TGZ", "d.v2.tar.xz", "CON?"):
        (tmp_path / name).write_text("")
    found = {one.name: one.folder for one in roster.find(tmp_path, [tmp_path / "b"])}
    names = {"a.tar.gz": "a.tar.gz", "a.zip": "a.zip", "c": "c", "d.v2": "d.v2", "CON?": "CON_"}
    assert found == {name: f"learners/{folder}" for name, folder in names.items()}


@POSIX
def test_nobody_gets_another_learners_folder(tmp_path: Path) -> None:
    names = ["alice", "alice. ", " alice", "Alice", "a_b", "a:b", "a\\b", "a\x1bb", "gradebook.csv", "..x"]
    for name in (*names, *(f"a_b-{hashlib.sha256(name.encode()).hexdigest()[:8]}" for name in names)):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / os.fsdecode(b"not \xff UTF-8")).mkdir()
    found = roster.find(tmp_path)
    assert len(found) == len(list(tmp_path.iterdir())) - 1  # "..x" is hidden
    assert len({one.folder.casefold() for one in found}) == len(found)
    assert all(Path(one.folder).parent == Path("learners") for one in found)
    assert {one.path.name: one.folder for one in found}["a_b"] == "learners/a_b"
    assert all(one.name.isprintable() for one in found)


@pytest.mark.parametrize(
    "names, owners",
    [
        (["alice", "mallory-alice"], {"alice": "alice"}),
        (["hw1-alice", "hw1-bob", "mallory-alice"], {"hw1-alice": "alice", "hw1-bob": "bob"}),
        (["alice_1_work", "bob_2_work"], {"alice_1_work": "alice", "bob_2_work": "bob"}),
        (["x-alice", "y-alice", "BOB"], {"BOB": "bob"}),
    ],
)
def test_a_learner_has_one_submission(names: list[str], owners: dict[str, str]) -> None:
    learners = [roster.Learner("alice", "Alice A."), roster.Learner("bob", "Bob B.")]
    handed = [roster.Handed(name, Path(name), datetime.now(UTC), name) for name in names]
    assert {folder: learner.key for folder, learner in roster.match(learners, handed).items()} == owners


@POSIX
def test_a_strange_submission_stops_nobody(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "anna")
    hand_in(course, os.fsdecode(b"not \xff UTF-8"))
    hand_in(course, "\x1b[2Jclear\n=1+1", "return a + b", "raise ValueError('\\x1b[2J\\ud800\\0')")
    hand_in(course, "gradebook.csv")
    here = os.open(hand_in(course, "deep") / "tiny", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("x", dir_fd=here)
        inside = os.open("x", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inside
    os.close(here)
    try:
        assert grade(course, "--html") == cli.OK
        assert scores(course) == {
            **{"anna": "4", "not \\udcff UTF-8": "4", "gradebook.csv": "4"},
            **{"\\x1b[2Jclear\\n=1+1": "2", "deep": "0"},
        }
        texts = [file.read_text() for file in (course.root / "class-results").rglob("*") if file.is_file()]
        assert not any(character in text for text in [*texts, capsys.readouterr().out] for character in "\x1b\0\r")
    finally:
        subprocess.run(["rm", "-rf", str(course.root / "class" / "deep")], check=True)


def test_a_roster_needs_a_header(tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_text("anna\nbert\n")
    with pytest.raises(roster.BadRoster, match="needs a header"):
        roster.read(file)


def long_report() -> dict[str, Any]:
    """A report on much more than fits."""
    lost = [result("1.1", Verdict.FAIL, "é" * 5000, f"lost{i}") for i in range(99)]
    passed = [result("1.1", Verdict.PASS, name=f"passed{i}") for i in range(999)]
    whole = report(("1.1", [*passed, *lost]), ("1.2", [result("1.2", Verdict.PASS)]))
    return whole.to_json()


def test_reports_fit() -> None:
    whole = long_report()
    small = shrink.shrink(whole)
    assert len(shrink.to_text(small).encode()) <= shrink.LIMIT < len(shrink.to_text(whole).encode())
    first, second = small["milestones"][0]["tasks"]
    assert first["number_of_tests"] == 1098 and first["tests"][0]["verdict"] == "fail" and not second["tests"]
    again = Report.from_json(small)
    assert [task.verdict for task in again.milestones[0].tasks] == [Verdict.FAIL, Verdict.PASS]
    assert again.score == 1
    fits = report(("1.1", [result("1.1", Verdict.FAIL, "why")])).to_json()
    assert shrink.shrink(fits) == fits


def test_platforms() -> None:
    data = report(("1.1", [result("1.1", Verdict.PASS)]), ("1.2", [result("1.2", Verdict.FAIL, "why")])).to_json()
    scope = platforms.to_gradescope(data)
    assert scope["score"] == 2 and [test["score"] for test in scope["tests"]] == [2, 0]
    assert "why" in scope["tests"][1]["output"] and scope["tests"][1]["status"] == "failed"
    fifty = platforms.to_classroom50(data, "anna")
    assert fifty["schema"] == "classroom50/result/v1" and fifty["score"] == 2 and fifty["max-score"] == 3
    assert [test["passed"] for test in fifty["tests"]] == [True, False]
    assert datetime.fromisoformat(fifty["datetime"]).utcoffset() is not None and fifty["datetime"].endswith("Z")


def test_what_learners_write_stays_text() -> None:
    """Neither a page nor a spreadsheet runs it."""
    evil = "<script>alert(1)</script>"
    data = report(("1.1", [result("1.1", Verdict.FAIL, f"```\n{evil}")])).to_json()
    data["submission"] = {"refused": "", "missing_protections": [], "look_here": [evil], "left_out": [], "files": 1}
    data["submission"] |= {"sha256": "", "outdated": []}
    row = gradebook.Row(f"={evil}", evil, "x", report=data)
    page = gradebook.to_html([row], [("1.1", "Add")], "Class")
    assert evil not in page and page.count("&lt;script&gt;") >= 3
    assert "\n'=<script>" in gradebook.to_csv([row], ["1.1"])
    for name in ("\r=1+1", "x\r=1+1", " =1+1", "\n=1+1", "\t@x", "\x00=1"):
        lines = gradebook.to_csv([gradebook.Row(name, name, "x", report=data)], ["1.1"]).splitlines()
        assert len(lines) == 2 and not lines[1].lstrip('"').startswith(("=", "@"))
