"""`grader watch` in a real terminal: from a save to its verdict, from task to task."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from grader.course import stubs
from grader.course.curriculum import ROOT, load

pexpect = pytest.importorskip("pexpect", reason="needs a POSIX terminal")

GRADER = "import pathlib, sys, grader.cli; sys.exit(grader.cli.main(sys.argv[1:], pathlib.Path.cwd()))"
READY = "Save to grade"
PATIENCE = 60
SAVE_TO_VERDICT = 1.5  # seconds
PAUSE = 1.0  # between two saves, faster than anyone types
IMPORTS = 0.5  # seconds that the libraries of a grading take on an idle machine


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Milestone 1 of the real course, with nothing solved."""
    parts = ("grader/curriculum", "solutions", "toolbox", "docs", "tests/m01_types", "tests/oracles", "tests/support")
    for part in parts:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "tests/__init__.py", "tests/conftest.py", "tests/checks.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    stubs.write(load(tmp_path))
    return tmp_path


def watch(course: Path, *arguments: str) -> Any:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "PYTHONUTF8": "1"}
    command = ["-c", GRADER, "watch", *arguments]
    return pexpect.spawn(
        sys.executable,
        command,
        cwd=str(course),
        env=environment,
        encoding="utf-8",
        timeout=PATIENCE,
        dimensions=(40, 80),
    )


def slowness() -> float:
    """How many times slower than an idle machine this one is now, at least 1."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import pytest, hypothesis.strategies, numpy"], check=True)
    return max(1.0, (time.monotonic() - started) / IMPORTS)


def solve(course: Path, task: str) -> None:
    """Write the reference's code into one task's stubs, as an editor does: another file, then renamed."""
    for path in (course / "solutions").rglob("*.py"):
        source = stubs.read(path)
        if f"# [task {task}]" in source:
            mine = course / "exercises" / path.relative_to(course / "solutions")
            save(mine, filled(stubs.read(mine), source, task))


def filled(stub: str, source: str, task: str) -> str:
    """The stub with the reference's lines in the task's regions."""
    regions = re.findall(rf"^ *# \[task {re.escape(task)}\].*?^ *# \[end\]\n", source, flags=re.M | re.S)
    holes = list(
        re.finditer(rf"^ *# Task {re.escape(task)}:.*?^ *raise NotImplementedError\(.*?\)\n", stub, re.M | re.S)
    )
    assert len(regions) == len(holes) > 0
    for region, hole in zip(reversed(regions), reversed(holes), strict=True):
        stub = stub[: hole.start()] + region + stub[hole.end() :]
    return stub


def save(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_a_save_is_judged_at_once_and_a_pass_leads_on(course: Path) -> None:
    terminal = watch(course, "m1")
    terminal.expect_exact("1.1 Scalar and pointer types")
    terminal.expect_exact("not started")
    terminal.expect_exact(READY)
    types = course / "exercises" / "mini_triton" / "ir" / "types.py"
    solve(course, "1.1")
    right = types.read_text(encoding="utf-8")
    terminal.expect_exact("1.1 Scalar and pointer types")
    terminal.expect_exact("passed, 1 point")
    terminal.expect_exact("diff 1.1")
    terminal.expect_exact("1.2 Tensor types")
    terminal.expect_exact(READY)
    terminal.sendline("d")
    terminal.expect_exact("exercises/mini_triton/ir/types.py")

    time.sleep(PAUSE)
    seconds = []
    for number in range(5):
        started = time.monotonic()
        save(types, right + f"# {number}\n")
        terminal.expect_exact("Task 1.2")
        seconds.append(time.monotonic() - started)
        terminal.expect_exact(READY)
        time.sleep(PAUSE)
    assert min(seconds) <= SAVE_TO_VERDICT * slowness(), seconds
    terminal.sendline("h")
    terminal.expect_exact("Hint 1 of 3")
    terminal.sendline("q")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 1, "not all points yet"


def test_the_end_of_a_milestone_is_shown(course: Path) -> None:
    shutil.copytree(ROOT / "grader" / "workbench", course / "grader" / "workbench")
    for number in range(1, 7):
        solve(course, f"1.{number}")
    terminal = watch(course, "m1", "--examples", "3")
    tasks = [f"1.{number}" for number in range(1, 7)]
    for shown in (*tasks, "Milestone 1 is complete", "x + 300", "finale 1", "Every task here has passed."):
        terminal.expect_exact(shown)
    terminal.close()
