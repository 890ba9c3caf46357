"""Turn errors of generated code into failures that show the line of generated code, unlike a traceback.

with explained():
    kernel(grid, arguments)
"""

import linecache
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from mini_triton.ir.storage import OutOfBounds

from tests.checks import NO_ANSWER

AROUND = 4  # lines of the source that are shown before and after the one that failed


class WrongCode(AssertionError):
    """The generated code is not Python, or raises an error."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn an error that comes from generated code into an error that shows the line that failed."""
    __tracebackhide__ = True
    try:
        yield
    except (*NO_ANSWER, OutOfBounds, WrongCode):
        raise
    except Exception as error:
        if isinstance(error, SyntaxError):
            file, line = error.filename or "", error.lineno or 1
        else:
            places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
            file, line = next((place for place in reversed(places) if _generated(place[0])), ("", 1))
        if not _generated(file):
            raise
        source = linecache.getlines(file)
        shown = [
            f"{'>' if number == line else ' '} {number:3} {source[number - 1].rstrip()}"
            for number in range(max(1, line - AROUND), min(len(source), line + AROUND) + 1)
        ]
        reason = error.msg if isinstance(error, SyntaxError) else error
        head = f"{type(error).__name__}: {reason}\n  in {file}, line {line}: {source[line - 1].strip()}"
        # If the line called a function of the library, the traceback still ends in this function.
        raise WrongCode("\n".join([head, *shown])).with_traceback(error.__traceback__) from None


def _generated(file: str) -> bool:
    """Whether a file name stands for generated code, whose source is known."""
    return file.startswith("<") and bool(linecache.getlines(file))
