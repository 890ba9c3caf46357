"""Task 6.2: loads, atomics, reductions and scans of one program; and whole kernels, one program after the other."""

from __future__ import annotations

import functools
import itertools
from typing import Any

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
from tests.support.m06_codegen.kernels import judge_corpus, kernel, tensor
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

VECTOR = "tensor<4xi32>"
POINTERS = "tensor<4x!tt.ptr<i32>>"
ACCESS = (
    "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
    "%two = arith.constant dense<2> : tensor<4xi32>",
    "%m = arith.cmpi slt, %r, %two : tensor<4xi32>",
    "%far = arith.constant dense<99> : tensor<4xi32>",
    "%o = arith.select %m, %r, %far : tensor<4xi1>, tensor<4xi32>",
    f"%xs = tt.splat %x : !tt.ptr<i32> -> {POINTERS}",
    f"%near = tt.addptr %xs, %r : {POINTERS}, {VECTOR}",
    f"%wide = tt.addptr %xs, %o : {POINTERS}, {VECTOR}",
    f"%outs = tt.splat %out : !tt.ptr<i32> -> {POINTERS}",
    f"%to = tt.addptr %outs, %r : {POINTERS}, {VECTOR}",
)
LOADS = {
    f"%a = tt.load %near : {POINTERS}": [10, 11, 12, 13],
    f"%a = tt.load %near, %m : {POINTERS}": [10, 11, 0, 0],
    f"%a = tt.load %wide, %m : {POINTERS}": [10, 11, 0, 0],
    f"%a = tt.load %wide, %m, %two : {POINTERS}": [10, 11, 2, 2],
    f"%q = arith.select %m, %near, %to : tensor<4xi1>, {POINTERS}\n%a = tt.load %q : {POINTERS}": [10, 11, 0, 0],
}


@pytest.mark.parametrize("line", LOADS)
def test_loads(line: str) -> None:
    """Lanes that are masked off read nothing, wherever their pointers lead."""
    text = kernel("x: *i32, out: *i32", *ACCESS, line, f"tt.store %to, %a : {POINTERS}")
    _, out = run(text, (1,), [np.arange(10, 14, dtype=np.int32), np.zeros(4, np.int32)])
    assert out.tolist() == LOADS[line], f"{line}\n  expected  {LOADS[line]}\n  got       {out.tolist()}\n{text}"


def test_out_of_bounds() -> None:
    """A lane that is not masked off, and leads nowhere; nothing is written."""
    x, out = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    for line in (f"%a = tt.load %wide : {POINTERS}", f"tt.store %wide, %r : {POINTERS}"):
        module = parse_module(kernel("x: *i32, out: *i32", *ACCESS, line))
        given = [Buffer.of("x", x.copy()[1:3]), Buffer.of("out", out)]
        calling(numpy_backend.interpreter.run, module, (2,), given).raises(OutOfBounds)
    assert not out.any()


# --- atomics


@pytest.mark.parametrize("name", ["add", "and", "or", "xor", "max", "min", "exch"])
def test_lanes_take_turns(name: str) -> None:
    """All lanes of all programs change the same two elements, one after the other."""
    meaning_of: dict[str, Any] = {
        "add": lambda x, y: x + y,
        "and": lambda x, y: x & y,
        "or": lambda x, y: x | y,
        "xor": lambda x, y: x ^ y,
        "max": max,
        "min": min,
        "exch": lambda x, y: y,
    }
    lines = [
        "%one = arith.constant dense<1> : tensor<4xi32>",
        "%seven = arith.constant dense<7> : tensor<4xi32>",
        "%at = arith.andi %r, %one : tensor<4xi32>",
        f"%p = tt.addptr %xs, %at : {POINTERS}, {VECTOR}",
        "%pid = tt.get_program_id x : i32",
        "%pids = tt.splat %pid : i32 -> tensor<4xi32>",
        "%moved = arith.muli %pids, %seven : tensor<4xi32>",
        "%v = arith.addi %moved, %r : tensor<4xi32>",
        "%used = arith.cmpi ne, %r, %two : tensor<4xi32>",
        f"%old = tt.atomic_rmw {name}, acq_rel, gpu, %p, %v, %used : ({POINTERS}, {VECTOR}, tensor<4xi1>) -> {VECTOR}",
        "%four = arith.constant 4 : i32",
        "%start = arith.muli %pid, %four : i32",
        f"%mine = tt.addptr %to, %starts : {POINTERS}, {VECTOR}",
        f"tt.store %mine, %old : {POINTERS}",
    ]
    lines.insert(-2, "%starts = tt.splat %start : i32 -> tensor<4xi32>")
    text = kernel("x: *i32, out: *i32", *ACCESS, *lines)
    x, out = run(text, (3,), [np.array([5, 9], np.int32), np.full(12, -7, np.int32)])
    memory, read = [5, 9], []
    for pid, lane in itertools.product(range(3), range(4)):
        read.append(memory[lane % 2] if lane != 2 else 0)
        if lane != 2:
            memory[lane % 2] = meaning_of[name](memory[lane % 2], 7 * pid + lane)
    got = (x.tolist(), out.tolist())
    assert got == (memory, read), f"  expected  {memory}, and lanes read {read}\n  got       {got}\n{text}"


