"""Problems for all kernels, with sizes for a CPU and for a GPU, and PyTorch's ways to solve them. (Given.)"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from mini_triton.tuning.closeness import as_array, assert_close
from mini_triton.tuning.comparison import Call
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

Build = Callable[[str], "Problem"]  # on a device, "cpu" or "cuda"


@dataclass(frozen=True)
class Problem:
    """Inputs, and functions without parameters that solve the problem for these inputs."""

    name: str
    ours: Callable[..., Any]  # a host function of ours; a choice of tiles is passed by name
    torch: Callable[[], Any]  # PyTorch's own function
    steps: Callable[[], Any]  # the formula, operator by operator
    work: float  # floating-point operations, or bytes that must be moved
    unit: str = "GB/s"  # or "TFLOP/s"
    choices: Sequence[dict[str, Any]] = ({},)
    tolerance: float = 1e-4  # relative to the largest result
    random: bool = False  # everyone draws other numbers

    def close(self, got: Any, expected: Any, err_msg: str = "") -> None:
        """Raise `AssertionError` unless results agree. If random, as many of them must be 0, and the others agree."""
        got, expected = as_array(got), as_array(expected)
        if self.random and got.shape == expected.shape:
            rest = (got != 0) & (expected != 0)
            assert_close([(got != 0).mean()], [(expected != 0).mean()], 5 / math.sqrt(got.size), 0, err_msg)
            got, expected = got[rest], expected[rest]
        largest = float(abs(expected.astype("float64")).max(initial=0))
        assert_close(got, expected, self.tolerance * largest, 0, err_msg)


def normal(device: str, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32, scale: float = 1) -> list[Any]:
    """Tensors of random numbers, the same at every call."""
    random = torch.Generator(device).manual_seed(0)
    return [torch.randn(shape, generator=random, device=device).mul(scale).to(dtype) for shape in shapes]


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def addition(power: int, device: str) -> Problem:
    from kernels.vector_add import add

    x, y = normal(device, (1 << power,), (1 << power,))
    blocks = [{"block": n} for n in (1024, 4096)]
    return Problem(f"add 2^{power}", partial(add, x, y), lambda: x + y, lambda: x + y, 12 << power, choices=blocks)


def softmax(rows: int, columns: int, device: str) -> Problem:
    from kernels.softmax import softmax

    (x,) = normal(device, (rows, columns))

    def steps() -> Any:
        numerator = (x - x.amax(1, keepdim=True)).exp()
        return numerator / numerator.sum(1, keepdim=True)

    return Problem(f"softmax {rows}x{columns}", partial(softmax, x), lambda: x.softmax(1), steps, 8 * x.numel())


def product(size: int, dtype: torch.dtype, choices: Sequence[dict[str, int]], device: str) -> Problem:
    from kernels.matmul import matmul

    a, b = normal(device, (size, size), (size, size), dtype=dtype, scale=20 if dtype == torch.int8 else 1)
    theirs = (lambda: torch._int_mm(a, b)) if dtype == torch.int8 else (lambda: a @ b)
    tiles = [{"tiles": tile} if tile else {} for tile in choices]
    name = f"matmul {size}^3 {short(dtype)}"
    return Problem(name, partial(matmul, a, b), theirs, theirs, 2 * size**3, "TFLOP/s", tiles, 2e-3)


def activated(size: int, dtype: torch.dtype, device: str) -> Problem:
    from kernels.matmul import matmul

    a, b = normal(device, (size, size), (size, size), dtype=dtype)
    theirs, steps = (lambda: functional.leaky_relu(a @ b)), (lambda: torch.where((c := a @ b) >= 0, c, 0.01 * c))
    name, ours = f"matmul, leaky ReLU {size}^3", partial(matmul, a, b, "leaky_relu")
    return Problem(name, ours, theirs, steps, 2 * size**3, "TFLOP/s", tolerance=2e-3)


def dropping(power: int, device: str) -> Problem:
    from kernels.dropout import dropout

    (x,) = normal(device, (1 << power,))
    theirs, steps = partial(torch.dropout, x, 0.5, True), (lambda: torch.where(torch.rand_like(x) >= 0.5, x / 0.5, 0))
    name, blocks = f"dropout 2^{power}", [{"block": n} for n in (1024, 4096)]
    return Problem(name, partial(dropout, x, 0.5, 1), theirs, steps, 8 << power, choices=blocks, random=True)


def layer_norm(rows: int, columns: int, device: str) -> Problem:
    from kernels.layer_norm import layer_norm

    x, w, b = normal(device, (rows, columns), (columns,), (columns,))

    def steps() -> Any:
        centered = x - x.mean(1, keepdim=True)
        return centered * (centered.square().mean(1, keepdim=True) + 1e-5).rsqrt() * w + b

    theirs = partial(functional.layer_norm, x, (columns,), w, b)
    name, ours = f"layer norm {rows}x{columns}", lambda: layer_norm(x, w, b)[0]
    return Problem(name, ours, theirs, steps, 8 * x.numel())


def layer_norm_backward(rows: int, columns: int, device: str) -> Problem:
    from kernels.layer_norm import layer_norm_backward

    x, dy, w, b = normal(device, (rows, columns), (rows, columns), (columns,), (columns,))
    _, mean, rstd = torch.native_layer_norm(x, (columns,), w, b, 1e-5)

    def theirs() -> Any:
        backward = torch.ops.aten.native_layer_norm_backward
        return backward(dy, x, (columns,), mean, rstd, w, b, [True, True, True])

    def steps() -> Any:
        xhat, g = (x - mean) * rstd, dy * w
        correction = g.mean(1, keepdim=True) + xhat * (g * xhat).mean(1, keepdim=True)
        return (g - correction) * rstd, (dy * xhat).sum(0), dy.sum(0)

    ours = partial(layer_norm_backward, dy, x, w, mean[:, 0].clone(), rstd[:, 0].clone())
    return Problem(f"layer norm backward {rows}x{columns}", ours, theirs, steps, 12 * x.numel())


class Heads:
    """Queries, keys and values of attention, and PyTorch's ways to compute it."""

    def __init__(self, shape: tuple[int, ...], causal: bool, dtype: torch.dtype, device: str) -> None:
        self.causal = causal
        self.q, self.k, self.v, self.dout = normal(device, *[shape] * 4, dtype=dtype)
        *_, length, size = shape
        self.scale = size**-0.5
        self.later = torch.ones(length, length, dtype=torch.bool, device=device).triu(1)
        half = dtype.itemsize == 2
        self.name = f"{'causal ' * causal}attention {'x'.join(map(str, shape))}{' fp16' * half}"
        self.work = 4 * math.prod(shape) * length / (2 if causal else 1)
        self.tolerance = 5e-3 if half else 1e-4

    def scores(self, q: Any, k: Any) -> Any:
        scores = q @ k.transpose(2, 3) * self.scale
        return scores.masked_fill(self.later, -math.inf) if self.causal else scores

    def steps(self, q: Any, k: Any, v: Any) -> Any:
        return self.scores(q, k).softmax(3) @ v

    def theirs(self, q: Any, k: Any, v: Any) -> Any:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION) if q.is_cuda else nullcontext():
            return functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)


