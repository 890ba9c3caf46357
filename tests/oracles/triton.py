"""Real Triton as a judge: whether it accepts a text, and what it compiles the text to.

This module does not import Triton. The first question starts the server. If Triton is not installed, a question ends
the test as `unavailable`.

    verdict = triton.accepts(text)
    assert verdict, verdict.diagnostic
"""

import base64
import csv
import functools
import hashlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from tests import oracles
from tests.oracles.kept import kept
from tests.oracles.process import Server, Silent

PARSE_SECONDS = 60.0  # long enough for a machine under load
COMPILE_SECONDS = 180.0
ACCEPTED = """\
module {
  tt.func public @kernel(%x: !tt.ptr<f32>) {
    %c = arith.constant 1.0 : f32
    tt.store %x, %c : !tt.ptr<f32>
    tt.return
  }
}
"""
"""A module that every version of Triton accepts: a judge that refuses it is broken."""
COMMON_PASSES = ("inliner", "canonicalizer", "cse")


@dataclass(frozen=True)
class Answer:
    """Whether real Triton accepted a module, also as a bool. `diagnostic` is its reason for a refusal."""

    ok: bool
    diagnostic: str = ""
    text: str = ""  # the module as Triton prints it, if it accepts the module

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Compiled:
    """A module compiled by real Triton. False as a bool if Triton refused; `diagnostic` is its reason."""

    ok: bool
    diagnostic: str = ""
    ttgir: str = ""
    ptx: str = ""
    cubin_size: int = 0
    cubin: bytes = b""
    shared: int = 0  # bytes of shared memory

    def __bool__(self) -> bool:
        return self.ok

    def count(self, instruction: str) -> int:
        """The number of PTX instructions that begin with a text: "ld.global", "wgmma.mma_async", "cp.async.c"."""
        return len(re.findall(rf"^\s*(?:@!?%p\d+ )?{re.escape(instruction)}", self.ptx, re.MULTILINE))


class Code(str):
    """A constant that is an expression in a kernel's text: `Code("tl.float16")`."""


@dataclass(frozen=True)
class Source:
    """A kernel in a Python text (with `import triton` and `import triton.language as tl`), and its specialization.

    The signature has the types of all parameters, "constexpr" for constants; `divisible` names the multiples of 16.
    Options are Triton's: `{"num_warps": 8}`.
    """

    text: str
    kernel: str
    signature: Mapping[str, str]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    divisible: Sequence[str] = ()
    target: str = "sm_90"
    options: Mapping[str, Any] = field(default_factory=dict)

    def question(self) -> dict[str, Any]:
        """The request for the server."""
        return {
            "text": self.text,
            "kernel": self.kernel,
            "signature": dict(self.signature),
            "constexprs": {name: _sent(value) for name, value in self.constexprs.items()},
            "divisible": list(self.divisible),
            "capability": _capability(self.target),
            "options": dict(self.options),
        }


@dataclass(frozen=True)
class Made:
    """Source compiled by real Triton's front end. False as a bool if the front end refused the source.

    `error` and `diagnostic` are the class and the message of the error. `lines` are the lines of the calls that led to
    the error, and then its own line. `line` and `column`, counted from 1 and from 0, are its place.
    """

    ok: bool
    error: str = ""
    diagnostic: str = ""
    line: int | None = None
    column: int | None = None
    lines: tuple[int, ...] = ()
    canonical: str = ""  # after inliner, canonicalizer and CSE
    ops: Mapping[str, int] = field(default_factory=dict)  # the number of each operation in `canonical`
    raw: str = ""  # these four fields are set only with `steps`
    inlined: str = ""
    located: str = ""  # inlined, with source locations
    optimised: str = ""  # after all of Triton's passes on TTIR
    compiled: Compiled = Compiled(False, "was not asked for")

    def __bool__(self) -> bool:
        return self.ok


def available() -> bool:
    """Whether Triton is installed. Does not import it."""
    return importlib.util.find_spec("triton") is not None


