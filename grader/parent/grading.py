"""Grade some tasks of one milestone, in as many child processes as necessary.

The children run tests. The grader's own process knows which tests must run, and decides the verdict of each test.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.child import boundary, overlay, own
from grader.child.job import EXAMPLES, IMPORT_LIMIT, MEMORY, Job
from grader.child.overlay import Impl
from grader.course import markers, stubs
from grader.course.curriculum import ROOT, Curriculum, Task
from grader.course.expected import tests_of
from grader.parent import answers, capstone, judges
from grader.parent.answers import Answer
from grader.parent.session import Session
from grader.report.verdicts import MilestoneResult, TaskResult, TestResult, Verdict, worst

OnEvent = Callable[[Answer], None]

_LINE = 500  # characters of a line that a process left behind

_CLOSED = ("alternatives", "mistakes", "mutants", "capstones", "cheats", "grader")  # they reveal solutions


class GraderFailed(Exception):
    """The grader itself has failed; the graded code is not at fault."""


@dataclass(frozen=True)
class Settings:
    """The settings of a grading, which do not depend on the targets."""

    impl: Impl = "learner"
    fill: Impl = "reference"
    device: str = "cpu"
    seed: int = 0
    examples: int = EXAMPLES
    learner_root: Path | None = None
    from_reference: frozenset[str] = frozenset()  # modules that always come from the reference
    memory: int | None = MEMORY
    import_limit: float = IMPORT_LIMIT
    shrink: bool = True
    bounded: bool = False  # whether the code is untrusted: see `boundary`
    first: frozenset[str] = (
        frozenset()
    )  # tests that failed the last time, which run before the other tests of their task


RUN_LIMIT = 900.0  # seconds for a whole milestone of a submission


@dataclass
class _Progress:
    """The progress of one child process."""

    step: Answer | None = None  # its last step: importing, collecting or running
    counts: dict[str, int] = field(default_factory=dict)  # cases of each test
    cases: dict[str, list[TestResult]] = field(default_factory=dict)
    finished: bool = False
    internal_error: str = ""


class Grading:
    """Grades `tasks`, which belong to one milestone. `on_event` gets every answer, and may raise to end the grading."""

    def __init__(
        self,
        curriculum: Curriculum,
        tasks: list[Task],
        settings: Settings,
        on_event: OnEvent | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.curriculum = curriculum
        self.tasks = tasks
        self.settings = settings
        self.on_event = on_event
        self.expected = {task.id: tests_of(task, curriculum) for task in tasks}
        self.plan = overlay.plan(
            curriculum,
            {tasks[0].milestone},
            settings.impl,
            settings.fill,
            settings.learner_root,
            settings.from_reference,
        )
        self.modules = self.plan.provenance()
        self.oracles: dict[str, str] = {}
        self._doubts: dict[str, str] = {}  # the reason for each passed task that the capstone does not confirm
        self.protections: set[str] | None = None  # protections that held for all confined children
        self.results: dict[str, TestResult] = {}
        self._broken: dict[str, Answer] = {}  # modules whose import ended a child
        self._unimportable: dict[str, Answer] = {}  # `_broken`, and other modules that cannot be imported
        self._only: Collection[str] | None = None  # if not empty, the only tests to run
        self._session: Session | None = None
        self._deadline: float | None = None
        self._cancelled = cancelled or threading.Event()  # set by another thread to end the grading

    def run(self, only: Collection[str] | None = None) -> None:
        """Run tests until each has its result. A child that ends early settles at least one step, so this loop ends."""
        self._deadline = time.monotonic() + RUN_LIMIT if self.settings.bounded else None
        self._only = only
        wanted = [test for tests in self.expected.values() for test in tests if only is None or test in only]
        while left := [test for test in wanted if test not in self.results]:
            if self._cancelled.is_set():
                raise KeyboardInterrupt
            if self._deadline and time.monotonic() > self._deadline:
                self._settle_rest(left, Verdict.TIMEOUT, f"The milestone's tests took more than {RUN_LIMIT:.0f} s.")
            else:
                self._run_child(left)
        self._account_for_modules()
        self._name_functions()
        if self.settings.bounded and only is None:
            passed = [task.id for task in self.milestone_result().tasks if task.verdict is Verdict.PASS]
            number = self.tasks[0].milestone
            self._doubts = capstone.doubts(
                self.plan, self.curriculum, number, passed, self.settings.seed, self._cancelled
            )
        if self.on_event:
            self.on_event({"event": "graded", "milestone": self.milestone_result()})

    @property
    def has_found(self) -> bool:
        """Whether any test ran and did not pass. A timeout alone is not enough: it shows no wrong result."""
        return any(result.verdict not in (Verdict.PASS, Verdict.TIMEOUT) for result in self.results.values())

    def cancel(self) -> None:
        """End the running child, and start no other child. Another thread may call this method."""
        self._cancelled.set()

    def milestone_result(self) -> MilestoneResult:
        """All results of the last run, in the curriculum's order."""
        milestone = self.curriculum.milestone(self.tasks[0].milestone)
        wanted = {id: tests if self._only is None else self._ran(tests) for id, tests in self.expected.items()}
        tasks = [
            TaskResult(
                *(task.id, task.title, task.points, [self.results[test] for test in wanted[task.id]], task.minutes),
                fingerprint=self._fingerprint(task),
                unconfirmed=self._doubts.get(task.id, ""),
            )
            for task in self.tasks
        ]
        return MilestoneResult(milestone.id, milestone.key, tasks, whole=len(tasks) == len(milestone.tasks))

    def _fingerprint(self, task: Task) -> str:
        """A hash of the learner's modules that ran, and of the task's tests."""
        code = [module.sha256 for module in self.modules if module.origin == "learner"]
        tests = [stubs.read(file) for file in self.curriculum.test_files(task)]
        return hashlib.sha256("\0".join([*code, *tests]).encode("utf-8", "surrogateescape")).hexdigest()

    def _ran(self, tests: list[str]) -> list[str]:
        return [test for test in tests if test in self.results]

    def _run_child(self, tests: list[str]) -> None:
        self._session = self._start(self._job(tests))
        progress = _Progress(cases={test: [] for test in tests})
        for answer in self._session:
            self._note(answer, progress, tests)
            if self.on_event:
                self.on_event(answer)
        for test, cases in progress.cases.items():
            is_decided = any(case.verdict in (Verdict.TIMEOUT, Verdict.NOT_IMPLEMENTED) for case in cases)
            if cases and (len(cases) == progress.counts.get(test) or is_decided):  # then the other cases do not run
                self.results[test] = _merge(cases)
        self._note_protections(self._session)
        if progress.step:
            self._settle(progress.step, tests, self._how_it_ended(progress))
        elif not progress.finished and not self._cancelled.is_set():
            details = progress.internal_error or self._session.errors or self._session.trace
            self._settle_all(tests, f"The process for the tests {self._session.describe_end()}.", details.rstrip())
        self._give_up_after_timeouts(tests)
        if progress.finished and not progress.step:
            for test in tests:
                found, reported = progress.counts.get(test, 0), len(progress.cases[test])
                text = f"Only {reported} of {found} cases reported." if found else "pytest did not find this test."
                self.results.setdefault(test, TestResult(test, Verdict.ERROR, text, ran=found > 0))

    def _note(self, answer: Answer, progress: _Progress, tests: list[str]) -> None:
        match answer["event"]:
            case "importing" | "collecting" | "running":
                progress.step = answer
            case "imported":
                progress.step = None
            case "unimportable":
                progress.step = None
                self._unimportable[answer["module"]] = self._believed(answer)
            case "collected":
                progress.step = None
                progress.counts = answer["cases"]
            case "uncollectable":
                self._settle_file(answer["file"], tests, self._believed(answer))
            case "ran":
                progress.step = None
                asked = {name: self._tiers(tiers) for name, tiers in answer["oracles"].items()}
                self.oracles = asked | self.oracles | asked  # the strongest first, as the child lists them
                if answer["test"] in progress.cases:
                    progress.cases[answer["test"]].append(_case(self._believed(answer)))
            case "internal":
                progress.internal_error = answer["text"]
            case "finished":
                progress.finished = True

    def _tiers(self, tiers: str) -> str:
        """The judges that were asked, without an unused GPU."""
        parts = tiers.split(" + ")
        return " + ".join(part for part in parts if self.settings.device == "cuda" or not part.startswith("gpu"))

    def _believed(self, answer: Answer) -> Answer:
        """The answer, or an error if the answer is `unavailable` but the judge can judge."""
        missing = answer["verdict"] == Verdict.UNAVAILABLE
        if not missing or not self.settings.bounded or judges.is_missing(answer["message"]):
            return answer
        text = f"The judge works, but this test did not get its answer: {answer['message']}"
        return answer | {"verdict": Verdict.ERROR, "message": text}

    def _how_it_ended(self, progress: _Progress) -> Answer:
        """The verdict on the step in which a child ended, in the form of a child's answer."""
        session = self._session
        assert session and progress.step
        location = session.location(self.plan)
        if not location and progress.step["event"] == "importing":
            location = self.plan.display(self.plan.sources[progress.step["module"]].path)
        what = {"importing": "importing {module}", "collecting": "importing {file}", "running": "running {test}"}
        doing = what[progress.step["event"]].format(**progress.step)
        if progress.finished:
            verdict, text = Verdict.ERROR, f"The code interrupted the tests while {doing}."
        elif session.out_of_time:
            verdict, text = Verdict.TIMEOUT, f"The time limit was reached while {doing}."
        elif session.out_of_memory:
            text = f"The system ended the process, probably because of its memory use, while {doing}."
            verdict = Verdict.MEMORY
        else:
            verdict, text = Verdict.ERROR, f"The process {session.describe_end()} while {doing}."
        return {"verdict": verdict, "message": text, "location": location}

    def _settle(self, step: Answer, tests: list[str], outcome: Answer) -> None:
        """Record the verdict on the step in which a child ended."""
        if step["event"] == "importing":
            self._broken[step["module"]] = self._unimportable[step["module"]] = outcome
        elif step["event"] == "collecting":
            self._settle_file(step["file"], tests, outcome)
        else:
            self.results[step["test"]] = _case({"test": step["test"]} | outcome)

    def _settle_all(self, tests: list[str], end: str, details: str) -> None:
        """The tests stopped outside any test: decide whether the learner's code or the grader is at fault."""
        job = replace(self._job(tests), impl="reference", fill="reference", broken={}, bounds=None)
        self._session = self._start(job)
        if not self.plan.has_learner or not any(answer["event"] == "finished" for answer in self._session):
            raise GraderFailed(f"{end}\n{details}".rstrip())
        text = f"The tests cannot run with this code, but they run with the reference. {end}"
        text += f"\n{details.splitlines()[-1][:_LINE]}" if details else ""
        self._settle_rest(tests, Verdict.ERROR, text)

    def _settle_rest(self, tests: list[str], verdict: Verdict, text: str) -> None:
        for test in tests:
            self.results.setdefault(test, TestResult(test, verdict, text, ran=False))

    def _settle_file(self, file: str, tests: list[str], outcome: Answer) -> None:
        for test in tests:
            if test.partition("::")[0] == file:
                self.results.setdefault(test, _case({"test": test, "ran": False} | outcome))

    def _give_up_after_timeouts(self, tests: list[str]) -> None:
        """After a timeout, do not run the task's other tests, so that a learner does not wait for each timeout."""
        for expected in self.expected.values():
            results = [self.results[test] for test in expected if test in self.results]
            if any(result.verdict is Verdict.TIMEOUT for result in results):
                for test in set(expected) & set(tests):
                    text = "Not run after a timeout in the same task."
                    self.results.setdefault(test, TestResult(test, Verdict.TIMEOUT, text, ran=False))

    def _account_for_modules(self) -> None:
        """If a module cannot be imported, the tasks that are written in it fail, even if no test imports it.

        A given module belongs to no task: its errors count for the first task.
        """
        for module, outcome in self._unimportable.items():
            if self.plan.sources[module].milestone != self.tasks[0].milestone:
                continue
            source = stubs.read(self.curriculum.source_of(module))
            ids = {region.task for region in markers.regions(source)} or {self.tasks[0].id}
            for id in ids & self.expected.keys():
                known = {self.results[test].message for test in self.expected[id] if test in self.results}
                if outcome["message"] not in known:
                    name = f"import {module}"
                    self.expected[id].append(name)
                    self.results[name] = _case({"test": name, "ran": False} | outcome)

    def _name_functions(self) -> None:
        """If the line behind a wrong value is not known, name the task's functions."""
        unknown = {
            id: [self.results[test] for test in tests if test in self.results and self._is_unplaced(self.results[test])]
            for id, tests in self.expected.items()
        }
        if not any(unknown.values()):
            return
        others = own.others_of_tasks(self.curriculum, self.tasks[0].milestone, self.plan)
        for id, results in unknown.items():
            file, names = own.functions(others[id])
            for result in results:
                result.location, result.functions = self.plan.display(file) if file else "", ", ".join(names)

    def _is_unplaced(self, result: TestResult) -> bool:
        return result.verdict is Verdict.FAIL and not result.location

    def _start(self, job: Job) -> Session:
        is_sound = partial(answers.is_sound, tests=job.tests, modules=self.plan.sources)
        return Session(job, is_sound, self._deadline, self._cancelled)

    def _note_protections(self, session: Session) -> None:
        if self.settings.bounded:
            held = set(session.protections)
            self.protections = held if self.protections is None else self.protections & held

    def _job(self, tests: list[str]) -> Job:
        settings = self.settings
        patience = max(1.0, settings.examples / EXAMPLES)  # unusually many examples may take more time
        return Job(
            root=str(self.curriculum.root),
            learner_root=str(self.plan.learner_root),
            milestone=self.tasks[0].milestone,
            impl=settings.impl,
            fill=settings.fill,
            device=settings.device,
            seed=settings.seed,
            examples=settings.examples,
            tests=tests,
            limits={task.id: task.timeout * patience for task in self.tasks},
            libraries=sorted({library for task in self.tasks for library in task.libraries}),
            busy={task.id: task.busy * patience for task in self.tasks},
            first=sorted(settings.first & set(tests)),
            from_reference=sorted(settings.from_reference),
            given=self._given(),
            broken=self._broken,
            import_limit=settings.import_limit,
            shrink=settings.shrink,
            others=own.others_of_tasks(self.curriculum, self.tasks[0].milestone, self.plan),
            bounds=self._bounds() if settings.bounded else None,
            memory=settings.memory if settings.device == "cpu" else None,  # CUDA maps far more than it uses
        )

    def _given(self) -> list[str]:
        """The learner's files that are still as the course wrote them."""
        known = stubs.recorded(self.curriculum.exercises)
        found = []
        for module, source in self.plan.sources.items():
            if source.origin == "learner" and (digest := known.get(self.curriculum.file_of(module).as_posix())):
                found += [str(source.path)] if stubs.digest(stubs.read(source.path)) == digest else []
        return found

    def _bounds(self) -> dict[str, Any]:
        """The readable files: the course without its solutions, the graded program, and Python."""
        course = self.curriculum
        tests = [str(path) for path in course.tests.iterdir() if path.name not in _CLOSED]
        sources = [str(source.path) for source in self.plan.sources.values()]
        assets = {file: course.toolbox if course.is_tool(file) else self.plan.learner_root for file in course.assets}
        sources += [str(root / file) for file, root in assets.items()]
        libraries, listed = boundary.libraries()
        read = [*libraries, *tests, *sources, str(course.root / "pyproject.toml")]
        grader = [str(ROOT / "grader"), str(course.root / "grader")]
        read += [*grader, str(course.scratch / "stubs"), str(course.scratch / "hypothesis")]
        processes = any(task.processes for task in self.tasks)
        listed += [str(ROOT), str(course.root), str(self.plan.learner_root)]
        return asdict(boundary.Bounds(read, listed, (), processes, self.settings.device == "cuda"))


def _case(answer: Answer) -> TestResult:
    return TestResult(
        answer["test"],
        Verdict(answer["verdict"]),
        answer["message"],
        answer.get("counterexample", ""),
        answer["location"],
        answer.get("functions", ""),
        printed=answer.get("printed", ""),
        ran=answer.get("ran", True),
        seconds=answer.get("seconds", 0.0),
    )


def _merge(cases: list[TestResult]) -> TestResult:
    """The result of a test: the first of its cases with the worst verdict, and the total time of all cases."""
    verdict = worst([case.verdict for case in cases])
    merged = next(case for case in cases if case.verdict is verdict)
    merged.seconds = sum(case.seconds for case in cases)
    return merged
