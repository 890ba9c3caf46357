"""The course as learners get it: it works, does not reveal solutions, and can be updated."""

import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader import cli
from grader.child import overlay
from grader.course import markers, stubs
from grader.course.curriculum import load
from grader.parent import runner
from grader.teaching import export
from tests.grader.small_course import Course
from tests.test_chapters import LINK, anchors, prose

# What anybody writes, or what a chapter shows.
IDIOMS = {
    "except (OSError, ValueError) as error:",
    "except FileNotFoundError:",
    "facts = analysis[pointers][axis]",
    "for argument in block.arguments:",
    "for bit, column in enumerate(columns):",
    "for operation in operations:",
    "if (gX == 0 || gY == 0 || gZ == 0)",
    "if isinstance(pattern, Pattern):",
    "if isinstance(pattern, str):",
    "if isinstance(value, str):",
    "if not isinstance(pattern, Pattern):",
    'if type.startswith("*"):',
    "path.parent.mkdir(parents=True, exist_ok=True)",
    "with builder.at_end(block):",
}


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def grade(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "grader", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def solve(copy: Path, number: int) -> None:
    """Write the reference's code for a milestone into a copy's exercises/."""
    curriculum = load()
    files = map(curriculum.file_of, curriculum.milestone(number).modules)
    for file in (file for file in files if not curriculum.is_tool(file)):
        source = stubs.read(curriculum.solutions / file)
        given = [line for line in source.splitlines(keepends=True) if "# [task" not in line and "# [end]" not in line]
        (copy / "exercises" / file).write_text("".join(given), encoding="utf-8")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole course, exported twice."""
    folder = tmp_path_factory.mktemp("export") / "course"
    assert cli.main(["export", str(folder), "--milestones", "0-2"]) == cli.OK
    assert cli.main(["export", str(folder)]) == cli.OK
    return folder


def test_no_line_of_a_solution(exported: Path) -> None:
    """Neither in its files nor in its history."""
    secret = export.secret_lines(load()).keys() - IDIOMS
    assert len(git(exported, "rev-list", "--all").splitlines()) == 2
    listed = git(exported, "rev-list", "--objects", "--all")
    command = ["git", "cat-file", "--batch=%(objecttype) %(objectsize) %(rest)"]
    objects = io.BytesIO(subprocess.run(command, cwd=exported, input=listed.encode(), capture_output=True).stdout)
    read = 0
    while head := objects.readline().decode().rstrip("\n"):
        kind, size, path = head.split(" ", 2)
        text = objects.read(int(size) + 1).decode("utf-8", "replace")
        if kind == "blob":
            read += 1
            assert not {line.strip() for line in text.splitlines()} & secret, f"{path} tells solutions"
    assert read > 500
    names = set(git(exported, "ls-files").splitlines())
    assert not {name for name in names if name.startswith(("solutions", "bench", "tests/grader"))}
    assert not {name for name in names for word in ("mistakes", "alternatives", "mutants", "capstones/", "cheats/")
                if name.startswith(f"tests/{word}")}  # fmt: skip


def test_a_fresh_clone_grades(exported: Path, tmp_path: Path) -> None:
    """Two commands: clone, grade. Then the same with solutions in it."""
    git(tmp_path, "clone", "--quiet", str(exported), "mine")
    mine = tmp_path / "mine"
    code, text = grade(mine, "m1")
    assert code == cli.LOST and "1.1" in text and "not started" in text and "could not run" not in text, text
    assert not git(mine, "status", "--porcelain")
    solve(mine, 1)
    code, text = grade(mine, "m1", "--examples", "5")
    assert code == cli.OK and "14 of 14" in text, text
    code, text = grade(mine, "2.1", "--examples", "5")
    assert code == cli.LOST and "could not run" not in text, text
    code, text = grade(mine, "solution", "1.1")
    assert code == cli.USAGE and "no solutions" in text
    code, text = grade(mine, "reset", "1.1")
    assert code == cli.OK and "back to the stub" in text


def test_kernels_run_before_the_interpreter_is_written(tmp_path: Path) -> None:
    """At the ends of milestones 2 to 5, even in a copy without milestone 6."""
    folder = tmp_path / "course"
    assert cli.main(["export", str(folder), "--milestones", "0-5"]) == cli.OK
    for number in range(6):
        solve(folder, number)
    for number, shown in {2: "1.414213562373095", 3: "1000 of 1000", 4: "16384 numbers", 5: "70 operations"}.items():
        code, text = grade(folder, "finale", str(number))
        assert code == cli.OK and shown in text, text
    code, text = grade(folder, "5.2")
    assert code == cli.OK, f"kernels that tests decorate with @triton.jit compile without the runtime: {text}"
    assert max(file.name for file in (folder / "grader/workbench/finales").glob("m*.py")) == "m05_frontend.py"
    assert not [name for name in git(folder, "ls-files").splitlines() if name.endswith("ir/interpreter.py")]


def test_earlier_milestones_are_the_learners(exported: Path, tmp_path: Path) -> None:
    """Without solutions nobody else has any: for the prompt, a plain pytest, and the grader alike."""
    git(tmp_path, "clone", "--quiet", str(exported), "mine")
    mine = tmp_path / "mine"
    solve(mine, 1)
    file = mine / "try.py"
    file.write_text("from mini_triton.ir.types import FloatType\nprint(FloatType.__module__)\n")
    code, text = grade(mine, "python", "m2", str(file))
    assert code == cli.OK and "mini_triton.ir.types" in text, text
    code, text = grade(mine, "python", "0")
    assert "with your code for milestone 0." in text, text
    course = load(mine)
    for fill in ("learner", "reference"):
        origins = {m: s.origin for m, s in overlay.plan(course, {2}, "learner", fill).sources.items()}
        assert origins["mini_triton.ir.types"] == "learner"
    assert runner.grade(["2.1"], examples=1, curriculum=course).fill == "learner"


def test_nothing_is_offered_that_the_copy_lacks(exported: Path) -> None:
    files = set(git(exported, "ls-files").splitlines())
    project = tomllib.loads((exported / "pyproject.toml").read_text(encoding="utf-8"))
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert any(name.startswith(f"{package}/") for name in files), "what pip installs"
    for page in exported.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "exported" not in text, page
        for module in re.findall(r"python3? -m ([\w.]+)", text):
            path = module.replace(".", "/")
            places = {f"{top}{path}{end}" for top in ("", "exercises/", "toolbox/") for end in (".py", "/__main__.py")}
            assert places & files or module in ("pytest", "pip", "nox", "venv"), f"{page.name} names python -m {module}"
        for session in re.findall(r"nox -s (\w+)", text):
            assert session == "grade", f"{page.name} names nox -s {session}"
        assert "solutions/" not in text, f"{page.name} names solutions/"
    commands = ("grade", "watch", "list", "hint", "python", "finale", "reset")
    for words in (["--help"], *([command, "--help"] for command in commands), ["doctor"], ["list"]):
        code, text = grade(exported, *words)
        assert code == cli.OK
        for word in ("solution", "diff", "instructors", "mutants", "--fill", "--submission", "reference", "route"):
            assert word not in text, f"{words} names {word}"


@pytest.mark.parametrize("milestones", ["0", "0-3", "0-6", "1-8", "0-12"])
def test_a_part_of_the_course_is_complete(milestones: str, tmp_path: Path) -> None:
    """Every link leads to a page and a heading, every import to a module; nothing is from absent milestones."""
    folder = tmp_path / "course"
    assert cli.main(["export", str(folder), "--milestones", milestones]) == cli.OK
    for page in folder.rglob("*.md"):
        for found in LINK.findall(prose(page)):
            target, _, anchor = "".join(found).partition("#")
            if not re.match(r"\w+:", target):
                file = page.parent / target if target else page
                assert file.exists(), f"{page.name} links to {target}"
                assert not anchor or file.suffix != ".md" or anchor in anchors(file), f"{page.name}: #{anchor}"
        for name in re.findall(r"\b(?:docs|exercises|tests)/[\w/]+\.\w+", page.read_text(encoding="utf-8")):
            assert (folder / name).exists(), f"{page.name} names {name}"
    for file in (folder / "tests").rglob("*.py"):
        for name in export.imported(file):
            place = folder / name.replace(".", "/")
            here = [place, place.with_suffix(".py"), place.parent.with_suffix(".py"), place.parent / "__init__.py"]
            assert not name.startswith("tests.") or any(path.exists() for path in here), f"{file} imports {name}"
    servers = {file.stem for file in (folder / "tests/oracles/server").glob("[!_]*.py")}
    clients = {file.stem for file in (folder / "tests/oracles").glob("*.py")}
    assert {"ahead", "hosts", "tuning"} & servers == {"ahead", "hosts", "tuning"} & clients
    read_as_text = {"tests/oracles/by_hand.py": "tests/corpus/kernels/by_hand.py"}
    assert all((folder / text).is_file() for file, text in read_as_text.items() if (folder / file).exists())
    course = load(folder)
    questions = (folder / "docs" / "questions.md").read_text(encoding="utf-8")
    assert {int(number) for number in re.findall(r"^## \[Milestone (\d+)", questions, re.MULTILINE)} == {
        milestone.number for milestone in course.milestones
    }
    written = [file for file in course.exercises.rglob("*.py") if 'raise NotImplementedError("Task' in file.read_text()]
    readme = (folder / "README.md").read_text(encoding="utf-8")
    files = [file for file in map(course.file_of, course.modules) if not course.is_tool(file)]
    assert f"You write in {len(written)} of the {len(files)} Python files" in readme
    assert all(f"](exercises/{file.relative_to(course.exercises).as_posix()})" in readme for file in written)


def test_no_offer_after_a_pass(tiny: Course, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny.root / "out"
    export.export(tiny.curriculum, folder, [1])
    tiny.solve()
    shutil.copytree(tiny.root / "exercises", folder / "exercises", dirs_exist_ok=True)
    cli.main(["1.2"], folder)
    assert "✓ 1.2" in (text := capsys.readouterr().out) and "Compare" not in text and "diff" not in text
    for _ in range(3):
        cli.main(["hint", "1.2"], folder)
    assert "Hint 3" in (text := capsys.readouterr().out) and "diff" not in text and "solution" not in text


def test_an_update_keeps_what_a_learner_wrote(tiny: Course) -> None:
    upstream, mine = tiny.root / "upstream", tiny.root / "mine"
    tiny.write("pyproject.toml", '[project]\nversion = "1.0"\n')
    assert "new repository" in export.export(tiny.curriculum, upstream, [1])
    git(tiny.root, "clone", "--quiet", str(upstream), "mine")
    stub = 'raise NotImplementedError("Task 1.1: Add")'
    file = mine / "exercises" / "tiny" / "number.py"
    file.write_text(file.read_text().replace(stub, "return b + a"))
    git(mine, "commit", "--quiet", "--all", "--message", "mine")

    tiny.edit("tiny/number.py", "# [task 1.1] Add them.", "# [task 1.1] Add both.", tree="solutions")
    tiny.edit("tiny/text.py", '"""Text."""', '"""Text, given."""', tree="solutions")
    tiny.write("pyproject.toml", '[project]\nversion = "1.1"\n')
    assert "updated: Course 1.1" in export.export(tiny.curriculum, upstream, [1])
    assert "up to date" in export.export(tiny.curriculum, upstream, [1])
    git(mine, "pull", "--quiet", "--no-rebase", "--no-edit", "-X", "ours", str(upstream), "main")
    assert "return b + a" in file.read_text() and stub not in file.read_text()
    assert '"""Text, given."""' in (mine / "exercises" / "tiny" / "text.py").read_text()


def test_an_update_without_a_task_keeps_what_a_learner_wrote_for_it(tiny: Course) -> None:
    """Git stops, and the learner ends the merge as the README says."""
    upstream, mine = tiny.root / "upstream", tiny.root / "mine"
    export.export(tiny.curriculum, upstream, [1, 2])
    git(tiny.root, "clone", "--quiet", str(upstream), "mine")
    file = mine / "exercises" / "tiny" / "chain.py"
    file.write_text("solved = 1\n")
    git(mine, "commit", "--quiet", "--all", "--message", "mine")

    export.export(tiny.curriculum, upstream, [1])
    with pytest.raises(AssertionError):
        git(mine, "pull", "--quiet", "--no-rebase", "--no-edit", "-X", "ours", str(upstream), "main")
    readme = " ".join((mine / "README.md").read_text().split())
    assert "modify/delete" in readme and "`git add exercises && git commit --no-edit`" in readme
    git(mine, "add", "exercises")
    git(mine, "commit", "--quiet", "--no-edit")
    assert file.read_text() == "solved = 1\n" and not stubs.check(load(mine), is_learners=True)


def test_points_and_skeleton(tiny: Course) -> None:
    folder = tiny.root / "out"
    export.export(tiny.curriculum.with_points({"1.2": 7}), folder, [1])
    course = load(folder)
    assert [task.points for task in course.tasks] == [2, 7, 1] and not course.has_solutions
    assert [milestone.number for milestone in course.milestones] == [1]
    for module in course.modules:
        source = stubs.read(course.solutions / course.file_of(module))
        assert stubs.stub_text(source, course) == stubs.read(course.exercises / course.file_of(module))
    source = stubs.read(course.solutions / "tiny" / "number.py")
    assert [region.task for region in markers.regions(source)] == ["1.1", "1.2"] and "a + b" not in source
    assert not stubs.check(course)


def test_what_is_refused(tiny: Course, capsys: pytest.CaptureFixture[str]) -> None:
    (tiny.root / "full").mkdir()
    (tiny.root / "full" / "letter").write_text("dear")
    assert cli.main(["export", str(tiny.root / "full")], tiny.root) == cli.USAGE
    assert "neither empty nor an export" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["export", str(tiny.root / "out"), "--milestones", "2"], tiny.root) == cli.USAGE
    assert "built on milestone 1" in " ".join(capsys.readouterr().err.split())


def test_an_update_stays_in_its_folder(tiny: Course, capsys: pytest.CaptureFixture[str]) -> None:
    folder, outside = tiny.root / "out", tiny.root / "outside"
    export.export(tiny.curriculum, folder, [1])
    (outside / "tiny").mkdir(parents=True)
    mine = outside / "tiny" / "number.py"
    mine.write_text("mine")
    shutil.rmtree(folder / "exercises")
    (folder / "exercises").symlink_to(outside)
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(mine)
    export.export(tiny.curriculum, folder, [1])
    assert mine.read_text() == "mine" and (folder / "exercises" / "tiny" / "number.py").is_file()
    listing = folder / export.LISTING
    listing.write_text(listing.read_text().replace('"files": [', '"files": ["../outside/tiny/number.py",'))
    assert cli.main(["export", str(folder), "--milestones", "1"], tiny.root) == cli.USAGE
    assert "not a file of an export" in " ".join(capsys.readouterr().err.split()) and mine.exists()
