"""Task 14.4: pipelined products as PTX. The judges are NumPy and the emulator, whose copies land only at a wait."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.m13_threads.running import Kernel
from tests.support.m14_tensor_cores.multiplying import Product

WIDTH = re.compile(r"cp\.async\.(?:ca|cg)\.shared\.global \S+ \S+ (\d+)")


@pytest.mark.parametrize("depth", [0, 16, 32, 64, 176])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_products(stages: int, depth: int) -> None:
    product = Product((32, 64, 32), "fp16", stages=stages)
    if "cp.async" not in product.code.ptx:
        product.fail("tiles that cp.async copies", "PTX without cp.async")
    product.check(depth)


@pytest.mark.parametrize("columns", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("type, capability", [("fp16", 80), ("fp16", 90), ("fp32", 80), ("bf16", 90), ("i8", 80)])
def test_types_and_GPUs(type: str, capability: int, columns: tuple[bool, bool]) -> None:
    """Two warps are too few for Hopper's own products."""
    product = Product((32, 32, 32), type, columns, warps=2, capability=capability, stages=3)
    lines = product.code.ptx.splitlines()
    for number, (_, counts) in product.check(112).instructions.items():
        line = lines[number - 1]
        assert "cp.async" not in line or counts.bank_ways == counts.shared, f"a copy has bank conflicts: {line}"


def changed(product: Product, start: int, end: int, text: str = "") -> Product:
    """The product with other PTX from `start` to `end`."""
    ptx, other = product.code.ptx, replace(product)
    vars(other)["code"] = replace(product.code, ptx=ptx[:start] + text + ptx[end:])
    return other


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_the_loop_needs_its_wait_and_its_barrier(stages: int, capability: int) -> None:
    product = Product((32, 32, 32), "fp16", warps=2, capability=capability, stages=stages)
    product.check(176)
    ptx = product.code.ptx
    wait = re.search(rf"\tcp\.async\.wait_group {stages - 2};\n", ptx)
    assert wait, f"no thread waits until at most {stages - 2} groups of its copies are on their way:\n{ptx}"
    barrier = re.compile(r"\tbar\.sync 0;\n").search(ptx, wait.end())
    assert barrier, f"no barrier follows the wait for copies:\n{ptx}"
    longer = f"\tcp.async.wait_group {stages - 1};\n"
    for start, end, text in ((*wait.span(), ""), (*wait.span(), longer), (*barrier.span(), "")):
        report, got, expected = changed(product, start, end, text).run(176)
        assert report.errors, f"the emulator finds no error with {text!r} in place of {ptx[start:end]!r}"


STRIDED = """@triton.jit
def kernel(out, x, y, S: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, 32), tl.arange(0, K)
    total = tl.zeros((M, 32), tl.float32)
    for start in range(0, 4 * K, K):
        left = tl.load(x + m[:, None] * S + (start + k)[None, :], mask=(start + k)[None, :] < 4 * K - 16)
        right = tl.load(y + (start + k)[:, None] * 32 + n[None, :])
        total = tl.dot(left, right, total, input_precision="tf32")
    tl.store(out + m[:, None] * 32 + n[None, :], total)
"""
"""A product of M x 4K and 4K x 32 elements. Rows of `x` are S elements apart; 16 of them are unused."""
TYPES = {"fp16": np.float16, "fp32": np.float32}


def strided(kind: str, stride: int, rows: int = 32, depth: int = 64, text: str = STRIDED, warps: int = 4) -> Any:
    """The kernel, its arguments and the product."""
    constants = {"S": stride, "M": rows, "K": depth}
    asked = Kernel(text, {"out": "*fp32", "x": f"*{kind}", "y": f"*{kind}"}, constants, warps, capability=80, stages=3)
    random = np.random.default_rng(stride)
    x, y = (random.integers(-4, 5, shape).astype(TYPES[kind]) for shape in ((rows, stride), (4 * depth, 32)))
    out = np.zeros((rows, 32), np.float32)
    used = 4 * depth - 16
    return asked, [out, x, y], x[:, :used].astype(np.float32) @ y[:used].astype(np.float32)


@pytest.mark.parametrize(
    "kind, stride, bytes",
    [("fp16", 256, 16), ("fp16", 260, 8), ("fp16", 258, 4), ("fp32", 256, 16), ("fp32", 258, 8), ("fp32", 257, 4)],
)
def test_as_many_bytes_as_rows_allow(kind: str, stride: int, bytes: int) -> None:
    asked, arguments, expected = strided(kind, stride)
    asked.run(*arguments)
    asked.check("out", arguments[0], expected)
    asked.assemble()
    widths = [int(width) for width in WIDTH.findall(asked.code.ptx)]
    if sorted(set(widths)) != sorted({bytes, 16}):
        asked.fail(f"copies of {bytes} bytes from x, and of 16 from y", f"copies of {sorted(set(widths))} bytes")
    copied = 3 * (32 * 64 + 64 * 32) * arguments[1].itemsize  # three groups of copies: two before the loop
    if sum(widths) * 128 != copied:
        asked.fail(f"{copied} bytes, copied by 128 threads", f"{len(widths)} instructions")


def test_loads_of_two_bytes_stay() -> None:
    asked, arguments, expected = strided("fp16", 257)
    asked.run(*arguments)
    asked.check("out", arguments[0], expected)
    if "cp.async" not in asked.code.ptx or "ld.global.b16" not in asked.code.ptx:
        asked.fail("loads of 2 bytes from x, and copies from y", "only one of both", "cp.async copies at least 4 bytes")


def test_one_thread_copies_an_element() -> None:
    """Sixteen warps have more threads than 16 x 16 elements need, 16 bytes each."""
    asked, arguments, expected = strided("fp32", 64, rows=16, depth=16, warps=16)
    report = asked.run(*arguments)
    asked.check("out", arguments[0], expected)
    least = sum(array.nbytes for array in arguments) // 32
    assert report.total.sectors <= least, f"{report.total.sectors} sectors of memory; {least} suffice"


def test_copies_wait_for_what_used_the_bytes_before() -> None:
    """A reduction through shared memory comes before the loop, in the bytes of the ring."""
    text = STRIDED.replace("    total = tl.zeros((M, 32), tl.float32)\n", BEFORE)
    asked, arguments, expected = strided("fp16", 256, text=text)
    asked.run(*arguments)
    asked.check("out", arguments[0], expected + arguments[2][:32].astype(np.float32).sum(0))


BEFORE = """    total = tl.zeros((M, 32), tl.float32)
    total += tl.sum(tl.load(y + m[:, None] * 32 + n[None, :]).to(tl.float32), 0)[None, :]
"""


def test_no_copies_after_the_last_iteration() -> None:
    """The arrays end where the loop does, so the emulator sees a copy of a later iteration."""
    for rows in (16, 32):
        asked, arguments, expected = strided("fp16", 128, rows=rows, depth=32)
        report = asked.run(*arguments)
        asked.check("out", arguments[0], expected)
        products, expected_products = report.total.tensor_cores, rows // 16 * 4 * 8
        if products != expected_products:
            asked.fail(f"{expected_products} products of 16 x 8 x 16 elements", f"{products}", "no iteration is added")
