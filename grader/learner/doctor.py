"""List this machine's software, the judges that it provides, and what to install for others."""

from __future__ import annotations

import ast
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.child import boundary
from grader.course import stubs
from grader.course.curriculum import Curriculum
from grader.learner import gpu
from grader.report.screen import command, command_lines
from grader.report.terminal import Line, Span, line

CORE = ("pytest", "hypothesis", "numpy")  # without which nothing can be graded
FURTHER = {
    "ml_dtypes": (range(5, 15), "bf16 and fp8 numbers"),
    "triton": ((0, *range(2, 6), 9, 10, 13, 14), "it judges your IR and your layouts"),
    "torch": ((8, *range(11, 15)), "it judges your kernels"),
    "numba": ((10,), "a back end of some tasks"),
}
"""Packages that the tasks of some milestones need, and what for."""
_OPTIONAL = {"rich": "colors, clickable paths", "watchfiles": "`grader watch`"}

_MISSING = "missing"
_COPY = "not used: the course has this module in toolbox/. Move the file away."


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
    needed = needed_packages(curriculum)
    for name, purpose in {**needed, **{name: f"optional: {purpose}" for name, purpose in _OPTIONAL.items()}}.items():
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
    if absent := [*missing, *(name for name in needed if not _version(name))]:
        yield line()
        yield line("To install", "bold")
        yield line("  (if the course's environment is not active, activate it instead)", "dim")
        yield from _installs(absent)


def _protections() -> Iterator[Line]:
    yield line("Protections, for grading other people's work", "bold")
    held = boundary.probe() if sys.platform == "linux" else ()
    otherwise = "not here: grade in a container, see docs/instructors.md"
    for name, meaning in boundary.MEANING.items():
        yield _fact(name, meaning, name in held, otherwise, optional=True)
    yield line()


def needed_packages(curriculum: Curriculum) -> dict[str, str]:
    """The further packages that the course's milestones need, each with these milestones and the purpose."""
    present = {milestone.number for milestone in curriculum.milestones}
    return {
        name: f"needed in milestone{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}: {purpose}"
        for name, (milestones, purpose) in FURTHER.items()
        if (numbers := sorted(present.intersection(milestones)))
    }


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
    """Lines on exercises/: missing files, files that are not valid Python, and copies of the toolbox's modules."""
    faults, untouched, known = {}, 0, stubs.recorded(curriculum.exercises)
    for path in (curriculum.file_of(module) for milestone in curriculum.milestones for module in milestone.modules):
        file = curriculum.exercises / path
        if curriculum.is_tool(path) and file.is_file():
            is_untouched = stubs.digest(stubs.read(file)) == known.get(path.as_posix())
            untouched += is_untouched
            fault = "" if is_untouched else _COPY
        else:
            fault = "" if curriculum.is_tool(path) else _fault(file)
        if fault:
            faults[file.relative_to(curriculum.root)] = fault
    for path, fault in faults.items():
        yield [Span("  ✗ ", "red"), Span(f"{path}: {fault}")]
    if lost := next((path for path, fault in faults.items() if fault == _MISSING), None):
        yield from command_lines("", "-m grader", "reset", str(lost), remark=line("brings a file back", "dim"))
    if untouched:
        yield [
            Span(f"  – {untouched} files in exercises/ are not used: the course has these modules in toolbox/", "dim")
        ]
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
    here = [name for name in missing if name != "triton" or sys.platform == "linux"]
    if here:
        yield line(f"  {command('-m pip', 'install', '-c', 'constraints.txt', *here)}", "cyan")
    if here != missing:
        yield line("  Triton has wheels only for Linux; here, recorded answers are the judge.", "dim")
        yield line("  On Windows, Triton runs in WSL 2; see docs/setup.md", "dim")
