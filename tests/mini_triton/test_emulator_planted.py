"""Bugs planted in Python: the emulator runs real Triton's PTX, and names the Python line of the bug."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from mini_triton.emulator import emulate

from tests.oracles import triton as real

START = """
import triton
import triton.language as tl


@triton.jit
def kernel(out, x, ids, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
"""
SIGNATURE = {"out": "*fp32", "x": "*fp32", "ids": "*i32", "n": "i32", "stride": "i32", "BLOCK": "constexpr"}

BUGS = {
    "a store without a mask": (
        """
    value = tl.load(x + at, mask=inside)
    tl.store(out + at, value * 2)  # bug
    """,
        "out of bounds",
    ),
    "a load without a mask": (
        """
    value = tl.load(x + at)  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "out of bounds",
    ),
    "the mask of the other axis": (
        """
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 64)[None, :]
    value = tl.load(x + rows * 40 + columns, mask=rows < 25)  # bug
    tl.store(out + at, tl.sum(value) + tl.zeros((BLOCK,), tl.float32), mask=inside)
    """,
        "out of bounds",
    ),
    "one turn of a loop too many": (
        """
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n + BLOCK, BLOCK):
        total += tl.load(x + start + tl.arange(0, BLOCK))  # bug
    tl.store(out + at, total, mask=inside)
    """,
        "out of bounds",
    ),
    "an index before the start": (
        """
    before = tl.load(x + at - 1, mask=inside)  # bug
    tl.store(out + at, before, mask=inside)
    """,
        "out of bounds",
    ),
    "an index from data that nobody checks": (
        """
    row = tl.load(ids + at, mask=inside, other=0)
    value = tl.load(x + row, mask=inside)  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "out of bounds",
    ),
    "a histogram with a bin too few": (
        """
    bin = tl.load(ids + at, mask=inside, other=0)
    tl.atomic_add(out + bin, 1.0, mask=inside)  # bug
    """,
        "out of bounds",
    ),
    "a false promise of alignment": (
        """
    place = tl.multiple_of(stride + tl.arange(0, BLOCK), 16)
    value = tl.load(x + place)  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "misaligned",
    ),
    "a lock that nobody opens": (
        """
    while tl.atomic_cas(ids, 0, 1) != 0:  # bug
        pass
    value = tl.load(x + at, mask=inside)
    tl.store(out + at, value, mask=inside)
    """,
        "deadlock",
    ),
    "an assertion": (
        """
    value = tl.load(x + at, mask=inside)
    tl.device_assert(value < 0.5, "too large")  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "assertion",
    ),
    "columns instead of rows": (
        """
    value = tl.load(x + tl.arange(0, BLOCK) * 8, mask=tl.arange(0, BLOCK) < 125)  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "sectors",
    ),
    "inline PTX that stops": (
        """
    value = tl.load(x + at, mask=inside)
    value = tl.inline_asm_elementwise("trap; mov.b32 $0, $1;", "=r,r", [value], tl.float32, False, 1)  # bug
    tl.store(out + at, value, mask=inside)
    """,
        "trap",
    ),
}


@functools.cache
def compiled(target: str) -> dict[str, Any]:
    """All kernels, compiled by real Triton."""
    sources = [
        real.Source(START + body, "kernel", SIGNATURE, {"BLOCK": 256}, ["out", "x", "ids"], target, {"debug": True})
        for body, _ in BUGS.values()
    ]
    return dict(zip(BUGS, real.frontends(sources, lower=True), strict=True))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", BUGS)
def test_the_line_of_the_bug(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mini_triton.emulator.schedule.HOPELESS", 100)
    body, kind = BUGS[name]
    made = compiled(target)[name].compiled
    assert made, made.diagnostic
    x, ids = np.linspace(0.001, 1, 1000, dtype=np.float32), np.arange(1000, dtype=np.int32) + 1
    out = np.zeros(1000, np.float32)
    names = ["out", "x", "ids", "n", "stride"]
    report = emulate(made.ptx, (4,), [out, x, ids, 1000, 7], shared=made.shared, names=names)
    line = next(n for n, text in enumerate((START + body).split("\n"), 1) if "# bug" in text)
    found = {(finding.kind, finding.place and finding.place.line) for finding in report.findings}
    assert (kind, line) in found
    assert {place for of, place in found if of == kind} == {line}
    if kind != "sectors":
        assert {finding.kind for finding in report.errors} == {kind}
