"""What NVIDIA's libraries do better than generated kernels, and in which layout. (Given.)

cuBLAS multiplies large matrices; cuDNN convolves with the channels last, as tensor cores read them. Elementwise
operators and reductions keep the layout of their operands, so all tensors between convolutions have it.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

aten = torch.ops.aten

LARGE = 2**28


def is_large(*sizes: Any) -> bool:
    """Whether a product of these sizes takes longer than what operators fused to it would save. Symbolic sizes are not
    large."""
    return all(isinstance(size, int) for size in sizes) and math.prod(sizes) >= LARGE


def add_product(added: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Compute `addmm` or `baddbmm`. PyTorch's decomposition widens 16-bit operands, which rules out tensor cores."""
    if a.ndim == 2 and a.device.type == "cuda" and is_large(*a.shape, b.shape[1]):
        return NotImplemented
    product = a @ b if alpha == 1 else (a @ b) * alpha
    return product if beta == 0 else product + (added if beta == 1 else added * beta)


def convolve(x: Any, w: Any, bias: Any, *options: Any) -> Any:
    """Compute `convolution` on a GPU: the channels are last, and the bias is added by whatever kernel comes next."""
    if x.device.type != "cuda":
        return NotImplemented
    if bias is not None:
        return aten.convolution(x, w, None, *options) + bias.view(-1, *[1] * (x.ndim - 2))
    laid = channels_last(w.shape[1], options[-1], x, w)
    return NotImplemented if all(map(operator.is_, laid, (x, w))) else aten.convolution(*laid, None, *options)


def convolve_backward(gradient: Any, x: Any, w: Any, _: Any, *options: Any) -> Any:
    """Compute `convolution_backward` in the same way. Gradients of weights have the weights' layout."""
    *others, mask = options
    if x.device.type != "cuda":
        return NotImplemented
    if mask[2]:
        options = (*others, [*mask[:2], False])
        return (
            *aten.convolution_backward(gradient, x, w, None, *options)[:2],
            gradient.sum([0, *range(2, x.ndim)]),
        )
    laid = channels_last(w.shape[1], others[-1], gradient, x, w)
    if all(map(operator.is_, laid, (gradient, x, w))):
        return NotImplemented
    dx, dw, _ = aten.convolution_backward(*laid, None, *options)
    if dw is not None and not dw.is_contiguous():
        dw = aten.clone(dw, memory_format=torch.contiguous_format)
    return dx, dw, None


def channels_last(channels: Any, groups: int, *tensors: Any) -> list[Any]:
    """Operands of a convolution with the channels last. cuDNN is slow at that for groups of several `channels`."""
    if groups > 1 and channels > 1 or tensors[0].ndim != 4:
        return list(tensors)
    layout = torch.channels_last
    return [x if x.is_contiguous(memory_format=layout) else aten.clone(x, memory_format=layout) for x in tensors]


def keep_strides(graph: GraphModule) -> None:
    """Give the results of Dynamo's graph the strides that they have without `convolve`."""
    (output,) = (node for node in graph.graph.nodes if node.op == "output")

    def contiguous(node: Node) -> Node:
        value = node.meta.get("example_value")
        if node.op == "placeholder" or not isinstance(value, torch.Tensor) or value.ndim != 4 or value._is_view():
            return node
        if value.device.type != "cuda" or not value.is_contiguous():
            return node
        with graph.graph.inserting_before(output):
            copy = graph.graph.call_function(torch.clone, (node,), {"memory_format": torch.contiguous_format})
        copy.meta["example_value"] = value
        return copy

    output.args = torch.fx.map_arg(output.args, contiguous)
    graph.recompile()
