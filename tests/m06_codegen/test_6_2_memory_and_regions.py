"""Task 6.2: loads, atomics, reductions and scans of one program, and kernels whose programs run one by one."""

import functools
import itertools
import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.checks import calling, one_in
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.oracles import modules
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen import numpy_backend
from tests.support.m06_codegen.kernels import compiled, judge_corpus, kernel
from tests.support.m06_codegen.random_programs import (
    BRANCHES_AND_LOOPS,
    REDUCTIONS,
    STRAIGHT,
    judge_random,
    kernels,
    needs_exact_arithmetic,
)

run = functools.partial(numpy_backend.run, mode="interpreted")

# --- loads

POINTERS = """
r = tl.arange(0, 4)
near, m = x + r, r < 2
wide = x + tl.where(m, r, 99)
"""
LOADS = {
    "tl.load(near)": [10, 11, 12, 13],
    "tl.load(near, mask=m)": [10, 11, 0, 0],
    "tl.load(wide, mask=m)": [10, 11, 0, 0],
    "tl.load(wide, mask=m, other=2)": [10, 11, 2, 2],
    "tl.load(tl.where(m, near, out + r))": [10, 11, 22, 23],
}


@pytest.mark.parametrize("load", LOADS)
def test_loads(load: str) -> None:
    """Masked-off lanes read no memory, whatever their offsets are."""
    text = compiled(f"{POINTERS}tl.store(out + r, {load})", x="*i32", out="*i32")
    _, out = run(text, (1,), [np.arange(i, i + 4, dtype=np.int32) for i in (10, 20)])
    assert out.tolist() == LOADS[load], f"{load}\n  expected  {LOADS[load]}\n  got       {out.tolist()}\n{text}"


def test_out_of_bounds() -> None:
    """If the mask of an out-of-bounds lane is true, an error is raised, and nothing is written."""
    x, out = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    for line in ("tl.store(out + r, tl.load(wide))", "tl.store(wide, r)"):
        module = parse_module(compiled(POINTERS + line, x="*i32", out="*i32"))
        given = [Buffer.of("x", x.copy()[1:3]), Buffer.of("out", out)]
        calling(numpy_backend.interpreter.run, module, (2,), given).raises(OutOfBounds)
    assert not out.any()


# --- atomics

ATOMICS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "max": max,
    "min": min,
    "xchg": lambda x, y: y,
}


@pytest.mark.parametrize("name", ATOMICS)
def test_lanes_take_turns(name: str) -> None:
    """All lanes of all programs change the same two elements, one after the other."""
    lines = f"""
        pid, r = tl.program_id(0), tl.arange(0, 4)
        old = tl.atomic_{name}(x + (r & 1), pid * 7 + r, mask=r != 2)
        tl.store(out + pid * 4 + r, old)
    """
    text = compiled(lines, x="*i32", out="*i32")
    x, out = run(text, (3,), [np.array([5, 9], np.int32), np.full(12, -7, np.int32)])
    memory, read = [5, 9], []
    for pid, lane in itertools.product(range(3), range(4)):
        read.append(memory[lane % 2] if lane != 2 else 0)
        if lane != 2:
            memory[lane % 2] = ATOMICS[name](memory[lane % 2], 7 * pid + lane)
    got = (x.tolist(), out.tolist())
    assert got == (memory, read), f"  expected  {memory}, and lanes read {read}\n  got       {got}\n{text}"


def test_lanes_with_different_arrays() -> None:
    """The first two lanes add to an element of `x`, the others to an element of `y`."""
    lines = """
        r = tl.arange(0, 4)
        tl.store(out + r, tl.atomic_add(tl.where(r < 2, x, y), r + 1))
    """
    text = compiled(lines, x="*i32", y="*i32", out="*i32")
    after = run(text, (1,), [np.array(numbers, np.int32) for numbers in ([10], [20], [-7] * 4)])
    got, expected = [array.tolist() for array in after], [[13], [27], [10, 11, 20, 23]]
    assert got == expected, f"x, y and what the lanes read\n  expected  {expected}\n  got       {got}\n{text}"


