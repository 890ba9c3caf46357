"""Exceptions that the tests raise inside the learner's `with` blocks."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.checks import NO_ANSWER


class Stop(Exception):
    """The exception that tests raise inside `with` blocks."""


class Interrupt(BaseException):
    """Like `KeyboardInterrupt`, an exception that `except Exception` does not catch."""


@contextmanager
def stopped(where: str, stop: type[BaseException] = Stop) -> Iterator[None]:
    """Require that `stop`, and no other exception, leaves the body of this `with`."""
    name = stop.__name__
    try:
        yield
    except stop:
        return
    except (AssertionError, *NO_ANSWER):
        raise
    except Exception as error:
        failure = AssertionError(
            f"{name} was raised inside {where}\n"
            f"  expected  {name}\n  got       {type(error).__name__}: {error}\n"
            "  because   a `with` lets the exception of its body pass, and then creates no operation"
        )
        raise failure.with_traceback(error.__traceback__) from None
    raise AssertionError(f"{name} was raised inside {where}, but not passed on: a `with` must let exceptions pass.")
