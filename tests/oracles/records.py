"""Real Triton's recorded answers: the judge of dtypes, casts, shapes and launches, with or without Triton installed.

    answer = records.promotion("fp16", "bf16", "+")
    answer.value   # "fp16"
    answer.error   # or "TypeError", with the message in answer.text

Only answers that all recorded versions share, `answer.common`, are graded. `tests.oracles.record` writes the records.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests import oracles
from tests.oracles.questions import key

FOLDER = Path(__file__).parent / "records"
LEADING = "3.7.1"  # the version that the project is pinned to


@dataclass(frozen=True)
class Answer:
    """An answer of real Triton: a value, or an error's class and text."""

    value: Any
    error: str
    text: str
    common: bool  # whether all recorded versions gave the same value, or an error of the same class

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return not self.error


class CastOp(NamedTuple):
    """One op of a cast: `CastOp("arith.cmpf", "une", "i1")`."""

    name: str
    detail: str  # the predicate, or the rounding
    type: str  # the result's element type in MLIR's spelling


def promotion(a: str, b: str, operator: str = "+") -> Answer:
    """The result type of two tensors of these dtypes under `+`, `/`, `//` or `%`."""
    return _lookup("promotion", a, operator, b)


def literal_promotion(
    dtype: str, value: bool | int | float, operator: str = "+", literal_first: bool = False
) -> Answer:
    """The result type of a tensor and a Python number."""
    if literal_first:
        return _lookup("literal_promotion", value, operator, dtype)
    return _lookup("literal_promotion", dtype, operator, value)


def literal_type(value: bool | int | float) -> Answer:
    """The dtype of a Python number that becomes a tensor of its own."""
    return _lookup("literal_type", value)


def cast_ops(source: str, target: str) -> Answer:
    """The `CastOp`s of `x.to(target)` for a block, without constants; pointers are "pointer<fp32>"."""
    answer = _lookup("cast", source, target)
    return answer if answer.error else replace(answer, value=tuple(map(_cast_op, answer.value)))


def broadcast(a: Sequence[int], b: Sequence[int]) -> Answer:
    """The shape of the sum of two tensors, as a tuple; rank 0 is a scalar."""
    answer = _lookup("broadcast", tuple(a), tuple(b))
    return answer if answer.error else replace(answer, value=tuple(answer.value))


def block_shape(shape: Sequence[Any]) -> Answer:
    """The number of elements of a block of this shape."""
    return _lookup("block_shape", tuple(shape))


def specialization(value: Any, specialize: bool = True, align: bool = True) -> Answer:
    """The specialization of an argument: its type, and "D" for a multiple of 16, or the value of a constant."""
    return _lookup("specialization", value, specialize, align)


@functools.cache
def load(family: str) -> dict[str, Any]:
    """The file of one family: `{"versions": [...], "answers": {key: answer}}`."""
    with open(FOLDER / f"{family}.json", encoding="utf-8") as file:
        return json.load(file)


def by_version(recorded: Any, versions: Sequence[str]) -> dict[str, Any]:
    """A recorded entry, expanded to one answer for each version."""
    if isinstance(recorded, dict) and "by_version" in recorded:
        groups = recorded["by_version"].items()
        return {version: answer for group, answer in groups for version in group.split()}
    return dict.fromkeys(versions, recorded)


def _lookup(family: str, *parts: Any) -> Answer:
    file = load(family)
    versions = file["versions"]
    oracles.note("triton", _tier(versions))
    answers = by_version(file["answers"][key(*parts)], versions)
    oldest = next(iter(answers.values()))
    common = len({json.dumps(_gist(answer)) for answer in answers.values()}) == 1
    if isinstance(oldest, dict):
        return Answer(None, oldest["error"], oldest["text"], common)
    return Answer(oldest, "", "", common)


def _gist(answer: Any) -> Any:
    """The part on which versions must agree: a value, or the class of an error."""
    return {"error": answer["error"]} if isinstance(answer, dict) else answer


def _cast_op(text: str) -> CastOp:
    op, element = text.split(" : ")
    name, _, detail = op.partition(" ")
    return CastOp(name, detail, element)


def _tier(versions: Sequence[str]) -> str:
    leading = LEADING if LEADING in versions else versions[-1]
    others = ", ".join(version for version in versions if version != leading)
    return f"records {leading}" + (f" (also {others})" if others else "")
