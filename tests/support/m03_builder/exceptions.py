"""Exceptions that the tests raise inside the learner's `with` blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.checks import NO_ANSWER


class Stop(Exception):
    """The exception that tests raise inside `with` blocks."""


@contextmanager
def stopped(where: str) -> Iterator[None]:
    """`Stop`, raised inside of `where`, must leave this `with`, and nothing else may."""
    try:
        yield
    except Stop:
        return
    except (AssertionError, *NO_ANSWER):
        raise
    except Exception as error:
        failure = AssertionError(
            f"Stop was raised inside {where}\n"
            f"  expected  Stop comes out\n  got       {type(error).__name__}: {error}\n"
            "  because   a `with` lets the exception of its body pass, and makes no operation after it"
        )
        raise failure.with_traceback(error.__traceback__) from None
    raise AssertionError(f"Stop was raised inside {where}, but did not come out: a `with` must let exceptions pass.")