def attention(shape: tuple[int, ...], causal: bool, dtype: torch.dtype, device: str) -> Problem:
    from kernels.flash_attention import attention

    heads = Heads(shape, causal, dtype, device)
    inputs = heads.q, heads.k, heads.v

    def ours(**tiles: Any) -> Any:
        return attention(*inputs, causal, **tiles)[0]

    choices = [{}, {"tiles": {"BLOCK_M": 128, "num_warps": 8}}]
    theirs, steps = partial(heads.theirs, *inputs), partial(heads.steps, *inputs)
    return Problem(heads.name, ours, theirs, steps, heads.work, "TFLOP/s", choices, heads.tolerance)


def attention_backward(shape: tuple[int, ...], causal: bool, dtype: torch.dtype, device: str) -> Problem:
    from kernels.flash_attention import attention_backward

    heads = Heads(shape, causal, dtype, device)
    inputs = heads.q, heads.k, heads.v
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    logsumexp = heads.scores(heads.q.float(), heads.k.float()).logsumexp(3) / math.log(2)

    def gradients(forward: Callable[..., Any]) -> Callable[[], Any]:
        result = cache(lambda: forward(*leaves))  # computed once, by the first run, which is not timed
        return lambda: torch.autograd.grad(result(), leaves, heads.dout, retain_graph=True)

    ours = partial(attention_backward, heads.dout, *inputs, heads.theirs(*inputs), logsumexp, causal)
    name, work = f"{heads.name}, backward", 2.5 * heads.work
    theirs, steps = gradients(heads.theirs), gradients(heads.steps)
    return Problem(name, ours, theirs, steps, work, "TFLOP/s", tolerance=heads.tolerance)


