"""A report as JUnit XML (the xunit1 dialect), for CI systems and for learning platforms."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from grader.report.verdicts import MilestoneResult, Report, TaskResult, TestResult, Verdict

# JUnit has three results for a test that does not pass. `skipped`, for a missing judge, earns no points either.
_OUTCOME = dict.fromkeys(Verdict, "error") | {
    Verdict.PASS: "",
    Verdict.UNAVAILABLE: "skipped",
    Verdict.NOT_IMPLEMENTED: "failure",
    Verdict.FAIL: "failure",
}
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(report: Report) -> str:
    """The whole report: a suite for each milestone, a case for each test. A task's first test carries its points."""
    name = f"mini_triton {report.course}, {report.submission.name}" if report.submission else "mini_triton"
    root = ET.Element("testsuites", name=_clean(name))
    for milestone in report.milestones:
        root.append(_suite(milestone, report.date))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(milestone: MilestoneResult, date: str) -> ET.Element:
    tests = [test for task in milestone.tasks for test in task.tests]
    outcomes = [_OUTCOME[test.verdict] for test in tests]
    suite = ET.Element(
        "testsuite",
        name=milestone.id,
        tests=str(len(tests)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
        time=_seconds(sum(test.seconds for test in tests)),
        timestamp=date.partition("+")[0],
    )
    suite.extend(_case(milestone, task, test) for task in milestone.tasks for test in task.tests)
    return suite


def _case(milestone: MilestoneResult, task: TaskResult, test: TestResult) -> ET.Element:
    file, _, function = test.name.partition("::")
    case = ET.Element(
        "testcase",
        classname=file.removesuffix(".py").replace("/", "."),
        name=function,
        file=file,
        time=_seconds(test.seconds),
    )
    properties = ET.SubElement(case, "properties")
    facts: dict[str, object] = {"milestone": milestone.id, "task": task.id}
    if test is task.tests[0]:
        facts |= {"points": task.points, "max_points": task.max_points}
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=str(value))
    if _OUTCOME[test.verdict]:
        first_line = test.message.partition("\n")[0]
        message = _clean(f"{test.verdict}: {first_line}")
        outcome = ET.SubElement(case, _OUTCOME[test.verdict], message=message, type=test.verdict)
        facts_of_failure = (test.message, test.counterexample, test.location)
        outcome.text = _clean("\n".join(fact for fact in facts_of_failure if fact))
    return case


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _clean(text: str) -> str:
    """Characters that XML cannot hold become visible ones."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
