"""Task 13.12: atomic operations. NumPy computes the results; the emulator runs the PTX, and finds races."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m13_threads.running import Kernel

DTYPES = {"fp16": np.float16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "fp32": np.float32}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, new: old + new,
    "max": np.maximum,
    "min": np.minimum,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "xchg": lambda old, new: new,
}
UPDATE = (
    "@triton.jit\ndef kernel(out, memory, x, n, BLOCK: tl.constexpr):\n"
    "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    old = tl.atomic_{name}(memory + at, tl.load(x + at, mask=at < n){mask})\n"
    "    tl.store(out + at, old)\n"
)
TICKETS = (
    "@triton.jit\ndef kernel(out, counter, n, BLOCK: tl.constexpr):\n"
    "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    old = tl.atomic_add(counter + at * 0, 1, mask=at < n)\n"
    "    tl.store(out + at, old, mask=at < n)\n"
)
LAST = (
    "@triton.jit\ndef kernel(out, parts, counter, x, BLOCK: tl.constexpr):\n"
    "    place, at = tl.program_id(0), tl.arange(0, BLOCK)\n"
    "    tl.store(parts + place * BLOCK + at, tl.load(x + place * BLOCK + at) * 2)\n"
    "    finished = tl.atomic_add(counter, 1)\n"
    "    if finished == tl.num_programs(0) - 1:\n"
    "        total = tl.zeros((BLOCK,), tl.int32)\n"
    "        for other in range(tl.num_programs(0)):\n"
    "            total += tl.load(parts + other * BLOCK + at)\n"
    "        tl.store(out + at, total)\n"
)


def update(name: str, kind: str, block: int, n: int, warps: int, masked: bool, seed: int = 0) -> Kernel:
    """Run an atomic operation on an array, and compare the memory and the old elements."""
    __tracebackhide__ = True
    text = UPDATE.format(name=name, mask=", mask=at < n" if masked else "")
    types = {"out": f"*{kind}", "memory": f"*{kind}", "x": f"*{kind}", "n": "i32"}
    asked = Kernel(text, types, {"BLOCK": block}, warps)
    random = np.random.default_rng(seed)
    programs = -(-n // block)
    size = programs * block
    memory, x = (random.integers(0, 200, size).astype(DTYPES[kind]) for _ in range(2))
    inside = (np.arange(size) < n) | (not masked)
    before, out = memory.copy(), np.full_like(memory, 77)
    given = np.where(np.arange(size) < n, x, 0).astype(x.dtype)
    asked.run(out, memory, x, n, programs=programs)
    expected = np.where(inside, OPERATIONS[name](before, given), before)
    asked.check("memory", memory, expected, f"atomic_{name} updates each element of memory once, by the element of x")
    asked.check("out", out, np.where(inside, before, 0), "the result is the old element; 0 where the mask is false")
    return asked


def tickets(block: int, n: int, warps: int) -> None:
    """All elements add 1 to one counter: each gets another number."""
    __tracebackhide__ = True
    asked = Kernel(TICKETS, {"out": "*i32", "counter": "*i32", "n": "i32"}, {"BLOCK": block}, warps)
    programs = -(-n // block)
    out, counter = np.full(n, -1, np.int32), np.zeros(1, np.int32)
    asked.run(out, counter, n, programs=programs)
    asked.check("counter", counter, np.array([n]), f"each of {n} elements adds 1, also if several threads hold it")
    asked.check("numpy.sort(out)", np.sort(out), np.arange(n), "no two elements find the same number")


def test_addition() -> None:
    update("add", "i32", 128, 128, 4, masked=False)


def test_mask() -> None:
    update("add", "i32", 128, 100, 4, masked=True)
    update("xchg", "i32", 128, 1, 4, masked=True)


def test_fewer_elements_than_threads() -> None:
    update("add", "i32", 32, 32, 4, masked=False)
    update("add", "i32", 16, 9, 2, masked=True)


def test_one_counter() -> None:
    tickets(128, 128, 4)
    tickets(32, 50, 4)
    tickets(256, 1000, 2)


@given(
    st.sampled_from(list(OPERATIONS)),
    st.sampled_from(["i32", "u32", "i64"]),
    st.sampled_from([1, 2, 16, 64, 256]),
    st.integers(1, 600),
    st.sampled_from([1, 2, 4, 8]),
    st.booleans(),
    st.integers(0, 99),
)
@one_in(4)
def test_random_updates(name: str, kind: str, block: int, n: int, warps: int, masked: bool, seed: int) -> None:
    update(name, kind, block, n, warps, masked, seed)


def test_floats() -> None:
    update("add", "fp32", 256, 200, 4, masked=True)
    update("add", "fp16", 64, 50, 4, masked=True)


@pytest.mark.parametrize("kind", list(DTYPES))
def test_nvidias_assembler_accepts_it(kind: str) -> None:
    update("add", kind, 64, 50, 4, masked=True).assemble()


def test_compare_and_swap() -> None:
    text = (
        "@triton.jit\ndef kernel(out, memory, wanted, x):\n    at = tl.arange(0, 64)\n"
        "    old = tl.atomic_cas(memory + at, tl.load(wanted + at), tl.load(x + at))\n    tl.store(out + at, old)\n"
    )
    asked = Kernel(text, dict.fromkeys(("out", "memory", "wanted", "x"), "*i32"), {})
    random = np.random.default_rng(0)
    memory, wanted, x = (random.integers(0, 3, 64).astype(np.int32) for _ in range(3))
    before, out = memory.copy(), np.zeros_like(x)
    asked.run(out, memory, wanted, x)
    asked.check("memory", memory, np.where(before == wanted, x, before), "x is written where memory was as wanted")
    asked.check("out", out, before)


def test_threads_that_hold_one_element_hold_the_old_one() -> None:
    """The result of a sum is in all threads of its row, and so is what the row finds in memory."""
    text = (
        "@triton.jit\ndef kernel(out, memory, x):\n    i, j = tl.arange(0, 4), tl.arange(0, 64)\n"
        "    at = i[:, None] * 64 + j[None, :]\n    tile = tl.load(x + at)\n"
        "    old = tl.atomic_add(memory + i, tl.sum(tile, 1))\n    tl.store(out + at, tile + old[:, None])\n"
    )
    asked = Kernel(text, dict.fromkeys(("out", "memory", "x"), "*i32"), {})
    x, memory = np.arange(256, dtype=np.int32).reshape(4, 64), np.array([1000, 2000, 3000, 4000], np.int32)
    out, before = np.zeros_like(x), memory.copy()
    asked.run(out, memory, x)
    asked.check("memory", memory, before + x.sum(1, dtype=np.int32))
    asked.check("out", out, x + before[:, None], "all threads of a row hold the row's old element")


def test_a_number() -> None:
    """The program that finishes last adds the parts of all programs."""
    types = dict.fromkeys(("out", "parts", "counter", "x"), "*i32")
    asked = Kernel(LAST, types, {"BLOCK": 64})
    x = np.arange(64 * 5, dtype=np.int32)
    out, parts, counter = np.zeros(64, np.int32), np.zeros_like(x), np.zeros(1, np.int32)
    asked.run(out, parts, counter, x, programs=5)
    asked.check("counter", counter, np.array([5]), "one thread of each program adds 1")
    asked.check("out", out, 2 * x.reshape(5, 64).sum(0, dtype=np.int32), "all threads of a program know the old number")
    steps = re.findall(r"st\.global|bar\.sync 0|atom|st\.shared|ld\.shared|ld\.global", asked.code.ptx)
    at = steps.index("atom")
    if steps[at - 1] != "bar.sync 0" or "bar.sync 0" not in steps[at : steps.index("ld.global", at)]:
        asked.fail("bar.sync before and after the atomic operation", " ".join(steps), "others' accesses keep its order")


def test_a_number_with_a_mask() -> None:
    text = (
        "@triton.jit\ndef kernel(out, counter):\n    place, at = tl.program_id(0), tl.arange(0, 64)\n"
        "    old = tl.atomic_add(counter, 100, mask=place % 2 == 1)\n    tl.store(out + place * 64 + at, old + at)\n"
    )
    asked = Kernel(text, dict.fromkeys(("out", "counter"), "*i32"), {})
    out, counter = np.zeros((4, 64), np.int32), np.array([7], np.int32)
    asked.run(out, counter, programs=4)
    asked.check("counter", counter, np.array([207]), "two of four programs add 100")
    asked.check(
        "sorted column of out", np.sort(out[:, 0]), np.array([0, 0, 7, 107]), "without the mask, the result is 0"
    )
    asked.check("out", out, out[:, :1] + np.arange(64), "all threads of a program know the old number")


def test_a_number_that_nobody_needs() -> None:
    text = (
        "@triton.jit\ndef kernel(memory, counter):\n    at = tl.arange(0, 128)\n    tl.store(memory + at, at)\n"
        "    tl.atomic_xchg(counter, 1)\n    tl.store(memory + 128 + at, at)\n"
    )
    asked = Kernel(text, dict.fromkeys(("memory", "counter"), "*i32"), {})
    memory, counter = np.zeros(256, np.int32), np.zeros(1, np.int32)
    asked.run(memory, counter)
    asked.check("counter", counter, np.array([1]))
    steps = re.findall(r"st\.global|bar\.sync 0|atom|shared", asked.code.ptx.partition("{")[2])
    if steps != (expected := ["st.global", "bar.sync 0", "atom", "bar.sync 0", "st.global"]):
        asked.fail(" ".join(expected), " ".join(steps), "nothing uses the old number, so no thread needs it")


def test_results_stay_in_their_threads() -> None:
    """No shared memory and no barrier, if no two threads hold the same element, or if nothing uses the result."""
    asked = update("add", "i32", 128, 128, 4, masked=False)
    text = TICKETS.replace("old = ", "").replace("    tl.store(out + at, old, mask=at < n)\n", "")
    unused = Kernel(text, {"out": "*i32", "counter": "*i32", "n": "i32"}, {"BLOCK": 32})
    for kernel in (asked, unused):
        if kernel.code.shared:
            kernel.fail("no shared memory", f"{kernel.code.shared} bytes")
        if count := kernel.code.ptx.count("bar.sync"):
            kernel.fail("no barrier", f"{count} barriers", "the operation is on a tensor")


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope, expected", [("gpu", "gpu"), ("cta", "cta"), ("sys", "sys")])
def test_order_and_scope(sem: str, scope: str, expected: str) -> None:
    text = f"@triton.jit\ndef kernel(x):\n    tl.atomic_max(x + tl.arange(0, 128), 1, sem='{sem}', scope='{scope}')\n"
    asked = Kernel(text, {"x": "*i32"}, {})
    found = re.findall(r"atom\.\S+", asked.code.ptx)
    if found != [f"atom.{sem}.{expected}.global.max.s32"]:
        asked.fail(f"atom.{sem}.{expected}.global.max.s32", ", ".join(found) or "no atomic instruction")
