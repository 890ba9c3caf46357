"""From an exception to a verdict, a short message, and the learner's line."""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from bdb import BdbQuit
from dataclasses import dataclass, replace

from grader.child.guard import Refused
from grader.child.limits import OutOfTime
from grader.child.overlay import ModulePlan, Unimportable
from grader.child.own import IsOwn
from grader.report.verdicts import Verdict

UNAVAILABLE = "unavailable: "  # how `tests.oracles.unavailable` begins the reason of its skip

PACKAGES = frozenset(("llvmlite", "ml_dtypes", "numba", "numpy", "pygments", "torch", "triton"))
"""Packages that the course's code imports and a machine may lack. Their absence is not the learner's fault."""

_STUB = re.compile(r"Task \d+\.\d+")
_ADDRESS = re.compile(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-f]+>")  # an address is meaningless to a learner
_MAX_LINES, _MAX_CHARACTERS = 120, 10_000


class Stopped(BaseException):
    """Carries an exception past hypothesis, which would otherwise look for a smaller example."""


@dataclass(frozen=True)
class Outcome:
    """The verdict on one step, and why."""

    verdict: Verdict
    message: str = ""
    location: str = ""
    functions: str = ""  # the function that returned the wrong value at `location`, or several candidates


def is_final(error: BaseException) -> bool:
    """Whether the search for a smaller example is useless for this exception."""
    return isinstance(error, MemoryError | SystemExit | BdbQuit | Refused | Unimportable) or is_stub(error)


def is_stub(error: BaseException) -> bool:
    """Whether a stub raised it."""
    return isinstance(error, NotImplementedError) and bool(_STUB.match(str(error)))


def is_hypothesis(error: BaseException) -> bool:
    """Whether the error concerns hypothesis itself, and not the code under test."""
    return type(error).__module__.partition(".")[0] == "hypothesis"


def of_test(error: BaseException, plan: ModulePlan, phase: str = "call", is_own: IsOwn | None = None) -> Outcome:
    """The outcome of a test that raised; `phase` is pytest's: setup, call or teardown."""
    if isinstance(error, Stopped) and error.__cause__:
        error = error.__cause__
    general = _general(error, plan)
    if general:
        return general
    place = location(error, plan, is_own)
    if is_hypothesis(error) and type(error).__name__.startswith("Flaky"):
        return Outcome(Verdict.FAIL, "The same input does not always give the same result.", place)
    if isinstance(error, NotImplementedError) or is_hypothesis(error) or phase != "call":
        return Outcome(Verdict.ERROR, describe(error), place)
    message = describe(error)
    operation = _operation(error, plan)
    if operation and operation not in message:
        message += f"\n  where     at the operation {operation}"
    return Outcome(Verdict.FAIL, message, place)


def of_import(error: BaseException, what: str, plan: ModulePlan) -> Outcome:
    """The outcome for everything that needs `what`, a module or a file that could not be imported."""
    if package := _package(error):
        return _lacking(package)
    result = _general(error, plan) or Outcome(Verdict.ERROR, describe(error), location(error, plan))
    if isinstance(error, Unimportable) or is_stub(error):
        return result
    return replace(result, message=f"{what} cannot be imported: {result.message}")


def _general(error: BaseException, plan: ModulePlan) -> Outcome | None:
    """The outcome of an exception whose meaning does not depend on the phase; None for other exceptions."""
    place = location(error, plan)
    if isinstance(error, Unimportable):
        return Outcome(error.verdict, error.msg, error.location)
    if isinstance(error, OutOfTime):
        return Outcome(Verdict.TIMEOUT, f"{error}{', at the line below' * bool(place)}.", place)
    if isinstance(error, MemoryError):
        return Outcome(Verdict.MEMORY, "The memory limit was reached.", place)
    if is_stub(error):
        return Outcome(Verdict.NOT_IMPLEMENTED, str(error), place)
    if (package := _package(error)) and importlib.util.find_spec(package) is None:  # not a test that hides it
        return _lacking(package)
    if isinstance(error, SystemExit):
        return Outcome(Verdict.ERROR, f"The code calls sys.exit({error.code!r}).", place)
    if isinstance(error, BdbQuit):
        return Outcome(Verdict.ERROR, "The code calls breakpoint(). To stop there, run the debug file instead.", place)
    if isinstance(error, Refused):
        return Outcome(Verdict.ERROR, str(error), place)
    return None


