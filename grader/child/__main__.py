"""The process in which graded code runs: `python -m grader.child`, with a job on standard input.

It answers on its original standard output. The code under test reads an empty input, and its output is discarded.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import sys
from bdb import BdbQuit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import NoReturn

from grader.child import boundary, outcome, own
from grader.child.guard import Guard
from grader.child.job import Answers, Job
from grader.child.limits import TimeLimit, limit_memory
from grader.child.overlay import Overlay, Unimportable, install, plan
from grader.course.curriculum import load
from grader.report.verdicts import Verdict

_STDIN, _STDOUT, _STDERR = 0, 1, 2

# Load only the plugins that the grader needs, because other installed plugins must not change a verdict.
_PLUGINS = [
    *("-p", "_hypothesis_pytestplugin"),
    *("-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:terminal", "-p", "no:logging"),
    *("-p", "no:debugging"),
    *("-p", "no:unraisableexception", "-p", "no:threadexception", "-p", "no:doctest", "-p", "no:junitxml"),
]


def main(job: Job, answers: Answers) -> None:
    """Import the graded modules one by one, then run the tests."""
    limit = TimeLimit(open(job.trace, "w", encoding="utf-8"))
    if job.bounds is not None:
        answers.send("bound", protections=boundary.enter(boundary.Bounds(**job.bounds)))
    limit_memory(job.memory)
    root = Path(job.root)
    sys.path.insert(0, str(root))
    curriculum = load(root)
    learner_root = Path(job.learner_root)
    overlay = install(
        plan(curriculum, {job.milestone}, job.impl, job.fill, learner_root, job.from_reference, stubs_exist=True)
    )
    for module, reason in job.broken.items():
        overlay.broken[module] = Unimportable(reason["message"], Verdict(reason["verdict"]), reason["location"])

    _load_libraries(job.libraries)

    import pytest

    from grader.child.reporter import Reporter

    guard = Guard(overlay.plan, job.given)
    guard.install()
    guard.close_files(curriculum)
    stderr = os.dup(_STDERR)
    _discard(_STDERR)
    sys.breakpointhook = _breakpoint
    graded = "learner" if overlay.plan.has_learner else "reference"
    modules = [module for module in curriculum.modules if overlay.plan.sources[module].origin == graded]
    if job.bounds is not None:
        os.chdir(job.bounds["write"][0])
    _import_modules(modules, job, overlay, answers, limit)
    files = dict.fromkeys(test.partition("::")[0] for test in job.tests)
    for file in files:
        linecache.getlines(str(root / file))  # the learner's `jit` reads kernels of closed files from here
    options = [
        *("-c", str(root / "pyproject.toml"), "--rootdir", str(root), "--confcutdir", str(root / "tests")),
        *("-o", "addopts=", "--capture=no", "--continue-on-collection-errors", *_PLUGINS),
        *("--impl", job.impl, "--fill", job.fill, "--device", job.device, "--examples", str(job.examples)),
        f"--hypothesis-seed={job.seed}",
        *([] if job.shrink else ["--no-shrink"]),
    ]
    reporter = Reporter(job, overlay.plan, answers, limit, own.of_tasks(job.others))
    os.chdir(root)  # for relative paths: pytest would read more into a `[` or `::` in a folder's name
    status = pytest.main([*options, *files], plugins=[reporter])
    if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        os.write(stderr, f"`python -m pytest {' '.join(files)}` says why.\n".encode())
        return
    answers.send("finished")


def _load_libraries(names: Iterable[str]) -> None:
    """Import slow libraries before any limit runs, because an interrupted `import torch` spoils all later imports.

    A library that cannot be imported is not an error yet: the module or the test that needs it reports the error.
    """
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


@contextmanager
def _without_optional_libraries() -> Iterator[None]:
    """Ignore a failed import of Numba where Numba is not installed; tests that need Numba report its absence."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("llvmlite", "numba") or importlib.util.find_spec(error.name):
            raise


def _import_modules(modules: list[str], job: Job, overlay: Overlay, answers: Answers, limit: TimeLimit) -> None:
    """Find the modules that cannot be imported, so that each is named, and the other modules are still judged."""
    for module in modules:
        if module in overlay.broken:
            continue
        answers.send("importing", module=module)
        try:
            with limit(job.import_limit), _without_optional_libraries():
                importlib.import_module(module)
        except BaseException as error:  # sys.exit and time limits do not raise an `Exception`
            result = outcome.of_import(error, module, overlay.plan)
            if not result.location and result.verdict is not Verdict.UNAVAILABLE:
                result = replace(result, location=overlay.plan.display(overlay.plan.sources[module].path))
            overlay.broken[module] = Unimportable(result.message, result.verdict, result.location)
            answers.send("unimportable", module=module, **asdict(result))
        else:
            answers.send("imported", module=module)


def _breakpoint(*_: object, **__: object) -> NoReturn:
    """A substitute for the debugger, which would have no terminal."""
    raise BdbQuit


def _discard(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


if __name__ == "__main__":
    job = Job(**json.load(sys.stdin))
    answers = Answers(os.dup(_STDOUT), job.token)
    _discard(_STDIN)
    _discard(_STDOUT)
    main(job, answers)
    os._exit(0)  # exit without waiting for threads or handlers of the learner's code
