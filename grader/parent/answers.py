"""The answers of a child process, checked before use: code under test may write to the same pipe."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from grader.report.verdicts import Verdict
from grader.report.wording import visible

Answer = dict[str, Any]

LINE = 1 << 20  # bytes of one answer
ALL = 64 << 20  # bytes of all answers of a process
_TEXT = 20_000  # characters of a text that are kept
_OUTCOME = {"verdict": str, "message": str, "location": str}
_KINDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "bound": {"protections": list},
    "importing": {"module": str},
    "imported": {"module": str},
    "unimportable": {"module": str, **_OUTCOME},
    "collecting": {"file": str},
    "uncollectable": {"file": str, **_OUTCOME},
    "collected": {"cases": dict},
    "running": {"test": str, "case": str},
    "ran": {"test": str, "seconds": (int, float), "oracles": dict, **_OUTCOME},
    "internal": {"text": str},
    "finished": {},
}
_OPTIONAL: Mapping[str, type] = {"counterexample": str, "functions": str, "printed": str}
_TIERS = re.compile(r"[\w .,+()]{1,300}")


def parse(line: bytes, token: str) -> Answer | None:
    """An answer; None for a line that the child's own code did not write."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or answer.pop("token", None) != token:
        return None
    return {name: visible(_cut(value)) if isinstance(value, str) else value for name, value in answer.items()}


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}… and {len(text) - _TEXT} more characters"


def is_sound(answer: Answer, tests: Collection[str], modules: Collection[str]) -> bool:
    """Whether an answer has the fields of its kind, and names only tests and modules of the job."""
    fields = _KINDS.get(str(answer.get("event")))
    if fields is None or not all(isinstance(answer.get(name), kind) for name, kind in fields.items()):
        return False
    return (
        all(isinstance(answer.get(name, ""), kind) for name, kind in _OPTIONAL.items())
        and answer.get("verdict", Verdict.PASS) in list(Verdict)
        and 0 <= answer.get("seconds", 0) < math.inf
        and ("test" not in fields or answer["test"] in tests)
        and ("module" not in fields or answer["module"] in modules)
        and all(isinstance(count, int) for count in answer.get("cases", {}).values())
        and all(isinstance(tiers, str) and _TIERS.fullmatch(tiers) for tiers in answer.get("oracles", {}).values())
    )
