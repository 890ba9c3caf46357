"""Verdicts, counts and judges in the learner's words; `grade` and `list` use the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from grader.report.verdicts import TaskResult, TestResult, Verdict

# mark, word, style
MARKS = {
    Verdict.PASS: ("✓", "passed", "green"),
    Verdict.UNAVAILABLE: ("–", "no judge on this machine", "yellow"),
    Verdict.NOT_IMPLEMENTED: ("○", "not started", "dim"),
    Verdict.FAIL: ("✗", "wrong", "red"),
    Verdict.ERROR: ("✗", "could not run", "red"),
    Verdict.TIMEOUT: ("✗", "did not finish in time", "red"),
    Verdict.MEMORY: ("✗", "used too much memory", "red"),
}
_PACKAGES = re.compile(r"\b(ml_dtypes|Triton|PyTorch|numba|numpy|pygments|torch|triton)\b")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ORACLES = {"triton": "real Triton", "torch": "PyTorch", "cuda": "CUDA"}


def state(task: TaskResult) -> str:
    """The state of a task; `not started` must never look like `wrong`."""
    if not task.tests:
        return "has no tests"
    if task.stands:
        return f"passed before, with {missing_judge(task)}"
    if task.lacks_package:
        return f"needs {missing_judge(task)}"
    word = MARKS[task.verdict][1]
    if task.verdict is Verdict.NOT_IMPLEMENTED:
        if others := waits_for(task):
            return f"waits for {', '.join(others)}"
        word = "begun"
    if task.unconfirmed and task.verdict is Verdict.PASS:
        return f"passed, unconfirmed: {task.max_points} not counted"
    passed = sum(test.verdict is Verdict.PASS for test in task.tests)
    if passed and task.verdict is not Verdict.PASS:
        return f"{word}: {passed} of {len(task.tests)} tests pass"
    return MARKS[task.verdict][1]


def waits_for(task: TaskResult) -> list[str]:
    """The tasks to do first: the tests reached their stubs, and none of this task's."""
    reached = {m[1] for test in task.tests if (m := re.match(r"Task (\d+\.\d+)", test.message))}
    open_stubs = task.verdict is Verdict.NOT_IMPLEMENTED and task.id not in reached
    return sorted(reached) if open_stubs else []


def missing_judge(task: TaskResult) -> str:
    """What to install so that the task can be judged: the package that the test on the screen names, or "its judge"."""
    lacking = [test for test in task.tests if test.verdict is Verdict.UNAVAILABLE]
    lacking.sort(key=lambda test: not test.ran)
    names = [found[0] for test in lacking if (found := _PACKAGES.search(test.message))]
    return [*names, "its judge"][0]


def visible(text: str) -> str:
    """A text in which characters that steer a terminal, or that no file can hold, are spelled out: `\\x1b`."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def visible_line(text: str) -> str:
    """The same for a text that must stay on one line, such as a name."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def minutes(number: int) -> str:
    """An estimate."""
    return f", about {number} minutes" if number else ""


def hours(minutes: int) -> str:
    """An estimate of the time left, to the nearest half hour: `about 4½ h`, `about 40 min`."""
    halves = round(minutes / 30)
    return f"about {halves // 2}{'½' * (halves % 2)} h" if minutes >= 90 else f"about {minutes} min"


def counts(tests: Iterable[TestResult]) -> str:
    """The numbers of tests: all, run, without a judge, passed; equal numbers appear once."""
    tests = [test for test in tests if "::" in test.name]
    ran = sum(test.ran for test in tests)
    unavailable = sum(test.verdict is Verdict.UNAVAILABLE for test in tests)
    passed = sum(test.verdict is Verdict.PASS for test in tests)
    parts = [f"{len(tests)} ran" if ran == len(tests) else f"{ran} of {len(tests)} ran"]
    parts += [f"{unavailable} without a judge on this machine"] if unavailable else []
    return ", ".join([*parts, f"{passed} passed"])


def judges(oracles: Mapping[str, str]) -> str:
    """Who judged: `real Triton 3.7.1 (parser), answers recorded from real Triton 3.7.1`."""
    return ", ".join(text for oracle, tiers in oracles.items() for text in _judges(oracle, tiers)) or "the tests alone"


def _judges(oracle: str, tiers: str) -> list[str]:
    name = _ORACLES.get(oracle, oracle)
    running: dict[str, list[str]] = {}
    recorded: list[str] = []
    others = []
    for kind, _, version in (part.partition(" ") for part in tiers.split(" + ")):
        if kind == "records":
            recorded.append(version)
        elif version:
            running.setdefault(version, []).append({"gpu": "GPU", "cpu": "CPU"}.get(kind, kind))
        else:
            others.append(f"{name} is {kind}")
    shortest = [version for version in recorded if not any(version in other for other in recorded if other != version)]
    records = [f"answers recorded from {name} {', '.join(shortest)}"] if shortest else []
    return [f"{name} {version} ({', '.join(kinds)})" for version, kinds in running.items()] + records + others
