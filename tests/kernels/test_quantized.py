"""Quantized weights: what packing keeps, and the products, judged in fp64 and by real Triton. (Given.)"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from kernels import quantized
from kernels.compiler import tl
from kernels.quantized import LARGEST, linear_8bit, linear_int4, pack, quantize, scaled_kernel

from tests.oracles import hosts
from tests.support.m08_kernels.tensors import U, dtype_of, rounding

SIZES = [(1, 1, 128), (7, 50, 192), (70, 33, 64)]
TRUNCATED = 2.0**-13
"""What the accumulator of Hopper's fp8 tensor cores keeps, relative to its largest summand."""


def random(device: str, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    rows = torch.randn(*shape, generator=generator) * torch.arange(1, shape[0] + 1)[:, None]  # each its own scale
    return rows.to(device, dtype)


def unpacked(packed: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The weight that packed bytes stand for, in fp64; written independently of the kernels."""
    rows = []
    for line, factors in zip(packed.tolist(), scales.tolist(), strict=True):
        size = len(line) // len(factors)
        pieces = [line[start : start + size] for start in range(0, len(line), size)]
        numbers = [[byte % 16 - 8 for byte in piece] + [byte // 16 - 8 for byte in piece] for piece in pieces]
        rows.append([number * factor for piece, factor in zip(numbers, factors, strict=True) for number in piece])
    return torch.tensor(rows, dtype=torch.float64)


def close(result: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, unit: float = U) -> None:
    """The result is `x @ weight.T` but for a rounding per addition, per scale and of the result."""
    x, expected = x.double().cpu(), x.double().cpu() @ weight.T
    limit = 2 * unit * (x.shape[1] + 4) * (x.abs() @ weight.abs().T) + rounding(expected, dtype_of(result))
    assert ((result.double().cpu() - expected).abs() <= limit).all()


@pytest.mark.parametrize("dtype", LARGEST)
def test_rows_are_quantized_to_the_nearest_number(device: str, dtype: str) -> None:
    x = random(device, 9, 75)
    x[4] = 0
    values, scales = quantize(x, dtype)
    error = (values.double() * scales.double()[:, None] - x.double()).abs()
    if dtype == "int8":
        half = scales.double()[:, None] / 2
    else:  # three bits of fraction; below 2^-6, a number is a multiple of 2^-9
        half = torch.maximum(x.double().abs() * 2**-4, scales.double()[:, None] * 2**-10)
    assert (error <= half * (1 + 1e-5)).all()
    assert (values.double().abs().amax(1)[torch.arange(9) != 4] == LARGEST[dtype]).all()


@pytest.mark.parametrize("group", [32, 64])
def test_four_bits_are_the_nearest_of_fifteen_numbers(device: str, group: int) -> None:
    weight = random(device, 5, 192)
    weight[2, :group] = 0
    packed, scales = pack(weight, group)
    assert packed.shape == (5, 96) and scales.shape == (5, 192 // group)
    steps = scales.double().cpu().repeat_interleave(group, 1)
    error = (unpacked(packed, scales) - weight.double().cpu()).abs()
    assert (error <= steps / 2 * (1 + 1e-5)).all()
    largest = (unpacked(packed, scales) / steps).reshape(5, -1, group).abs().amax(2)
    largest[2, 0] += 7  # the group of zeros
    assert (largest.round() == 7).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_products_with_four_bits(device: str, m: int, n: int, k: int, dtype: torch.dtype) -> None:
    x, (packed, scales) = random(device, m, k, dtype=dtype), pack(random(device, n, k), 32)
    close(linear_int4(x, packed, scales), x, unpacked(packed, scales))


@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize(("m", "n", "k"), [*SIZES, (3, 4, 100)])
def test_products_with_eight_bits(device: str, m: int, n: int, k: int, dtype: str) -> None:
    x, (values, scales) = random(device, m, k), quantize(random(device, n, k), dtype)
    rows, factors = (each.double().cpu() for each in quantize(x, dtype))
    unit = TRUNCATED if device == "cuda" and dtype != "int8" else U
    weight = values.double().cpu() * scales.double().cpu()[:, None]
    close(linear_8bit(x, values, scales), rows * factors[:, None], weight, unit)


def test_sums_of_bytes_are_exact(device: str) -> None:
    """More than 2^24 in magnitude, where fp32 has gaps: only a sum in int32 is right before it is rounded once."""
    values = torch.full((3, 2000), 127, dtype=torch.int8, device=device)
    values[1, ::2], values[2, 0] = 126, 1
    x, ones = values.float(), torch.ones(3, device=device)
    expected = (values.double() @ values.double().T)[:1]
    result = linear_8bit(x[:1].contiguous(), values, ones)
    assert torch.equal(result.double(), expected.float().double())


@pytest.mark.parametrize("tuner", ["tuned_int4", "tuned_8bit"])
def test_tuned_kernels_agree(monkeypatch: pytest.MonkeyPatch, device: str, tuner: str) -> None:
    kernel = getattr(quantized, tuner)
    monkeypatch.setattr(kernel, "configs", kernel.configs[:1])
    x, weight = random(device, 20, 128), random(device, 40, 128)
    if tuner == "tuned_int4":
        packed, scales = pack(weight)
        close(linear_int4(x, packed, scales, kernel=kernel), x, unpacked(packed, scales))
    else:
        values, scales = quantize(weight, "int8")
        assert torch.equal(linear_8bit(x, values, scales, kernel=kernel), linear_8bit(x, values, scales))


X, WEIGHT = random("cpu", 20, 128), random("cpu", 33, 128)
CALLS = ("pack", "int4", *(f"quantize to {dtype}" for dtype in LARGEST), *LARGEST)


def called(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A host function and its arguments."""
    dtype = name.removeprefix("quantize to ")
    if name in ("pack", "int4"):
        return (pack, (WEIGHT, 32)) if name == "pack" else (linear_int4, (X, *pack(WEIGHT)))
    return (quantize, (WEIGHT, dtype)) if dtype != name else (linear_8bit, (X, *quantize(WEIGHT, dtype)))


@pytest.mark.parametrize("call", [call for call in CALLS if "float8" not in call])
def test_numpy_gives_the_same(call: str) -> None:
    function, arguments = called(call)
    of_numpy = function(*(x.numpy() if isinstance(x, torch.Tensor) else x for x in arguments))
    for ours, theirs in zip(parts(function(*arguments)), parts(of_numpy), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs, strict=True)


@pytest.mark.parametrize("call", CALLS)
def test_real_triton_agrees(device: str, call: str) -> None:
    """On a GPU, or by its interpreter, which is wrong about fp8: real Triton then only compiles the kernels."""
    function, arguments = called(call)
    where = "none" if device == "cpu" and "float8" in call else device
    results = hosts.call(where, function, arguments, {})
    if where != "none":
        on_device = (x.to(device) if isinstance(x, torch.Tensor) else x for x in arguments)
        for ours, theirs in zip(parts(function(*on_device)), parts(results), strict=True):
            tolerance = 1e-5 * float(theirs.double().abs().max()) if theirs.is_floating_point() else 0
            torch.testing.assert_close(ours.cpu().double(), theirs.double(), rtol=0, atol=tolerance)


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize(("dtype", "instruction"), [("int8", "s8.s8"), ("float8_e4m3fn", "e4m3.e4m3")])
def test_tensor_cores_multiply_bytes(dtype: str, instruction: str) -> None:
    """In the machine code for an H200, without a GPU."""
    bytes_ = torch.empty(128, 128, dtype=getattr(torch, dtype))
    scales = torch.empty(128)
    tiles = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, "GROUP": 8}
    total = tl.int32 if dtype == "int8" else tl.float32
    arguments = (torch.empty(128, 128), bytes_, bytes_, scales, scales, 128, 128, 128)
    ptx = scaled_kernel.warmup(*arguments, **tiles, TOTAL=total, grid=(1,)).lower("sm_90").asm["ptx"]
    assert "wgmma.mma_async" in ptx and instruction in ptx


REFUSED = {
    "pack(random('cpu', 3, 100))": "group must be a power of two that divides 100",
    "pack(random('cpu', 3, 96), 48)": "power of two",
    "pack(random('cpu', 3, 96), 16)": "group must be at least 32",
    "linear_int4(random('cpu', 3, 96), *pack(random('cpu', 3, 128)))": "x must have two columns per byte",
    "linear_8bit(random('cpu', 3, 96), *quantize(random('cpu', 3, 128), 'int8'))": "must have as many columns",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_wrong_is_said(call: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[call]):
        eval(call)
