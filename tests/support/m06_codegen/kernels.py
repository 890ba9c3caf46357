"""Small kernels, run over a grid: by the back end under test, and program by program by the reference's interpreter.

judge(kernel("x: *i32, out: *i32", "%pid = tt.get_program_id x : i32", …), (5,), [x, out])
judge(compiled("tl.store(out + tl.program_id(0), tl.load(x))", x="*i32", out="*i32"), (5,), [x, out])
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module, without_locations

from tests.checks import described
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.oracles import modules, values
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import reference
from tests.support.m06_codegen.closeness import EXACT, Rounding, check, rounding, wrong
from tests.support.m06_codegen.generated_errors import explained
from tests.support.m06_codegen.numpy_backend import Mode, accesses, parameters, run

SHOWN = 16  # the most elements of an array that a failure shows


def kernel(parameters: str, *lines: str, end: str = "tt.return") -> str:
    """The text of a module with one kernel; a parameter is `name: type`, where `*f32` is a pointer."""
    pairs = [parameter.removeprefix("%").split(": ") for parameter in parameters.split(", ")]
    types = [(name, f"!tt.ptr<{type[1:]}>" if type.startswith("*") else type) for name, type in pairs]
    header = ", ".join(f"%{name}: {type}" for name, type in types)
    text, depth = ["module {", f"  tt.func public @kernel({header}) {{"], 2
    for line in filter(None, map(str.strip, "\n".join([*lines, end, "}", "}"]).splitlines())):
        depth -= line.startswith("}")
        text.append("  " * (depth - line.startswith("^")) + line)
        depth += line.endswith("{")
    return "\n".join(text) + "\n"


def addition() -> str:
    """Vector addition, in blocks of 16. The first load is in line 9."""
    lines = """
        at = tl.program_id(0) * 16 + tl.arange(0, 16)
        mask = at < n
        a = tl.load(x + at, mask=mask)
        b = tl.load(y + at, mask=mask)
        tl.store(out + at, a + b, mask=mask)
    """
    return compiled(lines, x="*fp32", y="*fp32", out="*fp32", n="i32")


def compiled(lines: str, helper: str = "", **signature: str) -> str:
    """The IR, as text, of a Python kernel with these lines, whose parameters have types such as `x="*fp32"`.

    The lines may call the function `helper`. As after real Triton's canonicalizer, an empty `else` is removed.
    """
    head = f"import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel({', '.join(signature)}):\n"
    text = head + textwrap.indent(textwrap.dedent(lines).strip(), "    ") + "\n"
    if helper:
        text += f"\n\n@triton.jit\n{helper}"
    printed = print_module(sources.compiled(Source(text, "kernel", signature)), locations=True)
    return re.sub(r"\} else \{\s+scf\.yield( loc\(.*\))?\s+\}", "}", printed)


class about(described):
    """A call that takes or runs a kernel. A failure shows the kernel's text at the end, because it may be long."""

    def __init__(self, words: str, text: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        super().__init__(words, explained()(function), *arguments, **options)
        self.rest = f"the kernel is\n{without_locations(text)}"

    def fail(self, expected: str, got: Any, because: str = "") -> NoReturn:
        __tracebackhide__ = True
        super().fail(expected, got, f"{because or 'this is the meaning of the IR'}\n  {self.rest}")


def running(text: str, grid: Sequence[int], arguments: Sequence[Any], hidden: Sequence[Any] = (), **how: Any) -> about:
    """The call in which the back end under test runs a kernel; it returns the arguments after the run."""
    call = about(f"Over the grid {tuple(grid)}", text, run, text, grid, arguments, hidden, **how)
    given = "\n            ".join(f"{name} = {_shown(x)}" for name, x in zip(names(text), arguments, strict=True))
    call.rest = f"launched  {given}\n  {call.rest}"
    return call


def names(text: str) -> list[str]:
    """The names of a kernel's parameters."""
    return [f"%{argument.name or number}" for number, argument in enumerate(parameters(parse_module(text)))]


def judge(
    text: str,
    grid: Sequence[int],
    arguments: Sequence[Any],
    expected: Sequence[Any] | None = None,
    because: str = "",
    exactness: Rounding = EXACT,
    **how: Any,
) -> None:
    """Require the `expected` buffers after the run, by default the buffers of the reference's interpreter."""
    __tracebackhide__ = True
    call = running(text, grid, arguments, **how)
    got = call.succeeds("all programs run", because)
    if expected is None:
        expected = reference.run(text, grid, arguments)
    for name, now, wanted in zip(names(text), got, expected, strict=True):
        if not isinstance(wanted, np.ndarray):
            continue
        places = np.flatnonzero(wrong(now, wanted, exactness))
        if places.size:
            some = places[:SHOWN]
            more = f", and {places.size - SHOWN} more elements differ" if places.size > SHOWN else ""
            words = [f"{name}{some.tolist()} = {array.ravel()[some].tolist()}" for array in (wanted, now)]
            if ran := accesses(text, how.get("mode", "batched")):
                call.rest = "\n".join(["where     these lines of the generated code ran", *ran, f"  {call.rest}"])
            call.fail(words[0], Words(words[1] + more), because)


COUNTED = {"counts": "*i32", "x": "*i32", "out": "*i32", "k": "i32"}


def counted(lines: str, helper: str = "") -> str:
    """The IR of a Python kernel with the parameters `COUNTED`; each program loads its own number `n`."""
    return compiled("pid = tl.program_id(0)\nn = tl.load(counts + pid)\n" + textwrap.dedent(lines), helper, **COUNTED)


def judge_counted(
    lines: str,
    counts: Sequence[int],
    because: str,
    x: Sequence[int] = (5, -3, 8, 1),
    out: int = 32,
    k: int = 3,
    helper: str = "",
) -> None:
    """Require that a counted kernel leaves the same output as the reference's interpreter."""
    __tracebackhide__ = True
    arguments = [np.array(counts, np.int32), np.array(x, np.int32), np.full(out, -7, np.int32), k]
    judge(counted(lines, helper), (len(counts),), arguments, because=because)


def judge_corpus(case: Case, mode: Mode = "batched") -> None:
    """Require that a kernel of the corpus leaves the buffers that real Triton left on a GPU, as recorded."""
    __tracebackhide__ = True
    text, expected = modules.text(case), values.corpus(case)
    arguments, hidden = inputs(case, values.SEED)
    got = dict(buffers(case, running(text, case.grid, arguments, hidden, mode=mode).succeeds()))
    for name in expected:
        check(f"{name} of {case}", got[name], expected[name], rounding(parse_module(text)))


class Words(str):
    """Text that a failure shows without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    return np.array2string(value, threshold=SHOWN, edgeitems=4, separator=", ", max_line_width=10**6)
