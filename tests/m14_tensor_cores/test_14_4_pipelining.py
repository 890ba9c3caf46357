"""Task 14.4: copies that run ahead, compared with NumPy."""

from __future__ import annotations

import pytest

from tests.support.m14_tensor_cores.multiplying import Product


@pytest.mark.parametrize("depth", [0, 16, 32, 64, 176])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_products(stages: int, depth: int) -> None:
    product = Product((32, 64, 32), "fp16", stages=stages)
    assert "cp.async" in product.code.ptx
    product.check(depth)
