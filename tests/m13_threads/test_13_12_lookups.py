"""Task 13.12: gathers. NumPy computes the results; the emulator runs the PTX, and finds races."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m13_threads.running import Kernel

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "fp32": np.float32, "i64": np.int64}
INDEX = ("i", "i[:, None] * {1} + j[None, :]", "(i[:, None, None] * {1} + j[None, :, None]) * {2} + k[None, None, :]")


def place(prefix: str, shape: tuple[int, ...]) -> str:
    """Lines that compute the place of each element in memory, as `{prefix}`."""
    letters = "ijk"[: len(shape)]
    ranges = [f"    {letter} = tl.arange(0, {size})" for letter, size in zip(letters, shape, strict=True)]
    return "\n".join([*ranges, f"    {prefix} = {INDEX[len(shape) - 1].format(*shape)}\n"])


def look_up(
    shape: tuple[int, ...], axis: int, size: int, kind: str = "i32", index: str = "i32", warps: int = 4, seed: int = 0
) -> Kernel:
    """Run a gather of `size` elements along an axis of a tensor, and compare its results."""
    __tracebackhide__ = True
    wanted = (*shape[:axis], size, *shape[axis + 1 :])
    text = (
        f"@triton.jit\ndef kernel(out, x, indices):\n{place('source', shape)}{place('at', wanted)}"
        f"    found = tl.gather(tl.load(x + source), tl.load(indices + at), {axis})\n    tl.store(out + at, found)\n"
    )
    asked = Kernel(text, {"out": f"*{kind}", "x": f"*{kind}", "indices": f"*{index}"}, {}, warps)
    random = np.random.default_rng(seed)
    x = random.integers(-100, 100, shape).astype(DTYPES[kind])
    indices = random.integers(0, shape[axis], wanted).astype(DTYPES[index])
    out = np.zeros(wanted, x.dtype)
    asked.run(out, x, indices)
    asked.check("out", out, np.take_along_axis(x, indices.astype(np.int64), axis), f"the index is along axis {axis}")
    return asked


def test_a_vector() -> None:
    look_up((128,), 0, 128)


def test_fewer_and_more() -> None:
    look_up((256,), 0, 32)
    look_up((16,), 0, 512)


def test_other_axes() -> None:
    look_up((8, 32), 0, 8)
    look_up((8, 32), 1, 32)
    look_up((4, 64), 0, 16)
    look_up((64, 4), 1, 2)


def test_types() -> None:
    for kind in DTYPES:
        look_up((64,), 0, 128, kind)
    for index in ("i8", "i16", "i64"):
        look_up((64,), 0, 128, "i32", index)


@pytest.mark.parametrize("index", ["i8", "i16", "i32", "i64"])
def test_nvidias_assembler_accepts_it(index: str) -> None:
    look_up((8, 16), 0, 32, "i16", index).assemble()


@given(
    st.lists(st.sampled_from([1, 2, 4, 8, 16, 32]), min_size=1, max_size=3),
    st.integers(0, 2),
    st.sampled_from([1, 2, 8, 64]),
    st.sampled_from(list(DTYPES)),
    st.sampled_from(["i8", "i16", "i32", "i64"]),
    st.sampled_from([1, 4, 8]),
    st.integers(0, 99),
)
@one_in(4)
def test_random_lookups(sizes: list[int], axis: int, size: int, kind: str, index: str, warps: int, seed: int) -> None:
    while math.prod(sizes) > 1024:
        sizes[sizes.index(max(sizes))] //= 2
    look_up(tuple(sizes), axis % len(sizes), size, kind, index, warps, seed)


def test_one_load_for_each_element() -> None:
    for warps, loads in ((1, 16), (4, 4), (8, 2)):
        asked = look_up((32,), 0, 512, warps=warps)
        if (got := asked.code.ptx.count("ld.shared")) != loads:
            because = f"each of {32 * warps} threads needs {loads} of 512 elements"
            asked.fail(f"{loads} loads from shared memory", f"{got} loads", because)


def test_two_lookups() -> None:
    """The second tensor is behind the first in shared memory."""
    text = (
        "@triton.jit\ndef kernel(out, x, first, second):\n"
        "    i, j = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]\n"
        "    at = i * 32 + j\n    k = tl.arange(0, 16)\n"
        "    tl.store(out + k, tl.gather(tl.load(x + k), tl.load(first + k), 0))\n"
        "    tl.store(out + 16 + at, tl.gather(tl.load(x + 16 + at), tl.load(second + at), 0))\n"
    )
    asked = Kernel(text, dict.fromkeys(("out", "x", "first", "second"), "*i32"), {})
    random = np.random.default_rng(0)
    x = random.integers(-100, 100, 16 + 256).astype(np.int32)
    first, second = random.integers(0, 16, 16).astype(np.int32), random.integers(0, 8, (8, 32)).astype(np.int32)
    out = np.zeros_like(x)
    asked.run(out, x, first, second)
    asked.check("out[:16]", out[:16], x[first])
    expected = np.take_along_axis(x[16:].reshape(8, 32), second.astype(np.int64), 0)
    asked.check("out[16:]", out[16:].reshape(8, 32), expected)


def test_in_a_loop() -> None:
    """Pointer jumping: the next lookup begins when all threads have finished the last one."""
    text = (
        "@triton.jit\ndef kernel(out, x, steps):\n    at = tl.arange(0, 256)\n    parent = tl.load(x + at)\n"
        "    for _ in range(steps):\n        parent = tl.gather(parent, parent, 0)\n    tl.store(out + at, parent)\n"
    )
    asked = Kernel(text, {"out": "*i32", "x": "*i32", "steps": "i32"}, {})
    x = np.random.default_rng(0).integers(0, 256, 256).astype(np.int32)
    out, expected = np.zeros_like(x), x
    asked.run(out, x, 3)
    for _ in range(3):
        expected = expected[expected]
    asked.check("out", out, expected)
