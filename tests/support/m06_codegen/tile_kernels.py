"""Kernels in straight lines that read and write tiles, as TTIR text, and what is expected of them in mode "fast"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer

from tests.support.m06_codegen import kernels
from tests.support.m06_codegen.closeness import difference
from tests.support.m06_codegen.kernels import Words, about, kernel

BLOCK = 16
ROWS, COLUMNS = 4, 8

ADDITION = kernel(
    "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32",
    """
    %block = arith.constant 16 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %block : i32
    %lanes = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %starts = tt.splat %start : i32 -> tensor<16xi32>
    %at = arith.addi %starts, %lanes : tensor<16xi32>
    %limit = tt.splat %n : i32 -> tensor<16xi32>
    %mask = arith.cmpi slt, %at, %limit : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %px = tt.addptr %xs, %at : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %a = tt.load %px, %mask : tensor<16x!tt.ptr<f32>> loc("tiles.py":12:9)
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %py = tt.addptr %ys, %at : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %b = tt.load %py, %mask : tensor<16x!tt.ptr<f32>> loc("tiles.py":13:9)
    %sum = arith.addf %a, %b : tensor<16xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %po = tt.addptr %outs, %at : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %po, %sum, %mask : tensor<16x!tt.ptr<f32>> loc("tiles.py":14:5)
    """,
)


def _grown(name: str, axis: str, scale: str) -> str:
    """`%rows * %scale` as a matrix."""
    column = axis == "rows"
    size, vector = (ROWS, f"{ROWS}x1") if column else (COLUMNS, f"1x{COLUMNS}")
    axis_of = f"{{axis = {int(column)} : i32}}"
    return f"""
    %{name}_scale = tt.splat {scale} : i32 -> tensor<{size}xi32>
    %{name}_scaled = arith.muli %{axis}, %{name}_scale : tensor<{size}xi32>
    %{name}_2d = tt.expand_dims %{name}_scaled {axis_of} : tensor<{size}xi32> -> tensor<{vector}xi32>
    %{name} = tt.broadcast %{name}_2d : tensor<{vector}xi32> -> tensor<4x8xi32>
    """


def _positions(name: str, axis: str, program: str, size: int) -> str:
    """`program_id * size + arange(size)`."""
    return f"""
    %{name}_pid = tt.get_program_id {program} : i32
    %{name}_size = arith.constant {size} : i32
    %{name}_start = arith.muli %{name}_pid, %{name}_size : i32
    %{name}_lanes = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>
    %{name}_starts = tt.splat %{name}_start : i32 -> tensor<{size}xi32>
    %{axis} = arith.addi %{name}_starts, %{name}_lanes : tensor<{size}xi32>
    """


def _within(axis: str, limit: str, column: bool) -> str:
    """`(axis < limit)` as a matrix."""
    size, vector = (ROWS, f"{ROWS}x1") if column else (COLUMNS, f"1x{COLUMNS}")
    return f"""
    %{axis}_limit = tt.splat {limit} : i32 -> tensor<{size}xi32>
    %{axis}_in = arith.cmpi slt, %{axis}, %{axis}_limit : tensor<{size}xi32>
    %{axis}_2d = tt.expand_dims %{axis}_in {{axis = {int(column)} : i32}} : tensor<{size}xi1> -> tensor<{vector}xi1>
    %{axis}_mask = tt.broadcast %{axis}_2d : tensor<{vector}xi1> -> tensor<4x8xi1>
    """


COPY = kernel(
    "%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i32, %n: i32, %sm: i32, %sn: i32",
    "%one = arith.constant 1 : i32\n"
    + _positions("r", "rows", "y", ROWS)
    + _positions("c", "columns", "x", COLUMNS)
    + _within("rows", "%m", True)
    + _within("columns", "%n", False)
    + _grown("xm", "rows", "%sm")
    + _grown("xn", "columns", "%sn")
    + _grown("om", "rows", "%n")
    + _grown("on", "columns", "%one")
    + """
    %mask = arith.andi %rows_mask, %columns_mask : tensor<4x8xi1>
    %from = arith.addi %xm, %xn : tensor<4x8xi32>
    %to = arith.addi %om, %on : tensor<4x8xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
    %px = tt.addptr %xs, %from : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    %a = tt.load %px, %mask : tensor<4x8x!tt.ptr<f32>>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
    %po = tt.addptr %outs, %to : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    tt.store %po, %a, %mask : tensor<4x8x!tt.ptr<f32>>
    """,
)

CHOSEN = kernel(
    "%x: !tt.ptr<f32>, %flags: !tt.ptr<i32>",
    """
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %pid = tt.get_program_id x : i32
    %at_flag = tt.addptr %flags, %pid : !tt.ptr<i32>, i32
    %flag = tt.load %at_flag : !tt.ptr<i32>
    %on = arith.cmpi ne, %flag, %zero : i32
    %mask = tt.splat %on : i1 -> tensor<4xi1>
    %two = arith.constant 2 : i32
    %later = arith.subi %pid, %two : i32
    %start = arith.muli %later, %four : i32
    %starts = tt.splat %start : i32 -> tensor<4xi32>
    %lanes = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %at = arith.addi %starts, %lanes : tensor<4xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %px = tt.addptr %xs, %at : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %a = tt.load %px, %mask : tensor<4x!tt.ptr<f32>>
    tt.store %px, %a, %mask : tensor<4x!tt.ptr<f32>>
    """,
)


def fill(block: int) -> str:
    """Each program writes its number plus 0, 1, 2, ... into its own part of `%out`."""
    vector = f"tensor<{block}xi32>"
    return kernel(
        "%out: !tt.ptr<i32>",
        f"""
        %size = arith.constant {block} : i32
        %pid = tt.get_program_id x : i32
        %start = arith.muli %pid, %size : i32
        %p = tt.addptr %out, %start : !tt.ptr<i32>, i32
        %lanes = tt.make_range {{end = {block} : i32, start = 0 : i32}} : {vector}
        %number = tt.splat %pid : i32 -> {vector}
        %value = arith.addi %number, %lanes : {vector}
        %ps = tt.splat %p : !tt.ptr<i32> -> tensor<{block}x!tt.ptr<i32>>
        %at = tt.addptr %ps, %lanes : tensor<{block}x!tt.ptr<i32>>, {vector}
        tt.store %at, %value : tensor<{block}x!tt.ptr<i32>>
        """,
    )


IDS = kernel(
    "%out: !tt.ptr<i32>",
    """
    %sixteen = arith.constant 16 : i32
    %hundred = arith.constant 100 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %width = tt.get_num_programs x : i32
    %height = tt.get_num_programs y : i32
    %zs = arith.muli %z, %height : i32
    %row = arith.addi %y, %zs : i32
    %before = arith.muli %row, %width : i32
    %number = arith.addi %before, %x : i32
    %start = arith.muli %number, %sixteen : i32
    %zh = arith.muli %z, %hundred : i32
    %yz = arith.addi %zh, %y : i32
    %yzh = arith.muli %yz, %hundred : i32
    %id = arith.addi %yzh, %x : i32
    %lanes = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %starts = tt.splat %start : i32 -> tensor<16xi32>
    %at = arith.addi %starts, %lanes : tensor<16xi32>
    %ids = tt.splat %id : i32 -> tensor<16xi32>
    %value = arith.addi %ids, %lanes : tensor<16xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %p = tt.addptr %outs, %at : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %p, %value : tensor<16x!tt.ptr<i32>>
    """,
)


def judge(text: str, grid: Sequence[int], arguments: Sequence[Any], expected: Mapping[int, np.ndarray]) -> None:
    """After the kernel ran, buffers are as they were, but for some that are as expected."""
    __tracebackhide__ = True
    wanted = [expected.get(number, value) for number, value in enumerate(arguments)]
    kernels.judge(text, grid, arguments, wanted, mode="fast")


def judge_ids(grid: tuple[int, ...]) -> None:
    """Each program of a grid writes its three ids."""
    __tracebackhide__ = True
    x, y, z = (*grid, 1, 1)[:3]
    ids = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
    expected = [100 * (100 * k + j) + i + lane for i, j, k in ids for lane in range(BLOCK)]
    judge(IDS, grid, [np.full(len(expected) + 3, -7, np.int32)], {0: np.array([*expected, -7, -7, -7], np.int32)})


def judge_copy(x: np.ndarray, grid: tuple[int, ...]) -> None:
    """Copy a matrix, whatever its strides, into one without gaps: as far as the tiles of the grid reach."""
    __tracebackhide__ = True
    (rows, columns), reach = x.shape, (*grid, 1, 1)
    expected = np.full((rows, columns), -7, np.float32)
    if 0 not in grid:
        part = slice(0, reach[1] * ROWS), slice(0, reach[0] * COLUMNS)
        expected[part] = x[part]
    around = np.full(rows * columns + 8, -7, np.float32)
    out = around[4 : 4 + rows * columns].reshape(rows, columns)
    strides = [stride // x.itemsize for stride in x.strides]
    launch = compile_module(parse_module(COPY), "fast")
    words = f"Over the grid {grid}, %x of the shape {x.shape} with strides {strides}"
    call = about(words, COPY, launch, grid, [Buffer.of("x", x), Buffer.of("out", out), rows, columns, *strides])
    call.succeeds("all programs run")
    wanted = np.concatenate([np.full(4, -7), expected.ravel(), np.full(4, -7)]).astype(np.float32)
    if found := difference(around, wanted):
        call.fail("%out as it should be, with 4 elements before it and 4 behind it", Words(found))
