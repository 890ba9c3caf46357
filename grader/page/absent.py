"""What Pyodide lacks and the grader needs: timers, compiled parts of hypothesis, and a `python` on the path.

Pyodide has neither threads nor signals from outside. Its timers here end the learner's code at the next jump or call
after the limit. Code that never gets there, such as `sum(itertools.count())`, ends with its worker: the page stops the
worker a little later.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_SLOWER = 2  # a page has no clock for processor time, and computes about half as fast
_TOOL = 4  # a number that no debugger, profiler or coverage tool uses
_PYTHON = Path("/bin/python")  # the grader prints commands for the `python` that it finds


def install(within: Callable[[float], None], learner_root: str) -> None:
    """Supply whatever is missing here. `within` tells the page how long the next step may take; 0 is the end of it."""
    supply_floats()
    if not hasattr(signal, "setitimer"):
        for name in ("dump_traceback_later", "cancel_dump_traceback_later", "enable"):
            setattr(faulthandler, name, _nothing)
        setattr(signal, "setitimer", _Timers(within, learner_root).set)  # noqa: B010 (its type is narrower)


def supply_floats() -> None:
    """Stand in for hypothesis's compiled modules, which `floats` lists."""
    if sys.platform != "emscripten" or "hypothesis._native" in sys.modules:
        return
    from grader.page import floats

    native = ModuleType("hypothesis._native")
    native.__version__ = version("hypothesis")
    names = ("hypothesis._native.internal.floats", "hypothesis._native.internal.cathetus")
    sys.modules |= {native.__name__: native, **dict.fromkeys(names, floats)}


def name_python() -> None:
    """Let the grader print commands that begin with `python`, as in an active environment."""
    if sys.platform == "emscripten":
        _PYTHON.parent.mkdir(exist_ok=True)
        _PYTHON.touch()
        _PYTHON.chmod(stat.S_IRWXU)
        os.environ["PATH"] = str(_PYTHON.parent)


def _nothing(*_: Any, **__: Any) -> None:
    pass


class _Timers:
    """`signal.setitimer` for the learner's code."""

    def __init__(self, within: Callable[[float], None], learner_root: str) -> None:
        self.within, self.learner_root = within, learner_root
        self.ends: dict[int, float] = {}
        monitoring = sys.monitoring  # type: ignore[attr-defined]
        self.elsewhere = monitoring.DISABLE
        events = monitoring.events.JUMP | monitoring.events.PY_START
        monitoring.use_tool_id(_TOOL, "time limit")
        for event in (monitoring.events.JUMP, monitoring.events.PY_START):
            monitoring.register_callback(_TOOL, event, self._look)
        monitoring.set_events(_TOOL, events)

    def set(self, which: int, seconds: float) -> None:
        """Start a timer; 0 seconds stops it."""
        self.ends.pop(which, None)
        if seconds:
            self.ends[which] = time.monotonic() + seconds * (_SLOWER if which == signal.ITIMER_VIRTUAL else 1)
        self.within(min(self.ends.values()) - time.monotonic() if self.ends else 0)

    def _look(self, code: CodeType, *_: int) -> Any:
        """Raise the signal of a timer that is over, in the learner's code only."""
        if not code.co_filename.startswith(self.learner_root):
            return self.elsewhere
        now = time.monotonic()
        for which, end in self.ends.items():
            if end < now:
                del self.ends[which]
                number = signal.SIGALRM if which == signal.ITIMER_REAL else signal.SIGVTALRM
                signal.getsignal(number)(number, None)  # type: ignore[misc, operator]
        return None
