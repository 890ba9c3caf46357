"""Convolutions with the channels in the innermost dimension of memory, which tensor cores read without a copy. (Given.)

cuDNN computes 16-bit convolutions in this layout, and transposes all other tensors. A copy of the first convolution's
input is mostly enough: convolutions and elementwise operators give their results the layout of their inputs.

Source: `decide_layout_opt` in PyTorch's `torch/_inductor/graph.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node, map_arg

aten = torch.ops.aten

CONVOLUTIONS = {aten.convolution.default: 2, aten.convolution_backward.default: 3}
"""Operators with arguments that should be in channels last, and the number of these arguments."""
VIEWS = (aten.view.default, aten._unsafe_view.default)


def choose_layouts(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `aot_autograd`, for a back end that prefers channels-last convolutions.

    The layouts are chosen before the partition, because the backward pass needs to know those of the saved tensors.
    """

    def first(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(graph: GraphModule, *arguments: Any, **keywords: Any) -> Any:
            if is_worthwhile(graph.graph):
                prefer_channels_last(graph)
            return function(graph, *arguments, **keywords)

        return call

    if "partition_fn" not in keywords:
        return {**keywords}
    inference = keywords.get("inference_compiler") or keywords["fw_compiler"]
    return {**keywords, "partition_fn": first(keywords["partition_fn"]), "inference_compiler": first(inference)}


def is_worthwhile(graph: Graph) -> bool:
    """Whether a graph has convolutions, all of 16 bits and on a GPU, and none grouped: this layout makes those slow."""
    convolutions = [node for node in graph.nodes if node.target is aten.convolution.default]
    for node in convolutions:
        weight, groups = node.args[1].meta["val"], node.args[8]
        is_grouped = groups != 1 and weight.shape[1] != 1  # not depthwise
        if not weight.is_cuda or weight.dtype.itemsize != 2 or weight.ndim != 4 or is_grouped:
            return False
    return bool(convolutions) and not any(depends_on_memory(node) for node in graph.nodes)


def depends_on_memory(node: Node) -> bool:
    """Whether a node's elements depend on the layout of an argument, or its layout on sizes that are not known."""
    return node.target is aten.as_strided.default or isinstance(node.meta.get("val"), torch.SymInt)


def prefer_channels_last(module: GraphModule) -> None:
    """Copy arguments of convolutions to channels last where they are not, and propagate the layouts to all values.

    Results of the graph keep their layouts.
    """
    graph = module.graph
    old: dict[Node, Any] = {}  # the values of nodes whose layouts have changed
    copies: dict[Node, Node] = {}
    for node in [*graph.nodes]:
        for place in range(CONVOLUTIONS.get(node.target, 0)):
            x = copies.get(node.args[place], node.args[place])
            if not x.meta["val"].is_contiguous(memory_format=torch.channels_last):
                x = copies[x] = insert(graph, node, aten.clone.default, x, memory_format=torch.channels_last)
                old[x] = None
            node.update_arg(place, x)
        if node.op == "output":
            for x in [x for x in node.all_input_nodes if x in old]:
                node.replace_input_with(x, in_layout_of(graph, node, x, old[x]))
        elif not old.keys().isdisjoint(node.all_input_nodes):
            before, node.meta["val"] = node.meta["val"], value_of(graph, node)
            if layouts_of(before) != layouts_of(node.meta["val"]):
                old[node] = before
    module.recompile()


def value_of(graph: Graph, node: Node) -> Any:
    """A node's result without elements: a tensor, or several. A view that no strides describe becomes one of a copy."""
    if node.target in VIEWS:
        try:
            return computed(node)
        except (RuntimeError, ValueError):
            copied = insert(graph, node, aten.clone.default, node.args[0], memory_format=torch.contiguous_format)
            node.update_arg(0, copied)
    return computed(node)


def computed(node: Node) -> Any:
    """What PyTorch says of a node's result."""
    arguments, keywords = map_arg((node.args, node.kwargs), lambda x: x.meta["val"])
    with torch._guards.detect_fake_mode([x.meta.get("val") for x in node.all_input_nodes]):
        return node.target(*arguments, **keywords)


def insert(graph: Graph, before: Node, target: Any, *arguments: Any, **keywords: Any) -> Node:
    """Insert a call in the same pass as the next node."""
    with graph.inserting_before(before):
        node = graph.call_function(target, arguments, keywords)
    node.meta = {**before.meta, "val": None}
    node.meta["val"] = computed(node)
    return node


def layouts_of(value: Any) -> Any:
    """The strides of dimensions with more than one element, in each tensor of a result."""
    if isinstance(value, torch.Tensor):
        return [stride for size, stride in zip(value.shape, value.stride(), strict=True) if size != 1]
    return list(map(layouts_of, value)) if isinstance(value, list | tuple) else None


def in_layout_of(graph: Graph, output: Node, node: Node, before: torch.Tensor) -> Node:
    """A copy of a result with the layout that it had."""
    order = sorted(range(before.ndim), key=lambda axis: -before.stride(axis))
    ordered = insert(graph, output, aten.permute.default, node, order)
    copied = insert(graph, output, aten.clone.default, ordered, memory_format=torch.contiguous_format)
    return insert(graph, output, aten.permute.default, copied, [order.index(axis) for axis in range(before.ndim)])
