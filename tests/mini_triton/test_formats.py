"""The table of dtypes agrees with the sources of its names: ml_dtypes, NumPy, PyTorch, real Triton."""

import ml_dtypes
import numpy as np
import pytest
from mini_triton.formats import FLOATS, FORMATS, Format, Kind, Specials

from tests.oracles import triton


def dtype_of(row: Format) -> np.dtype:
    return np.dtype(row.array if row.native else getattr(ml_dtypes, row.array))


@pytest.mark.parametrize("row", FORMATS, ids=str)
def test_arrays(row: Format) -> None:
    dtype = dtype_of(row)
    assert dtype.name == row.array and dtype.itemsize == max(row.width // 8, 1)
    assert row.kind is Kind.FLOAT or (dtype.kind == "i") == row.signed


@pytest.mark.parametrize("row", FORMATS, ids=str)
def test_tensors(row: Format) -> None:
    torch = pytest.importorskip("torch")
    assert getattr(torch, row.array).itemsize == dtype_of(row).itemsize


@pytest.mark.parametrize("row", FLOATS.values(), ids=str)
def test_bits(row: Format) -> None:
    """Every value of eight and sixteen bits, many of the others."""
    bits = np.arange(2**16, dtype=np.uint64) * np.uint64(1 if row.width <= 16 else 0x9E3779B97F4A7C15)
    bits = bits.astype(f"uint{row.width}")
    with np.errstate(invalid="ignore"):
        values = bits.view(dtype_of(row)).astype(np.float64)
    ours = np.array([row.value_of(int(number)) for number in bits])
    np.testing.assert_array_equal(ours, values)
    signed = ~np.isnan(values) if row.specials is Specials.UNSIGNED_ZERO else slice(None)
    np.testing.assert_array_equal(np.signbit(ours[signed]), np.signbit(values[signed]))
    assert np.isnan(row.value_of(row.nan)) and (row.infinity is None or row.value_of(row.infinity) == np.inf)


def test_real_triton_knows_them() -> None:
    body = "".join(f"  tt.func @f{i}(%x: {row.mlir}) {{\n    tt.return\n  }}\n" for i, row in enumerate(FORMATS))
    answer = triton.accepts(f"module {{\n{body}}}\n")
    assert answer, answer
