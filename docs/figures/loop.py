"""The learner's loop, as a terminal shows it: a wrong solution of a task is graded, and the screen is drawn."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.figures.drawing import Drawing, figure

ROOT = Path(__file__).resolve().parent.parent.parent
SIZE = 12
WRONG = """    length = max(len(lhs), len(rhs))
    lhs, rhs = (shape + (1,) * (length - len(shape)) for shape in (lhs, rhs))
    return tuple(max(pair) for pair in zip(lhs, rhs))
"""
"""Aligned on the wrong side: a mistake that learners make."""


@figure
def grading() -> Drawing:
    """What `python -m grader grade 1.3` prints about a wrong solution."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("exercises", "grader", "tests", "docs", "solutions", "toolbox", "pyproject.toml"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__", "images"))
            else:
                shutil.copy(ROOT / name, folder)
        types = Path("mini_triton", "ir", "types.py")
        solution = (ROOT / "solutions" / types).read_text(encoding="utf-8")
        marked = re.sub(r"    # \[task 1\.3\].*?    # \[end\]\n", WRONG, solution, flags=re.S)
        Path(folder, "exercises", types).write_text(marked, encoding="utf-8")
        command = [sys.executable, "-m", "grader", "grade", "1.3", "--seed", "1"]
        environment = os.environ | {"COLUMNS": "78", "NO_COLOR": "1"}
        text = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout
    text = text.replace(sys.executable, "python")
    lines = [line.rstrip() for line in re.sub(r"in \d+\.\d s", "in 1.2 s", text).splitlines()]
    shown = ["$ python -m grader grade 1.3", *lines]
    width = max(map(len, shown)) * 0.602 * SIZE + 24
    alt = (
        "A terminal shows a wrong solution of task 1.3: its smallest failing case, the line at fault, the next command"
    )
    d = Drawing(len(shown) * 18 + 20, alt, width)
    for number, line in enumerate(shown):
        color = "orange" if "✗" in line else "green" if "✓" in line or number == 0 else "ink"
        if line:
            d.text(12, 22 + number * 18, line, color, SIZE, mono=True)
    return d
