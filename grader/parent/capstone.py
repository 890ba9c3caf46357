"""Judge a submission from outside: a process with only the submission's modules answers random questions.

The same questions go to a process with the reference's modules. Points count only for tasks whose answers
agree. Code that deceives the tests in its own process gains nothing, because that process does not compare answers.
"""

from __future__ import annotations

import json
import math
import random
import runpy
import secrets
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grader.child import boundary
from grader.child.overlay import ModulePlan
from grader.course.curriculum import ROOT, Curriculum
from grader.parent.lines import Lines, send
from grader.parent.workfolder import is_too_large, workfolder
from grader.report.wording import visible

SECONDS = 20.0  # time for one answer
MILESTONE_SECONDS = 300.0  # time for all answers of a milestone
_ANSWER = 16 << 20  # bytes
_LOOK = 0.5  # seconds between checks of the number of bytes written
_DEEPEST = 50  # levels of an answer
_STARTS = 3  # how often a process that dies or hangs is started
_CLOSE = 1e-3  # largest absolute or relative difference between equal floats


class QuestionFailed(Exception):
    """The reference has no answer to a question: a defect of the course."""


def doubts(
    plan: ModulePlan,
    curriculum: Curriculum,
    milestone: int,
    tasks: Sequence[str],
    seed: int,
    cancelled: threading.Event | None = None,
) -> dict[str, str]:
    """The reason for each task that is not confirmed. The tests of all of these tasks pass.

    A task is confirmed if all questions about it that can be asked have the reference's answers, and at least one can.
    """
    reasons = dict.fromkeys(tasks, "the course asks no question about it")
    if not tasks:
        return {}
    asked_about = questions(curriculum, milestone, seed)
    with_triton = any("triton" in question.needs.split() for question in asked_about)
    until = time.monotonic() + MILESTONE_SECONDS
    with workfolder("kata-tree-") as tree:
        _build(plan, curriculum, tree, {name for question in asked_about for name in question.without})
        trees = [curriculum.solutions, curriculum.toolbox]
        with (
            worker([tree], with_triton, cancelled) as theirs,
            worker(trees, with_triton) as reader,
            worker(trees, with_triton) as reference,
        ):
            wrong: dict[str, str] = defaultdict(str)
            for question in asked_about:
                if cancelled and cancelled.is_set():
                    raise KeyboardInterrupt
                asked = [id for id in question.tasks if id in reasons]
                if not asked or not reasons.keys() >= set(question.after):
                    continue
                try:
                    doubt = compare(question, theirs, reader, reference, until)
                except QuestionFailed as error:
                    reasons |= {id: str(error) for id in asked if reasons[id]}
                    continue
                if doubt:
                    wrong |= {id: wrong[id] or doubt for id in asked}
                reasons |= dict.fromkeys(asked, "")
    return {id: text for id, reason in reasons.items() if (text := wrong[id] or reason)}


def questions(curriculum: Curriculum, milestone: int, seed: int) -> list[Any]:
    """The questions about a milestone, with random numbers; empty if the milestone has no capstone."""
    name = curriculum.milestone(milestone).directory
    file = curriculum.tests / "capstones" / f"{name}.py"
    if not file.is_file():
        return []
    listed = runpy.run_path(str(file))["questions"]
    return list(listed(random.Random(f"{seed} {milestone}")))


def compare(question: Any, theirs: Worker, reader: Worker, reference: Worker, until: float) -> str:
    """The error in a submission's answer; "" if it agrees with the reference's. Raises `QuestionFailed`.

    The `reader` has the reference's modules as well, and reads the submission's answers, which may contain anything.
    """
    if missing := [name for name in question.needs.split() if find_spec(name) is None]:
        raise QuestionFailed(f"{question.about}: the question needs {' and '.join(missing)}")
    with ThreadPoolExecutor(1) as beside:
        try:
            asked = beside.submit(reference.ask, question.code)
            got = theirs.ask(question.code, until)
            expected = asked.result()
            if question.then and "result" in got and "result" in expected:
                asked = beside.submit(reference.ask, question.then, given=expected["result"])
                got = reader.ask(question.then, until, given=got["result"])
                expected = asked.result()
        except KeyboardInterrupt:
            reference.stop()  # otherwise its thread would wait for the answer
            raise
    if "error" in expected:
        raise QuestionFailed(f"{question.about}: the reference fails: {expected['error']}: {expected.get('text')}")
    if "error" in got:
        said = f"{got['error']}: {got.get('text', '')}".removesuffix(": ")
        return f"asked from outside for {question.about}, the submission raises {said}"
    if agree(got["result"], expected["result"]):
        return ""
    gives, wanted = map(_short, parting(got["result"], expected["result"]))
    return f"asked from outside for {question.about}, the submission gives {gives}, not {wanted}"


