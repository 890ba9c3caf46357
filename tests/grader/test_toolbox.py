"""Given modules stand once, in the toolbox: for the reference, for every learner, and for who installs the package."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.child import overlay
from grader.course import markers, stubs, workspace
from grader.course.curriculum import ROOT, load
from grader.learner import doctor
from grader.parent import submissions
from grader.report.verdicts import Verdict
from grader.teaching import export
from grader.upkeep.check import check
from tests.grader.small_course import Course

TOOL = "tiny/tool.py"
COPY = f"exercises/{TOOL}"


@pytest.fixture
def equipped(tiny: Course) -> Course:
    """A course whose second milestone uses a module of the toolbox, and whose learner still has a copy of it."""
    tiny.write(f"toolbox/{TOOL}", "def start() -> int:\n    return 0\n")
    tiny.edit("grader/curriculum/m02_chains.toml", '"tiny.chain"', '"tiny.chain", "tiny.tool"', tree=".")
    head = "from tiny.number import add\n"
    tiny.edit("tiny/chain.py", head, f"{head}from tiny.tool import start\n", tree="solutions")
    tiny.edit("tiny/chain.py", "result = 0", "result = start()", tree="solutions")
    (tiny.root / f"toolbox/{TOOL}").rename(tiny.root / f"solutions/{TOOL}")
    stubs.write(tiny.curriculum)
    (tiny.root / f"solutions/{TOOL}").rename(tiny.root / f"toolbox/{TOOL}")
    assert (tiny.root / COPY).is_file()
    return tiny


def test_no_task_is_in_it(equipped: Course) -> None:
    """A marker in the toolbox is an error, because every learner could read the solution."""
    course = load()
    files = [file for file in map(course.file_of, course.modules) if course.is_tool(file)]
    assert len(files) > 100
    assert not [file for file in files if markers.regions(stubs.read(course.toolbox / file))]
    equipped.write(f"toolbox/{TOOL}", "def start():\n    # [task 2.1] Begin.\n    return 0\n    # [end]\n")
    assert any("Nobody writes in the toolbox" in problem.text for problem in check(equipped.curriculum))


def test_a_module_has_one_file(equipped: Course) -> None:
    equipped.write(f"solutions/{TOOL}", "")
    assert any("tiny.tool has two files" in problem.text for problem in check(equipped.curriculum))
    course = load()
    assert not [
        file for file in course.toolbox.rglob("*.py") if (course.solutions / file.relative_to(course.toolbox)).exists()
    ]
    assert not [
        file for file in course.toolbox.rglob("*.py") if (course.exercises / file.relative_to(course.toolbox)).exists()
    ]


@pytest.mark.parametrize("impl", ["learner", "reference"])
def test_everybody_gets_the_same_module(impl: overlay.Impl, equipped: Course) -> None:
    """Even a learner with a copy, which an earlier version of the course had put there."""
    equipped.solve()
    equipped.write(COPY, "raise SystemExit\n")
    sources = overlay.plan(equipped.curriculum, {2}, impl).sources
    assert sources["tiny.tool"] == overlay.Source(equipped.root / "toolbox" / TOOL, "toolbox", 2)
    assert equipped.grade(2, impl=impl, examples=1)["test_nothing"].verdict is Verdict.PASS
    (origin,) = [
        origin for origin in overlay.plan(equipped.curriculum, {2}, impl).provenance() if "tool" in origin.name
    ]
    assert origin.origin == "toolbox" and origin.path == f"toolbox/{TOOL}"


def test_an_untouched_copy_goes(equipped: Course) -> None:
    assert [problem.path.name for problem in stubs.check(equipped.curriculum)] == ["tool.py"]
    assert equipped.root / COPY in stubs.write(equipped.curriculum)
    assert not (equipped.root / COPY).exists() and stubs.check(equipped.curriculum) == []
    workspace.reset(equipped.curriculum, equipped.curriculum.tasks)
    assert not (equipped.root / COPY).exists()


def test_an_edited_copy_is_kept(equipped: Course) -> None:
    """It stays where it is; `doctor` says that it is not used."""
    mine = "def start():\n    return 1\n"
    equipped.write(COPY, mine)
    stubs.write(equipped.curriculum, force=True)
    assert (equipped.root / COPY).read_text() == mine
    lines = ["".join(span.text for span in line) for line in doctor.doctor_lines(equipped.curriculum)]
    assert any(f"{COPY}: not used: the course has this module in toolbox/" in text for text in lines)


def test_a_submission_cannot_replace_it(equipped: Course) -> None:
    equipped.solve()
    equipped.write(COPY, "raise SystemExit\n")
    report = submissions.grade(
        ["2.1"], equipped.root / "exercises", equipped.curriculum, fill="reference", device="cpu", seed=1, examples=1
    )
    assert [module.path for module in report.modules if module.name == "tiny.tool"] == [f"toolbox/{TOOL}"]
    (task,) = report.milestones[0].tasks
    assert {test.verdict for test in task.tests if test.name.endswith("test_nothing")} == {Verdict.PASS}


def test_an_export_has_one_copy(equipped: Course) -> None:
    folder = equipped.root / "out"
    export.export(equipped.curriculum, folder, [1])
    assert not [*folder.rglob("tool.py")], "it belongs to a milestone that is not exported"
    export.export(equipped.curriculum, folder, [1, 2])
    assert [*folder.rglob("tool.py")] == [folder / "toolbox" / TOOL]
    assert not stubs.check(load(folder))
    assert cli.main(["grade", "2", "--json", str(folder / "report.json")], folder) == cli.LOST
    assert "not_implemented" in (folder / "report.json").read_text()


@pytest.mark.parametrize("tree", ["exercises", "solutions"])
def test_python_finds_it_without_the_grader(tree: str, tmp_path: Path) -> None:
    """In any folder, with only this tree in Python's path."""
    script = """
import importlib.util
for name in ("mini_triton.ir.parser", "mini_triton.ir.parser.lexer", "mini_triton.codegen.numba_gen.rows",
             "mini_triton.compiler.errors", "kernels.fast.attention", "mini_triton.ir.types", "mini_triton.codegen"):
    print(name, importlib.util.find_spec(name).origin)
import mini_triton
assert all(mini_triton.__getattr__(name) is getattr(mini_triton, name) for name in mini_triton.MODULES)
from mini_triton.compat.toolbox import source_files
print(*source_files(), sep="\\n")
"""
    variables = {"PYTHONPATH": str(ROOT / tree), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    found, files = done.stdout.splitlines()[:7], done.stdout.splitlines()[7:]
    origins = {
        name: Path(path).relative_to(ROOT).parts[0]
        for name, path in (text.split() for text in found if "errors" not in text)
    }
    here = {"mini_triton.ir.types", "mini_triton.codegen"}
    assert origins == {name: tree if name in here else "toolbox" for name in origins}
    every = [ROOT / top / "mini_triton" for top in (tree, "toolbox")]
    assert sorted(files) == sorted(str(file) for top in every for file in top.rglob("*.py"))


def test_maps_name_every_package() -> None:
    text = (ROOT / "solutions/mini_triton/__init__.py").read_text(encoding="utf-8")
    packages = [file.parent.name for file in (ROOT / "solutions/mini_triton").glob("*/__init__.py")]
    assert [name for name in packages if f"\n    {name}/ " not in text] == []
    text = (ROOT / "toolbox/README.md").read_text(encoding="utf-8")
    folders = {
        file.parent.relative_to(ROOT / "toolbox/mini_triton") for file in (ROOT / "toolbox/mini_triton").rglob("*.py")
    }
    # A folder without a row is in its parent's.
    listed = {name for name in map(Path, re.findall(r"(?m)^\| `([\w/]+)/`", text))}
    assert listed <= folders
    missing = [folder for folder in folders - listed - {Path()} if folder.parent not in listed]
    assert missing == []
