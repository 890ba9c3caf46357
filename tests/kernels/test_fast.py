"""The fast kernels compute what PyTorch computes, with and without masks. (Given; on a GPU with `--device cuda`.)"""

from collections.abc import Callable
from typing import Any

import mini_triton as triton
import pytest
import torch
from kernels.fast import attention, conv2d, layer_norm, matmul, matmul_int8, matmul_split_k
from torch.nn import functional

from tests.oracles.triton import available
from tests.support.m08_kernels.tensors import U, rounding

Only = Callable[..., None]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Only:
    """Leaves a tuner one configuration."""
    return lambda tuner, **values: monkeypatch.setattr(tuner, "configs", [triton.Config(values)])


def random(device: str, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator).to(device)


def close(results: Any, expected: Any) -> None:
    torch.testing.assert_close(results, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("rows", "stages"), [(1, 1), (2, 3)])
def test_the_gradient_of_layer_norm(only: Only, device: str, rows: int, stages: int) -> None:
    only(layer_norm.backward, ROWS=rows, PROGRAMS=2, STAGES=stages)
    only(layer_norm.sums, LINES=8, BLOCK=16)
    x, dy = random(device, 13, 100), random(device, 100, 13).T.contiguous()
    w, b = random(device, 100), random(device, 100)
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, (100,), w, b, 1e-5)
    gradients = torch.ops.aten.native_layer_norm_backward(dy, x, (100,), mean, rstd, w, b, [True, True, True])
    close(layer_norm.layer_norm_backward(dy, x, w, mean.flatten(), rstd.flatten()), gradients)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_products_by_the_copy_engine(only: Only, device: str, dtype: torch.dtype) -> None:
    only(matmul.tuned, BLOCK_M=64, BLOCK_N=32, BLOCK_K=32, GROUP=2)
    a, b = (random(device, *shape).to(dtype) for shape in ((200, 72), (72, 104)))
    torch.testing.assert_close(matmul.matmul(a, b), a @ b)
    with pytest.raises(ValueError, match="the copy engine needs contiguous rows"):
        matmul.matmul(a, b.T)


@pytest.mark.parametrize("k", [96, 100])
def test_products_of_bytes(only: Only, device: str, k: int) -> None:
    only(matmul_int8.tuned, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=2)
    only(matmul_int8.transposes, BLOCK_M=16, BLOCK_N=32)
    a, b = (random(device, *shape).mul(20).to(torch.int8) for shape in ((70, k), (k, 50)))
    assert torch.equal(matmul_int8.transposed(b), b.T)
    expected = (a.double() @ b.double()).int()
    assert torch.equal(matmul_int8.matmul(a, b), expected)
    assert torch.equal(matmul_int8.matmul(a, matmul_int8.transposed(b).T), expected)


@pytest.mark.parametrize(
    ("way", "dtype", "k"),
    [
        ("", torch.float16, 513),  # NumPy or, on a GPU, real Triton
        ("", torch.bfloat16, 40),
        ("ptx", torch.float16, 40),
        ("ptx", torch.bfloat16, 513),
        ("ptx cuda:80", torch.float16, 513),
        ("emulator", torch.bfloat16, 513),
        ("numba", torch.float16, 513),
    ],
)
def test_products_whose_k_axis_is_split(
    only: Only, monkeypatch: pytest.MonkeyPatch, device: str, way: str, dtype: torch.dtype, k: int
) -> None:
    """With k = 513, the last block is not full; with k = 40, half of the programs have no block."""
    back_end, _, target = way.partition(" ")
    if device == "cuda" and way not in ("", "ptx"):
        pytest.skip("not for GPUs")
    if back_end == "emulator" and not available():
        pytest.skip("real Triton is not installed")
    monkeypatch.setenv("MINI_TRITON_BACKEND", back_end)
    monkeypatch.setenv("MINI_TRITON_TARGET", target)
    only(matmul_split_k.products, BLOCK_M=64, BLOCK_N=32, BLOCK_K=32, GROUP=2, SPLIT=4)
    only(matmul_split_k.sums, BLOCK=256)
    a, b = (random(device, *shape).to(dtype) for shape in ((70, k), (k, 50)))
    result, x, y = (each.cpu().double() for each in (matmul_split_k.matmul(a, b), a, b))
    # A product of two numbers of 16 bits is exact in fp32. Each addition rounds; tensor cores round toward zero.
    limit = 2 * U * k * (x.abs() @ y.abs()) + rounding(x @ y, str(dtype)[6:])
    assert ((result - x @ y).abs() <= limit).all()


@pytest.mark.parametrize("channels", [5, 32])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "size"), [(1, 1, 1, 3), (2, 1, 1, 3), (1, 2, 2, 3), (1, 3, 1, 7)]
)
def test_conv2d(only: Only, device: str, channels: int, stride: int, padding: int, dilation: int, size: int) -> None:
    only(conv2d.tuned, BLOCK_M=64, BLOCK_N=16, BLOCK_K=16)
    x, w = random(device, 2, channels, 12, 11), random(device, 7, channels, size, size) / channels
    x_last, w_last = (each.permute(0, 2, 3, 1).contiguous() for each in (x, w))
    out = conv2d.conv2d(x_last, w_last, stride, padding, dilation).permute(0, 3, 1, 2)
    close(out, functional.conv2d(x, w, stride=stride, padding=padding, dilation=dilation))


def test_filters_with_too_many_taps_are_refused(device: str) -> None:
    with pytest.raises(ValueError, match="more than 63 taps"):
        conv2d.conv2d(random(device, 1, 9, 9, 1), random(device, 1, 8, 8, 1))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("block_m", "block_n"), [(32, 32), (32, 64), (64, 32)])
@pytest.mark.parametrize("length", [128, 100])
def test_attention(only: Only, device: str, causal: bool, block_m: int, block_n: int, length: int) -> None:
    for tuner in (attention.forward, attention.of_queries, attention.of_keys):
        only(tuner, BLOCK_M=block_m, BLOCK_N=block_n)
    q, k, v, dout = (random(device, 1, 2, length + i, 16)[:, :, :length].contiguous() for i in range(4))
    query, key, value = leaves = [each.clone().requires_grad_() for each in (q, k, v)]
    expected = functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
    out, logsumexp = attention.attention(q, k, v, causal)
    close(out, expected.detach())
    gradients = torch.autograd.grad(expected, leaves, dout)
    close(attention.attention_backward(dout, q, k, v, out, logsumexp, causal), gradients)


def test_a_scale_must_be_positive(device: str) -> None:
    q = random(device, 1, 1, 16, 16)
    with pytest.raises(ValueError, match="positive"):
        attention.attention(q, q, q, scale=-1.0)
