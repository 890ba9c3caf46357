"""The process that answers a capstone: it holds one tree of modules, but neither tests nor expected answers.

A line of input is a Python program, as JSON. The line of output is the program's `result`, or the error that ended it,
with the token of the question: code that answers before it is asked does not know the token.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from grader.child import boundary
from grader.child.limits import limit_memory

MEMORY = 4 << 30


def main() -> None:
    """Bind this process, then answer until the pipe closes."""
    settings = json.loads(sys.stdin.readline())
    questions, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.path[:] = [settings["tree"], *sys.path[1:]]
    held = boundary.enter(boundary.Bounds(**settings["bounds"]))
    limit_memory(MEMORY)
    answers.write(json.dumps({"protections": held}) + "\n")
    answers.flush()
    for line in questions:
        question = json.loads(line)
        answers.write(json.dumps({"token": question.pop("token")} | _answer(**question)) + "\n")
        answers.flush()


def _answer(code: str, given: dict[str, Any]) -> dict[str, Any]:
    """The result of a program, as plain JSON values."""
    names = {"__name__": "question", "kind_of": kind_of} | given
    try:
        exec(compile(code, "<question>", "exec"), names)
        return {"result": json.loads(json.dumps(names["result"], default=_plain))}
    except BaseException as error:
        return {"error": type(error).__name__, "text": str(error)[:300]}


def kind_of(error: BaseException) -> str:
    """The name of the first class of an error that no learner writes: a learner may derive others from it."""
    given = ("builtins", "mini_triton.errors")
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ in given)


def _plain(value: Any) -> Any:
    """Arrays become lists; other values that JSON does not know become their text."""
    if hasattr(value, "tolist"):
        numbers = value.astype("float32") if getattr(value.dtype, "kind", "") == "V" else value
        return numbers.tolist()
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