def test_compare_and_swap() -> None:
    """Program p makes p + 1 of p, each after the one before it; floats are compared by their bits."""
    text = kernel(
        "x: *f32, out: *f32, from: f32, to: f32",
        "%old = tt.atomic_cas acq_rel, gpu, %x, %from, %to : (!tt.ptr<f32>, f32, f32) -> f32",
        "tt.store %out, %old : !tt.ptr<f32>",
    )
    for held, expected, swapped in ((1.0, 1.0, True), (1.0, 2.0, False), (0.0, -0.0, False), (np.nan, np.nan, True)):
        x, out, *_ = run(text, (1,), [np.array([held], np.float32), np.zeros(1, np.float32), expected, 5.0])
        right = 5.0 if swapped else held
        assert np.array_equal(x, [np.float32(right)]), f"{held} in memory, {expected} expected: then it holds {x[0]}"
        assert np.array_equal(out, [np.float32(held)], equal_nan=True), f"the result is {out[0]}, not {held}"


# --- regions


def subtractions(operation: str, shape: tuple[int, ...], axis: int, more: str) -> str:
    """A kernel that combines the elements of `x` along an axis by subtraction, which is not associative."""
    size = int(np.prod(shape))
    result = shape if operation == "tt.scan" else shape[:axis] + shape[axis + 1 :]
    count = int(np.prod(result))
    lines = [f"%n{k} = tt.make_range {{end = {k} : i32, start = 0 : i32}} : {tensor('i32', k)}" for k in {size, count}]
    for name, k in (("x", size), ("out", count)):
        lines.append(f"%{name}s = tt.splat %{name} : !tt.ptr<i32> -> {tensor('!tt.ptr<i32>', k)}")
        lines.append(f"%{name}p = tt.addptr %{name}s, %n{k} : {tensor('!tt.ptr<i32>', k)}, {tensor('i32', k)}")
    body = f"^bb0(%a: i32, %b: i32):\n  %s = arith.subi %a, %b : i32\n  {operation}.return %s : i32"
    types = f"({tensor('i32', *shape)}) -> {tensor('i32', *result)}"
    lines += [
        f"%flat = tt.load %xp : {tensor('!tt.ptr<i32>', size)}",
        f"%t = tt.reshape %flat : {tensor('i32', size)} -> {tensor('i32', *shape)}",
        f'%r = "{operation}"(%t) ({{\n{body}\n}}) {{axis = {axis} : i32{more}}} : {types}',
    ]
    if result:
        lines.append(f"%v = tt.reshape %r : {tensor('i32', *result)} -> {tensor('i32', count)}")
    lines.append(
        f"tt.store %outp, %v : {tensor('!tt.ptr<i32>', count)}" if result else "tt.store %out, %r : !tt.ptr<i32>"
    )
    return kernel("x: *i32, out: *i32", *lines)


@pytest.mark.parametrize("shape", [(1,), (8,), (4, 2), (2, 4), (2, 2, 4)], ids=str)
@pytest.mark.parametrize("way", ["reduce", "scan", "reverse scan"])
def test_from_left_to_right(shape: tuple[int, ...], way: str) -> None:
    """One element after the other: ((a - b) - c) - d, along every axis."""
    x = np.arange(1, np.prod(shape) + 1, dtype=np.int32) ** 2
    operation = "tt." + way.split()[-1]
    for axis in range(len(shape)):
        reverse = way.startswith("reverse")
        more = "" if operation == "tt.reduce" else f", reverse = {str(reverse).lower()}"
        rows = np.moveaxis(x.reshape(shape), axis, 0)
        rows = rows[::-1] if reverse else rows
        steps = np.stack(list(itertools.accumulate(rows, lambda a, b: a - b)))
        expected = steps[-1] if operation == "tt.reduce" else np.moveaxis(steps[::-1] if reverse else steps, 0, axis)
        text = subtractions(operation, shape, axis, more)
        _, out = run(text, (1,), [x, np.zeros(expected.size, np.int32)])
        wanted = expected.ravel().tolist()
        assert out.tolist() == wanted, f"axis {axis}\n  expected  {wanted}\n  got       {out.tolist()}\n{text}"


# --- whole kernels


@one_in(4)
@given(kernel=kernels(STRAIGHT) | kernels(REDUCTIONS) | kernels(BRANCHES_AND_LOOPS), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """What the reference's interpreter makes of them."""
    judge_random(kernel, seed, "interpreted")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """What compiled Triton computed on a GPU. Kernels that need exact arithmetic are left to task 6.12."""
    if not needs_exact_arithmetic(parse_module(modules.text(case))):
        judge_corpus(case, "interpreted")
