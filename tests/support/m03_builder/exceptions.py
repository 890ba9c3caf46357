"""Exceptions that the tests raise inside the learner's `with` blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.checks import NO_ANSWER


class Stop(Exception):
    """The exception that tests raise inside `with` blocks."""


@contextmanager
def stopped(where: str) -> Iterator[None]:
    """Require that `Stop`, and no other exception, leaves the body of this `with`."""
    try:
        yield
    except Stop:
        return
    except (AssertionError, *NO_ANSWER):
        raise
    except Exception as error:
        failure = AssertionError(
            f"Stop was raised inside {where}\n"
            f"  expected  Stop\n  got       {type(error).__name__}: {error}\n"
            "  because   a `with` lets the exception of its body pass, and then creates no operation"
        )
        raise failure.with_traceback(error.__traceback__) from None
    raise AssertionError(f"Stop was raised inside {where}, but not passed on: a `with` must let exceptions pass.")
