"""`assert_close`: the arrays that it accepts, and its messages."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mini_triton.testing import assert_close


def refused(x: Any, y: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_close(x, y, **options)
    return str(raised.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_one_rounding(dtype: Any) -> None:
    exact = np.linspace(1, 2, 1000)
    assert_close(exact.astype(dtype), exact)
    refused((exact * (1 + 100 * float(ml_dtypes.finfo(dtype).eps))).astype(dtype), exact)


def test_integers_are_equal() -> None:
    assert_close([1, 2], [1, 2])
    assert_close(np.array([255], np.uint8), np.array([255], np.int64))
    assert "2 (ACTUAL), 3 (DESIRED)" in refused([1, 2], [1, 3])
    refused(np.uint64(2**64 - 1), np.uint64(2**64 - 2))
    refused([True], [False])
    assert_close([1, 2], [1, 3], atol=1)


def test_special_values() -> None:
    assert_close([math.nan, math.inf, -math.inf], [math.nan, math.inf, -math.inf])
    for x, y in [(math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), (math.inf, 1e308), (1.0, math.inf)]:
        refused([x], [y])
        refused(x, y)


def test_shapes() -> None:
    assert_close(np.zeros((0, 3)), np.zeros((0, 3)))
    assert "(2,)" in refused(np.zeros(2), np.zeros(3)) and "(1,)" in refused([1.0], 1.0)


def test_tolerances_and_messages_of_the_caller() -> None:
    assert_close([1.0], [1.5], atol=0.5)
    assert_close([1.0], [2.0], rtol=0.5)
    assert "in the third row" in refused([1.0], [1.5], atol=0.4, err_msg="in the third row")


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    assert_close(torch.ones(3, dtype=torch.bfloat16), torch.full((3,), 1.01))
    assert_close(torch.ones(3, requires_grad=True), np.ones(3))
    assert "bfloat16" in refused(torch.ones(3, dtype=torch.bfloat16), torch.full((3,), 1.1))
