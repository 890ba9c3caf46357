"""List this machine's software, the judges that it provides, and what to install for others."""

from __future__ import annotations

import ast
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.child import boundary
from grader.course.curriculum import Curriculum
from grader.learner import gpu
from grader.report.screen import command
from grader.report.terminal import Line, Span, line

CORE = ("pytest", "hypothesis", "numpy")  # without which nothing can be graded
_FURTHER = {
    "ml_dtypes": "needed from milestone 5 on: bf16 and fp8 numbers",
    "triton": "needed to pass most tasks of milestones 2 to 5, 9 and 10: it judges your IR",
    "torch": "needed in milestones 8, 11 and 12: it judges your kernels",
    "numba": "needed for some tasks of milestone 10",
    "rich": "optional: colors, clickable paths",
    "watchfiles": "optional: `grader watch`",
}

_MISSING = "missing"


def doctor_lines(curriculum: Curriculum) -> Iterator[Line]:
    """All lines of the report. No large package is imported, so the command is fast."""
    yield line("This machine", "bold")
    yield _fact(
        "Python",
        f"{platform.python_version()}, {sys.executable}",
        sys.version_info >= (3, 11),
        "3.11 or newer is needed",
    )
    yield _fact("platform", f"{platform.system()} {platform.machine()}", True)
    missing = missing_core()
    for name in CORE:
        yield _fact(name, _version(name), name not in missing, "needed")
    for name, purpose in _FURTHER.items():
        yield _fact(name, _version(name), bool(_version(name)), purpose, optional=True)
    on_gpu = list(gpu.facts())
    for fact in on_gpu:
        yield _fact(*fact, optional=True)
    yield line()
    yield line("Judges", "bold")
    yield line(f"  {_tier(all(fact.met for fact in on_gpu))}")
    yield line()
    if curriculum.has_solutions:
        yield from _protections()
    yield line("Your files", "bold")
    yield from _files(curriculum)
    if missing or not all(map(_version, ("ml_dtypes", "triton", "torch"))):
        yield line()
        yield line("To install", "bold")
        yield line("  (if the course's environment is not active, activate it instead)", "dim")
        yield from _installs(missing)


def _protections() -> Iterator[Line]:
    yield line("Protections, for grading other people's work", "bold")
    held = boundary.probe() if sys.platform == "linux" else ()
    otherwise = "not here: grade in a container, see docs/instructors.md"
    for name, meaning in boundary.MEANING.items():
        yield _fact(name, meaning, name in held, otherwise, optional=True)
    yield line()


def missing_core() -> list[str]:
    """The packages that grading needs and this Python lacks."""
    return [name for name in CORE if not _version(name)]


def _fact(name: str, value: str, good: bool, otherwise: str = "", optional: bool = False) -> Line:
    style = "green" if good else "yellow" if optional else "red"
    return [
        Span(f"  {'✓' if good else '–' if optional else '✗'} ", style),
        Span(f"{name:<14}{value or 'not found'}"),
        Span("" if good else f"  ({otherwise})", "dim"),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _tier(gpu_works: bool) -> str:
    triton = _version("triton")
    if not triton:
        return "answers recorded from real Triton; a test without one counts as unavailable"
    if gpu_works:
        return f"real Triton {triton} with its compiler, and the GPU (--device cuda)"
    return f"real Triton {triton}: its parser, verifier, compiler and interpreter; no GPU needed"


def _files(curriculum: Curriculum) -> Iterator[Line]:
    """Lines on exercises/: missing files, and files that are not valid Python."""
    faults = {}
    for module in (module for milestone in curriculum.milestones for module in milestone.modules):
        file = curriculum.exercises / curriculum.file_of(module)
        if fault := _fault(file):
            faults[file.relative_to(curriculum.root)] = fault
    for path, fault in faults.items():
        yield [Span("  ✗ ", "red"), Span(f"{path}: {fault}")]
    if lost := next((path for path, fault in faults.items() if fault == _MISSING), None):
        yield line(f"    {command('-m grader', 'reset', str(lost))} brings a file back", "dim")
    if not faults:
        yield [Span("  ✓ ", "green"), Span("every file in exercises/ exists and parses")]


def _fault(file: Path) -> str:
    if not file.exists():
        return _MISSING
    if not file.is_file():
        return "not a regular file"
    try:
        ast.parse(file.read_text(encoding="utf-8"))
    except SyntaxError as error:
        return f"syntax error in line {error.lineno}: {error.msg}"
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def _installs(missing: list[str]) -> Iterator[Line]:
    pip = command("-m pip", "install", "-c", "constraints.txt")
    if missing:
        yield line(f"  {pip} {' '.join(missing)}", "cyan")
    if not _version("ml_dtypes"):
        yield line(f"  {pip} ml_dtypes", "cyan")
    if not _version("triton"):
        if sys.platform == "linux":
            yield line(f"  {pip} triton", "cyan")
        else:
            yield line("  Triton has wheels only for Linux; here, recorded answers are the judge.", "dim")
            yield line("  On Windows, Triton runs in WSL 2; see docs/setup.md", "dim")
    if not _version("torch"):
        yield line(f"  {pip} torch", "cyan")
