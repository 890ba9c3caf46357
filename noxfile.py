"""The project's commands: `nox -l` lists them. All but gpu share one environment, made once."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nox

if sys.version_info < (3, 11):  # noqa: UP036 (older ones get here, too)
    sys.exit("Python 3.11 or newer is needed: install nox there, and run it as `python3.11 -m nox`.")

logging.getLogger("nox").addFilter(lambda record: "uv binary" not in record.msg)  # the course does not use uv
nox.options.default_venv_backend = "none"  # the sessions share ENVIRONMENT; nox would make one for each
nox.options.sessions = ["grade"]

ENVIRONMENT = Path(".nox", f"kata-{sys.version_info.major}.{sys.version_info.minor}")
PYTHON = str(ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
JUDGES = {"triton": 0, "torch": 8, "numba": 10}  # extras, and the milestones from which on they judge
WITHOUT_JUDGES = ("list", "follow", "hint", "diff", "solution", "reset", "doctor")
"""Commands that run no code of the learner."""
MANIFESTS = (Path("pyproject.toml"), Path("constraints.txt"))


def install(session: nox.Session, *extras: str) -> None:
    """Install what the course needs and some extras, unless the same were installed here before."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in MANIFESTS)).hexdigest()
    names = ["course", *extras]
    stamp = ENVIRONMENT / f"installed-{'-'.join(names)}"
    if stamp.exists() and stamp.read_text() == digest:
        return
    session.log(f"Installing {', '.join(names)}. This happens once; later runs start at once.")
    if not Path(PYTHON).exists():
        session.run(sys.executable, "-m", "virtualenv", "--quiet", str(ENVIRONMENT))
    session.run(PYTHON, "-m", "pip", "install", "--quiet", "-c", "constraints.txt", *requirements(names))
    stamp.write_text(digest)


def requirements(extras: list[str]) -> list[str]:
    """The project's dependencies and those of some extras. The project itself is not installed: it runs from here."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    return [*project["dependencies"], *(name for extra in extras for name in project["optional-dependencies"][extra])]


@nox.session
def grade(session: nox.Session) -> None:
    """Grade the learner's code: nox -s grade -- milestone1, or nox -s grade -- watch."""
    install(session, *judges(session.posargs))
    if code := subprocess.call([PYTHON, "-m", "grader", *session.posargs]):
        sys.exit(code)  # the grader's own exit code; nox would report lost points as a failed session


def judges(targets: list[str]) -> list[str]:
    """The extras that judge these. The first verdicts must not wait for large downloads."""
    names: dict[str, int] = {}  # "13" and "threads": 13
    for path in Path("grader", "curriculum").glob("m*_*.toml"):
        number, key = path.stem[1:].split("_", 1)
        names |= {str(int(number)): int(number), key: int(number)}
    found = (re.fullmatch(r"(?:milestone|m)?(\d+)(?:\.\d+)?|(\w+)", target) for target in targets)
    last = max((names.get(match[1] or match[2], 0) for match in found if match), default=0)
    if "all" in targets:
        last = max(JUDGES.values())
    if targets[:1] and targets[0] in WITHOUT_JUDGES:
        last = 0
    return [extra for extra, first in JUDGES.items() if first <= last]


@nox.session
def tests(session: nox.Session) -> None:
    """Test everything: the reference, the stubs, tasks in order, right solutions written differently, wrong ones."""
    install(session, "triton", "torch", "numba", "tests", "cluster", "browser", "terminal", "plots", "docs")
    keep_answers(session)
    parallel = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]  # in the order of `grader.child.plugin`
    options = [*parallel, "--pace", "--impl", "reference", "--examples", "20"]
    session.run(PYTHON, "-m", "pytest", "tests", *options, *session.posargs)
    session.run(PYTHON, "-m", "grader", "order", "--examples", "5", "--sample", "12")
    session.run(PYTHON, "-m", "grader", "alternatives", "--examples", "5")
    session.run(PYTHON, "-m", "grader", "mistakes", "--sample", "20", "--trust")
    session.run(PYTHON, "-m", "grader", "mutants", "--sample", "30", "--trust")


def keep_answers(session: nox.Session) -> None:
    """Let the processes of this session share real Triton's answers."""
    folder = tempfile.mkdtemp(prefix="kata-answers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    session.env["KATA_ANSWERS"] = folder


@nox.session
def mistakes(session: nox.Session) -> None:
    """Try tasks in order, right solutions, wrong ones and many mutants, which takes a while: nox -s mistakes -- m5."""
    install(session, "triton", "torch", "numba")
    keep_answers(session)
    session.run(PYTHON, "-m", "grader", "order", *session.posargs)
    session.run(PYTHON, "-m", "grader", "order", "--route", "half", *session.posargs)
    session.run(PYTHON, "-m", "grader", "alternatives", *session.posargs)
    session.run(PYTHON, "-m", "grader", "mistakes", *session.posargs)
    session.run(PYTHON, "-m", "grader", "mutants", "--sample", "600", "--trust", *session.posargs)
    session.run(PYTHON, "-m", "grader", "cheats")
    session.run(PYTHON, "-m", "grader", "grade", "all", "--submission", "solutions")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types."""
    install(session, "dev")
    session.run(PYTHON, "-m", "ruff", "check", ".")
    session.run(PYTHON, "-m", "mypy", "--num-workers", "2")


@nox.session
def stubs(session: nox.Session) -> None:
    """Generate exercises/ from solutions/: nox -s stubs, or nox -s stubs -- --check."""
    install(session)
    session.run(PYTHON, "-m", "grader", "stubs", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Make a site of the chapters in .nox/site/: nox -s docs, or nox -s docs -- serve."""
    install(session, "docs")
    arguments = session.posargs or ["build", "--strict", "--quiet"]
    session.run(PYTHON, "-m", "mkdocs", *arguments, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def bench(session: nox.Session) -> None:
    """Time front end and back end beside real Triton's: nox -s bench, or nox -s bench -- backend --targets."""
    install(session, "triton", "torch", "numba")
    names, options = session.posargs[:1] or ["frontend", "backend"], session.posargs[1:]
    for name in names:
        session.run(PYTHON, "-m", f"bench.{name}", *options)


@nox.session(venv_backend="virtualenv")
@nox.parametrize("triton", ["3.6.0", "3.7.1", "3.9.0"])
def versions(session: nox.Session, triton: str) -> None:
    """Compile the whole corpus, and hand it off, with other versions of Triton: nox -s versions."""
    session.install(*requirements(["course"]), f"triton=={triton}")
    for tests in ("tests/mini_triton/test_frontend_corpus.py", "tests/m10_gpu/test_10_1_handoff.py"):
        session.run("python", "-m", "pytest", tests, "--quiet", "--impl", "reference")


@nox.session
def gpu(session: nox.Session) -> None:
    """Grade the reference on a GPU, time it there, and write docs/gpu_run.md, with the Python that runs nox."""
    session.run(sys.executable, "-m", "bench.record", *session.posargs)
