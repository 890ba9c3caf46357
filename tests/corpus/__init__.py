"""Kernels as people write them for Triton, and what each is compiled for and launched with.

`CASES` is all of them: on these our front end is compared with real Triton's. A copy of the course for learners lacks
those that tell solutions.
"""

from __future__ import annotations

from tests.corpus.cases import Case, listed
from tests.corpus.launches import LAUNCHES

CASES = tuple(case for case in listed(LAUNCHES) if case.is_here)


def named(*names: str) -> list[Case]:
    """The cases with these names that are here."""
    return [case for case in CASES if str(case) in names]
