"""Task 6.4: the axes along which values vary, which may include the program axis, and the ids of programs."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.analysis.axes import PROGRAM, Varying
from mini_triton.codegen.library.programs import Programs
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.checks import described
from tests.support.m06_codegen.kernels import kernel

grids = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
KNOWN = (
    "%pid = tt.get_program_id x : i32",
    "%two = arith.constant 2 : i32",
    "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>",
    "%c = arith.constant dense<3> : tensor<8xi32>",
    "%ps = tt.splat %pid : i32 -> tensor<8xi32>",
    "%pr = arith.addi %ps, %r : tensor<8xi32>",
    "%row = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>",
    "%col = tt.expand_dims %pr {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>",
    "%rows = tt.broadcast %row : tensor<1x8xi32> -> tensor<8x8xi32>",
    "%cols = tt.broadcast %col : tensor<8x1xi32> -> tensor<8x8xi32>",
    "%c2 = arith.constant dense<1> : tensor<8x8xi32>",
    "%p2 = tt.splat %pid : i32 -> tensor<8x8xi32>",
    "%f2 = arith.constant dense<1.0> : tensor<16x16xf32>",
    "%q2 = tt.splat %pid : i32 -> tensor<16x16xi32>",
    "%g2 = arith.sitofp %q2 : tensor<16x16xi32> to tensor<16x16xf32>",
    "%xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>",
    "%xr = tt.addptr %xs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>",
    "%xp = tt.addptr %xs, %ps : tensor<8x!tt.ptr<i32>>, tensor<8xi32>",
    "%x2 = tt.splat %x : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>>",
    "%three = tt.reshape %cols : tensor<8x8xi32> -> tensor<4x2x8xi32>",
    "%cube = tt.expand_dims %rows {axis = 0 : i32} : tensor<8x8xi32> -> tensor<1x8x8xi32>",
    "%m = arith.cmpi slt, %pr, %c : tensor<8xi32>",
    "%zero = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>",
    "%first = tt.splat %pid : i32 -> tensor<1xi32>",
    "%single = arith.addi %first, %zero : tensor<1xi32>",
    "%mp = arith.cmpi slt, %pid, %two : i32",
)
TO_ROW, SQUARE = "tensor<8xi32> -> tensor<1x8xi32>", "tensor<8x8xi32>"
SUM = """\
({
^bb0(%a: i32, %b: i32):
  %s = arith.addi %a, %b : i32
  tt.reduce.return %s : i32
})"""
SCAN = SUM.replace("tt.reduce", "tt.scan")
BOTH = """\
({
^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
  %s = arith.addi %a, %b : i32
  tt.reduce.return %s, %j : i32, i32
})"""

AXES = {
    # values without operands
    "tt.get_program_id y : i32": "P",
    "tt.get_num_programs x : i32": "",
    "arith.constant 7 : i32": "",
    "arith.constant dense<7> : tensor<8xi32>": "",
    "tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>": "0",
    # elementwise
    "arith.addi %n, %two : i32": "",
    "arith.addi %n, %pid : i32": "P",
    "arith.muli %c, %c : tensor<8xi32>": "",
    "arith.addi %c, %r : tensor<8xi32>": "0",
    "arith.addi %c, %ps : tensor<8xi32>": "P",
    "arith.addi %r, %ps : tensor<8xi32>": "P0",
    "arith.addi %rows, %c2 : tensor<8x8xi32>": "1",
    "arith.addi %rows, %cols : tensor<8x8xi32>": "P01",
    "arith.cmpi slt, %ps, %c : tensor<8xi32>": "P",
    "arith.select %mp, %c, %r : tensor<8xi32>": "P0",
    "arith.select %m, %c, %c : tensor<8xi1>, tensor<8xi32>": "P0",
    # pointers and memory
    "tt.addptr %x, %n : !tt.ptr<i32>, i32": "",
    "tt.addptr %x, %pid : !tt.ptr<i32>, i32": "P",
    "tt.load %x : !tt.ptr<i32>": "",
    "tt.load %xs : tensor<8x!tt.ptr<i32>>": "",
    "tt.load %xr : tensor<8x!tt.ptr<i32>>": "0",
    "tt.load %xp : tensor<8x!tt.ptr<i32>>": "P",
    "tt.load %xr, %m : tensor<8x!tt.ptr<i32>>": "P0",
    "tt.atomic_rmw add, relaxed, gpu, %x, %n : (!tt.ptr<i32>, i32) -> i32": "P",
    "tt.atomic_rmw add, relaxed, gpu, %xr, %c : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>": "P0",
    "tt.atomic_rmw add, relaxed, gpu, %xs, %c : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>": "P0",
    "tt.atomic_cas acq_rel, gpu, %x, %n, %two : (!tt.ptr<i32>, i32, i32) -> i32": "P",
    f"tt.atomic_cas acq_rel, gpu, %x2, %c2, %c2 : (tensor<8x8x!tt.ptr<i32>>, {SQUARE}, {SQUARE}) -> {SQUARE}": "P01",
    # shapes
    "tt.splat %n : i32 -> tensor<8xi32>": "",
    "tt.splat %pid : i32 -> tensor<8xi32>": "P",
    f"tt.expand_dims %r {{axis = 0 : i32}} : {TO_ROW}": "1",
    "tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>": "0",
    f"tt.expand_dims %ps {{axis = 0 : i32}} : {TO_ROW}": "P",
    f"tt.expand_dims %pr {{axis = 0 : i32}} : {TO_ROW}": "P1",
    f"tt.expand_dims %c {{axis = 0 : i32}} : {TO_ROW}": "",
    "tt.expand_dims %cols {axis = 1 : i32} : tensor<8x8xi32> -> tensor<8x1x8xi32>": "P0",
    "tt.expand_dims %rows {axis = 1 : i32} : tensor<8x8xi32> -> tensor<8x1x8xi32>": "2",
    "tt.expand_dims %rows {axis = 2 : i32} : tensor<8x8xi32> -> tensor<8x8x1xi32>": "1",
    "tt.broadcast %row : tensor<1x8xi32> -> tensor<8x8xi32>": "1",
    "tt.broadcast %col : tensor<8x1xi32> -> tensor<8x8xi32>": "P0",
    "tt.trans %rows {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>": "0",
    "tt.trans %cols {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>": "P1",
    "tt.trans %cols {order = array<i32: 0, 1>} : tensor<8x8xi32> -> tensor<8x8xi32>": "P0",
    "tt.trans %p2 {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>": "P",
    "tt.trans %cube {order = array<i32: 2, 0, 1>} : tensor<1x8x8xi32> -> tensor<8x1x8xi32>": "0",
    "tt.trans %cube {order = array<i32: 1, 2, 0>} : tensor<1x8x8xi32> -> tensor<8x8x1xi32>": "1",
    "tt.reshape %c : tensor<8xi32> -> tensor<2x4xi32>": "",
    "tt.reshape %r : tensor<8xi32> -> tensor<2x4xi32>": "01",
    "tt.reshape %ps : tensor<8xi32> -> tensor<2x4xi32>": "P01",
    "tt.reshape %cols : tensor<8x8xi32> -> tensor<64xi32>": "P0",
    "tt.unsplat %single : tensor<1xi32>": "P",
    "tt.unsplat %zero : tensor<1xi32>": "",
    "tt.join %r, %c : tensor<8xi32> -> tensor<8x2xi32>": "01",
    "tt.join %ps, %c : tensor<8xi32> -> tensor<8x2xi32>": "P01",
    "tt.cat %c, %c : tensor<8xi32> -> tensor<16xi32>": "0",
    "tt.cat %r, %ps : tensor<8xi32> -> tensor<16xi32>": "P0",
    "tt.gather %r[%r] {axis = 0 : i32} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>": "0",
    "tt.gather %r[%ps] {axis = 0 : i32} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>": "P0",
    # reductions, scans, products and histograms
    f'"tt.reduce"(%r) {SUM} {{axis = 0 : i32}} : (tensor<8xi32>) -> i32': "",
    f'"tt.reduce"(%pr) {SUM} {{axis = 0 : i32}} : (tensor<8xi32>) -> i32': "P",
    f'"tt.reduce"(%rows) {SUM} {{axis = 0 : i32}} : (tensor<8x8xi32>) -> tensor<8xi32>': "0",
    f'"tt.reduce"(%rows) {SUM} {{axis = 1 : i32}} : (tensor<8x8xi32>) -> tensor<8xi32>': "",
    f'"tt.reduce"(%cols) {SUM} {{axis = 0 : i32}} : (tensor<8x8xi32>) -> tensor<8xi32>': "P",
    f'"tt.reduce"(%cols) {SUM} {{axis = 1 : i32}} : (tensor<8x8xi32>) -> tensor<8xi32>': "P0",
    f'"tt.reduce"(%three) {SUM} {{axis = 1 : i32}} : (tensor<4x2x8xi32>) -> tensor<4x8xi32>': "P01",
    f'"tt.scan"(%c) {SCAN} {{axis = 0 : i32, reverse = false}} : (tensor<8xi32>) -> tensor<8xi32>': "0",
    f'"tt.scan"(%ps) {SCAN} {{axis = 0 : i32, reverse = false}} : (tensor<8xi32>) -> tensor<8xi32>': "P0",
    f'"tt.scan"(%rows) {SCAN} {{axis = 1 : i32, reverse = false}} : (tensor<8x8xi32>) -> tensor<8x8xi32>': "1",
    f'"tt.scan"(%rows) {SCAN} {{axis = 0 : i32, reverse = true}} : (tensor<8x8xi32>) -> tensor<8x8xi32>': "01",
    "tt.dot %f2, %f2, %f2 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>": "01",
    "tt.dot %f2, %g2, %f2 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>": "P01",
    "tt.histogram %r : tensor<8xi32> -> tensor<4xi32>": "0",
    "tt.histogram %c : tensor<8xi32> -> tensor<4xi32>": "0",
    "tt.histogram %pr : tensor<8xi32> -> tensor<4xi32>": "P0",
}


@pytest.mark.parametrize("line", AXES, ids=lambda line: line.splitlines()[0].partition(" : ")[0])
def test_along_which_axes_a_value_varies(line: str) -> None:
    """P is the program axis. A value is computed once along an axis along which it does not vary."""
    judge_axes(f"%v = {line}", {"v": AXES[line]})


def judge_axes(line: str, expected: dict[str, str]) -> None:
    """Require that the results of a line vary along these axes."""
    __tracebackhide__ = True
    module = parse_module(kernel("x: *i32, n: i32", *KNOWN, line))
    (function,) = module.body.operations
    found = {value.name: letters(axes) for value, axes in Varying(function).axes.items()}
    for name, meant in expected.items():
        operands = dict.fromkeys(operand for o in function.walk() for operand in o.operands if name in names_of(o))
        along = ", ".join(f"%{operand.name} along {words(found[operand.name])}" for operand in operands)
        because = f"\n  because   {along}" if along else ""
        assert found[name] == meant, (
            f"{line}\n  expected  it varies along {words(meant)}\n  got       {words(found[name])}{because}"
        )


def letters(axes: Iterable[int]) -> str:
    """The axes as "P01": P is the program axis."""
    return "".join("P" if axis == PROGRAM else str(axis) for axis in sorted(axes))


def names_of(operation: Operation) -> list[str]:
    """The names of an operation's results."""
    return [result.name for result in operation.results]


