"""Which of the learner's functions a failed test was about: a wrong result leaves no frame in the traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from grader.limits import OutOfTime
from grader.overlay import Plan
from grader.own import IsOwn

_NAMES = 4  # of functions, at most
_SHOWING = ("__repr__", "__eq__", "__hash__")  # a failure's message calls them, too


@dataclass
class _Call:
    """One call that the test made of graded code: which functions of the task's ran in it, and where each returned."""

    returned: dict[CodeType, int] = field(default_factory=dict)
    outermost: dict[CodeType, None] = field(default_factory=dict)  # not called by others of the task's
    given: str = ""  # where the called function returned, if that is none of the task's


def find(test: Callable[..., Any], arguments: Mapping[str, Any], plan: Plan, is_own: IsOwn) -> tuple[str, str]:
    """Run a failed test once more; the line at which the function to look at returned, and the function's name.

    That is the task's function that the failing call reached. Where several may be at fault, all are named.
    """
    tests = str(plan.root / "tests")
    calls: list[_Call] = []

    def profile(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not plan.is_graded(code.co_filename) or code.co_name in _SHOWING:
            return
        is_direct = _caller(frame).startswith(tests)
        if event == "call" and is_direct:
            calls.append(_Call())
        if event == "return" and is_own(code):
            call = calls[-1] if calls else _Call()
            call.returned.pop(code, None)
            call.returned[code] = frame.f_lineno
            if is_direct or not _is_inside(frame, is_own):
                call.outermost[code] = None
        elif event == "return" and is_direct and calls:
            calls[-1].given = f"{plan.display(code.co_filename)}:{frame.f_lineno}"

    failure: object = None
    sys.setprofile(profile)
    try:
        test(**arguments)
    except OutOfTime:
        return "", ""  # more would have been called
    except BaseException as error:  # it fails again: it was judged
        failure = error
    finally:
        sys.setprofile(None)
    call = getattr(failure, "call", None)
    called = getattr(getattr(call, "function", None), "__code__", None)
    return _suspects(calls, called, call is not None or hasattr(failure, "last_call"), plan)


def _suspects(calls: list[_Call], called: CodeType | None, is_last: bool, plan: Plan) -> tuple[str, str]:
    """The functions that ran in the call that failed: the last one if the failure says so, else any."""
    reached = [call for call in calls if call.returned]
    if not reached:
        return (calls[-1].given if calls else ""), ""
    last = reached[-1]
    if is_last:
        outermost = list(last.outermost) or list(last.returned)
        found = [called] if called in last.returned else outermost if len(outermost) == 1 else list(last.returned)
    else:
        found = list(dict.fromkeys(code for call in reached for code in call.returned))
    lines = {code: line for call in reached for code, line in call.returned.items()}
    code = found[-1]
    names = list(dict.fromkeys(code.co_qualname.partition(".<locals>")[0] for code in reversed(found)))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"{plan.display(code.co_filename)}:{lines[code]}", ", ".join(names[:_NAMES]) + more


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
