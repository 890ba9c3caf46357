"""Helpers of the slice's tests, which build, print and evaluate operations and compare them with real Triton.

These helpers call no function that a learner writes, so that a test depends on one task only.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from first.slice import MEANING, NOTHING, Kernel, Op, spell

from tests import oracles
from tests.oracles import triton
from tests.oracles.records import LEADING
from tests.support.m00_first import kernels
from tests.support.m05_frontend.difference import difference

PARAMETERS = ("x", "y", "out", "n")
MODULES = Path(__file__).parent / "modules"  # the kernels as real Triton compiled them, for machines without Triton


def node(text: str) -> ast.expr:
    """The syntax tree of an expression."""
    return ast.parse(text, mode="eval").body


def printed(kernel: Kernel) -> str:
    """A kernel as text. The tests do not use the learner's `text`, which may not be written yet."""
    names = {op: f"%{name}" for name, op in kernel.parameters.items()}
    parameters = ", ".join(f"%{name}: {op.type}" for name, op in kernel.parameters.items())
    lines = []
    for number, op in enumerate(kernel.ops):
        missing = [operand.name for operand in op.operands if operand not in names]
        assert not missing, f"{op.name} comes before its operand {missing[0]}, or that was never emitted"
        names[op] = f"%{number}"
        result = f"%{number} = " * (op.type != NOTHING)
        attributes = ", ".join(f"{key} = {spell(number)}" for key, number in op.attributes.items())
        types = ", ".join(str(value.type) for value in op.operands)
        values = ", ".join(names[operand] for operand in op.operands)
        lines.append(f'  {result}"{op.name}"({values}) <{{{attributes}}}> : ({types}) -> {op.type}\n')
    return f"tt.func public @{kernel.name}({parameters}) {{\n{''.join(lines)}  tt.return\n}}\n".replace(" <{}>", "")


def computed(kernel: Kernel, inputs: Mapping[str, Any]) -> dict[Op, Any]:
    """The value of every operation, for these values of the parameters."""
    values: dict[Op, Any] = {op: inputs[name] for name, op in kernel.parameters.items()}
    for op in kernel.ops:
        missing = [operand.name for operand in op.operands if operand not in values]
        assert not missing, f"{op.name} comes before its operand {missing[0]}, or that was never emitted"
        values[op] = MEANING[op.name](*(values[operand] for operand in op.operands), **op.attributes)
    return values


def refusals(compiled: Sequence[Kernel]) -> list[str]:
    """Why real Triton refuses each kernel; empty if it accepts it. Without Triton, its rule about sizes decides."""
    if triton.available():
        return [answer.diagnostic for answer in triton.accepts_many([printed(kernel) for kernel in compiled])]
    oracles.note("triton", f"records {LEADING}")
    return [next(filter(None, map(_refusal, kernel.ops)), "") for kernel in compiled]


def _refusal(op: Op) -> str:
    sizes = {operand.type.size for operand in op.operands} | ({op.type.size} if op.name != "tt.splat" else set())
    return f"{op.name}: requires the same shape for all operands and results" if len(sizes) > 1 else ""


def insist_on_real_tritons(name: str, text: str) -> None:
    """Require that a text of one of `KERNELS` is the kernel that real Triton's front end makes of the same source.

    Where Triton is missing, the text must be the recorded one, which Triton has accepted.
    """
    if not triton.available():
        oracles.note("triton", f"records {LEADING}")
        expected = (MODULES / f"{name}.ttir").read_text(encoding="utf-8")
        for ours, theirs in zip(tokens(text), tokens(expected), strict=False):
            assert ours == theirs, f"{name}:\n  expected  {theirs}\n  got       {ours}\n{text}"
        assert len(tokens(text)) == len(tokens(expected)), f"{name} should have these lines:\n{expected}\nnot\n{text}"
        return
    answer = triton.accepts(text)
    assert answer, triton.refusal(name, text, answer.diagnostic)
    (made,) = triton.frontends([kernels.source(name)])
    found = difference(triton.canonical(text), made.canonical, PARAMETERS)
    assert not found, f"{name} is not what real Triton makes of the same source. The first difference:\n{found}\n{text}"


def tokens(text: str) -> list[str]:
    """The lines of a text without what has no meaning in MLIR: spaces, needless brackets, the order of attributes."""
    lines = [re.sub(r"\s*([^\w\s%\"-])\s*", r"\1", line.strip()) for line in text.splitlines() if line.strip()]
    lines = [re.sub(r"->\(([^()]+)\)$", r"->\1", line.replace("<{}>", "")) for line in lines]
    return [re.sub(r"(?<=<\{).*(?=\}>)", _in_order, line) for line in lines]


def _in_order(attributes: re.Match[str]) -> str:
    return ",".join(sorted(re.split(r",(?=\w+=)", attributes[0])))
