"""Questions of the grader to a child process, and its answers: one JSON value in, lines of JSON out."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from grader.child.overlay import Impl

EXAMPLES = 100  # random cases for each property, unless its test says otherwise
IMPORT_LIMIT = 10.0  # seconds for one module or one file of tests
MEMORY = 4 << 30
LIBRARIES = ("pytest", "_hypothesis_pytestplugin", "hypothesis.strategies", "numpy", "grader.child.reporter")


@dataclass(frozen=True)
class Job:
    """The tests of one milestone to run, and the code to run them on."""

    root: str
    learner_root: str
    milestone: int
    impl: Impl
    fill: Impl
    device: str
    seed: int
    examples: int
    tests: list[str]  # "tests/m01_types/test_1_4_promotion.py::test_two_tensors"
    limits: dict[str, float]  # seconds for each test, by task
    libraries: list[str] = field(default_factory=list)  # slow ones, loaded before any limit runs
    busy: dict[str, float] = field(default_factory=dict)  # seconds of processor time for each test, by task
    first: list[str] = field(default_factory=list)  # tests to run before the others of their task
    from_reference: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # the learner's files that are still as the course wrote them
    broken: dict[str, dict[str, Any]] = field(default_factory=dict)  # modules that ended an earlier child
    memory: int | None = MEMORY
    import_limit: float = IMPORT_LIMIT
    shrink: bool = True  # look for the smallest failing case; without it, report the first one found
    trace: str = os.devnull  # the file for stacks when a timeout or a crash ends the process
    others: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # see `own`
    bounds: dict[str, Any] | None = None  # files that the process may reach, see `boundary`; None: all of the user's
    token: str = ""  # marks the child's own answers, because learner code might write to the same pipe

    def to_json(self) -> str:
        return json.dumps(asdict(self))


class Answers:
    """The child's end of the pipe."""

    def __init__(self, descriptor: int, token: str) -> None:
        self._descriptor = descriptor
        self._token = token
        self._process = os.getpid()

    def send(self, event: str, **values: Any) -> None:
        """Write one answer."""
        if os.getpid() != self._process:
            os._exit(1)  # learner code has forked, and a forked process must not answer
        line = json.dumps({"token": self._token, "event": event} | values) + "\n"
        data = line.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]
