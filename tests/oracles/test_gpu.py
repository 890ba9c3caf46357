"""Kernels on a GPU, real Triton's own first; unavailable where there is none."""

from __future__ import annotations

import pytest

from tests import oracles
from tests.oracles import capstones, gpu


@pytest.fixture(autouse=True)
def _needs_gpu(device: str) -> None:
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")


def test_add_agrees_with_torch() -> None:
    gpu.check_add(capstones.add_reference().inlined)


@pytest.mark.parametrize("out_dtype", ["fp16", "fp32"])
def test_matmul_agrees_with_torch(out_dtype: str) -> None:
    gpu.check_matmul(capstones.matmul_reference(out_dtype=out_dtype).inlined, out_dtype=out_dtype)


def test_a_wrong_kernel_is_found() -> None:
    text = capstones.add_reference().inlined
    with pytest.raises(AssertionError, match="x \\+ y of 16 elements is not what PyTorch computes"):
        gpu.check_add(text.replace("arith.addf", "arith.mulf"))
    unmasked = text.replace("tt.store %15, %13, %6 :", "tt.store %15, %13 :")
    assert unmasked != text
    with pytest.raises(AssertionError, match="what lies behind"):
        gpu.check_add(unmasked)


def test_the_gpu_survives_an_illegal_access() -> None:
    text = capstones.add_reference().inlined
    with pytest.raises(AssertionError, match="illegal memory access"):
        gpu.launch(text, (1,), 16, 16, 16, 16)  # addresses that are nobody's
    gpu.check_add(text)
