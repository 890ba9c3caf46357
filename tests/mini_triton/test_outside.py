"""Explanations of out-of-bounds accesses: the mask that allows them, and whether the value matters."""

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.runtime.checks import AccessError

from tests.support.sources import load

HEADER = """
import triton
import triton.language as tl

@triton.jit
def inside(at, n):
    return at < n

@triton.jit
def kernel(x, k, out, n, size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    row, col = tl.arange(0, 4)[:, None], tl.arange(0, BLOCK)[None, :]
"""
SIZE, BLOCK = 10, 16


def explained(body: str, programs: int = 1, n: int = 16, **more: Any) -> list[str]:
    """The sentences with which the error of a launch ends; `x` and `k` have 10 elements, `out` has 64."""
    kernel = load(HEADER + "".join(f"    {line}\n" for line in body.split("\n")), "outside_of_x.py")["kernel"]
    with pytest.raises(AccessError) as caught:
        x, k = np.arange(1.0, 1.0 + SIZE, dtype=np.float32), np.arange(5, 5 + SIZE, dtype=np.int32)
        kernel[(programs,)](x, k, np.zeros(64, np.float32), n, SIZE, BLOCK=BLOCK)
    return str(caught.value).split("\n")[3:]


STORED = "\ntl.store(out + at, v)"
MASKS = {
    "v = tl.load(x + at)": ["the load has no mask"],
    "v = tl.load(x + at, mask=at < n)": ["`at < n` allows at up to 15; n is 16"],
    "v = tl.load(x + at, mask=at > 0)": ["`at > 0` allows at up to 15"],
    "v = tl.load(x + at, mask=n > at)": ["`n > at` allows at up to 15; n is 16"],
    "m = at <= 12\nv = tl.load(x + at, mask=m)": ["`at <= 12` allows at up to 12"],
    "v = tl.load(x - at, mask=at < 2)": ["`at < 2` allows at down to 0"],
    "v = tl.load(x + at, mask=at * 2 < n + 6)": ["`at * 2 < n + 6` allows at * 2 up to 20; n + 6 is 22"],
    "v = tl.load(x + at, mask=(at > 0) & (at < n))": [
        "`at > 0` allows at up to 15; `at < n` allows at up to 15; n is 16"
    ],
    "v = tl.sum(tl.load(x + row * 4 + col, mask=(row < 3) & (col < 8)), 0)": [
        "`row < 3` allows row up to 2; `col < 8` allows col up to 7"
    ],
    "v = tl.load(x + at, mask=(at > 0) & (n > 3))": ["`at > 0` allows at up to 15; `n > 3` is true: n is 16"],
    "v = tl.load(x + at, mask=0 <= at)": [],  # compiled as at >= 0
    "v = tl.load(x + at, mask=inside(at, n))": ["`at < n` allows at up to 15; n is 16"],
    "v = tl.load(x + tl.load(k + at, mask=at < size), mask=at < size)": ["`at < size` allows at up to 9; size is 10"],
    # the source does not show these comparisons
    "v = tl.load(x + at, mask=(at < n) | (at == 3))": [],
    "v = tl.load(x + at, mask=tl.abs(at) > -1)": ["`tl.abs(at) > -1` allows tl.abs(at) up to 15"],
    "p = tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,))\nv = tl.load(p, boundary_check=(0,))": [],
}


@pytest.mark.parametrize("body", MASKS)
def test_the_mask(body: str) -> None:
    *mask, value = explained(body + STORED)
    unused = (
        ""
        if "size" in body or not MASKS[body] or "no mask" in MASKS[body][0]
        else "; the mask does not use size, which is 10"
    )
    assert mask == [sentence + unused for sentence in MASKS[body]]
    assert value.startswith("the value matters: ")


def test_the_program() -> None:
    sentences = explained("v = tl.load(x + at % 11, mask=at < n)\ntl.store(out + at, v)", programs=2, n=30)
    assert sentences[0].startswith("`at < n` allows at up to 15 in this program; n is 30; the mask")


@given(
    *(st.integers(1, 3), st.integers(-5, 5), st.sampled_from(["<", "<=", ">", ">="]), st.integers(-8, 60)),
)
def test_limits(factor: int, more: int, compare: str, limit: int) -> None:
    """The sentence about a comparison agrees with NumPy."""
    at = np.arange(BLOCK)
    function = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[compare]
    side = at * factor + more
    holds = function(side, limit)
    if not (holds & (at >= SIZE)).any():
        return
    text = f"at * {factor} + {more} {compare} n".replace("+ -", "- ")
    first, *_ = explained(f"v = tl.load(x + at, mask={text}){STORED}", n=limit)
    left = text.removesuffix(f" {compare} n")
    values = side[holds]
    if limit == 1:  # the compiler knows this value
        return
    if values.min() == values.max():
        assert first.startswith(f"`{text}` is true: {left} is {values.max()}, n is {limit}")
    else:
        assert first.startswith(f"`{text}` allows {left} up to {values.max()}; n is {limit}")


USES = {
    "tl.store(out + at, v)": "it is stored to out[10], at outside_of_x.py:15",
    "tl.store(out, tl.sum(v, 0))": "a reduction combines it with defined elements, at outside_of_x.py:15",
    "i = (v * 0).to(tl.int32)\ntl.store(out + at + i, 1.0)": (
        "an address depends on it: that of out[10], at outside_of_x.py:16"
    ),
    "tl.store(out + at, tl.where(at < size, v, 0))": "",
    "tl.store(out + at, v, mask=at < size)": "",
}


@pytest.mark.parametrize("use", USES)
def test_the_value(use: str) -> None:
    *_, value = explained(f"v = tl.load(x + at, mask=at < n)\n{use}")
    expected = (
        f"the value matters: {USES[use]}"
        if USES[use]
        else "the value does not matter: it reaches no store of this program"
    )
    assert value == expected


def test_a_sum_of_two_such_values_that_is_stored_out_of_bounds() -> None:
    body = "v = tl.load(x + at) + tl.load(k + at)\ntl.store(out + 60 + at, v)"
    assert explained(body)[1] == "the value matters: it is stored to out[70], at outside_of_x.py:15"


def test_stores() -> None:
    (sentence,) = explained("tl.store(x + at, 1.0, mask=at < n)")
    assert sentence == "`at < n` allows at up to 15; n is 16; the mask does not use size, which is 10"
    assert explained("tl.atomic_add(x + at, 1.0)") == ["the atomic operation has no mask"]


@pytest.mark.parametrize(
    "body",
    [
        "tl.device_print('v', pid)\nv = tl.load(x + at)",  # would print twice
        "while tl.atomic_cas(k, 5, 6) == 7:\n    pass\nv = tl.load(x + at)",  # might wait forever
        "tl.atomic_add(k, 5)\ni = tl.atomic_add(k, 5)\nv = tl.load(x + i)",  # would not read the same element again
    ],
)
def test_no_explanation(body: str) -> None:
    assert explained(body + STORED) == []
