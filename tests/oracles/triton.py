"""Real Triton, asked from a test: does it accept this text, what does it make of it?

Nothing here imports Triton. The first question starts the server; where Triton is not installed a question
ends the test as `unavailable`.

    verdict = triton.accepts(text)
    assert verdict, verdict.diagnostic
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests import oracles
from tests.oracles.process import Server, Silent

PARSE_SECONDS = 60.0  # a machine under load is no reason to refuse a module
COMPILE_SECONDS = 180.0
COMMON_PASSES = ("inliner", "canonicalizer", "cse")


@dataclass(frozen=True)
class Answer:
    """Whether real Triton accepted a module, also as a bool; `diagnostic` says why it was refused."""

    ok: bool
    diagnostic: str = ""
    text: str = ""  # the module as Triton prints it, when accepted

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Compiled:
    """What real Triton compiled a module to. False as a bool when it would not; `diagnostic` says why."""

    ok: bool
    diagnostic: str = ""
    ptx: str = ""
    cubin_size: int = 0
    shared: int = 0  # bytes of shared memory

    def __bool__(self) -> bool:
        return self.ok

    def count(self, instruction: str) -> int:
        """How many PTX instructions begin so: "ld.global", "wgmma.mma_async", "cp.async.c"."""
        return len(re.findall(rf"^\s*(?:@!?%p\d+ )?{re.escape(instruction)}", self.ptx, re.MULTILINE))


@dataclass(frozen=True)
class Frontend:
    """What real Triton's front end makes of a kernel, step by step."""

    raw: str
    inlined: str
    canonical: str
    optimised: str  # as Triton hands it on, after all of its passes on TTIR
    raw_with_locations: str
    inlined_with_locations: str
    ptx: str = ""


def available() -> bool:
    """Whether Triton is installed here. Does not import it."""
    return importlib.util.find_spec("triton") is not None


@functools.cache
def version() -> str:
    """The installed version, "3.7.1"."""
    (answer,) = server().ask([{"do": "version"}], PARSE_SECONDS)
    return answer["version"]


def accepts(text: str) -> Answer:
    """Does real Triton parse and verify this module?"""
    return accepts_many([text])[0]


def accepts_many(texts: Sequence[str]) -> list[Answer]:
    """The same for many modules, asked at once."""
    answers = _ask("parser", [{"do": "parse", "text": text} for text in texts], PARSE_SECONDS)
    return [Answer(answer["ok"], answer.get("diagnostic", ""), answer.get("text", "")) for answer in answers]


def parse(text: str, locations: bool = False) -> str:
    """A module as real Triton prints it, on demand with locations. Fails the test when Triton refuses it."""
    return _insist("parser", {"do": "parse", "text": text, "locations": locations})["text"]


def canonical(text: str, passes: Sequence[str] = COMMON_PASSES) -> str:
    """A module after real Triton's inliner, canonicalizer and CSE: mostly equal where two mean the same."""
    return _insist("parser", {"do": "canonical", "text": text, "passes": list(passes)})["text"]


def ops(text: str, passes: Sequence[str] = ()) -> dict[str, int]:
    """How often each op occurs in a module, after real Triton's passes of these names."""
    return _insist("parser", {"do": "ops", "text": text, "passes": list(passes)})["ops"]


def compile_ttir(text: str, target: str = "sm_90", **options: Any) -> Compiled:
    """Compile a module down to a cubin; no GPU is needed. Options are Triton's: `num_warps`, `num_stages`…"""
    request = {"do": "compile", "text": text, "capability": _capability(target), "options": options}
    (answer,) = _ask("compiler", [request], COMPILE_SECONDS)
    if not answer["ok"]:
        return Compiled(False, answer["diagnostic"])
    return Compiled(True, ptx=answer["ptx"], cubin_size=answer["cubin_size"], shared=answer["shared"])


def frontend(
    kernel: str,
    signature: dict[str, str],
    constexprs: dict[str, Any] | None = None,
    divisible: Sequence[str] = (),
    target: str = "sm_90",
    lower: bool = False,
) -> Frontend:
    """What real Triton makes of one of our kernels (`peers.py`, `kernels.py`).

    The signature lists all arguments, constexpr ones as "constexpr"; `divisible` names the multiples of 16.
    With `lower` the kernel is compiled to PTX as well.
    """
    request = {
        "do": "frontend",
        "kernel": kernel,
        "signature": signature,
        "constexprs": constexprs or {},
        "divisible": list(divisible),
        "capability": _capability(target),
        "lower": lower,
    }
    answer = _insist("frontend", request, COMPILE_SECONDS)
    return Frontend(**{field: answer.get(field, "") for field in Frontend.__dataclass_fields__})


@functools.cache
def server() -> Server:
    """The one server of this process."""
    return Server()


def _ask(tier: str, requests: Sequence[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    if not available():
        oracles.unavailable("real Triton is not installed")
    try:
        answers = list(server().ask(requests, seconds))
    except Silent as silence:
        oracles.unavailable(str(silence))
    oracles.note("triton", f"{tier} {version()}")
    return answers


def _insist(tier: str, request: dict[str, Any], seconds: float = PARSE_SECONDS) -> dict[str, Any]:
    (answer,) = _ask(tier, [request], seconds)
    assert answer["ok"], f"real Triton {version()} refused: {answer['diagnostic']}"
    return answer


def _capability(target: str) -> int:
    return int(target.removeprefix("sm_"))
