"""A child process that loads its libraries before there is a job for it: `grader watch` keeps one ready."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress

from grader.course.curriculum import ROOT

LIBRARIES = ("pytest", "_hypothesis_pytestplugin", "hypothesis.strategies", "numpy", "grader.child.reporter")

_waiting: list[subprocess.Popen[bytes]] = []


def prepare(environment: Mapping[str, str], libraries: Collection[str] = ()) -> None:
    """Start a process that waits for a job, with these libraries and the ones that every job needs."""
    discard()
    _waiting.append(
        subprocess.Popen(
            [sys.executable, "-m", "grader.child", *LIBRARIES, *libraries],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    )


def take() -> subprocess.Popen[bytes] | None:
    """The process that waits, if there is one and it is alive."""
    process = _waiting.pop() if _waiting else None
    return process if process and process.poll() is None else None


def discard() -> None:
    """End the process that waits."""
    while _waiting:
        process = _waiting.pop()
        with suppress(OSError):
            process.kill()
        process.wait()