def convolution(
    shape: tuple[int, ...], filters: int, stride: int, dtype: torch.dtype, device: str, direct: bool = False
) -> Problem:
    from kernels.conv2d import conv2d

    images, channels, size, _ = shape
    x, w = normal(device, shape, (filters, channels, 3, 3), dtype=dtype)

    def steps() -> Any:
        patches = functional.unfold(x, 3, padding=1, stride=stride)
        return (w.flatten(1) @ patches).unflatten(2, (-(-size // stride),) * 2)

    name = f"conv2d {'x'.join(map(str, shape))}, {filters} 3x3{f' stride {stride}' if stride > 1 else ''}"
    name += " direct" * direct + " fp16" * (dtype.itemsize == 2)
    ours = partial(conv2d, x, w, stride, padding=1, direct=direct)
    theirs = partial(functional.conv2d, x, w, stride=stride, padding=1)
    work = 2 * images * filters * channels * 9 * (size // stride) ** 2
    choices = [{}] if direct else [{}, {"tiles": {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 8}}]
    return Problem(name, ours, theirs, steps, work, "TFLOP/s", choices, 2e-3)


FLOAT, HALF = torch.float32, torch.float16
LARGE = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
SQUARE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}
BYTES = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "num_warps": 8, "num_stages": 3}
LONG = (4, 32, 4096, 64)

ON_GPU: dict[str, list[Build]] = {
    "additions": [partial(addition, 26)],
    "dropouts": [partial(dropping, 26)],
    "softmaxes": [partial(softmax, *s) for s in ((4096, 781), (8192, 4096), (4096, 16384), (1024, 131072))],
    "norms": [partial(f, *s) for s in ((4096, 1024), (8192, 4096)) for f in (layer_norm, layer_norm_backward)],
    "products": [
        *[partial(product, 4096, dtype, [LARGE, SQUARE]) for dtype in (HALF, torch.bfloat16)],
        partial(product, 4096, torch.int8, [LARGE, BYTES]),
        partial(product, 2048, FLOAT, [{}]),
        partial(activated, 4096, HALF),
    ],
    "attentions": [partial(f, LONG, causal, HALF) for causal in (False, True) for f in (attention, attention_backward)],
    "convolutions": [
        partial(convolution, (16, 64, 56, 56), 128, 1, HALF),
        partial(convolution, (32, 256, 28, 28), 256, 1, HALF),
        partial(convolution, (32, 256, 28, 28), 512, 2, HALF),
    ],
}
ON_CPU: dict[str, list[Build]] = {
    "additions": [partial(addition, 16)],
    "dropouts": [partial(dropping, 14)],
    "softmaxes": [partial(softmax, 64, 781), partial(softmax, 8, 16384)],
    "norms": [partial(f, 32, 768) for f in (layer_norm, layer_norm_backward)],
    "products": [partial(product, 128, FLOAT, [{}]), partial(activated, 128, FLOAT)],
    "attentions": [
        *[partial(attention, (1, 2, 256, 64), causal, FLOAT) for causal in (False, True)],
        partial(attention_backward, (1, 2, 256, 64), True, FLOAT),
    ],
    "convolutions": [
        partial(convolution, (1, 2, 16, 16), 2, 1, FLOAT, direct=True),
        partial(convolution, (1, 8, 16, 16), 16, 1, FLOAT),
    ],
}
"""Small enough for Triton's interpreter, which runs one program after the other."""


def builders(device: str) -> list[Build]:
    """All problems for a device, in the order of the tasks."""
    return [build for group in (ON_GPU if device == "cuda" else ON_CPU).values() for build in group]


def call_of(number: int, device: str, who: str) -> Call:
    """A call of a problem's "ours", "torch" or "steps", on new inputs. No kernel changes its inputs."""
    return Call(getattr(builders(device)[number](device), who))
