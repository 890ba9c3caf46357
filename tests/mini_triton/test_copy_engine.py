"""The back end "ptx" lets the copy engine fill the rings of pipelined loops: right results, and no races."""

import re
from typing import Any

import mini_triton as triton
import numpy as np
import pytest
from mini_triton import language as tl
from mini_triton.emulator import emulate
from mini_triton.language.constexpr import constexpr
from mini_triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def product(c, a, b, M, N, K, BM: constexpr, BN: constexpr, BK: constexpr, TRANS: constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([row, k])
        y = b.load([column, k]).T if TRANS else b.load([k, column])
        total = tl.dot(x, y, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def persistent(c, a, b, M, N, K, BM: constexpr, BN: constexpr, BK: constexpr, TRANS: constexpr):
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), 2):
        row, column = tile // tl.cdiv(N, BN) * BM, tile % tl.cdiv(N, BN) * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([k, column]), total)
        c.store([row, column], total.to(c.dtype))


@triton.jit
def described(
    c, a, b, M, N, K, stride_a, stride_b, BM: constexpr, BN: constexpr, BK: constexpr, FLATTEN: constexpr
):  # fmt: skip
    x = tl.make_tensor_descriptor(a, [M, K], [stride_a, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [K, N], [stride_b, 1], [BK, BN])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), 2, flatten=FLATTEN):
        row, column = tile // tl.cdiv(N, BN) * BM, tile % tl.cdiv(N, BN) * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(x.load([row, k]), y.load([k, column]), total)
        z.store([row, column], total)


Tiles = tuple[int, int, int]


def launch(
    kernel: Any, tiles: tuple[int, int, int], dtype: Any = np.float16, trans: bool = False, **options: int
) -> Any:
    """Multiply 100 x 200 and 200 x 72 numbers. Returns the kernel, its arguments and the grid."""
    (m, n, k), (bm, bn, bk) = (100, 72, 200), tiles
    random = np.random.default_rng(0)
    a, b = (random.normal(size=shape).astype(dtype) for shape in ((m, k), (n, k) if trans else (k, n)))
    c = np.zeros((m, n), np.float32)
    blocks = (c, [bm, bn]), (a, [bm, bk]), (b, [bn, bk] if trans else [bk, bn])
    descriptors = [TensorDescriptor.from_tensor(array, block) for array, block in blocks]
    grid = (2,) if kernel is persistent else (-(-m // bm), -(-n // bn))
    constants = {"BM": bm, "BN": bn, "BK": bk, "TRANS": trans}
    made = kernel[grid](*descriptors, m, n, k, **constants, **options, backend="ptx")
    expected = a.astype(np.float32) @ (b.T if trans else b).astype(np.float32)
    np.testing.assert_allclose(c, expected, rtol=1e-2, atol=1e-2 if dtype == np.float16 else 0.1)
    return made, [*descriptors, m, n, k], grid


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("kernel", [product, persistent], ids=["product", "persistent"])
@pytest.mark.parametrize(
    ("tiles", "dtype", "trans"),
    [
        ((64, 64, 64), np.float16, False),
        ((64, 128, 64), np.float16, False),  # b has two panels
        ((128, 64, 32), np.float16, False),  # rows of a have 64 bytes
        ((64, 32, 128), np.float16, True),
        ((32, 16, 16), np.float16, False),  # `mma.sync`, and rows of 32 bytes
        ((64, 64, 32), np.float32, True),
    ],
    ids=str,
)
def test_products(kernel: Any, tiles: Tiles, dtype: Any, trans: bool, stages: int) -> None:
    if kernel is persistent and trans:
        pytest.skip("it takes only b as it is")
    made, *_ = launch(kernel, tiles, dtype, trans, num_stages=stages)
    copies = made.asm["our_ptx"].count("cp.async.bulk.tensor.2d")
    panels = sum(
        -(-columns * np.dtype(dtype).itemsize // 128) for columns in (tiles[2], tiles[2] if trans else tiles[1])
    )
    assert copies == stages * panels
    assert "cp.async.cg" not in made.asm["our_ptx"]


@pytest.mark.parametrize(("columns", "maps"), [(80, 2), (72, 1)], ids=["aligned", "not aligned"])
@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("inner", [208, 32, 0])
@pytest.mark.parametrize("stages", [2, 3])
def test_descriptors_that_programs_make(columns: int, maps: int, flatten: bool, inner: int, stages: int) -> None:
    """The launch makes the tensor maps if it knows that rows begin at multiples of 16 bytes."""
    random = np.random.default_rng(0)
    a, b = (random.normal(size=shape).astype(np.float16) for shape in ((200, inner), (inner, columns)))
    c = np.zeros((200, columns), np.float32)
    sizes, tiles = (200, columns, inner, inner, columns), {"BM": 64, "BN": 64, "BK": 32}
    made = described[(2,)](c, a, b, *sizes, **tiles, FLATTEN=flatten, num_stages=stages, backend="ptx")
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)
    code = made.generate("ptx", 90)
    starts = 2 * (stages - 1) + 1 if flatten else stages  # before the loop over tiles, for the next tile; in the loop
    assert code.ptx.count("cp.async.bulk.tensor.2d") == maps * starts
    assert len(code.maps) == maps


def test_without_a_pipeline() -> None:
    made, *_ = launch(product, (64, 64, 64), num_stages=1)
    assert "cp.async.bulk" not in made.asm["our_ptx"]


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        (r"mbarrier\.try_wait[^;]*; @!over bra again;", ""),
        (r"(mbarrier\.arrive\.expect_tx[^;]*, )(\d+);", r"\g<1>16;"),
        (r"mbarrier\.init[^;]*;", "mov.u32 %r0, 0;"),
        (r"xor\.b32 (%r\d+), \1, ", r"and.b32 \1, \1, "),
    ],
    ids=["no wait", "too few bytes", "no barrier", "the same round"],
)
def test_errors_are_found(pattern: str, new: str) -> None:
    """The emulator judges the tests above; it would find these errors."""
    made, arguments, grid = launch(product, (64, 64, 64), num_stages=3)
    code = made.generate("ptx", 90)
    descriptors, numbers = arguments[:3], arguments[3:]
    parts = [part for each in descriptors for part in (each.base, *each.shape, *each.strides)]
    given = [*parts, *numbers, *(map.for_emulator(parts) for map in code.maps)]
    assert not emulate(code.ptx, grid, given, shared=code.shared).errors
    broken = re.sub(pattern, new, code.ptx)
    assert broken != code.ptx
    assert emulate(broken, grid, given, shared=code.shared).errors
