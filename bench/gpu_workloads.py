"""Problems for the kernels of milestone 8, and PyTorch's way to solve them. For `bench.kernels`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Workload:
    """A problem, and who solves it: a host function of ours, for each choice of tiles, and PyTorch."""

    name: str
    ours: Callable[..., Any]
    torch: Callable[[], Any]
    work: float  # floating-point operations, or bytes that must be moved
    unit: str  # "TFLOP/s" or "GB/s"
    choices: Sequence[dict[str, Any]] = ({},)
    tolerance: float = 1e-4  # relative to the largest result


def adding(torch: Any) -> list[Workload]:
    """Vectors."""
    add = importlib.import_module("kernels.vector_add").add
    x, y = (torch.randn(1 << 26, device="cuda") for _ in range(2))
    return [
        Workload("add 2^26", partial(add, x, y), lambda: x + y, 12 << 26, "GB/s", [{"block": n} for n in (1024, 4096)])
    ]


def dropping(torch: Any) -> list[Workload]:
    """Dropout. PyTorch draws other numbers, so results are as far apart as can be."""
    dropout = importlib.import_module("kernels.dropout").dropout
    x = torch.randn(1 << 26, device="cuda")
    blocks = [{"block": n} for n in (1024, 4096)]
    theirs = partial(torch.dropout, x, 0.5, True)
    return [Workload("dropout 2^26", partial(dropout, x, 0.5, 1), theirs, 8 << 26, "GB/s", blocks, 1.0)]


def softmaxes(torch: Any) -> list[Workload]:
    """Rows that fit a block, and longer ones."""
    softmax = importlib.import_module("kernels.softmax").softmax

    def workload(rows: int, columns: int) -> Workload:
        x = torch.randn(rows, columns, device="cuda")
        return Workload(f"softmax {rows}x{columns}", partial(softmax, x), lambda: x.softmax(1), 8 * x.numel(), "GB/s")

    sizes = ((4096, 781), (8192, 4096), (4096, 16384), (1024, 131072))
    return [workload(*size) for size in sizes]


def layer_norms(torch: Any) -> list[Workload]:
    """Forward and backward."""
    norm = importlib.import_module("kernels.layer_norm")

    def workloads(rows: int, columns: int) -> list[Workload]:
        x, dy = (torch.randn(rows, columns, device="cuda") for _ in range(2))
        w, b = (torch.randn(columns, device="cuda") for _ in range(2))
        leaves = [tensor.clone().requires_grad_() for tensor in (x, w, b)]
        y = torch.nn.functional.layer_norm(leaves[0], (columns,), *leaves[1:])
        _, mean, rstd = norm.layer_norm(x, w, b)
        size = f"{rows}x{columns}"
        forward = Workload(
            f"layer norm {size}", partial(norm.layer_norm, x, w, b),
            lambda: torch.nn.functional.layer_norm(x, (columns,), w, b), 8 * x.numel(), "GB/s",
        )  # fmt: skip
        backward = Workload(
            f"layer norm backward {size}", partial(norm.layer_norm_backward, dy, x, w, mean, rstd),
            lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True), 12 * x.numel(), "GB/s",
        )  # fmt: skip
        return [forward, backward]

    return [workload for size in ((4096, 1024), (8192, 4096)) for workload in workloads(*size)]


def products(torch: Any) -> list[Workload]:
    """Matrices of each dtype."""
    matmul = importlib.import_module("kernels.matmul").matmul
    large = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
    square = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}
    bytes_ = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "num_warps": 8, "num_stages": 3}

    def workload(dtype: Any, size: int, choices: list[Any]) -> Workload:
        scale = 20 if dtype == torch.int8 else 1
        a, b = (torch.randn(size, size, device="cuda").mul(scale).to(dtype) for _ in range(2))
        theirs = (lambda: torch._int_mm(a, b)) if dtype == torch.int8 else (lambda: a @ b)
        name = f"matmul {size}^3 {str(dtype).removeprefix('torch.')}"
        tiles = [{"tiles": tile} for tile in choices]
        return Workload(name, partial(matmul, a, b), theirs, 2 * size**3, "TFLOP/s", tiles, 2e-3)

    halves = [workload(dtype, 4096, [large, square]) for dtype in (torch.float16, torch.bfloat16)]
    return [*halves, workload(torch.int8, 4096, [large, bytes_]), workload(torch.float32, 2048, [{}])]


def attentions(torch: Any) -> list[Workload]:
    """Beside the flash backend of PyTorch."""
    flash = importlib.import_module("kernels.flash_attention")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def workloads(causal: bool) -> list[Workload]:
        batch, heads, length, size = 4, 32, 4096, 64
        q, k, v, dout = (torch.randn(batch, heads, length, size, device="cuda", dtype=torch.float16) for _ in range(4))
        leaves = [tensor.clone().requires_grad_() for tensor in (q, k, v)]

        def theirs(*tensors: Any) -> Any:
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal)

        y, (out, logsumexp) = theirs(*leaves), flash.attention(q, k, v, causal)
        flops = 4 * batch * heads * length**2 * size / (2 if causal else 1)
        forward = [{}, {"tiles": {"BLOCK_M": 128, "num_warps": 8}}]
        given = (dout, q, k, v, out, logsumexp, causal)
        words = f"{'causal ' if causal else ''}attention {batch}x{heads}x{length}x{size} fp16"
        return [
            Workload(words, partial(flash.attention, q, k, v, causal), partial(theirs, q, k, v),
                     flops, "TFLOP/s", forward, 5e-3),
            Workload(f"{words}, backward", partial(flash.attention_backward, *given),
                     lambda: torch.autograd.grad(y, leaves, dout, retain_graph=True), 2.5 * flops, "TFLOP/s",
                     tolerance=5e-3),
        ]  # fmt: skip

    return [workload for causal in (False, True) for workload in workloads(causal)]


def convolutions(torch: Any) -> list[Workload]:
    """Layers of residual networks."""
    conv2d = importlib.import_module("kernels.conv2d").conv2d

    def workload(images: int, channels: int, size: int, filters: int, stride: int) -> Workload:
        x = torch.randn(images, channels, size, size, device="cuda", dtype=torch.float16)
        w = torch.randn(filters, channels, 3, 3, device="cuda", dtype=torch.float16)
        name = (
            f"conv2d {images}x{channels}x{size}x{size}, {filters} 3x3{f' stride {stride}' if stride > 1 else ''} fp16"
        )
        ours = partial(conv2d, x, w, stride, padding=1)
        theirs = partial(torch.nn.functional.conv2d, x, w, stride=stride, padding=1)
        flops = 2 * images * filters * channels * 9 * (size // stride) ** 2
        choices = [{}, {"tiles": {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 8}}]
        return Workload(name, ours, theirs, flops, "TFLOP/s", choices, 2e-3)

    return [workload(16, 64, 56, 128, 1), workload(32, 256, 28, 256, 1), workload(32, 256, 28, 512, 2)]


WORKLOADS = (adding, dropping, softmaxes, layer_norms, products, attentions, convolutions)
