"""Reports in the formats of learning platforms: Gradescope's `results.json`, Classroom 50's `result.json`."""

from __future__ import annotations

import os
from typing import Any

from grader.report.verdicts import Verdict
from grader.teaching.feedback import explain

Json = dict[str, Any]

_OUTPUT = 2000  # characters of one task


def to_gradescope(report: Json) -> Json:
    """One test of Gradescope for each task, with its points and an explanation.

    Source: "Output format" in Gradescope's autograder specifications.
    """
    tests = [
        {
            "number": task["id"],
            "name": f"{task['id']} {task['title']}",
            "score": task["points"],
            "max_score": task["max_points"],
            "status": "passed" if task["points"] == task["max_points"] else "failed",
            "output": explain(task)[:_OUTPUT],
            "output_format": "text",
            "visibility": "visible",
        }
        for milestone in report["milestones"]
        for task in milestone["tasks"]
    ]
    return {
        "score": report["score"],
        "execution_time": round(report["seconds"]),
        "output": _summary(report),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {name: report[name] for name in ("course", "date", "seed")} | {"submission": _sha(report)},
    }


def to_classroom50(report: Json, name: str) -> Json:
    """The result for Classroom 50, whose runner names the assignment in its environment; without it, `name` is used.

    Source: "The result.json contract" in the wiki of foundation50/classroom50.
    """
    tests = [
        {
            "test-name": f"{task['id']} {task['title']}",
            "passed": task["points"] == task["max_points"],
            "score": task["points"],
            "max-score": task["max_points"],
        }
        for milestone in report["milestones"]
        for task in milestone["tasks"]
    ]
    given = os.environ.get
    return {
        "schema": "classroom50/result/v1",
        "classroom": given("CLASSROOM", "mini-triton-kata"),
        "assignment": given("ASSIGNMENT", "-".join(report["target"])),
        "submission": given("SUBMISSION_TAG", f"submit/{name}"),
        "commit": given("COMMIT_URL", _sha(report) or name),
        "release": given("RELEASE_URL", name),
        "review": given("REVIEW_URL", name),
        "datetime": report["date"].replace("+00:00", "Z"),
        "score": report["score"],
        "max-score": report["max_score"],
        "tests": tests,
    }


def _summary(report: Json) -> str:
    refused = (report.get("submission") or {}).get("refused")
    passed = [task for m in report["milestones"] for task in m["tasks"] if task["verdict"] == Verdict.PASS]
    text = f"{report['score']} of {report['max_score']} points, {len(passed)} tasks passed. Course {report['course']}."
    return f"{text}\n{refused}" if refused else text


def _sha(report: Json) -> str:
    return (report.get("submission") or {}).get("sha256", "")
