"""8-bit floats from end to end: on the NumPy back end as in PyTorch, refused by name on GPUs that lack them."""

import mini_triton as triton
import mini_triton.language as tl
import ml_dtypes
import numpy as np
import pytest
from mini_triton.backends import handoff
from mini_triton.formats import FLOATS, Format

ROWS = [row for row in FLOATS.values() if row.width == 8]


@triton.jit
def convert(out, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value.to(out.dtype.element_ty), mask=at < n)


def every_value(row: Format) -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, row.array))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_narrowing(row: Format) -> None:
    """As in PyTorch, where its number is finite; a number that is too large becomes the largest."""
    torch = pytest.importorskip("torch")
    largest = float(ml_dtypes.finfo(getattr(ml_dtypes, row.array)).max)
    values = np.random.default_rng(0).normal(size=1000) * np.exp2(np.random.default_rng(1).integers(-20, 20, 1000))
    values = np.append(values, [0.0, -0.0, largest, -largest]).clip(-largest, largest).astype(np.float32)
    x = torch.from_numpy(values)
    out = torch.zeros(len(x)).to(getattr(torch, row.array))
    convert[(4,)](out, x, len(x), BLOCK=256)
    torch.testing.assert_close(out.float(), x.to(out.dtype).float(), rtol=0, atol=0)
    convert[(1,)](out, torch.full((2,), 1e9), 2, BLOCK=2)
    assert out[:2].float().tolist() == [largest, largest]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_names(row: Format) -> None:
    assert str(getattr(tl, row.tl)) == row.name
    compiled = convert.warmup(every_value(row).dtype, np.float32, 8, BLOCK=8, grid=(1,))
    assert f"!tt.ptr<{row.mlir}>" in compiled.asm["ttir"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.capability != 0], ids=str)
def test_gpus_that_lack_it(row: Format) -> None:
    pytest.importorskip("triton")
    ttir = f"""module {{
  tt.func public @k(%x: !tt.ptr<{row.mlir}>) {{
    %0 = tt.splat %x : !tt.ptr<{row.mlir}> -> tensor<8x!tt.ptr<{row.mlir}>>
    tt.return
  }}
}}"""
    with pytest.raises(RuntimeError, match=f"{row.name} .*sm_80"):
        handoff.lower("k", ttir, [f"*{row.signature}"], 80)
