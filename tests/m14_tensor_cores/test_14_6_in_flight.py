"""Task 14.6: products in flight, compared with NumPy."""

from __future__ import annotations

import pytest

from tests.support.m14_tensor_cores.multiplying import Product


@pytest.mark.parametrize("depth", [0, 32, 176])
def test_products(depth: int) -> None:
    product = Product((64, 64, 32), "fp16", capability=90, stages=3)
    assert "wgmma.wait_group.sync.aligned 1" in product.code.ptx
    product.check(depth)
