"""The end of a milestone or a route: a sentence on what the learner's code can do now, and a program that shows it.

Both are in a file of `grader/workbench/finales/`: its docstring is the sentence. Programs of early milestones run
kernels in the interpreter of milestone 6, always the reference's; a copy for learners has it in an archive. The program
of a route runs everything that the learner has written; the reference's code takes the place of each stub that is left.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from traceback import format_exception_only
from types import TracebackType

from grader.child import overlay
from grader.course import stubs
from grader.course.curriculum import ROOT, Curriculum, Milestone, Route
from grader.learner import python
from grader.report.screen import command_lines, routes_lines
from grader.report.terminal import Line, line, safe, wrap

FOLDER = Path("grader", "workbench", "finales")
ARCHIVE = FOLDER / "interpreter.zip"
INTERPRETER = (
    *(f"ir/{name}.py" for name in "described device_assert device_print interpreter moves storage".split()),
    "exact",
)
"""The interpreter's files and folders in the package."""
SECONDS = 60  # the longest time that a program may take
_PLAY = "import pathlib, sys; from grader.cli import main; sys.exit(main(sys.argv[2:], pathlib.Path(sys.argv[1])))"


def file_of(curriculum: Curriculum, end: Milestone | Route) -> Path:
    """The program, which a small course may lack."""
    name = end.directory if isinstance(end, Milestone) else end.finale
    return curriculum.root / FOLDER / f"{name}.py"


def sentence_of(file: Path) -> str:
    """What the learner's code can do, as the program's docstring says."""
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def run(curriculum: Curriculum, milestone: Milestone) -> bool:
    """Run a milestone's program with the learner's code; return whether it ended without an exception."""
    with tempfile.TemporaryDirectory() as folder:
        roots = [curriculum.solutions, curriculum.toolbox]
        if not curriculum.has_solutions and (curriculum.root / ARCHIVE).is_file():
            roots = [Path(folder)]
            zipfile.ZipFile(curriculum.root / ARCHIVE).extractall(folder)
        plan = overlay.plan(curriculum, {milestone.number}, "learner")
        given = {
            module: overlay.Source(file, "reference", milestone.number + 1)
            for root in roots
            for module, file in interpreter(root)
            if module not in plan.sources or plan.sources[module].origin == "stub"
        }
        program = str(file_of(curriculum, milestone))
        return python.execute(curriculum, replace(plan, sources=plan.sources | given), [program], _name_a_stub)


def _name_a_stub(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print an exception that leaves the program: one line if the program has reached a stub."""
    if stub := re.search(r"NotImplementedError: Task (\d+\.\d+)", "".join(format_exception_only(kind, error))):
        print(f"This program needs task {stub[1]}.", file=sys.stderr)
    else:
        sys.excepthook(kind, error, traceback)


def run_route(curriculum: Curriculum, route: Route) -> bool:
    """Run a route's program with all of the learner's code; return whether it ended without an exception."""
    with tempfile.TemporaryDirectory() as folder:
        plan = overlay.plan(curriculum, {milestone.number for milestone in curriculum.milestones}, "learner")
        for module, source in plan.sources.items():
            name = curriculum.file_of(module)
            if (curriculum.solutions / name).is_file() and source.path.is_file():
                written = stubs.read(source.path)
                text = stubs.filled(written, stubs.read(curriculum.solutions / name), curriculum)
                if text != written:
                    file = Path(folder, name)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
                    plan.sources[module] = replace(source, path=file)
        return python.execute(curriculum, plan, [str(file_of(curriculum, route))], _name_a_stub)


def interpreter(root: Path) -> Iterator[tuple[str, Path]]:
    """The interpreter's modules and their files in a tree: the reference, the toolbox or the unpacked archive."""
    for path in (root / "mini_triton" / name for name in INTERPRETER):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file():
            yield ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"), file


def finale_lines(curriculum: Curriculum, end: Milestone | Route) -> Iterator[Line]:
    """The sentence, and what the program prints in a process of its own."""
    file = file_of(curriculum, end)
    if not file.is_file():
        return
    name = str(end.number) if isinstance(end, Milestone) else end.key
    yield line()
    yield line(f"{'Milestone' if isinstance(end, Milestone) else 'Route'} {name} is complete", "bold green")
    yield from (line(text) for text in wrap(sentence_of(file)))
    yield line()
    again = ("finale", name)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PLAY, str(curriculum.root), *again],
            cwd=ROOT,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
        shown = (done.stderr.strip() if done.returncode else done.stdout).splitlines()
        yield from (line(f"  {safe(text)}") for text in (shown[-1:] if done.returncode else shown))
    except subprocess.TimeoutExpired:
        yield line(f"  still running after {SECONDS} seconds")
    yield line()
    yield from command_lines("Again", "-m grader", *again)
    yield from routes_lines(curriculum)
