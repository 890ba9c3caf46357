"""The page `play/`: its files, the command line with the same judges, and the page's own code in CPython."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from grader.course import markers, stubs
from grader.course.curriculum import ROOT

SOLUTION = stubs.read(ROOT / "solutions" / "first" / "slice.py")
MISTAKES = tomllib.loads(stubs.read(ROOT / "tests" / "mistakes" / "m00_first.toml"))["mistake"]
_PARENT = "import sys; from grader.page import parent; print(parent.answer(sys.stdin.read()))"
_CHILD = """
import json, sys
from grader.page import child
child.prepare()
lines = []
code = child.run(json.load(sys.stdin), lines.append, lambda seconds: None)
print(json.dumps({"lines": lines, "code": code, "killed": False}))
"""
_WITHOUT_TRITON = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "triton" else find(name, package)
"""
"""A page has no Triton, so the command line must do without it, too."""


def wrong(task: str) -> str:
    """The reference with this task's first mistake of the catalogue, but for slow code: its report varies with load."""
    mistake = next(one for one in MISTAKES if one["task"] == task and "fast" not in one["name"])
    assert mistake["find"] in SOLUTION
    return SOLUTION.replace(mistake["find"], mistake["replace"])


def with_code(task: str, code: str) -> str:
    """The reference with other code in the regions of this task."""
    lines = SOLUTION.splitlines(keepends=True)
    for region in reversed(markers.regions(SOLUTION)):
        if region.task == task:
            lines[region.code.start - 1 : region.code.stop - 1] = [f"{region.indent}{code}\n"]
    return "".join(lines)


def hanging(task: str) -> str:
    """The reference with an endless loop in this task."""
    return with_code(task, "while True: pass")


class Course:
    """A learner's copy of the course, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        hook = folder / ".hook"
        hook.mkdir()
        (hook / "sitecustomize.py").write_text(_WITHOUT_TRITON)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = os.environ | {"PYTHONPATH": str(hook), "PATH": path, "PYTHONHASHSEED": "0"}
        self.environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONIOENCODING": "utf-8"}

    def write(self, text: str) -> None:
        """Save the learner's file, and forget the progress so far."""
        (self.folder / "exercises" / "first" / "slice.py").write_text(text, encoding="utf-8")
        (self.folder / ".kata" / "progress.db").unlink(missing_ok=True)

    def command_line(self, text: str, task: str) -> str:
        """The report of `python -m grader`."""
        self.write(text)
        return plain(self._python("-m", "grader", "grade", task))

    def page(self, text: str, task: str) -> str:
        """The report of the page's code, run in this Python."""
        self.write(text)
        records: list[dict[str, Any]] = []
        while True:
            question = json.dumps({"arguments": ["grade", task], "records": records})
            answer = json.loads(self._python("-c", _PARENT, text=question))
            if "process" not in answer:
                return plain(answer["output"])
            records.append(json.loads(self._python("-c", _CHILD, text=json.dumps(answer["process"]))))

    def _python(self, *arguments: str, text: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if "grader" in arguments else None,
            encoding="utf-8",
            timeout=120,
        )
        return done.stdout


def plain(report: str) -> str:
    """A report without the seconds that it took."""
    return re.sub(r"in \d+\.\d s|\d+\.\d ms", "in … s", report).strip()
