"""Task 6.5: all programs of a grid run at once, each with its own place in arrays."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.storage import OutOfBounds

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen import closeness
from tests.support.m06_codegen.kernels import judge_corpus, kernel
from tests.support.m06_codegen.numpy_backend import run
from tests.support.m06_codegen.random_programs import STRAIGHT, judge_random, kernels

# --- whole kernels


@given(kernel=kernels(STRAIGHT), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """All programs together store what each of them does."""
    judge_random(kernel, seed)


STRAIGHT = "add_kernel adam constant_branches_double constant_branches_square dropout_low_memory gather_rows".split()
STRAIGHT += "messages pairwise rotary transpose".split()


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in STRAIGHT], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """Beside what a GPU has computed."""
    judge_corpus(case)


ADDITION = kernel(
    "x: *f32, y: *f32, out: *f32, n: i32",
    "%size = arith.constant 16 : i32",
    "%pid = tt.get_program_id x : i32",
    "%start = arith.muli %pid, %size : i32",
    "%r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>",
    "%starts = tt.splat %start : i32 -> tensor<16xi32>",
    "%offsets = arith.addi %starts, %r : tensor<16xi32>",
    "%ns = tt.splat %n : i32 -> tensor<16xi32>",
    "%mask = arith.cmpi slt, %offsets, %ns : tensor<16xi32>",
    "%xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>",
    "%xp = tt.addptr %xs, %offsets : tensor<16x!tt.ptr<f32>>, tensor<16xi32>",
    "%a = tt.load %xp, %mask : tensor<16x!tt.ptr<f32>>",
    "%ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>",
    "%yp = tt.addptr %ys, %offsets : tensor<16x!tt.ptr<f32>>, tensor<16xi32>",
    "%b = tt.load %yp, %mask : tensor<16x!tt.ptr<f32>>",
    "%sum = arith.addf %a, %b : tensor<16xf32>",
    "%outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>",
    "%outp = tt.addptr %outs, %offsets : tensor<16x!tt.ptr<f32>>, tensor<16xi32>",
    "tt.store %outp, %sum, %mask : tensor<16x!tt.ptr<f32>>",
)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 997, 20000])
def test_vector_addition(size: int) -> None:
    """Of any length; the last program has lanes to spare, and no program may touch what comes after the arrays."""
    x, y = np.arange(size + 5, dtype=np.float32), np.full(size + 5, 1000, np.float32)
    out = np.full(size + 5, -1, np.float32)
    blocks = -(-size // 16)
    for grid in ((blocks,), (blocks + 2,), (blocks, 1, 1)):
        *_, got, _ = run(ADDITION, grid, [x, y, out, size])
        expected = np.where(np.arange(size + 5) < size, x + y, out)
        closeness.check(f"out of {size} elements on grid {grid}", got, expected)


@pytest.mark.parametrize("grid", [(0,), (3, 0), (2, 3, 0), (0, 0, 0)])
def test_no_programs(grid: tuple[int, ...]) -> None:
    """Nothing runs, so nothing is written, and nothing is out of bounds."""
    out = np.full(4, 7, np.float32)
    *_, got, _ = run(ADDITION, grid, [out, out, out, 1000])
    assert (got == 7).all(), f"on grid {grid} the kernel writes {got}"


def test_scalars_of_each_program() -> None:
    """One number for each: loaded, computed with, compared, chosen by, and stored."""
    text = kernel(
        "x: *f32, out: *f32, first: f32",
        "%pid = tt.get_program_id x : i32",
        "%two = arith.constant 2 : i32",
        "%c = arith.cmpi slt, %pid, %two : i32",
        "%p = tt.addptr %x, %pid : !tt.ptr<f32>, i32",
        "%a = tt.load %p, %c, %first : !tt.ptr<f32>",
        "%b = tt.load %x : !tt.ptr<f32>",
        "%sum = arith.addf %a, %b : f32",
        "%chosen = arith.select %c, %sum, %first : f32",
        "%q = tt.addptr %out, %pid : !tt.ptr<f32>, i32",
        "tt.store %q, %chosen : !tt.ptr<f32>",
    )
    _, out, _ = run(text, (5,), [np.array([10, 20], np.float32), np.zeros(7, np.float32), 3.0])
    assert out.tolist() == [20, 30, 3, 3, 3, 0, 0], f"out is {out.tolist()}\n{text}"


def test_the_only_element() -> None:
    """`unsplat` makes a number of a tensor with one element: one for each program, or one for all."""
    text = kernel(
        "x: *i32, out: *i32",
        "%pid = tt.get_program_id x : i32",
        "%zero = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>",
        "%pids = tt.splat %pid : i32 -> tensor<1xi32>",
        "%at = arith.addi %pids, %zero : tensor<1xi32>",
        "%xs = tt.splat %x : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>>",
        "%p = tt.addptr %xs, %at : tensor<1x!tt.ptr<i32>>, tensor<1xi32>",
        "%as = tt.load %p : tensor<1x!tt.ptr<i32>>",
        "%first = tt.addptr %xs, %zero : tensor<1x!tt.ptr<i32>>, tensor<1xi32>",
        "%bs = tt.load %first : tensor<1x!tt.ptr<i32>>",
        "%a = tt.unsplat %as : tensor<1xi32>",
        "%b = tt.unsplat %bs : tensor<1xi32>",
        "%sum = arith.addi %a, %b : i32",
        "%sums = tt.splat %sum : i32 -> tensor<4xi32>",
        "%lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%all = arith.addi %sums, %lanes : tensor<4xi32>",
        "%four = arith.constant 4 : i32",
        "%start = arith.muli %pid, %four : i32",
        "%q = tt.addptr %out, %start : !tt.ptr<i32>, i32",
        "%qs = tt.splat %q : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%outs = tt.addptr %qs, %lanes : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        "tt.store %outs, %all : tensor<4x!tt.ptr<i32>>",
    )
    for x in ([5], [5, 60, 700], [5, 60, 700, 8000]):
        _, out = run(text, (len(x),), [np.array(x, np.int32), np.zeros(4 * len(x), np.int32)])
        expected = [element + 5 + lane for element in x for lane in range(4)]
        assert out.tolist() == expected, f"x = {x}\n  expected  {expected}\n  got       {out.tolist()}\n{text}"


@pytest.mark.parametrize("shape", [(4,), (2, 4), (4, 1), (2, 2, 2)], ids=str)
def test_a_number_beside_a_tensor(shape: tuple[int, ...]) -> None:
    """The number of each program is the same for all elements of its tensor, also if there are as many programs."""
    size, type = int(np.prod(shape)), f"tensor<{'x'.join(map(str, shape))}xi32>"
    pointers = type.replace("i32", "!tt.ptr<i32>")
    text = kernel(
        "out: *i32",
        "%pid = tt.get_program_id x : i32",
        f"%size = arith.constant {size} : i32",
        "%one = arith.constant 1 : i32",
        f"%r = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>",
        f"%t = tt.reshape %r : tensor<{size}xi32> -> {type}",
        f"%hundred = arith.constant dense<100> : {type}",
        f"%ps = tt.splat %pid : i32 -> {type}",
        f"%big = arith.muli %ps, %hundred : {type}",
        f"%sum = arith.addi %big, %t : {type}",
        "%c = arith.cmpi slt, %pid, %one : i32",
        f"%chosen = arith.select %c, %hundred, %sum : {type}",
        "%start = arith.muli %pid, %size : i32",
        "%p = tt.addptr %out, %start : !tt.ptr<i32>, i32",
        f"%pp = tt.splat %p : !tt.ptr<i32> -> {pointers}",
        f"%q = tt.addptr %pp, %t : {pointers}, {type}",
        f"tt.store %q, %chosen : {pointers}",
    )
    for count in (1, 2, 3, 4, 8):
        (got,) = run(text, (count,), [np.zeros(count * size, np.int32)])
        expected = [[100] * size] + [[100 * pid + i for i in range(size)] for pid in range(1, count)]
        got = got.reshape(count, size).tolist()
        assert got == expected, f"{count} programs\n  expected  {expected}\n  got       {got}\n{text}"


def test_masks_and_others_that_vary_more_than_offsets() -> None:
    """What is read is the same for all programs, but which of it, and what stands for the rest, is not."""
    text = kernel(
        "x: *i32, out: *i32",
        "%pid = tt.get_program_id x : i32",
        "%four = arith.constant 4 : i32",
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%ps = tt.splat %pid : i32 -> tensor<4xi32>",
        "%m = arith.cmpi sle, %r, %ps : tensor<4xi32>",
        "%xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%xp = tt.addptr %xs, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        "%even = arith.constant dense<true> : tensor<4xi1>",
        "%a = tt.load %xp, %m, %ps : tensor<4x!tt.ptr<i32>>",
        "%b = tt.load %xp, %even, %ps : tensor<4x!tt.ptr<i32>>",
        "%sum = arith.addi %a, %b : tensor<4xi32>",
        "%start = arith.muli %pid, %four : i32",
        "%o = tt.addptr %out, %start : !tt.ptr<i32>, i32",
        "%os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%op = tt.addptr %os, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        "tt.store %op, %sum : tensor<4x!tt.ptr<i32>>",
    )
    x = [10, 20, 30, 40]
    _, got = run(text, (3,), [np.array(x, np.int32), np.zeros(12, np.int32)])
    expected = [x[i] + (x[i] if i <= pid else pid) for pid, i in itertools.product(range(3), range(4))]
    assert got.tolist() == expected, f"  expected  {expected}\n  got       {got.tolist()}\n{text}"


def test_each_program_chooses_an_array() -> None:
    """Odd ones read from x, even ones from y: so their pointers are addresses."""
    text = kernel(
        "x: *i32, y: *i32, out: *i32",
        "%pid = tt.get_program_id x : i32",
        "%one = arith.constant 1 : i32",
        "%four = arith.constant 4 : i32",
        "%odd = arith.andi %pid, %one : i32",
        "%c = arith.cmpi eq, %odd, %one : i32",
        "%chosen = arith.select %c, %x, %y : !tt.ptr<i32>",
        "%p = tt.addptr %chosen, %pid : !tt.ptr<i32>, i32",
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%pp = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        "%a = tt.load %pp : tensor<4x!tt.ptr<i32>>",
        "%start = arith.muli %pid, %four : i32",
        "%o = tt.addptr %out, %start : !tt.ptr<i32>, i32",
        "%os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%op = tt.addptr %os, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        "tt.store %op, %a : tensor<4x!tt.ptr<i32>>",
    )
    x = np.arange(8, dtype=np.int32)
    *_, out = run(text, (5,), [x, x + 100, np.zeros(20, np.int32)])
    expected = [pid + i + 100 * (pid % 2 == 0) for pid, i in itertools.product(range(5), range(4))]
    assert out.tolist() == expected, f"  expected  {expected}\n  got       {out.tolist()}\n{text}"


def test_each_program_stores_into_an_array_of_its_own() -> None:
    """Odd ones write to x, even ones to y: a store takes an address, too."""
    text = kernel(
        "x: *i32, y: *i32",
        "%pid = tt.get_program_id x : i32",
        "%one = arith.constant 1 : i32",
        "%odd = arith.andi %pid, %one : i32",
        "%c = arith.cmpi eq, %odd, %one : i32",
        "%chosen = arith.select %c, %x, %y : !tt.ptr<i32>",
        "%p = tt.addptr %chosen, %pid : !tt.ptr<i32>, i32",
        "tt.store %p, %pid : !tt.ptr<i32>",
    )
    pids, old = np.arange(5, dtype=np.int32), np.full(5, -1, np.int32)
    for name, got, is_own in zip("xy", run(text, (5,), [old, old]), (pids % 2 == 1, pids % 2 == 0), strict=True):
        expected = np.where(is_own, pids, old).tolist()
        assert got.tolist() == expected, f"{name}\n  expected  {expected}\n  got       {got.tolist()}\n{text}"


# --- errors


LINES = ADDITION.splitlines()


@pytest.mark.parametrize("array", ["xp", "yp", "outp"])
def test_one_element_too_few(array: str, tmp_path: Path) -> None:
    """The error names the array, the element, the program and the line of the kernel."""
    located = [
        line + f' loc("{(tmp_path / "add.py").as_posix()}":{number}:0)' * ("tt.load" in line or "tt.store" in line)
        for number, line in enumerate(LINES, 1)
    ]
    (number,) = [i for i, line in enumerate(LINES, 1) if ("load" in line or "store" in line) and f"%{array}" in line]
    name = array.removesuffix("p")
    sizes = {"x": 50, "y": 50, "out": 50} | {name: 49}
    arguments = [np.zeros(size, np.float32) for size in sizes.values()]
    with pytest.raises(OutOfBounds) as raised:
        run("\n".join(located), (4,), [*arguments, 50])
    error = raised.value
    got = (error.buffer.name, error.element, error.program, Path(error.place).name)
    assert got == (name, 49, (3, 0, 0), f"add.py:{number}"), f"{error}: {got}"


def test_the_program_is_named_by_its_ids() -> None:
    """On a grid of three axes; also where each program accesses one element only."""
    lines = [
        "%x_id = tt.get_program_id x : i32",
        "%y_id = tt.get_program_id y : i32",
        "%z_id = tt.get_program_id z : i32",
    ]
    lines += ["%three = arith.constant 3 : i32", "%zs = arith.muli %z_id, %three : i32"]
    lines += ["%s = arith.addi %x_id, %y_id : i32", "%t = arith.addi %s, %zs : i32"]
    lines += ["%p = tt.addptr %x, %t : !tt.ptr<i32>, i32", "tt.store %p, %t : !tt.ptr<i32>"]
    located = [*lines[:-1], lines[-1] + ' loc("k.py":9:0)']
    with pytest.raises(OutOfBounds) as raised:
        run(kernel("x: *i32", *located), (2, 3, 2), [np.zeros(6, np.int32)])
    error = raised.value
    assert (error.element, error.program) == (6, (1, 2, 1)), f"x + y + 3 z is 6 in program (1, 2, 1) only: {error}"
