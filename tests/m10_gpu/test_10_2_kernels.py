"""Task 10.2: kernels called with a GPU's tensors. Without a GPU, a stand-in runs the module that Triton would get."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.tensors import FLOATS, U, normal, rounding
from tests.support.m10_gpu.gpu_stand_in import OnStandIn, a_gpu, from_gpu, to_gpu
from tests.support.sources import load

TEXT = """import triton
import triton.language as tl


@triton.jit
def scale(out, x, n, factor{annotation}, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, (value * factor).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def whoami(out):
    program = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(2) + tl.program_id(2)
    tl.store(out + program, program + 1)
"""


@one_in(5)
@given(st.sampled_from([0, 1, 31, 1000, 1024, 5000]), st.sampled_from(FLOATS), st.integers(0, 3), st.integers(0, 2**16))
@example(5000, "float16", 1, 0)
def test_vectors(device: str, size: int, dtype: str, shift: int, seed: int) -> None:
    from kernels.vector_add import add_kernel

    values = [normal((size + shift,), seed + i, dtype) for i in range(2)]
    with a_gpu(device):
        x, y = (shifted(to_gpu(value, device), shift) for value in values)
        out = to_gpu(torch.full((size + 1,), -7.0).to(values[0].dtype), device)
        for _ in range(2):  # the second launch must equal the first
            add_kernel[(-(-size // 256),)](x, y, out, size, BLOCK=256)
    expected = torch.cat([values[0][shift:] + values[1][shift:], torch.full((1,), -7.0).to(values[0].dtype)])
    assert torch.equal(from_gpu(out), expected), (
        f"wrong sums of {size} elements of {dtype}, the first of which is {shift} elements after an aligned address"
    )


def shifted(tensor: Any, shift: int) -> Any:
    """A tensor without its first elements, in the same memory."""
    return OnStandIn(tensor.tensor[shift:]) if isinstance(tensor, OnStandIn) else tensor[shift:]


@pytest.mark.parametrize("dtype", FLOATS)
def test_kernels_of_milestone_8(device: str, dtype: str) -> None:
    from kernels.flash_attention import forward_kernel
    from kernels.softmax import softmax_kernel

    x = normal((5, 781), 0, dtype, 3.0)
    expected = torch.softmax(x.double(), 1)
    q, k, v = (normal((2, 3, 100, 32), seed, dtype) for seed in range(3))
    with a_gpu(device):
        out = to_gpu(torch.empty_like(x), device)
        softmax_kernel[(5,)](out, to_gpu(x, device), 781, 781, 781, BLOCK=1024)
        near("softmax", from_gpu(out), expected, expected * (U * 2**10) + rounding(expected, dtype))
        out, sums = to_gpu(torch.empty_like(q), device), to_gpu(torch.empty(2, 3, 100), device)
        heads = [to_gpu(tensor, device) for tensor in (q, k, v)]
        constants = {"CAUSAL": True, "BLOCK_M": 64, "BLOCK_N": 32, "D": 32}
        forward_kernel[(2, 6)](*heads, out, sums, 32**-0.5, 100, **constants)
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    weights = rounding(
        v.double().abs().amax(2, keepdim=True), dtype
    )  # the kernel rounds the weights before it multiplies v
    near("attention", from_gpu(out), expected, 2 * weights + rounding(expected, dtype) + 2**10 * U)


def near(what: str, got: Any, expected: Any, allowed: Any) -> None:
    off = (got.double() - expected).abs() - allowed
    assert not torch.isnan(got).any() and (off <= 0).all(), f"{what} is {off.max().item():.3g} further off than allowed"


@pytest.mark.parametrize(
    "annotation, factor",
    [
        ("", 2.5), ("", 3), ("", 2**31), ("", -(2**40)), ("", 2**63 + 2**40), ("", 1), ("", 16), ("", True),
        (": tl.float64", 2.5), (": tl.float16", 2.5), (": tl.bfloat16", 2.5), (": tl.int64", -7),
        (": tl.uint32", 2**31), (": tl.int8", -7), (": tl.uint8", 200), (": tl.int16", -300),
        (": tl.constexpr", 2.5), ("", np.float32(0.5)), ("", np.int64(12)),
    ],
)  # fmt: skip
def test_numbers_of_every_type(device: str, annotation: str, factor: Any) -> None:
    kernel = load(TEXT.replace("{annotation}", annotation))["scale"]
    values = torch.arange(1, 101, dtype=torch.float64)
    with a_gpu(device):
        x = to_gpu(values, device)
        for n in (100, 96, 1):
            out = to_gpu(torch.full((100,), -7.0, dtype=torch.float64), device)
            for _ in range(2):
                kernel[(2,)](out, x, n, factor, BLOCK=64)
            got, expected = from_gpu(out), values * float(factor)
            parameter = f"a parameter{annotation}" if annotation else "a parameter without annotation"
            assert torch.equal(got[:n], expected[:n]), (
                f"x * {factor!r}, {parameter}\n  expected  {expected[:n]}\n  got       {got[:n]}"
            )
            assert (got[n:] == -7).all(), f"memory after n = {n} elements was written to"


@one_in(5)
@given(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)))
@example((1, 1, 1))
def test_grids(device: str, grid: tuple[int, int, int]) -> None:
    kernel = load(TEXT.replace("{annotation}", ""))["whoami"]
    count = grid[0] * grid[1] * grid[2]
    with a_gpu(device):
        out = to_gpu(torch.zeros(count + 1, dtype=torch.int32), device)
        kernel[grid](out)
    assert from_gpu(out).tolist() == [*range(1, count + 1), 0], (
        f"each program of the grid {grid} should store its number"
    )


def test_on_a_gpu_and_on_the_cpu_by_turns(device: str) -> None:
    kernel = load(TEXT.replace("{annotation}", ""))["scale"]
    with a_gpu(device):
        for step, there in enumerate((True, True, True, False, False, True, True)):
            x = torch.arange(100, dtype=torch.float32) + step
            out = torch.full((100,), -7.0, dtype=torch.float32 if step % 2 else torch.float16)
            expected = (x * step).to(out.dtype)
            if there:
                x, out = to_gpu(x, device), to_gpu(out, device)
            kernel[lambda meta: (-(-meta["n"] // meta["BLOCK"]),)](out, x, 100, float(step), BLOCK=32)
            got = from_gpu(out) if there else out
            assert torch.equal(got, expected), (
                f"launch {step}, {'on a GPU' if there else 'on the CPU'}: {got}, not {expected}"
            )
