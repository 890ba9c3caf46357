"""Task 0.7: operations as text, which real Triton parses, verifies and compiles."""

import numpy as np
import pytest
from first.slice import F32, I32, NOTHING, POINTER, Op, Type, compile_kernel, line, text

from tests.checks import described
from tests.oracles import gpu
from tests.support.m00_first.judging import insist_on_real_tritons, tokens
from tests.support.m00_first.kernels import BLOCK, KERNELS, function

A, B, X = Op("parameter", type=I32), Op("parameter", type=I32), Op("parameter", type=POINTER)
BLOCKS = [Op("parameter", type=Type(element, 8)) for element in ("!tt.ptr<f32>", "f32", "i1")]
NAMES = {A: "%a", B: "%7", X: "%x"} | dict(zip(BLOCKS, ("%at", "%value", "%inside"), strict=True))
POINTERS, VALUES, MASK = (op.type for op in BLOCKS)
RANGE = {"start": np.int32(0), "end": np.int32(8)}
ONE_MASK = {"operandSegmentSizes": "array<i32: 1, 1, 0>"}

LINES = [
    (Op("arith.addi", (A, B), I32), '%r = "arith.addi"(%a, %7) : (i32, i32) -> i32'),
    (Op("arith.subi", (B, A), I32), '%r = "arith.subi"(%7, %a) : (i32, i32) -> i32'),
    (Op("tt.splat", (A,), Type("i32", 8)), '%r = "tt.splat"(%a) : (i32) -> tensor<8xi32>'),
    (Op("tt.addptr", (X, A), POINTER), '%r = "tt.addptr"(%x, %a) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>'),
    (
        Op("arith.constant", (), I32, {"value": np.int32(-8)}),
        '%r = "arith.constant"() <{value = -8 : i32}> : () -> i32',
    ),
    (
        Op("arith.constant", (), F32, {"value": np.float32(0.1)}),
        '%r = "arith.constant"() <{value = 1.00000001e-01 : f32}> : () -> f32',
    ),
    (
        Op("tt.make_range", (), Type("i32", 8), RANGE),
        '%r = "tt.make_range"() <{start = 0 : i32, end = 8 : i32}> : () -> tensor<8xi32>',
    ),
    (
        Op("arith.cmpi", (A, B), Type("i1"), {"predicate": np.int64(2)}),
        '%r = "arith.cmpi"(%a, %7) <{predicate = 2 : i64}> : (i32, i32) -> i1',
    ),
    (
        Op("tt.load", (BLOCKS[0], BLOCKS[2]), VALUES, ONE_MASK),
        '%r = "tt.load"(%at, %inside) <{operandSegmentSizes = array<i32: 1, 1, 0>}>'
        f" : ({POINTERS}, {MASK}) -> {VALUES}",
    ),
    (
        Op("tt.store", tuple(BLOCKS), NOTHING),
        f'"tt.store"(%at, %value, %inside) : ({POINTERS}, {VALUES}, {MASK}) -> ()',
    ),
]


def test_lines() -> None:
    for op, expected in LINES:
        call = described(f"line(<{op.name}>, names)", line, op, NAMES | {op: "%r"} if op.type != NOTHING else NAMES)
        got = call.succeeds(expected)
        if not isinstance(got, str) or tokens(got) != tokens(expected):
            free = "spaces, the order of attributes and needless brackets"
            call.fail(expected, got, because=f"in MLIR's generic form, only {free} are free")


@pytest.mark.parametrize("name", KERNELS)
def test_the_whole_kernel_is_real_tritons(name: str, device: str) -> None:
    kernel = compile_kernel(function(KERNELS[name]), x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=BLOCK)
    insist_on_real_tritons(name, text(kernel))
    if device == "cuda" and name == "add":
        x, y = np.random.default_rng(0).random((2, 40), np.float32)
        out = gpu.launch(text(kernel), (3, 1, 1), x, y, np.zeros(40, np.float32), 40)[2]
        assert np.array_equal(out, x + y), f"on the GPU, add stores {out}\n  expected  {x + y}"
