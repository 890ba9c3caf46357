"""Whether a judge is missing on this machine. The grader checks this itself, because a child's claim may be false."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from grader.child import device
from grader.child.outcome import PACKAGES


def is_missing(reason: str) -> bool:
    """Whether a test's reason for `unavailable` is true."""
    words = reason.lower()
    return any(word in words and absent() for word, absent in _ABSENT.items())


def _lacks(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def _old_triton() -> bool:
    try:
        return version("triton").startswith("3.6")
    except PackageNotFoundError:
        return True


_ABSENT: dict[str, Callable[[], bool]] = {
    "triton": partial(_lacks, "triton"),
    **{package: partial(_lacks, package) for package in sorted(PACKAGES - {"triton"})},
    "triton 3.6": _old_triton,  # its interpreter does not run with every NumPy
    "gpu": lambda: device.resolve("auto") == "cpu",
    "c compiler": lambda: not any(map(shutil.which, ("cc", "gcc", "clang"))),
}
