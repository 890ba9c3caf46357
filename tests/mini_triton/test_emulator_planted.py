"""Bugs planted in Python: the emulator runs real Triton's PTX, and names the Python line of the bug."""

import functools
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.emulator import emulate

from tests.corpus.themes import read
from tests.oracles import triton as real

START = """
import triton
import triton.language as tl


@triton.jit
def kernel(out, x, ids, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
"""
BODIES = Path(__file__).with_name("emulator_bugs.txt")
SIGNATURE = {"out": "*fp32", "x": "*fp32", "ids": "*i32", "n": "i32", "stride": "i32", "BLOCK": "constexpr"}
BUGS = {bug: START + textwrap.indent(body, "    ") for bug, (body,) in read(BODIES).items()}
"""The text of each kernel. The name of a bug begins with the kind that the emulator finds."""


@functools.cache
def compiled(target: str) -> dict[str, Any]:
    """All kernels, compiled by real Triton."""
    sources = [
        real.Source(text, "kernel", SIGNATURE, {"BLOCK": 256}, ["out", "x", "ids"], target, {"debug": True})
        for text in BUGS.values()
    ]
    return dict(zip(BUGS, real.frontends(sources, lower=True), strict=True))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", BUGS)
def test_the_line_of_the_bug(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mini_triton.emulator.schedule.HOPELESS", 100)
    kind, _, _ = name.partition(": ")
    made = compiled(target)[name].compiled
    assert made, made.diagnostic
    x, ids = np.linspace(0.001, 1, 1000, dtype=np.float32), np.arange(1000, dtype=np.int32) + 1
    out = np.zeros(1000, np.float32)
    names = ["out", "x", "ids", "n", "stride"]
    report = emulate(made.ptx, (4,), [out, x, ids, 1000, 7], shared=made.shared, names=names)
    line = next(n for n, text in enumerate(BUGS[name].split("\n"), 1) if "# bug" in text)
    found = {(finding.kind, finding.place and finding.place.line) for finding in report.findings}
    assert (kind, line) in found
    assert {place for of, place in found if of == kind} == {line}
    if kind != "sectors":
        assert {finding.kind for finding in report.errors} == {kind}
