"""From the nodes of a graph to tensors: find the function that lowers each operator.

PyTorch computes the operators that do not have such a function, and the report lists these operators.

Source: `GraphLowering` in PyTorch's `torch/_inductor/graph.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node

from mini_triton.fusion.body import Value
from mini_triton.fusion.indexing import sympify
from mini_triton.fusion.tensors import Called, Computed, Stored, Tensor, sizes_of, strides_in

Lowered = Any
"""The result of lowering a node: a tensor, several tensors, a symbolic size, or None."""
ZERO = sympy.Integer(0)


class Unsupported(Exception):
    """No generated kernel can compute this operator. The message gives the reason."""


HANDLERS: dict[str, Callable[..., Any]] = {}


def lowers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that lowers these ATen operators."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(names, function))
        return function

    return register


def lower_graph(graph: Graph) -> dict[Node, Lowered]:
    """Lower every node of the graph. Operators that cannot be lowered become `Called`."""
    lowered: dict[Node, Lowered] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            lowered[node] = lower_argument(node)
        elif node.op == "get_attr":
            lowered[node] = stored(node.name, getattr(graph.owning_module, node.target))
        elif node.op == "call_function":
            lowered[node] = lower_call(node, lowered)
    return lowered


def lower_argument(node: Node) -> Lowered:
    value = node.meta["val"]
    return stored(node.name, value) if isinstance(value, torch.Tensor) else sympify(value)


def stored(name: str, value: torch.Tensor) -> Stored:
    return Stored(name, value.dtype, sizes_of(value), strides_in(value), value.device)


def lower_call(node: Node, lowered: dict[Node, Lowered]) -> Lowered:
    """Lower a call to an operator. If no kernel can compute the call, PyTorch does, and the report says why.

    A function that `lowers` registered may raise `Unsupported`, with a reason; its other errors are bugs, and remain
    errors. Here, x is real and z complex, `sort` gives two tensors, and `checkpoint` gives a tensor and a tuple:

        sin(x)               what the function registered for sin returns
        sin(z)               Called: "kernels do not compute with torch.complex64"
        cumsum(x), cumsum(z) Called: "no kernel is written for it"
        sort(x)              two tensors, Called: "no kernel is written for it"
        sort(x)[1]           the second of these tensors
        checkpoint(x)[1]     Called: "no kernel is written for it"
        checkpoint(x)[1][0]  Called: "part of PyTorch's result"
    """
    value = node.meta.get("val")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool | int | float):
        return sympify(value)
    arguments = torch.fx.map_arg(node.args, lambda n: lowered[n])
    keywords = torch.fx.map_arg(node.kwargs, lambda n: lowered[n])
    # [task 12.1] `operator.getitem` is the target of a node that takes a part. Given: the functions below.
    if node.target is operator.getitem:
        whole, place = arguments
        return (
            called(node, arguments, keywords, "part of PyTorch's result") if isinstance(whole, Called) else whole[place]
        )
    handler = HANDLERS.get(name_of(node))
    reason = why_not(node)
    if handler is None:
        return called(node, arguments, keywords, "no kernel is written for it")
    if reason:
        return called(node, arguments, keywords, reason)
    try:
        return handler(node, *arguments, **keywords)
    except Unsupported as error:
        return called(node, arguments, keywords, str(error))
    # [end]


def name_of(node: Node) -> str:
    """An operator's name without overload: "add" for aten.add.Tensor. (Given.)

    Operators of other libraries keep their namespace: "torchvision::nms".
    """
    target = node.target
    if not hasattr(target, "_schema"):
        return getattr(target, "__name__", "")
    namespace, _, name = target._schema.name.partition("::")
    return name if namespace in ("aten", "prims") else target._schema.name


SUPPORTED = (
    *(torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
)


def why_not(node: Node) -> str:
    """Why no kernel can compute this node, regardless of its operator; empty if one can. (Given.)"""
    values = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
    for value in values:
        for x in value if isinstance(value, tuple | list) else (value,):
            if not isinstance(x, torch.Tensor):
                continue
            if x.dtype not in SUPPORTED:
                return f"kernels do not compute with {x.dtype}"
            if x.layout != torch.strided:
                return f"a tensor's layout is {x.layout}"
            if any(symbol.name.startswith("u") for size in sizes_of(x) for symbol in size.free_symbols):
                return "a size depends on the values of a tensor"
    return ""


def called(node: Node, arguments: Any, keywords: Any, reason: str) -> Lowered:
    """The result of an operator that PyTorch computes: a tensor, or several. (Given.)"""
    inputs = tuple(x for x in torch.utils._pytree.tree_leaves((arguments, keywords)) if isinstance(x, Tensor))
    overwrites = overwritten_in(node, arguments)
    value = node.meta.get("val")

    def result(x: Any, number: int | None) -> Lowered:
        if not isinstance(x, torch.Tensor):
            return Called(node.name, torch.int64, (), (), torch.device("cpu"), inputs, node, reason, number, overwrites)
        name = node.name if number is None else f"{node.name}_{number}"
        return Called(name, x.dtype, sizes_of(x), strides_in(x), x.device, inputs, node, reason, number, overwrites)

    if isinstance(value, tuple | list):
        return [result(x, number) for number, x in enumerate(value)]
    return result(value, None)


def overwritten_in(node: Node, arguments: Sequence[Any]) -> tuple[Tensor, ...]:
    """The arguments of the graph that an operator overwrites, by its schema. (Given.)"""
    parameters = node.target._schema.arguments if hasattr(node.target, "_schema") else ()
    found = []
    for parameter, x in zip(parameters, arguments, strict=False):
        if parameter.alias_info is not None and parameter.alias_info.is_write and isinstance(x, Tensor):
            while not isinstance(x, Stored) and len(x.inputs) == 1:
                (x,) = x.inputs
            found.append(x)
    return tuple(found)


def tensor_of(kind: type[Any], node: Node, inputs: Sequence[Tensor], **fields: Any) -> Any:
    """A tensor of the class `kind`, with the shape, dtype and strides that PyTorch gives the node. (Given.)"""
    value = node.meta["val"]
    shape, strides = sizes_of(value), strides_in(value)
    return kind(node.name, value.dtype, shape, strides, value.device, tuple(inputs), **fields)


def elementwise(node: Node, inputs: Sequence[Any], at: Callable[..., Value], **fields: Any) -> Computed:
    """The tensor that a node computes from `inputs`. Its element at an index is `at(body, index)`. (Given.)"""
    return tensor_of(Computed, node, [x for x in inputs if isinstance(x, Tensor)], at=at, **fields)
