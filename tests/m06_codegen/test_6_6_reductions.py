"""Task 6.6: kernels with reductions, scans and dot products, of all programs at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.support.m05_frontend.random_kernels import Kernel
from tests.support.m06_codegen import numpy_backend
from tests.support.m06_codegen.kernels import judge_corpus, kernel, tensor
from tests.support.m06_codegen.random_programs import REDUCTIONS, judge_random, kernels


@one_in(4)
@given(kernel=kernels(REDUCTIONS), seed=st.integers(0, 9))
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    """All programs together store what each of them does, which combines one element after the other."""
    judge_random(kernel, seed)


NAMES = "arg_reductions batched_dot concatenated custom_reductions group_norm half_reductions reduce_axes scan_axes"
NAMES += " segmented_sum several_results softmax_row three_axes"


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in NAMES.split()], ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """Beside what a GPU has computed."""
    judge_corpus(case)


# --- operands that do not vary

SUM = "({{\n^bb0(%a: i32, %b: i32):\n  %s = arith.addi %a, %b : i32\n  {0}.return %s : i32\n}})"
PAIR = """\
({{
^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
  %more = arith.cmpi sgt, %b, %a : i32
  %s = arith.select %more, %b, %a : i32
  %k = arith.select %more, %j, %i : i32
  {0}.return %s, %k : i32, i32
}})"""
KNOWN = (
    "%pid = tt.get_program_id x : i32",
    "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
    "%c = arith.constant dense<5> : tensor<4xi32>",
    "%p = tt.splat %pid : i32 -> tensor<4xi32>",
    "%pr = arith.addi %p, %r : tensor<4xi32>",
    "%row = tt.expand_dims %r {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>",
    "%rows = tt.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>",
    "%ps = tt.splat %pid : i32 -> tensor<2x4xi32>",
)


def stored(lines: list[str], shape: tuple[int, ...], programs: int) -> list[Any]:
    """What each program stores: the value `%v`, of this shape."""
    size = int(np.prod(shape, dtype=int))
    last = [
        f"%size = arith.constant {size} : i32",
        "%start = arith.muli %pid, %size : i32",
        "%o = tt.addptr %out, %start : !tt.ptr<i32>, i32",
    ]
    if shape:
        pointers, index = tensor("!tt.ptr<i32>", *shape), tensor("i32", *shape)
        last += [
            f"%lanes = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {tensor('i32', size)}",
            f"%places = tt.reshape %lanes : {tensor('i32', size)} -> {index}",
            f"%os = tt.splat %o : !tt.ptr<i32> -> {pointers}",
            f"%op = tt.addptr %os, %places : {pointers}, {index}",
        ]
    last.append(f"tt.store {'%op' if shape else '%o'}, %v : {tensor('!tt.ptr<i32>', *shape)}")
    text = kernel("out: *i32", *lines, *last)
    (out,) = numpy_backend.run(text, (programs,), [np.zeros(programs * size, np.int32)])
    return out.reshape(programs, *shape).tolist()


def combining(operation: str, operands: str, axis: int, reverse: bool = False) -> tuple[list[str], tuple[int, ...]]:
    """The lines of a reduction, or a scan, and the shape of the result `%v`."""
    shape = (2, 4) if "s" in operands else (4,)
    count = len(operands.split(", "))
    result = shape if operation == "tt.scan" else shape[:axis] + shape[axis + 1 :]
    more = f", reverse = {str(reverse).lower()}" if operation == "tt.scan" else ""
    types, results = [", ".join([tensor("i32", *of)] * count) for of in (shape, result)]
    names, region = ("%v", SUM) if count == 1 else ("%u, %v", PAIR)
    arrow = results if count == 1 else f"({results})"
    attributes = f"{{axis = {axis} : i32{more}}} : ({types}) -> {arrow}"
    line = f'{names} = "{operation}"({operands}) {region.format(operation)} {attributes}'
    return [*KNOWN, line], result


def element(name: str, pid: int, at: tuple[int, ...]) -> int:
    """What a value of `KNOWN` has there."""
    return {"%r": at[-1], "%c": 5, "%p": pid, "%pr": pid + at[-1], "%rows": at[-1], "%ps": pid}[name]


@pytest.mark.parametrize("operand", ["%c", "%p", "%r", "%pr"])
def test_sums(operand: str) -> None:
    """Of what is the same all along an axis, or in all programs, too."""
    rows = [[element(operand, pid, (i,)) for i in range(4)] for pid in range(3)]
    lines, shape = combining("tt.reduce", operand, 0)
    judge(lines, stored(lines, shape, 3), [sum(row) for row in rows])
    lines, shape = combining("tt.scan", operand, 0)
    judge(lines, stored(lines, shape, 3), [[sum(row[: i + 1]) for i in range(4)] for row in rows])
    lines, shape = combining("tt.scan", operand, 0, reverse=True)
    judge(lines, stored(lines, shape, 3), [[sum(row[i:]) for i in range(4)] for row in rows])


@pytest.mark.parametrize("operand", ["%rows", "%ps"])
def test_sums_of_matrices(operand: str) -> None:
    """Along each of two axes."""
    for axis, sizes in ((0, 2), (1, 4)):
        lines, shape = combining("tt.reduce", operand, axis)

        def at(i: int, k: int, axis: int = axis) -> tuple[int, int]:
            return (k, i) if axis == 0 else (i, k)

        expected = [
            [sum(element(operand, pid, at(i, k)) for k in range(sizes)) for i in range(8 // sizes)] for pid in range(3)
        ]
        judge(lines, stored(lines, shape, 3), expected)


@pytest.mark.parametrize("operands", ["%pr, %r", "%c, %r", "%p, %r", "%r, %c", "%r, %p", "%c, %p", "%p, %c", "%c, %c"])
def test_operands_that_vary_differently(operands: str) -> None:
    """They are combined together: the largest number, and what the other operand has there. Of equal ones the first."""
    first, second = operands.split(", ")
    lines, shape = combining("tt.reduce", operands, 0)
    expected = []
    for pid in range(3):
        _, at = max((element(first, pid, (i,)), -i) for i in range(4))
        expected.append(element(second, pid, (-at,)))
    judge(lines, stored(lines, shape, 3), expected)
    lines, shape = combining("tt.scan", operands, 0, reverse=True)
    judge(lines, [len(row) for row in stored(lines, shape, 3)], [4, 4, 4])


def test_a_region_with_a_name_of_its_own() -> None:
    """Two reductions, each with its function, one after the other; what follows uses both."""
    lines, _ = combining("tt.reduce", "%pr, %r", 0)
    again = lines[-1].replace("%u, %v", "%u2, %v2").replace("sgt", "slt").replace("%pr, %r", "%r, %pr")
    body = [*lines[:-1], lines[-1].replace("%u, %v", "%u1, %v1"), again, "%v = arith.subi %v1, %v2 : i32"]
    judge(body, stored(body, (), 3), [3 - pid for pid in range(3)])


def judge(lines: list[str], got: Any, expected: Any) -> None:
    """What each program stores is right."""
    __tracebackhide__ = True
    assert got == expected, "\n".join([*lines, f"  expected  {expected}", f"  got       {got}"])


# --- dot

MATRICES = (
    "%pid = tt.get_program_id x : i32",
    "%r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>",
    "%seven = arith.constant dense<7> : tensor<256xi32>",
    "%few = arith.andi %r, %seven : tensor<256xi32>",
    "%square = tt.reshape %few : tensor<256xi32> -> tensor<16x16xi32>",
    "%ps = tt.splat %pid : i32 -> tensor<16x16xi32>",
    "%moved = arith.addi %square, %ps : tensor<16x16xi32>",
    "%threes = arith.constant dense<3> : tensor<16x16xi32>",
)
NUMBERS = {
    "square": lambda pid: np.arange(256).reshape(16, 16) & 7,
    "moved": lambda pid: (np.arange(256).reshape(16, 16) & 7) + pid,
    "ps": lambda pid: np.full((16, 16), pid),
    "threes": lambda pid: np.full((16, 16), 3),
}


@pytest.mark.parametrize("a", NUMBERS)
@pytest.mark.parametrize("b", NUMBERS)
def test_dot(a: str, b: str) -> None:
    """Matrices that differ from program to program, that do not, and that are the same all over; so are sums."""
    cast = "tensor<16x16xi32> to tensor<16x16xi8>"
    narrow = [f"%a_ = arith.trunci %{a} : {cast}", f"%b_ = arith.trunci %{b} : {cast}"]
    types = "tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>"
    for c in ("threes", "ps"):
        lines = [*MATRICES, *narrow, f"%v = tt.dot %a_, %b_, %{c} : {types}"]
        expected = [(NUMBERS[c](pid) + NUMBERS[a](pid) @ NUMBERS[b](pid)).tolist() for pid in range(2)]
        judge(lines, stored(lines, (16, 16), 2), expected)
