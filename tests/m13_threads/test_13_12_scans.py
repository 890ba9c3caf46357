"""Task 13.12: scans. NumPy computes the results; the emulator runs the PTX, and finds races and bank conflicts."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m13_threads.running import Kernel

COMBINATIONS = {
    "add": "def combine(a, b):\n    return a + b",
    "larger": "def combine(a, b):\n    return tl.maximum(a, b)",
    "last": "def combine(a, b):\n    return b",
    "linear": "def combine(a, b, c, d):\n    return a * c, b * c + d",
}
FUNCTIONS = {
    "add": lambda a, b: (a[0] + b[0],),
    "larger": lambda a, b: (np.maximum(a[0], b[0]),),
    "last": lambda a, b: b,
    "linear": lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]),
}
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
INDEX = {
    1: "i",
    2: "i[:, None] * {1} + j[None, :]",
    3: "(i[:, None, None] * {1} + j[None, :, None]) * {2} + k[None, None, :]",
}


def scan(shape: tuple[int, ...], axis: int, name: str, kind: str, reverse: bool, warps: int) -> tuple[Kernel, int]:
    """A kernel that scans a tensor of this shape, and the number of the scan's operands."""
    count = 2 if name == "linear" else 1
    ranges = "\n".join(f"    {letter} = tl.arange(0, {size})" for letter, size in zip("ijk", shape, strict=False))
    loads = ", ".join(f"tl.load(x + {number * math.prod(shape)} + at)" for number in range(count))
    results = ", ".join(["r", "s"][:count]) + ","
    text = (
        f"@triton.jit\n{COMBINATIONS[name]}\n\n\n@triton.jit\ndef kernel(out, x):\n{ranges}\n"
        f"    at = {INDEX[len(shape)].format(*shape)}\n"
        f"    {results} = tl.associative_scan(({loads},), {axis}, combine, reverse={reverse})\n"
        + "".join(
            f"    tl.store(out + {number * math.prod(shape)} + at, {result})\n"
            for number, result in enumerate(["r", "s"][:count])
        )
    )
    return Kernel(text, {"out": f"*{kind}", "x": f"*{kind}"}, {}, warps), count


def expected(x: np.ndarray, axis: int, name: str, reverse: bool) -> np.ndarray:
    """The scan of x[operands, ...], one element after the other."""
    result = np.moveaxis(x.copy(), axis + 1, 0)
    places = range(len(result))
    places = places[::-1] if reverse else places
    with np.errstate(over="ignore"):
        for before, place in zip(places, places[1:], strict=False):
            result[place] = np.stack(FUNCTIONS[name](tuple(result[before]), tuple(result[place])))
    return np.moveaxis(result, 0, axis + 1)


def check(shape: tuple[int, ...], axis: int, name: str, kind: str, reverse: bool, warps: int, seed: int = 0) -> Any:
    """Run a scan of random numbers, and compare its results. Returns the kernel and the emulator's counts."""
    __tracebackhide__ = True
    asked, count = scan(shape, axis, name, kind, reverse, warps)
    x = np.random.default_rng(seed).integers(-100, 100, (count, *shape)).astype(DTYPES[kind])
    out = np.zeros_like(x)
    total = asked.run(out, x).total
    because = "the operands come from higher indices first" if reverse else "the operands are in the order of the axis"
    asked.check("out", out, expected(x, axis, name, reverse), because)
    return asked, total


def test_elements_of_a_thread() -> None:
    check((8, 32), 0, "add", "i32", False, 1)


def test_lanes() -> None:
    check((32,), 0, "add", "i32", False, 1)


def test_groups_of_lanes() -> None:
    """Rows of eight elements: a lane at the start of a row takes nothing from the row before."""
    check((16, 8), 1, "add", "i32", False, 1)


def test_elements_and_lanes() -> None:
    check((128,), 0, "last", "i32", False, 1)
    check((128,), 0, "add", "i32", False, 1)


def test_warps() -> None:
    check((128,), 0, "add", "i32", False, 4)
    check((64,), 0, "add", "i32", False, 2)
    check((1024,), 0, "add", "i32", False, 8)


def test_reverse() -> None:
    check((32,), 0, "add", "i32", True, 1)
    check((128,), 0, "add", "i32", True, 1)
    check((1024,), 0, "add", "i32", True, 4)


def test_order_of_operands() -> None:
    """The composition of functions a x + b, where the first function is applied first."""
    for reverse in (False, True):
        check((64,), 0, "linear", "i32", reverse, 1)
        check((512,), 0, "linear", "i32", reverse, 4)


def test_fewer_elements_than_threads() -> None:
    check((8,), 0, "add", "i32", False, 4)
    check((64,), 0, "add", "i32", True, 8)
    check((1,), 0, "add", "i32", False, 1)


@given(
    st.lists(st.sampled_from([1, 2, 4, 8, 16, 32, 64]), min_size=1, max_size=3),
    st.integers(0, 2),
    st.sampled_from(list(COMBINATIONS)),
    st.sampled_from(list(DTYPES)),
    st.booleans(),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(0, 99),
)
@one_in(4)
def test_random_scans(sizes: list[int], axis: int, name: str, kind: str, reverse: bool, warps: int, seed: int) -> None:
    while math.prod(sizes) > 2048:
        sizes[sizes.index(max(sizes))] //= 2
    check(tuple(sizes), axis % len(sizes), name, kind, reverse, warps, seed)


@pytest.mark.parametrize("shape, warps", [((32,), 1), ((16, 8), 1), ((256,), 1), ((32, 256), 4), ((1024,), 4)], ids=str)
def test_number_of_steps(shape: tuple[int, ...], warps: int) -> None:
    asked, _ = check(shape, len(shape) - 1, "larger", "i32", False, warps)
    lanes = min(32, shape[-1])
    elements = max(1, shape[-1] // (32 * (warps if len(shape) == 1 else 1)))
    rows = max(1, math.prod(shape) // (32 * warps * elements))
    shuffles = rows * (int(math.log2(lanes)) + (elements > 1))
    combined = rows * (2 * elements - 2 + int(math.log2(lanes)))
    if len(shape) == 1 and warps > 1:
        combined += warps - 2 + elements
    because = f"a thread holds {rows} rows of {elements} elements, and {lanes} lanes hold a row of a warp"
    for what, opcode, limit in (("shuffles", "shfl.sync", shuffles), ("combinations", "max.s32", combined)):
        if (got := asked.code.ptx.count(opcode)) > limit:
            asked.fail(f"at most {limit} {what}", f"{got} {what}", because)


@pytest.mark.parametrize("kind", list(DTYPES))
def test_nvidias_assembler_accepts_it(kind: str) -> None:
    asked, _ = check((512,), 0, "linear", kind, True, 4)
    asked.assemble()


def test_no_bank_conflicts() -> None:
    asked, total = check((1024,), 0, "linear", "i32", False, 8)
    if total.bank_ways != total.shared:
        asked.fail(f"{total.shared} cycles of the banks", f"{total.bank_ways} cycles", "no two lanes need one bank")
