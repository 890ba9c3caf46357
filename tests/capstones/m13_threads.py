"""Threads: layouts, instructions as data, and PTX, which the reference's emulator runs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask


def questions(random: Random) -> Iterator[Question]:
    yield from who_holds_what(random)
    yield from one_thread(random)
    yield from threads_together(random)


def who_holds_what(random: Random) -> Iterator[Question]:
    """13.1 to 13.4."""
    yield ask("13.2", "linear functions", "result = 1")


def one_thread(random: Random) -> Iterator[Question]:
    """13.5 to 13.8."""
    yield from ()


def threads_together(random: Random) -> Iterator[Question]:
    """13.9 to 13.13."""
    yield from ()
