"""The result of grading, as data: a report of milestones, tasks and tests, each with a verdict.

Everything the grader shows or writes (screen, JSON, JUnit, progress) is made from a `Report` and nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

SCHEMA = "mini-triton-kata/1"


class Verdict(enum.StrEnum):
    """Outcome of a test or a task, best first. Only `PASS` earns points."""

    PASS = "pass"
    UNAVAILABLE = "unavailable"  # an oracle that this machine cannot have
    NOT_IMPLEMENTED = "not_implemented"  # a stub was reached
    FAIL = "fail"  # the code ran and was wrong: a false result, or an exception that no one expected
    ERROR = "error"  # the code could not be judged: bad import, exit, crash, refused import, missing result
    TIMEOUT = "timeout"
    MEMORY = "memory"


_SEVERITY = list(Verdict)


def worst(verdicts: list[Verdict]) -> Verdict:
    """The worst of the parts' verdicts. Without parts, the verdict is an error, never a pass."""
    return max(verdicts, key=_SEVERITY.index) if verdicts else Verdict.ERROR


def tier(judges: str) -> str:
    """The strongest way in which an oracle judged, and its version: `gpu 3.6.0`, `interpreter 3.7.1` (real Triton
    without a GPU: its parser, compiler and front end as well), `records 3.7.1`, `unavailable` or `not asked`."""
    if not judges:
        return "not asked"
    kinds = {judge.split()[0]: judge.split()[1] for judge in reversed(judges.split(" + ")) if " " in judge}
    for kind in ("gpu", "compiler", "frontend", "parser", "interpreter", "cpu", "records"):
        if kind in kinds:
            return f"{kind if kind in ('gpu', 'cpu', 'records') else 'interpreter'} {kinds[kind]}"
    return judges


@dataclass
class TestResult:
    """One graded test function; its parametrized cases are merged, and the worst one is shown.

    A module that cannot be imported is also shown as a test, with the name `import mini_triton.ir.types`.
    """

    __test__ = False

    name: str  # "tests/m01_types/test_1_4_promotion.py::test_two_tensors"
    verdict: Verdict
    message: str = ""  # the failure, in the learner's terms
    counterexample: str = ""  # the smallest failing case, as Python arguments, or else the call that failed
    location: str = ""  # "exercises/mini_triton/ir/types.py:42", innermost learner frame, or where it returned
    functions: str = ""  # "broadcast_shapes", which returned the wrong value at `location`, or several candidates
    reproduce: str = ""  # path of the runnable file that repeats the failure
    blame: str = ""  # earlier module whose replacement by the reference makes the test pass
    printed: str = ""  # the end of the failing case's output
    ran: bool = True  # False if the test could not start: after a timeout, or if its file cannot be imported
    seconds: float = 0.0


@dataclass
class TaskResult:
    """One task: all of its points if every test passes, otherwise none."""

    id: str
    title: str
    max_points: int
    tests: list[TestResult] = field(default_factory=list)
    minutes: int = 0  # about how long it takes
    fingerprint: str = ""  # hash of the learner's code that ran, and of the tests
    stands: bool = False  # it passed before with the same fingerprint, and now only a judge is missing
    unconfirmed: str = ""  # why the capstone, which judges a submission from outside, does not confirm its tests

    @property
    def verdict(self) -> Verdict:
        return worst([test.verdict for test in self.tests])

    @property
    def lacks_package(self) -> bool:
        """Whether tests or modules could not begin, for want of a package: too little is known about the code."""
        missing = [test for test in self.tests if test.verdict is Verdict.UNAVAILABLE]
        return self.verdict is Verdict.UNAVAILABLE and not any(test.ran for test in missing)

    @property
    def earned(self) -> int:
        """The points for its tests."""
        return self.max_points if self.verdict is Verdict.PASS else 0

    @property
    def points(self) -> int:
        """The points that count."""
        return 0 if self.unconfirmed else self.earned


