"""Pytest hooks with the grader's options, which choose whose code is tested, and the overlay that loads this code.

`tests/conftest.py` hands these hooks to pytest, so that a plain `python -m pytest tests/m01_types` tests the
learner's code just as the grader does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.child import guard, overlay
from grader.child.job import EXAMPLES
from grader.course.curriculum import Curriculum, CurriculumError, UnknownTarget, load, task_id
from grader.report.pace import Pace


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kata", "whose code is tested, and how")
    origins = ["learner", "reference"]
    group.addoption("--impl", choices=origins, default="learner", help="whose code is tested")
    group.addoption("--fill", choices=origins, default="reference", help="whose code to use for the earlier milestones")
    group.addoption("--device", choices=["auto", "cpu", "cuda"], default="auto", help="where kernels run")
    group.addoption("--examples", type=int, default=EXAMPLES, metavar="N", help="examples of each property")
    group.addoption("--no-shrink", action="store_true", help="report the first failing case, not the smallest")
    group.addoption("--learner-root", type=Path, metavar="DIR", help="the learner's tree instead of exercises/")
    group.addoption("--pace", action="store_true", help="print a line of progress every few seconds instead of dots")
    group.addoption("--kata-target", metavar="TARGET", help="the milestone to test, if the paths do not say")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--pace") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(PaceReporter(config))
    config.addinivalue_line("markers", "task(id): the task of the curriculum that this test judges")
    curriculum = load(config.rootpath)
    _configure_hypothesis(
        config.getoption("--examples"), not config.getoption("--no-shrink"), curriculum.scratch / "hypothesis"
    )
    if overlay.installed():
        return
    try:
        milestones = _milestones(config, curriculum)
    except (CurriculumError, UnknownTarget) as error:
        raise pytest.UsageError(str(error)) from None
    plan = overlay.plan(
        curriculum,
        milestones,
        config.getoption("--impl"),
        config.getoption("--fill"),
        config.getoption("--learner-root"),
    )
    overlay.install(plan)
    guard.Guard(plan, ()).install()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if task := task_id(item.path):
            item.add_marker(pytest.mark.task(task))
    items.sort(key=lambda item: task_id(item.path) is not None)  # graded tests are short: they fill the gaps at the end


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests import oracles

    for oracle, tier in oracles.used().items():
        terminalreporter.write_line(f"judged by {oracle}: {tier}")


class PaceReporter:
    """Prints lines for a log, where pytest would print one dot for each test."""

    def __init__(self, config: pytest.Config) -> None:
        self.pace = Pace("tests", say=lambda line: config.pluginmanager.getplugin("terminalreporter").write_line(line))

    def pytest_sessionstart(self) -> None:
        self.pace.__enter__()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.pace.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.pace.total = len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        shows_dot = report.skipped or report.passed and report.when == "call"
        return (report.outcome, "", "") if shows_dot else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.pace.finish(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.pace.__exit__()


def _milestones(config: pytest.Config, curriculum: Curriculum) -> set[int]:
    """The milestones whose tests pytest was asked for; all of them if the paths do not say."""
    if target := config.getoption("--kata-target"):
        return {task.milestone for task in curriculum.resolve([target])}
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    named = {milestone.directory: milestone.number for milestone in curriculum.milestones}
    found = {named[part] for path in paths for part in path.parts if part in named}
    return found or set(named.values())


def _configure_hypothesis(examples: int, shrink: bool, storage: Path) -> None:
    """Settings for hypothesis: only the seed decides the examples, no example is stored, and no deadline applies."""
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(storage)
    settings.register_profile(
        "kata",
        max_examples=examples,
        phases=[Phase.explicit, Phase.generate, Phase.target, *([Phase.shrink] if shrink else [])],
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("kata")