@functools.cache
def version() -> str:
    """The version that judges, such as "3.7.1". Ends the test as unavailable if Triton cannot judge."""
    if not available():
        oracles.unavailable(oracles.not_installed("real Triton"))
    _insist_on_judge(PARSE_SECONDS)
    return _version()


@functools.cache
def _version() -> str:
    """The version of the first process that answered."""
    (answer,) = server().ask([{"do": "frontend.version"}], PARSE_SECONDS)
    return answer["version"]


def fault(seconds: float = PARSE_SECONDS) -> str:
    """Why the installed Triton cannot judge: it is broken, or was replaced by another version; "" if it can judge."""
    if changed := _changed():
        return f"real Triton was changed: {changed} is not as it was installed"
    try:
        (answer,) = server().ask([{"do": "frontend.parse", "text": ACCEPTED}], seconds)
        if not answer["ok"]:
            return f"real Triton is broken, because it refuses a valid module: {answer['diagnostic'][:300]}"
        first = now = _version()
    except Silent as silence:
        return str(silence)
    with suppress(metadata.PackageNotFoundError):  # it was not installed by pip
        now = metadata.version("triton")
    if now.partition("+")[0] != first.partition("+")[0]:
        return f"real Triton {first} was replaced by {now} while it judged"
    return ""


def _changed() -> str:
    """The first file of Triton that differs from its package, in which `pip` listed hashes and sizes; "" if none does.

    Another Triton may hide the installed one. Sizes stand for the contents of large files.
    """
    try:
        package = metadata.distribution("triton")
    except metadata.PackageNotFoundError:
        return ""
    listed = list(csv.reader((package.read_text("RECORD") or "").splitlines()))
    if not any(row[0] == "triton/__init__.py" for row in listed):  # such as an editable installation
        return ""
    first, spec = Path(str(package.locate_file("triton/__init__.py"))), importlib.util.find_spec("triton")
    if spec is None or Path(str(spec.origin)).resolve() != first.resolve():
        return str(spec.origin if spec else first)
    for name, digest, size in listed:
        file = first.parents[1] / name
        if name.startswith("triton/") and digest and not _is_intact(file, digest, int(size)):
            return str(file)
    return ""


def _is_intact(file: Path, digest: str, size: int) -> bool:
    if not file.is_file() or file.stat().st_size != size:
        return False
    found = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()) if file.suffix == ".py" else b""
    return not found or digest == f"sha256={found.decode().rstrip('=')}"


def refusal(what: str, text: str, diagnostic: str) -> str:
    """The message about a module that real Triton refuses: the line at fault, the reason, and the module."""
    place = re.match(r'loc\("[^"]*":(\d+):(\d+)\): (?:error: )?(.*)', diagnostic, re.DOTALL)
    lines = text.splitlines()
    if not place or not 0 < int(place[1]) <= len(lines):
        return f"real Triton refuses {what}\n  because   {diagnostic}\nthe module is\n{text}"
    line, column = lines[int(place[1]) - 1], int(place[2]) - 1
    body = line.lstrip()
    caret = " " * (column - len(line) + len(body)) + "^"
    head = f"real Triton refuses {what}, in line {place[1]}\n      {body}\n      {caret}"
    return f"{head}\n  because   {place[3].strip()}\nthe module is\n{text}"


def accepts(text: str) -> Answer:
    """Whether real Triton parses and verifies this module."""
    return accepts_many([text])[0]


def accepts_many(texts: Sequence[str]) -> list[Answer]:
    """Whether real Triton accepts each of many modules, in one request."""
    answers = _ask("parser", [{"do": "frontend.parse", "text": text} for text in texts], PARSE_SECONDS)
    return [Answer(answer["ok"], answer.get("diagnostic", ""), answer.get("text", "")) for answer in answers]


def parse(text: str, locations: bool = False) -> str:
    """A module as real Triton prints it, with locations if asked. Fails the test if Triton refuses the module."""
    return _insist("parser", {"do": "frontend.parse", "text": text, "locations": locations})["text"]