def agree(got: Any, expected: Any) -> bool:
    """Whether two plain values are equal, except for rounding."""
    if isinstance(expected, list):
        same_length = isinstance(got, list) and len(got) == len(expected)
        return same_length and all(agree(*pair) for pair in zip(got, expected, strict=True))
    if isinstance(expected, dict):
        return isinstance(got, dict) and got.keys() == expected.keys() and all(agree(got[k], expected[k]) for k in got)
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(got, expected, rel_tol=_CLOSE, abs_tol=_CLOSE) or got != got and expected != expected
    return type(got) is type(expected) and bool(got == expected)


def parting(got: Any, expected: Any) -> tuple[Any, Any]:
    """The first differing parts of two values."""
    if isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected):
        pairs = zip(got, expected, strict=True)
        return next((parting(*pair) for pair in pairs if not agree(*pair)), (got, expected))
    return got, expected


class Worker:
    """A process that reads only these trees of modules, of which the first is on its path.

    A question starts the process, also after it has died or been ended. Real Triton, and its assembler's processes, are
    out of reach unless the process is `with_triton`.
    """

    def __init__(
        self, trees: Sequence[Path], with_triton: bool, home: Path, cancelled: threading.Event | None = None
    ) -> None:
        self.trees, self.with_triton, self.home = [str(tree) for tree in trees], with_triton, home
        self.cancelled = cancelled or threading.Event()  # set by another thread that no longer needs answers
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: Lines | None = None
        self.starts = 0

    def ask(self, code: str, until: float = math.inf, given: Any = None) -> dict[str, Any]:
        """The answer to one question: its `result`, or the `error`."""
        if self.process is None or self.process.poll() is not None:
            if self.starts == _STARTS:
                return {"error": "Crash", "text": "its process had to be started too often"}
            self._start()
        assert self.process and self.process.stdin and self.lines
        if self.lines.waiting:
            self.stop()
            return {"error": "Breach", "text": "it answered before it was asked"}
        deadline = min(until, time.monotonic() + SECONDS)
        question = {"token": secrets.token_hex(8), "code": code, "given": {"given": given}}
        is_sent = send(self.process.stdin, json.dumps(question).encode() + b"\n", deadline - time.monotonic())
        line = None
        while is_sent and line is None and (left := deadline - time.monotonic()) > 0:
            if self.cancelled.is_set() or is_too_large(self.home):
                break
            line = self.lines.next(min(left, _LOOK))
        if line is None or is_too_large(self.home):
            self.stop()
            return {"error": "TimeLimit", "text": "no answer in time"}
        try:
            answer = json.loads(line)
            is_answer = "result" in answer or isinstance(answer.get("error"), str)
            if answer["token"] == question["token"] and is_answer and _is_shallow(answer):
                said = {name: visible(str(answer[name])) for name in ("error", "text") if name in answer}
                return said if "error" in answer else {"result": answer["result"]}
        except (ValueError, LookupError, TypeError, RecursionError):
            pass
        self.stop()
        return {"error": "Crash", "text": "its process ended without an answer"}

    def stop(self) -> None:
        """End the process and its child processes."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _start(self) -> None:
        self.starts += 1
        libraries, listed = boundary.libraries(() if self.with_triton else ("triton",))
        bounds = boundary.Bounds([*libraries, *self.trees], listed, [str(self.home)], self.with_triton)
        script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from grader.child import worker; worker.main()"
        self.process = subprocess.Popen(
            boundary.command([sys.executable, "-I", "-c", script]),
            cwd=self.home,
            env=boundary.environment(self.home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdin and self.process.stdout
        self.lines = Lines(self.process.stdout, _ANSWER)
        settings = {"tree": self.trees[0], "bounds": asdict(bounds)}
        send(self.process.stdin, json.dumps(settings).encode() + b"\n", SECONDS)
        self.lines.next(SECONDS)  # the protections that hold


@contextmanager
def worker(trees: Sequence[Path], with_triton: bool, cancelled: threading.Event | None = None) -> Iterator[Worker]:
    """A worker with a folder of its own."""
    with workfolder("kata-work-") as home:
        started = Worker(trees, with_triton, home, cancelled)
        try:
            yield started
        finally:
            started.stop()


def _build(plan: ModulePlan, curriculum: Curriculum, tree: Path, without: Collection[str]) -> None:
    """Write the plan's modules, except for some, as files of one tree, in which Python finds them without the overlay.

    Later milestones are stubs, because the reference's code could answer for the submission, or appear in its errors.
    """
    for module, source in plan.sources.items():
        declared = curriculum.milestone_of(module)
        file = curriculum.file_of(module) if declared else source.path.relative_to(plan.learner_root)
        if source.path.is_file() and not any(f"{module}.".startswith(f"{name}.") for name in without):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_bytes(source.path.read_bytes())
    add_assets(curriculum, tree)


def add_assets(curriculum: Curriculum, tree: Path) -> None:
    """Copy the given files that packages read, such as tables, into a tree of modules."""
    for file in curriculum.assets:
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_bytes(curriculum.original(file).read_bytes())


def _is_shallow(value: Any) -> bool:
    """Whether lists and dictionaries in a value are nested to a depth that no question asks for."""
    level = [value]
    for _ in range(_DEEPEST):
        inside = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [part for parts in inside for part in parts]
    return not level


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
