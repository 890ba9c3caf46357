"""Task 14.3: products by `mma.sync`, compared with NumPy."""

from __future__ import annotations

import pytest

from tests.support.m14_tensor_cores.multiplying import Product


@pytest.mark.parametrize("columns", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("type", ["fp16", "fp32", "i8"])
def test_products(type: str, columns: tuple[bool, bool]) -> None:
    report = Product((32, 64, 32), type, columns).check()
    assert report.total.tensor_cores