def canonical(text: str, passes: Sequence[str] = COMMON_PASSES) -> str:
    """A module after real Triton's inliner, canonicalizer and CSE. Equivalent modules mostly become equal."""
    return _insist("parser", {"do": "frontend.canonical", "text": text, "passes": list(passes)})["text"]


def ops(text: str, passes: Sequence[str] = ()) -> dict[str, int]:
    """The number of each operation in a module, after real Triton's passes of these names."""
    return _insist("parser", {"do": "frontend.ops", "text": text, "passes": list(passes)})["ops"]


def compile_ttir(text: str, target: str = "sm_90", **options: Any) -> Compiled:
    """Compile a module down to a cubin; no GPU is needed. Options are Triton's: `num_warps`, `num_stages`…"""
    return compile_many([text], target, **options)[0]


def compile_many(texts: Sequence[str], target: str = "sm_90", **options: Any) -> list[Compiled]:
    """Compile many modules down to cubins, in one request."""
    wanted = {"do": "frontend.compile", "capability": _capability(target), "options": options}
    answers = _ask("compiler", [{**wanted, "text": text} for text in texts], COMPILE_SECONDS)
    return [_compiled(answer) for answer in answers]


def coalesced(texts: Sequence[str], target: str = "sm_80", warps: int = 4) -> list[str]:
    """Modules in TTGIR, with the layouts that real Triton chooses for accesses. Fails if Triton refuses one."""
    wanted = {"do": "frontend.coalesced", "capability": _capability(target), "warps": warps}
    return [answer["text"] for answer in insist_on("parser", [{**wanted, "text": text} for text in texts])]


def assembled(texts: Sequence[str], target: str = "sm_80", **options: Any) -> list[str]:
    """Modules in PTX. Options are Triton's. Fails if Triton refuses a module."""
    wanted = {"do": "frontend.assemble", "capability": _capability(target), "options": options}
    requests = [{**wanted, "text": text} for text in texts]
    return [answer["ptx"] for answer in insist_on("compiler", requests, COMPILE_SECONDS)]


def disassembled(cubin: bytes) -> str:
    """A cubin's machine code as text, by NVIDIA's disassembler."""
    return _insist("compiler", {"do": "frontend.disassemble", "cubin": cubin.hex()}, COMPILE_SECONDS)["sass"]


