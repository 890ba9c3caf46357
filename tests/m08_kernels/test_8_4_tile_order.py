"""Task 8.4: which program computes which tile of a matrix product."""

import functools
from collections.abc import Callable

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.compiler import tl, triton
from kernels.matmul import tile_of

from tests.oracles import gpu, interpreter
from tests.oracles.launching import Launch
from tests.oracles.triton import Source
from tests.support.m08_kernels.host_calls import Words, kernel_call
from tests.support.m08_kernels.order import order_of_tiles

SWIZZLE = """
import triton
import triton.language as tl

@triton.jit
def swizzle(rows, columns, tiles_m, tiles_n, GROUP: tl.constexpr):
    at = tl.program_id(0)
    row, column = tl.swizzle2d(at // tiles_n, at % tiles_n, tiles_m, tiles_n, GROUP)
    tl.store(rows + at, row)
    tl.store(columns + at, column)
"""


@triton.jit
def tiles_kernel(rows, columns, tiles_m, tiles_n, GROUP: tl.constexpr):
    program = tl.num_programs(0) - 1 - tl.program_id(0)  # `tile_of` must use its argument
    row, column = tile_of(program, tiles_m, tiles_n, GROUP)
    tl.store(rows + program, row)
    tl.store(columns + program, column)


def check(tiles_m: int, tiles_n: int, group: int, judge: Callable[..., list[tuple[int, int]]], because: str) -> None:
    rows, columns = (np.full(tiles_m * tiles_n, -1, np.int32) for _ in range(2))
    call = kernel_call(tiles_kernel, (len(rows),), rows, columns, tiles_m, tiles_n, GROUP=group)
    call()
    got, expected = list(zip(rows.tolist(), columns.tolist(), strict=True)), judge(tiles_m, tiles_n, group)
    for program, (tile, right) in enumerate(zip(got, expected, strict=True)):
        if tile != right:
            place = f"of {tiles_m} by {tiles_n} tiles, GROUP={group}: program {program} "
            call.fail(f"{place}has {right}", Words(f"{place}has {tile}; the order of all tiles is {got}"), because)


@given(st.integers(1, 9), st.integers(1, 6), st.sampled_from([1, 2, 3, 8]))
@example(4, 3, 1)
@example(4, 3, 2)
@example(5, 3, 2)
@example(1, 4, 8)
def test_programs_go_down_groups_of_tiles(tiles_m: int, tiles_n: int, group: int) -> None:
    order = ", ".join(map(str, order_of_tiles(tiles_m, tiles_n, group)))
    check(tiles_m, tiles_n, group, order_of_tiles, f"the order of tiles (row, column) is {order}")


def swizzle_by_triton(tiles_m: int, tiles_n: int, group: int, device: str) -> list[tuple[int, int]]:
    """The tile of each program in real Triton, which compiles the kernel for a GPU, and interprets it for the CPU."""
    signature = {"rows": "*i32", "columns": "*i32", "tiles_m": "i32", "tiles_n": "i32", "GROUP": "constexpr"}
    source = Source(SWIZZLE, "swizzle", signature, {"GROUP": group})
    arguments = [*(np.full(tiles_m * tiles_n, -1, np.int32) for _ in range(2)), tiles_m, tiles_n]
    if device == "cuda":
        rows, columns, *_ = gpu.launch(source, (tiles_m * tiles_n,), *arguments)
    else:
        (launched,) = interpreter.launch_many([Launch(source, (tiles_m * tiles_n,), arguments)])
        assert launched, launched.diagnostic
        rows, columns, *_ = launched.values
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def test_as_real_triton_swizzles(device: str) -> None:
    for tiles_m, tiles_n, group in ((5, 3, 2), (7, 4, 3), (2, 5, 8)):
        judge = functools.partial(swizzle_by_triton, device=device)
        check(tiles_m, tiles_n, group, judge, "real Triton's tl.swizzle2d gives this order")
