"""Task 13.7: loads and stores of kernels. The judges are NumPy and the emulator's checks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.ptx import accesses

from tests.checks import described
from tests.oracles import triton
from tests.support.m13_threads import kernels

COPY = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
WHOLE = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))
"""
OTHER = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=7))
"""
SCALARS = """def k(x, out, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    first = tl.load(x + p)
    last = tl.load(x + p + 1, mask=p + 1 < n, other=5)
    tl.store(out + p, first + last, mask=p < n)
"""
ROWS = """def k(x, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, 8)[:, None], tl.arange(0, BLOCK)[None, :]
    tl.store(out + i * BLOCK + j, tl.load(x + i + j) + i)
"""
STRIDED = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at * 3, tl.load(x + at * 2))
"""
TYPES = {"fp32": np.float32, "fp16": np.float16, "i8": np.int8, "i64": np.int64, "i1": np.bool_}


def launched(
    text: str, kind: str, block: int, grid: int, arguments: list[Any], divisible: str = "", warps: int = 4
) -> Any:
    """The report of a launch, the arrays after it, and the code."""
    asked = kernels.source(text, {"x": f"*{kind}", "out": f"*{kind}", "n": "i32"}, divisible.split(), BLOCK=block)
    code = kernels.code_of(asked, warps)
    report, after = kernels.after(code, (grid,), arguments, f"`{kind}`, BLOCK = {block}\n{text}")
    return report, after[:2], code


def check(text: str, got: np.ndarray, expected: np.ndarray, because: str = "") -> None:
    """Require these elements of `out`."""
    __tracebackhide__ = True
    if (got != expected).any():
        place = int(np.flatnonzero(got != expected)[0])
        asked = described(f"`out` after the kernel\n{text}", check)
        asked.fail(f"out[{place}] = {expected[place]}", f"out[{place}] = {got[place]}", because)


def drawn(kind: str, count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2 if kind == "i1" else 100, count).astype(TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
def test_copies_without_a_mask(kind: str) -> None:
    x = drawn(kind, 512)
    _, (_, out), _ = launched(WHOLE, kind, 256, 2, [x, np.zeros_like(x), 512], "x out")
    check(WHOLE, out, x)


@pytest.mark.parametrize("divisible", ["", "x out", "x out n"])
@pytest.mark.parametrize("kind", TYPES)
def test_copies_with_a_mask(kind: str, divisible: str) -> None:
    """The arrays end where the mask ends, so an access beyond is out of bounds."""
    for count in (16, 272, 496) if "n" in divisible else (1, 255, 300):
        x = drawn(kind, count)
        _, (_, out), _ = launched(COPY, kind, 256, 2, [x, np.zeros_like(x), count], divisible)
        check(COPY, out, x, f"n is {count}")


@pytest.mark.parametrize("kind", TYPES)
def test_what_a_mask_leaves_out(kind: str) -> None:
    x = drawn(kind, 256)
    for count in (0, 100, 256):
        _, (_, out), _ = launched(OTHER, kind, 256, 1, [x[: max(1, count)].copy(), np.zeros_like(x), count], "x out")
        seven: np.ndarray = np.full(256, 7).astype(TYPES[kind])
        check(OTHER, out, np.where(np.arange(256) < count, x, seven), "where the mask is false, the element is `other`")
    text = OTHER.replace(", other=7", "")
    _, (_, out), _ = launched(text, kind, 256, 1, [x[:100].copy(), np.ones_like(x), 100], "x out")
    check(text, out, np.where(np.arange(256) < 100, x, 0).astype(TYPES[kind]), "without `other`, the element is 0")


@pytest.mark.parametrize("kind", ["fp32", "fp16", "i8", "i64"])
def test_others_that_differ(kind: str) -> None:
    """One instruction loads several elements; where it does not run, each has an `other` of its own."""
    text = OTHER.replace("other=7", "other=at % 100")
    for count in (0, 112):
        x = drawn(kind, 256)
        _, (_, out), _ = launched(text, kind, 256, 1, [x[: max(16, count)].copy(), np.zeros_like(x), count], "x out n")
        expected = np.where(np.arange(256) < count, x, (np.arange(256) % 100).astype(TYPES[kind]))
        check(text, out, expected, "where the mask is false, the element is that of `other`")


def test_numbers() -> None:
    x = drawn("i64", 5)
    report, (_, out), code = launched(SCALARS, "i64", 1, 5, [x, np.zeros_like(x), 5])
    check(SCALARS, out, x + [*x[1:], 5])
    stores = [line for line in code.ptx.splitlines() if "st.global" in line]
    assert len(stores) == 1 and "@" in stores[0], f"one thread stores a number, so the store has a guard: {stores}"
    most = 5 * (2 * 4 + 1)
    if report.total.sectors > most:
        asked = described(f"the sectors that 5 programs of four warps access, with the kernel\n{SCALARS}", check)
        because = "in a program, each warp loads two numbers, and only one thread stores a number"
        asked.fail(f"at most {most}", f"{report.total.sectors}", because)


def test_the_first_thread_stores() -> None:
    """128 threads hold 16 elements; each is stored once, by one warp."""
    for block, sectors in ((16, 2), (32, 4), (128, 16)):
        x = drawn("fp32", block)
        report, (_, out), code = launched(WHOLE, "fp32", block, 1, [x, np.zeros_like(x), block])
        check(WHOLE, out, x)
        (line,) = (n for n, text in enumerate(code.ptx.splitlines(), 1) if "st.global" in text)
        got = report.instructions[line][1].sectors
        asked = described(f"the sectors of 32 bytes that the store of {block} fp32 elements accesses", check)
        if got != sectors:
            asked.fail(f"{sectors}", f"{got}", "several threads hold an element; only the first stores it")


def test_rows() -> None:
    x = drawn("i64", 40)
    _, (_, out), _ = launched(ROWS, "i64", 32, 1, [x, np.zeros(256, np.int64), 0], "x out")
    row = np.arange(8)[:, None]
    check(ROWS, out, (x[row + np.arange(32)] + row).ravel())


def test_places_between_elements_stay() -> None:
    x, out = drawn("fp16", 512), np.full(768, -1, np.float16)
    _, (_, got), _ = launched(STRIDED, "fp16", 256, 1, [x, out, 0], "x out")
    expected = out.copy()
    expected[::3] = x[::2]
    check(STRIDED, got, expected)


def test_what_is_computed_between() -> None:
    text = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(v > 50, v * 2 + at, tl.load(x + n - 1)))
"""
    x = drawn("i64", 256)
    _, (_, out), _ = launched(text, "i64", 256, 1, [x, np.zeros_like(x), 200])
    v = np.where(np.arange(256) < 200, x, 0)
    check(text, out, np.where(v > 50, v * 2 + np.arange(256), x[199]))


def test_volatile_loads() -> None:
    text = WHOLE.replace("tl.load(x + at)", "tl.load(x + at, volatile=True)")
    x = drawn("fp32", 128)
    _, (_, out), code = launched(text, "fp32", 128, 1, [x, np.zeros_like(x), 0])
    check(text, out, x)
    assert "ld.volatile.global" in code.ptx, "a volatile load keeps its opcode, ld.volatile.global"


@pytest.mark.parametrize(
    ("hint", "load", "store"),
    [
        ("cache_modifier='.cg'", "ld.global.cg.v4.b32", "st.global.cg.v4.b32"),
        (
            "eviction_policy='evict_last'",
            "ld.global.L1::evict_last.L2::cache_hint.v4.b32",
            "st.global.L1::evict_last.L2::cache_hint.v4.b32",
        ),
    ],
)
def test_hints_for_caches(hint: str, load: str, store: str) -> None:
    text = COPY.replace(", mask=at < n)", f", mask=at < n, {hint})")
    x = drawn("fp32", 512)
    _, (_, out), code = launched(text, "fp32", 512, 1, [x, np.zeros_like(x), 496], "x out n")
    check(text, out, np.where(np.arange(512) < 496, x, 0))
    for opcode in (load, store):
        assert opcode in code.ptx, f"a load or a store with {hint} has the opcode {opcode}"
    assert not (refusal := triton.refusal_of_ptxas(code.ptx)), f"NVIDIA's assembler refuses the code:\n{refusal}"


def test_loads_in_order() -> None:
    """A load after a store to the same place reads what was stored."""
    text = """def k(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    before = tl.load(out + at)
    tl.store(out + at, before + 1)
    tl.store(x + at, before * 10 + tl.load(out + at))
"""
    out = drawn("i64", 128)
    _, (x, _), _ = launched(text, "i64", 128, 1, [np.zeros_like(out), out, 0])
    check(text, x, out * 10 + out + 1, "operations with effects stay in order")


@given(
    kind=st.sampled_from(list(TYPES)),
    block=st.sampled_from([1, 2, 16, 64, 512, 1024]),
    fraction=st.floats(0, 1),
    grid=st.integers(1, 3),
    warps=st.sampled_from([1, 2, 4, 8]),
    divisible=st.booleans(),
)
def test_random_copies(kind: str, block: int, fraction: float, grid: int, warps: int, divisible: bool) -> None:
    count = int(fraction * block * grid)
    if divisible:
        count -= count % 16
    x = drawn(kind, max(1, count))
    promised = "x out n" if divisible else ""
    _, (_, out), _ = launched(COPY, kind, block, grid, [x, np.zeros_like(x), count], promised, warps)
    check(COPY, out[:count], x[:count], f"n = {count}, {grid} programs of {block} elements, {warps} warps")


def test_fewer_warps_move_more() -> None:
    for warps, expected in ((1, 8), (4, 2), (8, 1)):
        x = drawn("fp32", 1024)
        _, _, code = launched(WHOLE, "fp32", 1024, 1, [x, np.zeros_like(x), 0], "x out", warps)
        got = dict(accesses(code.ptx))
        wanted = {("load", 16): expected, ("store", 16): expected}
        asked = described(f"the accesses of {warps} warps to 1024 fp32 elements", check)
        if got != wanted:
            asked.fail(f"{wanted}", f"{got}", f"a thread has {1024 // 32 // warps} elements, 4 per instruction")