def words(axes: str) -> str:
    """The text "P, 0 and 1" for P01."""
    *others, last = list(axes) or ["no axis"]
    return f"{', '.join(others)} and {last}" if others else last


def test_several_results_and_operands() -> None:
    """All results of an operation vary along the same axes."""
    reduce = f'%u, %v = "tt.reduce"(%r, %ps) {BOTH} {{axis = 0 : i32}} : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)'
    judge_axes(reduce, {"u": "P", "v": "P"})
    for name, axes in {"pair": "P0", "pair2": "0", "pair3": ""}.items():
        source = {"pair": "%ps, %c", "pair2": "%r, %c"}.get(name)
        text = f"%{name} = tt.join {source} : tensor<8xi32> -> tensor<8x2xi32>"
        if source is None:
            text = f"%{name} = arith.constant dense<1> : tensor<8x2xi32>"
        judge_axes(f"{text}\n%u, %v = tt.split %{name} : tensor<8x2xi32> -> tensor<8xi32>", {"u": axes, "v": axes})


# --- ids


def judge_ids(grid: Sequence[int], first: int, last: int) -> None:
    """Judge the ids of the programs from number `first` to `last - 1`, one axis after the other."""
    __tracebackhide__ = True
    x, y, z = (*grid, 1, 1)[:3]
    expected = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)][first:last]
    for axis in range(3):
        programs = Programs((x, y, z), first, last)
        call = described(f"Programs({(x, y, z)}, {first}, {last}).id({axis})", programs.id, axis)
        got = np.asarray(call())
        ids = [place[axis] for place in expected]
        if got.tolist() != ids:
            call.fail(str(ids), got.tolist(), "axis x runs fastest, then y")
        if got.dtype != np.int32:
            call.fail("ids of dtype int32", got.dtype)


@given(grid=grids, bounds=st.tuples(st.integers(0, 64), st.integers(0, 64)))
def test_ids(grid: tuple[int, ...], bounds: tuple[int, int]) -> None:
    """Ids of all programs of a grid with one to three axes, and of some consecutive programs of the grid."""
    count = math.prod(grid)
    judge_ids(grid, 0, count)
    first, last = sorted(bound % (count + 1) for bound in bounds)
    judge_ids(grid, first, last)


def test_ids_of_large_grids() -> None:
    programs = Programs((65536, 4, 1), 65536 * 3 - 2, 65536 * 3 + 1)
    got = [np.asarray(programs.id(axis)).tolist() for axis in range(3)]
    assert got == [[65534, 65535, 0], [2, 2, 3], [0, 0, 0]], (
        f"{programs}\n  expected  the ids [[65534, 65535, 0], [2, 2, 3], [0, 0, 0]]\n  got       {got}"
    )
