"""Task 14.6: which products may run late, what the loop waits for, and products in flight on the emulator."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from mini_triton.emulator import emulate
from mini_triton.ir.core import Module
from mini_triton.transforms.pipelining import pipeline

from tests.checks import described
from tests.support.m13_threads.kernels import module_of, source
from tests.support.m14_tensor_cores.groups import compiled, launched, loop_of, others, without
from tests.support.m14_tensor_cores.multiplying import Product

LOOP = """def k(out, x, y, z, nn, M: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, M)[None, :]
    at = i * M + j
    total, other = tl.zeros((M, M), tl.float32), tl.zeros((M, M), tl.float32)
    for step in range(nn):
        a, b, c = tl.load(x + at), tl.load(y + at), tl.load(z + at)
        BODY
        at += M * M
    tl.store(out + i * M + j, total + other)
"""
SIGNATURE = {"out": "*fp32", "x": "*fp16", "y": "*fp16", "z": "*fp16", "nn": "i32"}


def pipelined(body: str) -> Module:
    """A loop with three loads; all are copied, and all products may wait."""
    module = module_of(source(LOOP.replace("BODY", body), SIGNATURE, ["out", "x", "y", "z"], M=64))
    call = described(f"a loop with `{body}`", pipeline, module, 3, lambda load: True, lambda product: True)
    call.succeeds()
    return module


LATE = [
    ("total = tl.dot(a, b, total)", [True], "only the next iteration's product takes the result"),
    ("total = tl.dot(a * 2, b, total)", [True], "the second factor is copied"),
    ("total = tl.dot(a, b, total); other = tl.dot(a, c, other)", [True, True], "each has its own sums"),
    ("total = tl.dot(a, b * 2, total)", [False], "the second factor is computed"),
    ("total = tl.dot(a, tl.trans(b), total)", [False], "the second factor is computed"),
    ("total = tl.dot(a, b, total) * 2", [False], "a multiplication takes the result in this iteration"),
    ("total = tl.dot(a, b, total); other += total", [False], "an addition takes the result in this iteration"),
    ("new = tl.dot(a, b, total); other += total; total = new", [False], "an addition takes the sums"),
    ("total = tl.dot(a, b, total); other = total", [False], "the result becomes two values"),
    ("total, other = tl.dot(a, b, other), total", [False], "the result becomes another product's sums only later"),
    ("total, other = other, tl.dot(a, b, total)", [False], "the result becomes another product's sums only later"),
    ("total = tl.dot(a, b)", [False], "the next iteration's product does not take it"),
    ("total = tl.dot(a, b, total * 2)", [False], "a multiplication takes the result before anything has waited for it"),
    (
        "other = tl.dot(a, b, other) * 2; total = tl.dot(a, c, total * 3)",
        [False, True],
        "the loop waits for the first product, and so for the previous iteration's second",
    ),
    (
        "other = tl.dot(a, b, other) * 2; total = tl.dot(a, c, total * 3 + 1)",
        [False, False],
        "two operations change the sums",
    ),
    (
        "other = tl.dot(a, b, other); total = tl.dot(a, c, total * 3)",
        [True, False],
        "nothing waits for the second product before the multiplication",
    ),
    (
        "s = tl.dot(a, b); total = tl.dot(s.to(tl.float16), c, total * 3)",
        [False, True],
        "this is attention: the first factor is in registers",
    ),
    (
        "s = tl.dot(a, b); total = tl.dot(s.to(tl.float16), c, total * s)",
        [False, True],
        "any elementwise operation may change the sums",
    ),
    (
        "total = tl.dot(a, b, total) if step > 1 else total; other = tl.dot(a, c, other)",
        [False, True],
        "the first product is not directly in the loop's block",
    ),
    (
        "w = total * 3; s = tl.dot(a, b) + w; total = tl.dot(a, c, w); other += s",
        [False, False],
        "an addition takes the changed sums, too",
    ),
    (
        "s = tl.dot(a, b); new = tl.dot(a, c, total * 3); other += s * total; total = new",
        [False, False],
        "a second multiplication takes the sums",
    ),
]


@pytest.mark.parametrize("body, expected, because", LATE, ids=[body for body, *_ in LATE])
def test_which_products_are_late(body: str, expected: list[bool], because: str) -> None:
    module = pipelined(body)
    products = [operation for operation in module.walk() if operation.name == "tt.dot"]
    got = [bool(product.attributes.get("ttng.isAsync")) for product in products]
    if got != expected:
        described(f"the products of `{body}`", lambda: None).fail(f"late: {expected}", f"{got}", because)


@pytest.mark.parametrize(
    "body, pending",
    [
        ("total = tl.dot(a, b, total)", 1),
        ("total = tl.dot(a, b, total); other = tl.dot(a, c, other)", 2),
        (LATE[15][0], 1),
        (LATE[16][0], 1),
    ],
)
def test_the_loop_waits_after_its_products_and_before_its_copies(body: str, pending: int) -> None:
    (loop,) = [operation for operation in pipelined(body).walk() if operation.name == "scf.for"]
    operations = loop.regions[0].block.operations
    steps = {"tt.dot": "product", "ttg.async_copy_global_to_local": "copy", "gpu.barrier": "barrier"}
    names = [
        f"wait {operation.attributes['pendings']}"
        if operation.name == "ttng.warp_group_dot_wait"
        else steps.get(operation.name, "")
        for operation in operations
    ]
    got = [name for name in names if name]
    expected = ["product"] * body.count("tl.dot") + [f"wait {pending}", "barrier"] + ["copy"] * (2 + ("c" in body[12:]))
    if got != expected:
        call = described(f"the steps of a loop with `{body}`", lambda: None)
        because = (
            "the copies overwrite what the previous iteration's products read: these must have finished in all warps"
        )
        call.fail(str(expected), str(got), because)


@pytest.mark.parametrize("depth", [0, 32, 64, 176])
@pytest.mark.parametrize(
    "shape, warps, stages", [((64, 64, 32), 4, 2), ((64, 64, 32), 4, 3), ((128, 64, 16), 8, 4), ((64, 128, 64), 8, 3)]
)
def test_products(shape: tuple[int, int, int], warps: int, stages: int, depth: int) -> None:
    product = made(shape, warps, stages)
    if others(product.code.ptx):
        product.fail("sums that stay in their registers", others(product.code.ptx)[0])
    product.check(depth)


@cache
def made(shape: tuple[int, int, int], warps: int, stages: int) -> Product:
    """A product, compiled once."""
    return Product(shape, "fp16", (False, True), warps=warps, capability=90, stages=stages)


def test_each_wait_is_needed() -> None:
    """Without one of the loop's waits and barriers, the emulator finds an error."""
    product = made((64, 64, 32), 4, 3)
    for line, code in without(product.code, r"wait_group|bar\.sync"):
        other = replace(product)
        other.__dict__["code"] = code
        if not other.run(176)[0].errors:
            product.fail("no needless wait", line, "the emulator finds no error without it")


