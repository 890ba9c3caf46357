"""Task 14.5: products by `wgmma`, compared with NumPy."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.checks import described
from tests.oracles import triton
from tests.support.m14_tensor_cores.groups import compiled, instructions, launched, others
from tests.support.m14_tensor_cores.multiplying import Product

COLUMNS = [(False, False), (False, True), (True, False), (True, True)]
"""Which matrices have contiguous columns."""


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 16, 32), (64, 32, 16), (64, 128, 128)])
def test_axes_and_rows(shape: tuple[int, int, int], columns: tuple[bool, bool]) -> None:
    """Rows of 32, 64 and 128 bytes, and of several panels, along both axes of both factors."""
    Product(shape, "fp16", columns, capability=90).check()


@pytest.mark.parametrize(
    "shape, warps, counts, because",
    [
        ((64, 64, 64), 4, [64] * 4, "an instruction multiplies 16 columns by 16 rows"),
        ((256, 32, 32), 4, [32] * 8, "four blocks of 64 rows, two instructions for each"),
        ((64, 512, 16), 4, [256] * 2, "an instruction has at most 256 columns"),
        ((128, 64, 32), 8, [64] * 2, "each group has 64 rows"),
        ((64, 128, 32), 8, [64] * 2, "each group has 64 columns"),
        ((256, 128, 16), 8, [128] * 2, "each group has two blocks of 64 rows"),
    ],
)
def test_groups(shape: tuple[int, int, int], warps: int, counts: list[int], because: str) -> None:
    product = Product(shape, "fp16", warps=warps, capability=90)
    made = [columns for columns, _ in instructions(product.code.ptx)]
    if made != counts:
        product.fail(f"instructions with {counts} columns", str(made), because)
    if "ldmatrix" in product.code.ptx:
        product.fail("descriptors of both factors", "ldmatrix", "`wgmma` reads shared memory itself")
    product.check()


@pytest.mark.parametrize("columns", COLUMNS)
def test_the_assembler_accepts_the_instructions(columns: tuple[bool, bool]) -> None:
    product = Product((64, 32, 32), "fp16", columns, capability=90)
    if refusal := triton.refusal_of_ptxas(product.code.ptx, "sm_90a"):
        product.fail("PTX that NVIDIA's assembler accepts", refusal)


@pytest.mark.parametrize(
    "type, columns, sums",
    [
        ("bf16", (True, False), ""),
        ("fp16", (False, True), "fp16"),
        ("i8", (False, True), ""),
        ("fp32", (False, True), ""),
    ],
)
def test_types(type: str, columns: tuple[bool, bool], sums: str) -> None:
    product = Product((64, 32, 64), type, columns, sums, capability=90)
    assert instructions(product.code.ptx)
    product.check(80)


@pytest.mark.parametrize("shape", [(64, 64, 32), (128, 64, 16)])
def test_sums_stay_in_their_registers(shape: tuple[int, int, int]) -> None:
    product = Product(shape, "fp16", capability=90)
    if found := others(product.code.ptx):
        product.fail("no instruction in the loop that takes or moves sums, but the products", found[0])
    product.check(3 * shape[2])


HEAD = """def k(out, x, y, more, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    a = tl.load(x + m * K + k[None, :])
    b = tl.load(y + k[:, None] * N + n)
    c = tl.load(more + m * N + n)
"""
Expected = Callable[[np.ndarray, np.ndarray], np.ndarray]
TAIL = "\n    tl.store(out + m * N + n, total)\n"
SIGNATURE = {"out": "*fp32", "x": "*fp16", "y": "*fp16", "more": "*fp32"}


@pytest.mark.parametrize(
    "body, expected",
    [
        ("total = tl.dot(a, b, c) + c", lambda ab, c: ab + 2 * c),
        ("total = tl.dot(a, b, c * 2.0)", lambda ab, c: ab + 2 * c),
        ("s = c * 2.0; total = tl.dot(a, b, s) * s", lambda ab, c: (ab + 2 * c) * 2 * c),
        ("s = c * 2.0; total = tl.dot(a, b, s) - tl.dot(-a, b, s)", lambda ab, c: 2 * ab),
        ("s = tl.dot(a, b); total = tl.dot(a, b, s)", lambda ab, c: 2 * ab),
        ("s = tl.dot(a, b); total = tl.dot(a, b, s) * s", lambda ab, c: 2 * ab * ab),
        ("total = tl.dot(a, b, tl.full((M, N), 3.0, tl.float32))", lambda ab, c: ab + 3),
        ("total = tl.dot(a, b, tl.broadcast_to(tl.load(more + n), (M, N)))", lambda ab, c: ab + c[:1]),
        ("total = tl.dot(a, b, tl.broadcast_to(tl.load(more + n) * 2.0, (M, N)))", lambda ab, c: ab + 2 * c[:1]),
        ("total = tl.dot(a, b, tl.where(c > 0, c, 0.0))", lambda ab, c: ab + np.maximum(c, 0)),
    ],
)
def test_what_is_added(body: str, expected: Expected) -> None:
    check(f"{HEAD}    {body}{TAIL}", expected)


@pytest.mark.parametrize("sums", ["c * 2.0", "tl.dot(a, b)"])
def test_computed_sums_stay_in_their_registers(sums: str) -> None:
    ptx = compiled(f"{HEAD}    s = {sums}; total = tl.dot(a, b, s){TAIL}", SIGNATURE, M=64, N=32, K=32).ptx
    moved = {register for _, registers in instructions(ptx) for register in registers}
    copies = [line.strip() for line in ptx.splitlines() if moved.intersection(re.findall(r"mov\.b32\s(%\w+)", line))]
    if copies:
        described(f"total = tl.dot(a, b, s), where s = {sums}", lambda: None).fail(
            "a product in the registers of s", f"{len(copies)} copies, as {copies[0]}", "nothing else uses s"
        )


IN_LOOPS: list[tuple[str, str, Expected]] = [
    ("s, total = c * 2.0, c", "total += tl.dot((a * (i + 1)).to(tl.float16), b, s)", lambda ab, c: 6 * ab + 7 * c),
    ("total, last = c, c", "new = tl.dot(a, b, total); last = total; total = new", lambda ab, c: 5 * ab + 2 * c),
    ("total, last = c, c", "total, last = tl.dot(a, b, last), total", lambda ab, c: 2 * ab + c),
    ("total = c", "total += tl.dot((a * (i + 1)).to(tl.float16), b) * 2.0", lambda ab, c: 12 * ab + c),
    ("total = c", "total = tl.dot(a, b, total) if i != 1 else total", lambda ab, c: 2 * ab + c),
]


@pytest.mark.parametrize("before, body, expected", IN_LOOPS, ids=[body for _, body, _ in IN_LOOPS])
def test_what_is_added_in_loops(before: str, body: str, expected: Expected) -> None:
    after = "total += last" if "new" in body else "total += 0.0"
    check(f"{HEAD}    {before}\n    for i in range(3):\n        {body}\n    {after}{TAIL}", expected)


def check(text: str, expected: Expected) -> None:
    """Compare a kernel with a function of the product a @ b and the matrix c."""
    m, n, k = 64, 32, 32
    random = np.random.default_rng(0)
    x, y = random.integers(-4, 5, (m, k)).astype(np.float16), random.integers(-4, 5, (k, n)).astype(np.float16)
    more, out = random.integers(-4, 5, (m, n)).astype(np.float32), np.zeros((m, n), np.float32)
    launched(compiled(text, SIGNATURE, M=m, N=n, K=k), [out, x, y, more])
    np.testing.assert_array_equal(out, expected(x.astype(np.float32) @ y.astype(np.float32), more), text)


@pytest.mark.parametrize("warps, rows, columns", [(4, 64, 64), (4, 128, 32), (8, 128, 64)])
def test_the_first_factor_in_registers(warps: int, rows: int, columns: int) -> None:
    """The product of a product stays in registers."""
    text = """def k(out, x, y, z, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, K)
    a, b = tl.load(x + m * K + k[None, :]), tl.load(y + k[:, None] * N + n[None, :])
    c = tl.load(z + n[:, None] * K + k[None, :])
    tl.store(out + m * K + k[None, :], tl.dot(tl.dot(a, b).to(tl.float16), c))
"""
    signature = {"out": "*fp32", "x": "*fp16", "y": "*fp16", "z": "*fp16"}
    code = compiled(text, signature, warps, M=rows, N=columns, K=32)
    random = np.random.default_rng(0)
    x, y, z = (random.integers(-2, 3, s).astype(np.float16) for s in ((rows, 32), (32, columns), (columns, 32)))
    out = np.zeros((rows, 32), np.float32)
    launched(code, [out, x, y, z])
    assert re.search(r"wgmma\S+ \{[^}]*\}, \{", code.ptx), "the first factor of the second product is in registers"
    np.testing.assert_array_equal(out, x.astype(np.float32) @ y.astype(np.float32) @ z.astype(np.float32))
