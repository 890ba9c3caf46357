"""Exceptions that the tests raise inside the learner's `with` blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """The exception that tests raise inside `with` blocks."""


@contextmanager
def stopped(where: str) -> Iterator[None]:
    """`Stop`, raised inside of `where`, must leave this `with`, and nothing else may."""
    try:
        yield
    except Stop:
        return
    raise AssertionError(f"Stop was raised inside {where}, but did not come out: a `with` must let exceptions pass.")