def test_compare_and_swap() -> None:
    """The new value is stored if memory holds the expected value. Floats are compared by their bits."""
    text = kernel(
        "x: *f32, out: *f32, from: f32, to: f32",
        "%old = tt.atomic_cas acq_rel, gpu, %x, %from, %to : (!tt.ptr<f32>, f32, f32) -> f32",
        "tt.store %out, %old : !tt.ptr<f32>",
    )
    for held, expected, swapped in ((1.0, 1.0, True), (1.0, 2.0, False), (0.0, -0.0, False), (np.nan, np.nan, True)):
        x, out, *_ = run(text, (1,), [np.array([held], np.float32), np.zeros(1, np.float32), expected, 5.0])
        right = 5.0 if swapped else held
        assert np.array_equal(x, [np.float32(right)]), (
            f"compare-and-swap of {held} in memory, with {expected} expected, leaves {x[0]}, not {right}"
        )
        assert np.array_equal(out, [np.float32(held)], equal_nan=True), f"the result is {out[0]}, not {held}"


# --- regions


CALLS = {
    "reduce": "tl.reduce(v, {axis}, sub)",
    "scan": "tl.associative_scan(v, {axis}, sub)",
    "reverse scan": "tl.associative_scan(v, {axis}, sub, reverse=True)",
}


@pytest.mark.parametrize("shape", [(1,), (8,), (4, 2), (2, 4), (2, 2, 4)], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_from_left_to_right(shape: tuple[int, ...], name: str) -> None:
    """Elements are combined one after the other along an axis: ((a - b) - c) - d."""
    x = np.arange(1, np.prod(shape) + 1, dtype=np.int32) ** 2
    for axis in range(len(shape)):
        rows = np.moveaxis(x.reshape(shape), axis, 0)
        rows = rows[::-1] if "reverse" in name else rows
        steps = np.stack(list(itertools.accumulate(rows, operator.sub)))
        expected = steps[-1] if name == "reduce" else np.moveaxis(steps[::-1] if "reverse" in name else steps, 0, axis)
        lines = f"""
            v = tl.load(x + tl.arange(0, {x.size}).reshape{shape})
            places = tl.arange(0, {expected.size}).reshape{expected.shape or (1,)}
            tl.store(out + places, {CALLS[name].format(axis=axis)})
        """
        text = compiled(lines, "def sub(a, b):\n    return a - b\n", x="*i32", out="*i32")
        _, out = run(text, (1,), [x, np.zeros(expected.size, np.int32)])
        wanted = expected.ravel().tolist()
        assert out.tolist() == wanted, f"axis {axis}\n  expected  {wanted}\n  got       {out.tolist()}\n{text}"


JOINED = "def joined(x, m, y, n):\n    return x * n + y, m * n\n"


@pytest.mark.parametrize("name", ["reduce", "associative_scan"])
def test_several_sources(name: str) -> None:
    """The region takes the left elements of all sources, then the right ones. Here, it joins digits to a number."""
    lines = f"""
        r = tl.arange(0, 4)
        digits, tens = tl.{name}((r + 1, tl.full((4,), 10, tl.int32)), 0, joined)
        tl.store(out + r, digits)
        tl.store(out + 4 + r, tens)
    """
    text = compiled(lines, JOINED, out="*i32")
    (out,) = run(text, (1,), [np.zeros(8, np.int32)])
    expected = [1, 12, 123, 1234, 10, 100, 1000, 10000] if "scan" in name else [1234] * 4 + [10000] * 4
    assert out.tolist() == expected, f"{name}\n  expected  {expected}\n  got       {out.tolist()}\n{text}"


# --- whole kernels


@one_in(4)
@given(kernel=kernels(STRAIGHT) | kernels(REDUCTIONS) | kernels(BRANCHES_AND_LOOPS), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """The results equal those of the reference's interpreter."""
    judge_random(kernel, seed, "interpreted")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """The results equal real Triton's on a GPU. Task 6.12 covers kernels that need exact arithmetic."""
    if not needs_exact_arithmetic(parse_module(modules.text(case))):
        judge_corpus(case, "interpreted")
