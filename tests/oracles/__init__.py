"""The judges, none of them written for this course: real Triton, PyTorch and others.

Real Triton runs in a process of its own (`tests.oracles.triton`). If it is not installed, its recorded answers judge
(`tests.oracles.records`). This module remembers which judges have judged, so that a report can name them.
"""

import sys
from typing import NoReturn

ORACLES = ("triton", "torch", "cuda", "ml_dtypes")
STRENGTH = ("gpu", "compiler", "frontend", "parser", "interpreter", "cpu", "records")  # strongest first

_judged: dict[str, set[str]] = {oracle: set() for oracle in ORACLES}
_missing: set[str] = set()


def note(oracle: str, tier: str) -> None:
    """Remember that a part of an oracle, its `tier`, has judged: `note("triton", "parser 3.7.1")`."""
    _judged[oracle].add(tier)


def used() -> dict[str, str]:
    """The tiers that judged in this process, strongest first: `{"triton": "parser 3.7.1 + records 3.7.1"}`."""
    judges = {}
    for oracle in ORACLES:
        if _judged[oracle]:
            judges[oracle] = " + ".join(sorted(_judged[oracle], key=_strength))
        elif oracle in _missing:
            judges[oracle] = "unavailable"
    return judges


def unavailable(reason: str, oracle: str = "triton") -> NoReturn:
    """End the running test with the verdict `unavailable`: no judge on this machine can answer."""
    _missing.add(oracle)
    import pytest

    pytest.skip(f"unavailable: {reason}")


def not_installed(package: str) -> str:
    """The reason of a test that needs a package: the Python that lacks it, and what to do."""
    return f"{package} is not installed in {sys.executable}: `python -m grader doctor` shows how to install it"


def _strength(tier: str) -> tuple[int, str]:
    kind = tier.split()[0]
    return (STRENGTH.index(kind) if kind in STRENGTH else len(STRENGTH), tier)
