"""A pytest plugin for the grader's child process: runs the tests of a job and sends the outcome of each."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import asdict, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from grader.child import last_call, outcome
from grader.child.job import Answers, Job
from grader.child.limits import OutOfTime, TimeLimit
from grader.child.outcome import UNAVAILABLE, Outcome, Stopped
from grader.child.overlay import ModulePlan
from grader.child.own import IsOwn
from grader.child.printed import Printed
from grader.course.curriculum import task_id
from grader.report.verdicts import Verdict, worst

_LAST_CALL_LIMIT = 5.0


class Reporter:
    """Follows one session of pytest. A test function is named by its file and name; its cases are not distinguished."""

    def __init__(
        self, job: Job, plan: ModulePlan, answers: Answers, limit: TimeLimit, own: Mapping[str, IsOwn]
    ) -> None:
        self.job = job
        self.own = own  # the code of each task
        self.plan = plan
        self.answers = answers
        self.limit = limit
        self.printed = Printed()
        self.given_up: set[tuple[int, bool]] = set()  # groups in which a test took too long
        self.unstarted: set[str] = set()  # tests of which a case reached a stub
        self.outcomes: list[Outcome] = []  # outcomes of the running test's phases
        self.failure: BaseException | None = None  # the error of the last failing example
        self.counterexample = ""
        self.output = ""  # what this example printed
        self.last_call: tuple[Callable[..., Any], dict[str, Any]] | None = None  # its call, if that can be repeated
        self.function = "", ""  # the function that returned a wrong value: line and name
        self.out_of_time: OutOfTime | None = None  # raised while the test ran, even if the test caught it
        self.started = 0.0

    def pytest_configure(self, config: pytest.Config) -> None:
        # A traceback is never shown, and formatting one takes longer than most tests.
        config.option.tbstyle = "no"
        pytest.Function.repr_failure = lambda *_: ""  # type: ignore[method-assign]

    # Collection: if a file cannot be imported, only its own tests fail.

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        if not isinstance(collector, pytest.Module):
            return (yield)
        self.answers.send("collecting", file=self._file(collector.path))
        with self.limit(self.job.import_limit):
            return (yield)

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: Any) -> None:
        if isinstance(node, pytest.Module) and call.when == "collect":
            error = call.excinfo.value
            if isinstance(error, pytest.Collector.CollectError) and error.__cause__:
                error = error.__cause__
            file = self._file(node.path)
            self._send("uncollectable", outcome.of_import(error, file, self.plan), file=file)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped and report.nodeid:
            skipped = Outcome(Verdict.ERROR, f"{report.nodeid} skips all of its tests: {_reason(report)}")
            self._send("uncollectable", skipped, file=report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        wanted = set(self.job.tests)
        items[:] = sorted((item for item in items if self._name(item) in wanted), key=self._turn)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self.job.bounds is not None:
            os.chdir(self.job.bounds["write"][0])  # a confined learner may write files here only
        self.answers.send("collected", cases=Counter(map(self._name, session.items)))

    # Running.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if not self._is_given_up(item):
            self.answers.send("running", test=self._name(item), case=item.name)
        self.outcomes = []
        self.failure = None
        self.counterexample = ""
        self.output = ""
        self.printed.clear()
        self.last_call = None
        self.function = "", ""
        self.out_of_time = None
        self.started = time.perf_counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        if self._is_given_up(item):
            pytest.skip("not run after a timeout in the same task, or a stub in the same test")
        with self._limited(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        try:
            with self._limited(item), redirect_stdout(self.printed), self._watched(item):
                return (yield)
        except BaseException as error:
            self.out_of_time = self.limit.reached
            self._find_function(item, error)  # now, while the test's fixtures exist
            raise

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with self._limited(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._is_given_up(item):
            return report
        self.outcomes.append(self._outcome(report, call, self._own(item)))
        if call.when == "teardown":
            self._finish(item)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_assertrepr_compare(self) -> Generator[None, Any, Any]:
        """What pytest adds to a comparison that fails: in pytest 9.0 this needs a terminal, which is not here."""
        try:
            return (yield)
        except AssertionError:
            return []

    def pytest_internalerror(self, excrepr: object) -> None:
        self.answers.send("internal", text=str(excrepr))

    def _outcome(self, report: pytest.TestReport, call: pytest.CallInfo[None], is_own: IsOwn) -> Outcome:
        if hasattr(report, "wasxfail"):
            return Outcome(Verdict.ERROR, "Marked as expected to fail, which is not a verdict.")
        if report.skipped:
            reason = _reason(report)
            if reason.startswith(UNAVAILABLE):
                return Outcome(Verdict.UNAVAILABLE, reason.removeprefix(UNAVAILABLE))
            return Outcome(Verdict.ERROR, f"Skipped: {reason}")
        if call.excinfo:
            error = call.excinfo.value
            if self.out_of_time and (isinstance(error, OutOfTime) or outcome.is_hypothesis(error)):
                # If the test failed, only the search for a smaller example took too long. Hypothesis may take the
                # exception that ended a call for a result that the same input does not always give.
                error = self.failure or self.out_of_time
            return outcome.of_test(error, self.plan, call.when, is_own)
        return Outcome(Verdict.PASS)

    def _finish(self, item: pytest.Item) -> None:
        verdict = worst([part.verdict for part in self.outcomes])
        seconds = time.perf_counter() - self.started
        decisive = next(part for part in self.outcomes if part.verdict is verdict)
        if verdict is Verdict.FAIL and not decisive.location:
            place, functions = self.function
            decisive = replace(decisive, location=place, functions=functions)
        lost = verdict not in (Verdict.PASS, Verdict.UNAVAILABLE)
        facts = {"counterexample": self.counterexample, "printed": self.output} if lost else {}
        oracles = sys.modules.get("tests.oracles")
        judges = oracles.used() if oracles else {}  # so far: a child that ends early names them, too
        self._send("ran", decisive, test=self._name(item), seconds=seconds, oracles=judges, **facts)
        if verdict is Verdict.TIMEOUT:
            self.given_up.add(self._group(item))
        elif verdict is Verdict.NOT_IMPLEMENTED:
            self.unstarted.add(self._name(item))

    def _turn(self, item: pytest.Item) -> tuple[int, bool, bool]:
        """Orders tests: task by task, in each those that failed before, then single cases, then random ones."""
        return *self._group(item), hasattr(getattr(item, "obj", None), "hypothesis")

    def _group(self, item: pytest.Item) -> tuple[int, bool]:
        """A test's task, and whether the test is not one of those that failed before.

        If one of those never ends, the task's other tests still run, because a small case may fail among them.
        """
        return list(self.job.limits).index(task_id(item.path) or ""), self._name(item) not in self.job.first

    def _own(self, item: pytest.Item) -> IsOwn:
        return self.own[task_id(item.path) or ""]

    def _is_given_up(self, item: pytest.Item) -> bool:
        return self._group(item) in self.given_up or self._name(item) in self.unstarted

    def _limited(self, item: pytest.Item) -> Any:
        id = task_id(item.path) or ""
        return self.limit(self.job.limits[id], self.job.busy.get(id, 0.0))

    @contextmanager
    def _watched(self, item: pytest.Item) -> Iterator[None]:
        """Keep the last call that raised, and its error: after shrinking it is the smallest counterexample."""
        assert isinstance(item, pytest.Function)
        handle = getattr(item.obj, "hypothesis", None)
        if handle is None:
            self.last_call = item.obj, {name: item.funcargs[name] for name in signature(item.obj).parameters}
            self.counterexample = _case(item)
            try:
                yield
            except BaseException as error:
                self.counterexample = self.counterexample or _call(error)
                self.output = str(self.printed)
                raise
            return
        test = handle.inner_test

        @functools.wraps(test)
        def watched(*arguments: Any, **keywords: Any) -> Any:
            shown = _arguments(keywords)  # before the call, which may change the arguments
            self.printed.clear()
            look = last_call.Watched(self.plan, self._own(item))
            try:
                with look if self.failure and _is_last_run() else nullcontext():
                    return test(*arguments, **keywords)
            except BaseException as error:
                self.function = look.found
                if not outcome.is_hypothesis(error) and not (self.failure and isinstance(error, OutOfTime)):
                    self.failure = error
                    self.counterexample = shown
                    self.output = str(self.printed)
                    self.last_call = test, keywords
                if outcome.is_final(error):
                    raise Stopped from error
                raise

        handle.inner_test = watched
        try:
            yield
        finally:
            handle.inner_test = test

    def _find_function(self, item: pytest.Item, error: BaseException) -> None:
        """The function behind a failure whose traceback has no line of graded code."""
        failure = self.failure or error
        found = outcome.of_test(failure, self.plan, is_own=self._own(item))
        if self.last_call and found.verdict is Verdict.FAIL and not found.location and not self.function[0]:
            with suppress(OutOfTime), redirect_stdout(self.printed), self.limit(_LAST_CALL_LIMIT):
                self.function = last_call.find(*self.last_call, self.plan, self._own(item))

    def _send(self, event: str, result: Outcome, **values: Any) -> None:
        self.answers.send(event, **asdict(result), **values)

    def _file(self, path: Path) -> str:
        return path.relative_to(self.job.root).as_posix()

    def _name(self, item: pytest.Item) -> str:
        return f"{self._file(item.path)}::{getattr(item, 'originalname', item.name)}"


def _is_last_run() -> bool:
    """Whether hypothesis runs the smallest failing case once more, or an explicit example."""
    from hypothesis import control

    return control.currently_in_test_context() and control.current_build_context().is_final


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The reason why a test was skipped."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _case(item: pytest.Item) -> str:
    """A parametrized test's case: its arguments if they are plain values, else the name that pytest gives it."""
    case = getattr(item, "callspec", None)
    if case is None:
        return ""
    plain = all(isinstance(value, int | float | str | tuple | list | None) for value in case.params.values())
    return _arguments(case.params) if plain else case.id


def _call(error: BaseException) -> str:
    """The failed call of a test that makes many calls; see `tests.checks`."""
    call = getattr(error, "call", None)
    return outcome.shorten(_shown(call)) if call else ""


def _arguments(values: dict[str, Any]) -> str:
    """Arguments as they are written in a call. Values that a test draws later cannot be written."""
    shown = {name: _shown(value) for name, value in values.items()}
    return outcome.shorten(", ".join(f"{name}={text}" for name, text in shown.items() if text != "data(...)"))


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
