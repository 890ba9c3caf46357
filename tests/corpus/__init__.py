"""Kernels as people write them for Triton, with their specializations and launches, which `launches.txt` lists.

Tests compare our front end with real Triton's on all `CASES`. A copy of the course for learners lacks the cases that
reveal solutions.
"""

from pathlib import Path

from tests.corpus.cases import Case, listed

LAUNCHES = Path(__file__).with_name("launches.txt")
CASES = tuple(case for case in listed(LAUNCHES.read_text(encoding="utf-8")) if case.is_here)


def named(*names: str) -> list[Case]:
    """The cases with these names, without cases whose kernels are missing."""
    return [case for case in CASES if str(case) in names]
