"""Pooling by generated kernels, with its gradients. Not graded."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from mini_triton.fusion.backend import mini_triton, programs  # noqa: E402
from mini_triton.fusion.tensors import Called  # noqa: E402


def check(function: Any, x: Any, calls: int = 0) -> None:
    """Compare results and gradients with eager mode, and count the operators left to PyTorch."""
    torch._dynamo.reset()
    before = len(programs)
    sides = [x.detach().clone().requires_grad_() for _ in range(2)]
    results = [f(y) for f, y in zip((function, torch.compile(function, backend=mini_triton)), sides, strict=True)]
    torch.testing.assert_close(results[1], results[0], equal_nan=True)
    values = [result[0] if isinstance(result, tuple) else result for result in results]
    weights = torch.randn(values[0].shape).to(x.dtype)
    for value in values:
        (value * weights).sum().backward()
    # PyTorch adds 16-bit gradients of overlapping windows in 16 bits: up to four, with a rounding each
    close = {"rtol": 2**-6, "atol": 2**-5} if x.dtype.itemsize == 2 else {}
    torch.testing.assert_close(sides[1].grad, sides[0].grad, equal_nan=True, **close)
    for program in programs[before:]:
        called = {x.call for group in program.groups for x in group.members if isinstance(x, Called)}
        assert len(called) == calls


def pictures() -> list[Any]:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 13, 11)
    special = x.clone()
    special[0, 0, 3, 4], special[0, 1], special[1, 1] = float("nan"), -float("inf"), 0.0
    return [x, special, x[0], x.to(memory_format=torch.channels_last), x.bfloat16()]


@pytest.mark.parametrize("number", range(5), ids=["fp32", "NaN, infinity, ties", "3-d", "channels last", "bf16"])
@pytest.mark.parametrize("kernel, stride, padding", [(3, 2, 1), ((3, 2), (2, 3), (1, 0))], ids=str)
def test_largest_elements(kernel: Any, stride: Any, padding: Any, number: int) -> None:
    for ceil in (False, True):
        check(lambda x: F.max_pool2d(x, kernel, stride, padding, 1, ceil, return_indices=True), pictures()[number])  # noqa: B023


@pytest.mark.parametrize("kernel, stride, padding", [(3, 2, 1), (2, 2, 0), (2, 3, 1)], ids=str)
def test_averages(kernel: int, stride: int, padding: int) -> None:
    check(lambda x: F.avg_pool2d(x, kernel, stride, padding), pictures()[0])
    check(lambda x: F.avg_pool2d(x, kernel, stride, padding, divisor_override=5), pictures()[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.max_pool2d(x, 2, dilation=2),
        lambda x: F.max_pool2d(x, 6),
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    ],
    ids=["gaps", "large window", "windows of several sizes"],
)
def test_what_pytorch_computes(function: Any) -> None:
    check(function, pictures()[0], calls=1)