def _package(error: BaseException) -> str:
    """The course's package that an import did not find, even if the module then asks to install it."""
    cause = error.__cause__ if isinstance(error, SystemExit) else error
    package = (cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
    return package if package in PACKAGES else ""


def _lacking(package: str) -> Outcome:
    install = f"activate the course's environment, or `pip install {package}`"
    text = (
        f"{package} is not installed in {sys.executable}: {install}; `python -m grader doctor` lists what is missing."
    )
    return Outcome(Verdict.UNAVAILABLE, text)


def _named(error: BaseException, plan: ModulePlan) -> str:
    """The line of graded code that an error or its cause names: a syntax error, or the compiler's error in a kernel."""
    file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
    if loc := getattr(error, "loc", None):  # of a `CompilationError`
        file, line = getattr(loc, "file", None), getattr(loc, "line", None)
    elif isinstance(place := getattr(error, "place", None), str):  # of an `OutOfBounds`
        file, _, line = place.rpartition(":")
    if isinstance(file, str) and str(line).isdigit() and plan.is_graded(file):
        return f"{plan.display(file)}:{line}"
    cause = error.__cause__ or error.__context__
    return _named(cause, plan) if cause else ""


def _is_of_a_kernel(error: BaseException) -> bool:
    """Whether a running kernel raised the error, or its cause."""
    cause = error.__cause__ or error.__context__
    return isinstance(getattr(error, "place", None), str) or cause is not None and _is_of_a_kernel(cause)


def _operation(error: BaseException, plan: ModulePlan) -> str:
    """The IR's operation that graded code was at when it raised."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if plan.is_graded(frame.f_code.co_filename)]
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            name = getattr(value, "name", "") if type(value).__name__ == "Operation" else ""
            if isinstance(name, str) and "." in name:
                return name
    return ""


def describe(error: BaseException) -> str:
    """An exception in a few lines, without the tools' own words."""
    name = type(error).__name__
    text = str(error)
    if isinstance(error, AssertionError):
        # pytest appends its explanation to the test's own message; the message alone is clearer.
        text = text.partition("\nassert ")[0]
    elif isinstance(error, SyntaxError):
        text = f"{name}: {error.msg}"
    elif type(error).__module__.partition(".")[0] != "_pytest":
        text = f"{name}: {text}" if text else name
    return shorten(_ADDRESS.sub(r"<\1>", text))


def shorten(text: str) -> str:
    """The beginning and the end of a long text, which usually contain the reasons."""
    lines = text.splitlines()
    if len(lines) > _MAX_LINES:
        half = _MAX_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:]]
    text = "\n".join(lines)
    half = _MAX_CHARACTERS // 2
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:half]} … {text[-half:]}"


def location(error: BaseException, plan: ModulePlan, is_own: IsOwn | None = None) -> str:
    """The innermost line of graded code that `error`, or its cause, passed through; "" if there is none.

    A line that the error names takes precedence, because a kernel is compiled and does not run as Python. The next best
    is a line of the task, even if the error was raised deeper, in other code of the learner's. If a kernel that is not
    graded fails, such as a kernel that the task generates, the line that launched it is not at fault.
    """
    if named := _named(error, plan):
        return named
    places = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    graded = [(code, line) for code, line in places if plan.is_graded(code.co_filename)]
    own = [(code, line) for code, line in graded if is_own and is_own(code)]
    if is_own and not own and _is_of_a_kernel(error):
        return ""
    if found := own or graded:
        code, line = found[-1]
        return f"{plan.display(code.co_filename)}:{line}"
    if isinstance(error, ImportError) and error.path and plan.is_graded(error.path):
        return plan.display(error.path)  # it lacks the name that is imported from it
    cause = error.__cause__ or error.__context__
    return location(cause, plan, is_own) if cause else ""
