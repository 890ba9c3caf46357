"""Which of the learner's functions a failed test was about: a wrong result leaves no frame in the traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from grader.limits import OutOfTime
from grader.overlay import Plan
from grader.own import IsOwn


def find(test: Callable[..., Any], arguments: Mapping[str, Any], plan: Plan, is_own: IsOwn) -> str:
    """Run a failed test once more and return the graded function that it called last, as `file:line`.

    If it called some of the task's own, it is the last of these. If it called them only by way of others, as an
    expression calls an operator by way of a given method, again the last.
    """
    tests = str(plan.root / "tests")
    place = own = inner = ""

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal place, own, inner
        code = frame.f_code
        if code.co_name == "__repr__":
            return  # of what the failure's message shows
        if event == "call" and plan.is_graded(code.co_filename) and _caller(frame).startswith(tests):
            place = f"{plan.display(code.co_filename)}:{code.co_firstlineno}"
            own = place if is_own(code) else own
        elif event == "call" and is_own(code) and not _is_inside(frame, is_own):
            inner = f"{plan.display(code.co_filename)}:{code.co_firstlineno}"

    sys.setprofile(profile)
    try:
        test(**arguments)
    except OutOfTime:
        inner = ""  # more would have been called
    except BaseException:  # it fails again: it was judged
        pass
    finally:
        sys.setprofile(None)
    return own or inner or place


def _is_inside(frame: FrameType, is_own: IsOwn) -> bool:
    """Whether the call comes from the task's own code, at whatever distance."""
    caller = frame.f_back
    while caller and not is_own(caller.f_code):
        caller = caller.f_back
    return caller is not None


def _caller(frame: FrameType) -> str:
    """The file that the call comes from, past methods that dataclasses generate; not past an `eval`."""
    caller = frame.f_back
    while caller and caller.f_code.co_filename.startswith("<") and caller.f_code.co_name != "<module>":
        caller = caller.f_back
    return caller.f_code.co_filename if caller else ""