@dataclass
class MilestoneResult:
    """The tasks of a milestone that were graded."""

    id: str  # "milestone3"
    key: str
    tasks: list[TaskResult] = field(default_factory=list)
    whole: bool = True  # all of its tasks were graded

    @property
    def score(self) -> int:
        return sum(task.points for task in self.tasks)

    @property
    def max_score(self) -> int:
        return sum(task.max_points for task in self.tasks)


@dataclass(frozen=True)
class ModuleOrigin:
    """Where a module of the graded program came from."""

    name: str
    origin: str  # "learner" | "reference" | "stub" | "toolbox"
    path: str
    sha256: str


@dataclass
class Submission:
    """The facts of a report about a submission."""

    name: str
    sha256: str = ""  # hash of all copied files
    files: int = 0
    left_out: list[str] = field(default_factory=list)  # files that were not copied, each with the reason
    added: int = 0  # modules of the course that it lacks, or has untouched from another version of the course
    outdated: list[str] = field(default_factory=list)  # files whose stubs were not today's
    refused: str = ""  # why nothing in it could be judged
    protections: list[str] = field(default_factory=list)  # protections that held while its code ran, see `boundary`
    missing_protections: list[str] = field(default_factory=list)
    look_here: list[str] = field(default_factory=list)  # remarks for a person to read


@dataclass
class Report:
    """A whole grading run; `to_json` is the contract's schema."""

    target: list[str]
    impl: str
    fill: str
    device: str
    seed: int
    versions: dict[str, str] = field(default_factory=dict)
    oracles: dict[str, str] = field(default_factory=dict)  # all that judged: "parser 3.7.1 + records 3.7.1"
    milestones: list[MilestoneResult] = field(default_factory=list)
    modules: list[ModuleOrigin] = field(default_factory=list)
    submission: Submission | None = None
    course: str = ""  # the version of the course
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: float = 0.0

    @property
    def score(self) -> int:
        return sum(milestone.score for milestone in self.milestones)

    @property
    def max_score(self) -> int:
        return sum(milestone.max_score for milestone in self.milestones)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """A report from its JSON. Where tests were left out, one stands for all of a task."""
        milestones = []
        for milestone in data["milestones"]:
            tasks = []
            for task in milestone["tasks"]:
                tests = [TestResult(**test | {"verdict": Verdict(test["verdict"])}) for test in task["tests"]]
                tests = tests or [TestResult(f"task {task['id']}", Verdict(task["verdict"]))]
                doubt = task.get("unconfirmed", "")
                tasks.append(TaskResult(task["id"], task["title"], task["max_points"], tests, unconfirmed=doubt))
            milestones.append(MilestoneResult(milestone["id"], milestone["key"], tasks))
        names = ("target", "impl", "fill", "device", "seed", "versions", "course", "date", "seconds")
        known = {field.name for field in fields(Submission)}
        submission = data.get("submission")
        return cls(
            **{name: data[name] for name in names},
            oracles=data["judges"],
            milestones=milestones,
            modules=[ModuleOrigin(**module) for module in data["modules"]],
            submission=Submission(**{k: v for k, v in submission.items() if k in known}) if submission else None,
        )

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "schema": SCHEMA,
            "course": self.course,
            "date": self.date,
            "target": self.target,
            "impl": self.impl,
            "fill": self.fill,
            "device": self.device,
            "seed": self.seed,
            "versions": self.versions,
            "oracles": {name: tier(self.oracles.get(name, "")) for name in ("triton", "torch")},
            "judges": self.oracles,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "milestones": [
                {
                    "id": milestone.id,
                    "key": milestone.key,
                    "score": milestone.score,
                    "max_score": milestone.max_score,
                    "tasks": [
                        {
                            "id": task.id,
                            "title": task.title,
                            "points": task.points,
                            "max_points": task.max_points,
                            **({"unconfirmed": task.unconfirmed} if self.submission else {}),
                            "verdict": task.verdict,
                            "tests": [asdict(test) for test in task.tests],
                        }
                        for task in milestone.tasks
                    ],
                }
                for milestone in self.milestones
            ],
            "modules": [asdict(module) for module in self.modules],
            **({"submission": asdict(self.submission)} if self.submission else {}),
        }
