"""The given parts of the language beside the tasks of milestone 4: libdevice, histograms, `tl.math`, lazy names."""

from collections.abc import Iterator
from typing import Any

import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton import exact
from mini_triton.ir.ops.elementwise import ROWS, one_float
from mini_triton.ir.printer import print_module
from mini_triton.language.extra import libdevice
from mini_triton.language.signature import SPELLINGS
from mini_triton.language.tensor import tensor
from mini_triton.language.tracing import trace

from tests.oracles import triton
from tests.support.m04_language.expressions import Arguments, Scene, judge
from tests.support.sources import load

SPELLED = {dtype: spelling for spelling, dtype in SPELLINGS.items()}
VALUES: Arguments = {f"x_{spelling}": f"{spelling}[4]" for spelling in ("i32", "u32", "i64", "u64", "fp32", "fp64")}


FUNCTIONS = {row.tl.name: row for row in ROWS if row.tl and row.rule is one_float}
NUMBERS = [0.0, -0.0, 0.25, -0.5, 1.0, -1.0, 1.75, 3.0, 40.0, -7.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_are_one_row(name: str) -> None:
    """Its docstring says what it computes, real Triton compiles it, and the values are PyTorch's."""
    import torch

    def kernel(x: Any, out: Any) -> None:
        tl.store(out, getattr(tl, name)(tl.load(x)))

    assert getattr(tl, name).__doc__
    compiled = triton.compile_ttir(print_module(trace(kernel, {"x": "*fp32", "out": "*fp32"})))
    assert compiled, compiled.diagnostic
    x = np.array(NUMBERS)
    with np.errstate(all="ignore"):
        got = eval(str(FUNCTIONS[name].meaning).format("x"), {"np": np, "exact": exact, "x": x})
    expected = getattr(torch, name.removesuffix("_rn"))(torch.tensor(x)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


def calls() -> Iterator[str]:
    """Every function, with every type of operand."""
    for name, versions in libdevice.TABLE.items():
        for dtypes in versions:
            yield f"tl.extra.libdevice.{name}({', '.join(f'x_{SPELLED[dtype]}' for dtype in dtypes)})"


def test_every_function_of_libdevice() -> None:
    """The symbol and the dtype are those of real Triton."""
    judge(VALUES, list(calls()))


def test_operands_that_libdevice_refuses() -> None:
    """Nothing is promoted; numbers have their own dtype, and shapes are broadcast."""
    values = {"x": "fp32[2, 4]", "y": "fp32[4]", "h": "fp16[4]", "d": "fp64[4]", "n": "i32"}
    accepted = ["pow(x, 2.0)", "pow(x, y)", "pow(y, n)", "atan2(1.0, x)", "isnan(y)", "tanh(2.5)"]
    refused = ["tanh(h)", "tanh(n)", "pow(y, d)", "atan2(y, 1e300)", "isnan(h)"]
    judge(values, [f"tl.extra.libdevice.{call}" for call in (*accepted, *refused)])
    Scene(values).refuses("tl.extra.libdevice.tanh(h)", ValueError, "tanh", "fp16")
    with pytest.raises(AttributeError, match="libdevice has no tan_h"):
        _ = libdevice.tan_h


@pytest.mark.parametrize(
    "k, words", [(3, "k must be a power of two"), (0, "k must be greater than 0"), (16, "k must not exceed the size")]
)
def test_numbers_of_first_elements_that_are_refused(k: int, words: str) -> None:
    Scene({"x": "fp32[8]"}).refuses(f"tl.topk(x, {k})", ValueError, f"topk: {words}", str(k))


SORTING = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    values = tl.topk(tl.load(x + rows * COLUMNS + columns), K, descending=DOWN)
    tl.store(out + rows * K + tl.arange(0, K)[None, :], values)

@triton.jit
def turned(x, out, COLUMNS: tl.constexpr):
    at = tl.arange(0, COLUMNS)
    tl.store(out + at, tl.flip(tl.topk(tl.load(x + at), 1) + at))
"""


@pytest.mark.parametrize("down", [True, False])
def test_first_elements(down: bool) -> None:
    """The largest or the smallest elements of each row, in order."""
    kernels = load(SORTING, "sorting.py")
    for rows, columns, k in ((1, 8, 8), (4, 8, 2), (2, 16, 1), (1, 1, 1)):
        x = np.random.default_rng(rows + columns).permutation(rows * columns).reshape(rows, columns).astype(np.float32)
        out = np.zeros((rows, k), np.float32)
        kernels["kernel"][(1,)](x, out, rows, columns, k, down)
        expected = np.sort(x, axis=1)
        np.testing.assert_array_equal(out, (expected[:, ::-1] if down else expected)[:, :k])
    turned = np.zeros(8, np.int32)
    kernels["turned"][(1,)](np.arange(8, dtype=np.int32), turned, 8)
    np.testing.assert_array_equal(turned, 7 + np.arange(8)[::-1])


def test_names_are_there_whatever_was_imported() -> None:
    """`tl.tensor` is the class, not the module of that name; modules that kernels may name are there."""
    language: Any = tl
    assert language.tensor is tensor
    assert isinstance(language.constexpr(1), language.constexpr)
    assert language.math.exp2 is language.exp2
    assert language.extra.libdevice is libdevice
    assert {"load", "sum", "rand", "float32"} <= set(dir(tl))
    with pytest.raises(AttributeError, match="tl has no sum_of_all"):
        _ = language.sum_of_all
