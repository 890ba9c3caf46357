"""Find the learner's functions behind a failed test, because a wrong result leaves no frame in the traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from grader.child.limits import OutOfTime
from grader.child.overlay import ModulePlan
from grader.child.own import IsOwn

_NAMES = 4  # functions to name, at most
_SHOWING = ("__repr__", "__eq__", "__hash__")  # a failure's message also calls these methods
_Cached = type(functools.cache(len))


@dataclass
class _Call:
    """One call to graded code: the task's functions that ran in it, and the line where each returned.

    The test calls, or a library that the test uses, such as PyTorch.
    """

    returned: dict[CodeType, int] = field(default_factory=dict)
    outermost: dict[CodeType, None] = field(default_factory=dict)  # functions that no other function of the task called


class Watched:
    """Watches a test run. Afterwards, `found` has the line at which the suspected function returned, and its name.

    The suspected function is the task's function that the failing call reached. If several may be at fault, all are
    named, unless the call itself has a `suspect`.
    """

    def __init__(self, plan: ModulePlan, is_own: IsOwn) -> None:
        self.plan = plan
        self.is_own = is_own
        self.found = "", ""
        self.cached: Any = None  # the function of the failed call, if it returned a result that it had cached
        self._tests = str(plan.root / "tests")
        self._calls: list[_Call] = []

    def __enter__(self) -> None:
        sys.setprofile(self._profile)

    def __exit__(self, kind: object, failure: BaseException | None, frames: object) -> None:
        sys.setprofile(None)
        if failure is None or isinstance(failure, OutOfTime):  # nothing failed, or a timeout came before the last call
            return
        call = getattr(failure, "call", None)
        function = getattr(call, "suspect", None) or getattr(call, "function", None)
        called = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        ran = {code for known in self._calls for code in known.returned}
        self.cached = function if isinstance(function, _Cached) and called not in ran else None
        is_last = call is not None or hasattr(failure, "last_call")
        self.found = _suspects(self._calls, called, is_last, self.plan) if self.cached is None else ("", "")

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not self.plan.is_graded(code.co_filename) or code.co_name in _SHOWING:
            return
        is_direct = _caller(frame).startswith(self._tests)
        if event == "call" and (is_direct or not _is_inside(frame, self._is_graded)):
            self._calls.append(_Call())
        if event == "return" and self._calls and self.is_own(code):
            call = self._calls[-1]
            call.returned.pop(code, None)
            call.returned[code] = frame.f_lineno
            if is_direct or not _is_inside(frame, self.is_own):
                call.outermost[code] = None

    def _is_graded(self, code: CodeType) -> bool:
        return self.plan.is_graded(code.co_filename)


def find(test: Callable[..., Any], arguments: Mapping[str, Any], plan: ModulePlan, is_own: IsOwn) -> tuple[str, str]:
    """Run a failed test once more, watched; and again if a cache kept the function at fault from running."""
    watched = Watched(plan, is_own)
    with suppress(BaseException), watched:  # the test fails again, but its verdict is already known
        test(**arguments)
    if watched.cached is not None:
        watched.cached.cache_clear()
        watched = Watched(plan, is_own)
        with suppress(BaseException), watched:
            test(**arguments)
    return watched.found


def _suspects(calls: list[_Call], called: CodeType | None, is_last: bool, plan: ModulePlan) -> tuple[str, str]:
    """The functions that ran in the failed call, which is the test's last call if the failure says so."""
    reached = [call for call in calls if call.returned]
    if not reached:
        return "", ""
    last = reached[-1]
    if is_last:
        outermost = list(last.outermost) or list(last.returned)
        found = [called] if called in last.returned else outermost if len(outermost) == 1 else list(last.returned)
    else:
        found = list(dict.fromkeys(code for call in reached for code in call.returned))
    found = [code for code in found if not _name(code).endswith(">")] or found  # a lambda has no useful name
    lines = {code: line for call in reached for code, line in call.returned.items()}
    code = found[-1]
    names = list(dict.fromkeys(map(_name, reversed(found))))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"{plan.display(code.co_filename)}:{lines[code]}", ", ".join(names[:_NAMES]) + more


def _name(code: CodeType) -> str:
    """The function's name in its module."""
    return code.co_qualname.partition(".<locals>")[0]


def _is_inside(frame: FrameType, is_theirs: IsOwn) -> bool:
    """Whether such code made the call, directly or through other functions."""
    caller = frame.f_back
    while caller and not is_theirs(caller.f_code):
        caller = caller.f_back
    return caller is not None


def _caller(frame: FrameType) -> str:
    """The file that contains the call. Methods that dataclasses generate are skipped, but an `eval` is not."""
    caller = frame.f_back
    while caller and caller.f_code.co_filename.startswith("<") and caller.f_code.co_name != "<module>":
        caller = caller.f_back
    return caller.f_code.co_filename if caller else ""