def linear_layout(
    sizes: Sequence[int], lanes: Sequence[int], warps: Sequence[int], order: Sequence[int], shape: Sequence[int]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The vectors of a blocked layout for a tensor of this shape: of the bits of registers, lanes and warps."""
    parts = {"sizes": sizes, "lanes": lanes, "warps": warps, "order": order, "shape": shape}
    request = {"do": "threads_of_triton.linear"} | {name: list(part) for name, part in parts.items()}
    answer = _insist("compiler", request)
    return tuple(tuple(map(tuple, answer[part])) for part in ("registers", "lanes", "warps"))


def fragment(
    version: int, warps: Sequence[int], columns: int, shape: Sequence[int], operand: int, size: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The vectors of a product's layout (`operand` is -1), or of its factors: of registers, lanes and warps.

    Version 2 is that of `mma.sync`, version 3 that of `wgmma` with so many columns.
    """
    parts = {"version": version, "warps": list(warps), "columns": columns, "shape": list(shape)}
    request = {"do": "threads_of_triton.fragment", "operand": operand, "size": size} | parts
    answer = _insist("compiler", request)
    return tuple(tuple(map(tuple, answer[part])) for part in ("registers", "lanes", "warps"))


def swizzled(shape: Sequence[int], size: int, row: int, fast: int) -> tuple[tuple[int, ...], ...]:
    """The indices of the elements at offsets 1, 2, 4, ... of a swizzled matrix in shared memory."""
    request = {"do": "threads_of_triton.swizzled", "shape": list(shape), "size": size, "row": row, "fast": fast}
    return tuple(map(tuple, _insist("compiler", request)["indices"]))


def refusal_of_ptxas(ptx: str, target: str = "sm_90") -> str:
    """Why NVIDIA's assembler, which comes with Triton, refuses a text; "" if it accepts it."""
    return str(_insist("compiler", {"do": "threads_of_triton.assemble", "ptx": ptx, "target": target})["refusal"])


def frontends(sources: Sequence[Source], steps: bool = False, lower: bool = False) -> list[Made]:
    """Kernels in Python source, compiled by real Triton in one request.

    With `steps`, the texts of all stages are kept; with `lower`, the kernels are compiled down to cubins.
    """
    requests = [{"do": "written.make", **source.question(), "steps": steps, "lower": lower} for source in sources]
    seconds = COMPILE_SECONDS if lower else PARSE_SECONDS
    return [_made(answer) for answer in _ask("frontend", requests, seconds)]


@functools.cache
def server() -> Server:
    """The one server of this process."""
    return Server()


def _ask(tier: str, requests: Sequence[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    if not available():
        oracles.unavailable(oracles.not_installed("real Triton"))
    judge, answers = kept([tier, *requests], lambda: _answers(tier, requests, seconds))
    oracles.note("triton", judge)
    return answers


def _answers(tier: str, requests: Sequence[dict[str, Any]], seconds: float) -> tuple[str, list[dict[str, Any]]]:
    """The judge and its answers."""
    judge = f"{tier} {version()}"
    requests = [_spelled(request) for request in requests]
    try:
        answers = list(server().ask(requests, seconds))
    except Silent as silence:
        oracles.unavailable(str(silence))
    if not all(answer["ok"] for answer in answers):  # a refusal would count against a right solution
        _insist_on_judge(seconds)
    return judge, answers


def _spelled(request: dict[str, Any]) -> dict[str, Any]:
    """A request whose text, if it has one, is spelled as by the version of Triton that judges."""
    if "text" not in request or tuple(map(int, version().split(".")[:2])) < (3, 8):
        return request
    from mini_triton.backends.triton_api import respelled

    return request | {"text": respelled(request["text"], version())}


def _insist_on_judge(seconds: float) -> None:
    """End the test as unavailable if Triton cannot judge."""
    if why := fault(seconds):
        oracles.unavailable(why)


def _insist(tier: str, request: dict[str, Any], seconds: float = PARSE_SECONDS) -> dict[str, Any]:
    (answer,) = insist_on(tier, [request], seconds)
    return answer


def insist_on(tier: str, requests: Sequence[dict[str, Any]], seconds: float = PARSE_SECONDS) -> list[dict[str, Any]]:
    """The answers to requests for functions of `tests.oracles.server`. Fails the test if one is refused."""
    answers = _ask(tier, requests, seconds)
    for request, answer in zip(requests, answers, strict=True):
        assert answer["ok"], refusal("this", request.get("text", ""), answer["diagnostic"])
    return answers


def _capability(target: str) -> int:
    return int(target.removeprefix("sm_"))


def _sent(value: Any) -> Any:
    """A constant in JSON's form."""
    if isinstance(value, Code):
        return {"code": value}
    return [_sent(item) for item in value] if isinstance(value, tuple) else value


def _made(answer: dict[str, Any]) -> Made:
    known = {name: answer[name] for name in Made.__dataclass_fields__ if name in answer}
    if "ptx" in answer:
        known["compiled"] = _compiled(answer)
    return Made(**known | {"lines": tuple(known.get("lines", ()))})


def _compiled(answer: dict[str, Any]) -> Compiled:
    if not answer["ok"]:
        return Compiled(False, answer["diagnostic"])
    cubin, sizes = bytes.fromhex(answer["cubin"]), {name: answer[name] for name in ("cubin_size", "shared")}
    return Compiled(True, ttgir=answer["ttgir"], ptx=answer["ptx"], cubin=cubin, **sizes)
