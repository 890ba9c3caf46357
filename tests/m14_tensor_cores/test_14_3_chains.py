"""Task 14.3: what is added to a product, and products of products, compared with NumPy on the emulator."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.support.m13_threads.running import Kernel

HEAD = """@triton.jit
def kernel(out, x, y, z, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + m * K + k[None, :])
    b = tl.load(y + k[:, None] * N + n[None, :])
"""
TAIL = "    tl.store(out + m * N + n[None, :], total)\n"
Expected = Callable[[np.ndarray, np.ndarray], np.ndarray]


@pytest.mark.parametrize(
    "body, expected",
    [
        ("total = tl.dot(a, b)", lambda ab, c: ab),
        ("total = tl.dot(a, b, c)", lambda ab, c: ab + c),
        ("total = tl.dot(a, b, c) + c", lambda ab, c: ab + 2 * c),
        ("total = tl.dot(a, b, tl.full((M, N), 3.0, tl.float32))", lambda ab, c: ab + 3),
        ("s = c * 2.0; total = tl.dot(a, b, s) - tl.dot(-a, b, s)", lambda ab, c: 2 * ab),
        ("s = tl.dot(a, b); total = tl.dot(a, b, s) * s", lambda ab, c: 2 * ab * ab),
        ("total = tl.dot(a, b, tl.broadcast_to(tl.load(z + n)[None, :], (M, N)))", lambda ab, c: ab + c[:1]),
        ("total = tl.dot(a, b) / tl.max(tl.dot(a, b, c), 1)[:, None]", lambda ab, c: ab / (ab + c).max(1)[:, None]),
    ],
)
def test_what_is_added(body: str, expected: Expected) -> None:
    text = f"{HEAD}    c = tl.load(z + m * N + n[None, :])\n    {body}\n{TAIL}"
    m, n, k = 32, 32, 16
    random = np.random.default_rng(0)
    x, y = random.integers(1, 5, (m, k)).astype(np.float16), random.integers(1, 5, (k, n)).astype(np.float16)
    z, out = random.integers(1, 5, (m, n)).astype(np.float32), np.zeros((m, n), np.float32)
    constants = {"M": m, "N": n, "K": k}
    asked = Kernel(text, {"out": "*fp32", "x": "*fp16", "y": "*fp16", "z": "*fp32"}, constants, 4, 80, 1)
    asked.run(out, x, y, z)
    asked.check("out", out, expected(x.astype(np.float32) @ y.astype(np.float32), z))


CHAIN = f"""{HEAD}    c = tl.load(z + n[:, None] * N + n[None, :])
    scores = tl.dot(a, b, out_dtype=SUM)
    total = tl.dot(FACTOR, c, out_dtype=SUM)
{TAIL}"""
NUMPY = {"fp16": np.float16, "i8": np.int8, "fp32": np.float32, "i32": np.int32}


@pytest.mark.parametrize(
    "type, sums, factor, expected, loads, because",
    [
        ("fp16", "fp32", "scores.to(tl.float16)", lambda s, c: s @ c, 2 + 4 + 4, "the sums are the first factor"),
        ("fp16", "fp32", "(scores * 0.5 + 1).to(tl.float16)", lambda s, c: (s / 2 + 1) @ c, 2 + 4 + 4, ""),
        ("fp16", "fp16", "tl.where(scores > 0, scores, 0.0)", lambda s, c: np.maximum(s, 0) @ c, 2 + 4 + 4, ""),
        ("fp16", "fp32", "tl.trans(scores.to(tl.float16))", lambda s, c: s.T @ c, 4 + 4 + 4, "columns move to rows"),
        ("i8", "i32", "(scores & 7).to(tl.int8)", lambda s, c: (s.astype(int) & 7) @ c, 1 + 2 + 1 + 2, "words of four"),
    ],
)
def test_chains(type: str, sums: str, factor: str, expected: Expected, loads: int, because: str) -> None:
    """In words of 16-bit floats, what a lane computes is what it multiplies: nothing goes through shared memory."""
    dtype = {"fp32": "float32", "fp16": "float16", "i32": "int32"}[sums]
    text = CHAIN.replace("SUM", f"tl.{dtype}").replace("FACTOR", factor)
    m, n, k = (64 if "trans" not in factor else 32), 32, 32
    types = {"out": f"*{sums}", **dict.fromkeys("xyz", f"*{type}")}
    asked = Kernel(text, types, {"M": m, "N": n, "K": k}, m // 16, 80, 1)
    random = np.random.default_rng(1)
    x, y, z = (random.integers(-2, 3, shape).astype(NUMPY[type]) for shape in ((m, k), (k, n), (n, n)))
    out = np.zeros((m, n), NUMPY[sums])
    asked.run(out, x, y, z)
    scores = x.astype(np.float32) @ y.astype(np.float32)
    asked.check("out", out, expected(scores, z.astype(np.float32)).astype(out.dtype))
    if (found := len(re.findall("ldmatrix", asked.code.ptx))) != loads:
        asked.fail(f"{loads} ldmatrix", f"{found}", because)


ATTENTION = """@triton.jit
def kernel(out, q, k, v, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows, columns, inner = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, D)
    query = tl.load(q + rows * D + inner[None, :])
    top = tl.full((M,), float("-inf"), tl.float32)
    total, result = tl.zeros((M,), tl.float32), tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = (start + columns)[:, None] * D + inner[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + at)))
        new = tl.maximum(top, tl.max(scores, 1))
        weights, scale = tl.exp2(scores - new[:, None]), tl.exp2(top - new)
        total = total * scale + tl.sum(weights, 1)
        result = tl.dot(weights.to(tl.float16), tl.load(v + at), result * scale[:, None])
        top = new
    tl.store(out + rows * D + inner[None, :], result / total[:, None])
"""


def test_attention() -> None:
    """Each warp has 16 rows of queries; the weights stay in its registers."""
    m, n, d = 32, 32, 32
    types = {"out": "*fp32", **dict.fromkeys("qkv", "*fp16"), "n": "i32"}
    asked = Kernel(ATTENTION, types, {"M": m, "N": n, "D": d}, 2, 80, 1)
    random = np.random.default_rng(2)
    q, k, v = (random.normal(size=(rows, d)).astype(np.float16) for rows in (m, 3 * n, 3 * n))
    out = np.zeros((m, d), np.float32)
    asked.run(out, q, k, v, 3 * n)
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp2(scores - scores.max(1)[:, None])
    expected = weights @ v / weights.sum(1)[:, None]
    wrong = abs(out - expected).max() / abs(v).max()
    if not wrong < 2.0**-10:
        asked.fail("a mean of values within 2^-10, as exact as weights of 16 bits", f"an error of {wrong:.1e}")
    if (found := len(re.findall("ldmatrix", asked.code.ptx))) != 2 + 4 + 4:
        asked.fail("2 + 4 + 4 ldmatrix, for q, k and v", str(found), "weights stay in their registers")
