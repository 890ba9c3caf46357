"""Task 14.5: products by `wgmma`, compared with NumPy."""

from __future__ import annotations

import pytest

from tests.support.m14_tensor_cores.multiplying import Product


@pytest.mark.parametrize("columns", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 16, 32)])
def test_products(shape: tuple[int, int, int], columns: tuple[bool, bool]) -> None:
    product = Product(shape, "fp16", columns, capability=90)
    assert "wgmma.mma_async" in product.code.ptx
    product.check()
