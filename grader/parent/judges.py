"""Whether a judge is missing or broken on this machine. The grader checks this itself: a child's claim may be false."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from grader.child import device
from grader.child.outcome import PACKAGES
from grader.course.curriculum import ROOT


def is_missing(reason: str) -> bool:
    """Whether a test's reason for `unavailable` is true."""
    words = reason.lower()
    return any(word in words and absent() for word, absent in _ABSENT.items())


def _lacks(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def _triton() -> str:
    """The version that is installed now; "" if none is."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return ""


def _is_broken(triton: str) -> bool:
    """Whether this version of real Triton, in a process without a learner's code, cannot judge."""
    if triton not in _broken:  # one that works may break later
        script = "from tests.oracles import triton; print(triton.fault())"
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
        _broken.update({triton} if done.stdout != "\n" else ())
    return triton in _broken


_broken: set[str] = set()
_AT_FIRST = _triton()
_ABSENT: dict[str, Callable[[], bool]] = {
    "triton": lambda: _lacks("triton") or _triton() != _AT_FIRST or _is_broken(_triton()),
    **{package: partial(_lacks, package) for package in sorted(PACKAGES - {"triton"})},
    "triton 3.6": lambda: _triton().startswith("3.6"),  # its interpreter does not run with every NumPy
    "gpu": lambda: device.resolve("auto") == "cpu",
    "c compiler": lambda: not any(map(shutil.which, ("cc", "gcc", "clang"))),
}
