"""Kernels on a GPU, real Triton's own; unavailable where there is none."""

from __future__ import annotations

import pytest

from tests import oracles
from tests.oracles import capstones, gpu
from tests.oracles import pytorch as torch


def test_the_gpu_survives_an_illegal_access(device: str) -> None:
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")
    text = capstones.add_reference().inlined
    with pytest.raises(AssertionError, match="illegal memory access"):
        gpu.launch(text, (1,), 16, 16, 16, 16)  # addresses that are nobody's
    x, y, out = torch.randn(1008), torch.randn(1008), torch.full((2048,), -7.0)
    after = gpu.launch(text, (1,), x, y, out, 1008)[2]
    assert torch.equal(after[:1008], x + y) and torch.equal(after[1008:], out[1008:])
