"""Kernels as people write them for Triton, and what each is compiled for and launched with.

`CASES` is all of them. They are what our front end is compared with real Triton's on.
"""

from __future__ import annotations

from tests.corpus.cases import listed
from tests.corpus.launches import LAUNCHES

CASES = listed(LAUNCHES)