def test_registers_of_the_first_factor_wait_for_the_previous_product() -> None:
    """Without this wait, the emulator finds an error, although the product is late."""
    code = compiled(LOOP.replace("BODY", "total = tl.dot(a * 2, b, total)"), SIGNATURE, stages=3, M=64)
    ((_, changed),) = without(code, r"wgmma\.wait_group\S* 0;")
    x = np.ones((2, 64, 64), np.float16)
    report = emulate(changed.ptx, (1, 1, 1), [np.zeros((64, 64), np.float32), x, x, x, 2], shared=changed.shared)
    assert "uses registers of a wgmma that has not finished" in str(report.errors[0])


Step = Callable[..., tuple[np.ndarray, np.ndarray]]
BODIES: list[tuple[str, Step]] = [
    ("total = tl.dot(a, b, total); other = tl.dot(a, c, other)", lambda t, o, ab, ac: (t + ab, o + ac)),
    (LATE[13][0], lambda t, o, ab, ac: (3 * t + ac, 2 * (o + ab))),
    ("total = tl.dot(a, b, total); other += total", lambda t, o, ab, ac: (t + ab, o + t + ab)),
    ("total, other = tl.dot(a, b, other), total", lambda t, o, ab, ac: (o + ab, t)),
    ("total = tl.dot(a * 2, b, total)", lambda t, o, ab, ac: (t + 2 * ab, o)),
]  # fmt: skip


@pytest.mark.parametrize("body, step", BODIES, ids=[body for body, _ in BODIES])
@pytest.mark.parametrize("count", [1, 4])
def test_several_sums(body: str, step: Step, count: int) -> None:
    code = compiled(LOOP.replace("BODY", body), SIGNATURE, stages=3, M=64)
    random = np.random.default_rng(count)
    x, y, z = (random.integers(-2, 3, (count, 64, 64)).astype(np.float16) for _ in range(3))
    out = np.zeros((64, 64), np.float32)
    launched(code, [out, x, y, z, count])
    total = other = np.zeros((64, 64), np.float32)
    for a, b, c in zip(x, y, z, strict=True):
        wide = a.astype(np.float32)
        total, other = step(total, other, wide @ b.astype(np.float32), wide @ c.astype(np.float32))
    np.testing.assert_array_equal(out, total + other, body)


ATTENTION = """def k(out, q, x, y, nn, M: tl.constexpr, D: tl.constexpr):
    i, d, j = tl.arange(0, M), tl.arange(0, D), tl.arange(0, 64)
    a = tl.load(q + i[:, None] * D + d[None, :])
    highest, sum = tl.full((M,), -1000.0, tl.float32), tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, nn, 64):
        at = (start + j)[:, None] * D + d[None, :]
        key, value = tl.load(x + at), tl.load(y + at)
        scores = tl.dot(a, tl.trans(key))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights, decay = tl.exp2(scores - higher[:, None]), tl.exp2(highest - higher)
        sum = sum * decay + tl.sum(weights, 1)
        total = tl.dot(weights.to(tl.float16), value, total * decay[:, None])
        highest = higher
    tl.store(out + i[:, None] * D + d[None, :], total / sum[:, None])
"""


@pytest.mark.parametrize("rows, warps", [(64, 4), (128, 8)])
def test_attention(rows: int, warps: int) -> None:
    signature = {"out": "*fp32", "q": "*fp16", "x": "*fp16", "y": "*fp16", "nn": "i32"}
    code = compiled(ATTENTION, signature, warps, 3, M=rows, D=32)
    assert "wait_group.sync.aligned 1;" in loop_of(code.ptx), "the second product is late"
    random = np.random.default_rng(rows)
    q, x, y = (random.normal(size=(count, 32)).astype(np.float16) for count in (rows, 192, 192))
    out = np.zeros((rows, 32), np.float32)
    launched(code, [out, q, x, y, 192])
    weights = np.exp2(q.astype(np.float32) @ x.astype(np.float32).T)
    expected = weights / weights.sum(1, keepdims=True) @ y.astype(np.float32)
    np.testing.assert_allclose(out, expected, atol=4e-3)
