"""Task 14.1: the emulator's `mma.sync` multiplies matrices that lie in these layouts. The judge is NumPy."""

import numpy as np
import pytest
from mini_triton.backends.threads.fragments import Arrangement, factor_layout, sum_layout
from mini_triton.backends.threads.instructions import size_of
from mini_triton.ir.types import BF16, F16, F32, I8, FloatType, Type

from tests.checks import described
from tests.support.m14_tensor_cores.instructions import multiplied


def check(shape: tuple[int, int], steps: int, type: Type, warps: Arrangement) -> None:
    """Multiply matrices of small integers; the second has `steps` instructions' rows."""
    __tracebackhide__ = True
    depth = 32 // size_of(type) * steps
    words = f"the layouts of a product {shape} with {depth} elements of {type} along the axis of the sums, by {warps}"
    call = described(words, lambda: None)
    sums = sum_layout(shape, warps)
    layouts = sums, factor_layout(sums, 0, depth, size_of(type)), factor_layout(sums, 1, depth, size_of(type))
    random = np.random.default_rng(steps)
    x, y = (random.integers(-4, 5, size) for size in ((shape[0], depth), (depth, shape[1])))
    got, errors = multiplied(shape, depth, type, warps, layouts, (x, y))
    if errors:
        call.fail("no errors", errors[0])
    if len(wrong := np.argwhere(got != x @ y)):
        at = tuple(wrong[0].tolist())
        call.fail(f"sum {at} = {(x @ y)[at]}", f"{got[at]}; {len(wrong)} wrong sums, from the layouts\n  {layouts}")


@pytest.mark.parametrize("type", [F16, BF16, F32, I8, FloatType("f8E4M3FN"), FloatType("f8E5M2")], ids=str)
def test_types(type: Type) -> None:
    check((16, 8), 1, type, Arrangement(1, 1))
    check((32, 16), 2, type, Arrangement(1, 1))


@pytest.mark.parametrize(
    "shape, warps",
    [
        ((64, 8), Arrangement(2, 1)),
        ((16, 64), Arrangement(1, 4)),
        ((64, 32), Arrangement(2, 2)),
        ((32, 16), Arrangement(1, 2, copies=2)),
        ((128, 16), Arrangement(4, 1, groups=True)),
        ((64, 32), Arrangement(4, 2, groups=True)),
    ],
    ids=str,
)
def test_arrangements(shape: tuple[int, int], warps: Arrangement) -> None:
    check(shape, 1, F16, warps)
    check(shape, 2, I8, warps)
