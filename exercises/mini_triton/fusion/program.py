"""The program of a graph: memory, launches and calls in order, as Python source.

A buffer whose last reader has run is reused for the next tensor of the same size. The program and its kernels form one
file, stored beside the compiled kernels. Read this file to see how a model was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from mini_triton.fusion.ahead import list_kernels
from mini_triton.fusion.grouping import Group, Partition, copy_before_overwriting, find_uses, recompute_cheap
from mini_triton.fusion.indexing import write_for_host
from mini_triton.fusion.lifetimes import delete_after_last_use
from mini_triton.fusion.lowering import Lowered, lower_graph
from mini_triton.fusion.products import ProductWriter
from mini_triton.fusion.small import join_small
from mini_triton.fusion.source import Kernel, write_kernel
from mini_triton.fusion.stored import load
from mini_triton.fusion.tensors import Called, Computed, Product, Stored, Tensor, View, overwritten_by

HEADER = """\
import math

import torch

import mini_triton as triton
import mini_triton.language as tl
from mini_triton import cdiv
from mini_triton.fusion import helpers
from mini_triton.fusion.ahead import compile_ahead
from mini_triton.fusion.allocation import empty_strided_cuda, reinterpret_tensor
from mini_triton.fusion.launches import FusedKernel
from mini_triton.language.extra import libdevice
"""


@dataclass
class CompiledGraph:
    """The generated source of a graph, and the kernels that it launches."""

    source: str
    run: Callable[[list[Any]], Any]
    partition: Partition
    groups: list[Group]  # in the order in which they run
    kernels: list[Kernel]  # of all groups except calls

    @property
    def bytes(self) -> int:
        """The number of bytes that all kernels move."""
        return sum(group.bytes for group in self.groups)

    def sources(self, group: Group) -> set[Group]:
        """The groups whose results a group reads."""
        return self.partition.sources(group)


def materialize(tensor: Tensor) -> Tensor:
    """Ensure that a tensor is stored. Returns the stored tensor: the tensor itself, or the one it views. (Given.)"""
    while isinstance(tensor, View) and tensor.is_free and tensor.shares_memory:
        tensor = tensor.inputs[0]
    if isinstance(tensor, Computed):
        tensor.is_free = False
    return tensor


def compile_graph(graph: Graph, fuse: bool = True, reuse: bool = True) -> CompiledGraph:
    """Lower a graph, group its tensors, write the program, and load it.

    Without `fuse`, each operator has its own kernel. Without `reuse`, each tensor has its own memory.
    """
    lowered = lower_graph(graph)
    (output,) = (node for node in graph.nodes if node.op == "output")
    results, structure = tree_flatten(torch.fx.map_arg(output.args[0], lambda node: lowered[node]))
    # In the graph's order, a gradient of a weight soon follows the gradients that it needs, which can then be freed.
    places = {x: place for place, x in enumerate(tree_leaves(list(lowered.values())))}
    needed = sorted((x for x in (*results, *effects_in(lowered)) if isinstance(x, Tensor)), key=places.__getitem__)
    for tensor in (x for x in tree_leaves(list(lowered.values())) if isinstance(x, Called)):
        tensor.inputs = tuple(dict.fromkeys(map(materialize, tensor.inputs)))  # a call reads whole tensors
    draw_in_order(lowered)
    roots = list(dict.fromkeys(map(materialize, needed)))
    if fuse:
        recompute_cheap(find_uses(roots))
    roots += copy_before_overwriting(find_uses(roots))
    partition = Partition(find_uses(roots))
    if fuse:
        partition.fuse()
        partition.recompute()
        join_small(partition)
    return ProgramWriter(graph, lowered, partition).write(results, structure, reuse)


def draw_in_order(lowered: dict[Node, Lowered]) -> None:
    """Make calls that may draw random numbers wait for each other, because PyTorch draws in the graph's order."""
    before: tuple[Tensor, ...] = ()
    for node, value in lowered.items():
        results = [x for x in tree_leaves(value) if isinstance(x, Called) and x.call is node]
        is_higher = isinstance(node.target, torch._ops.HigherOrderOperator)
        if results and (is_higher or torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())):
            for x in results:
                x.inputs += before
            before = (results[0],)


def effects_in(lowered: dict[Node, Lowered]) -> Iterator[Tensor]:
    """Tensors to compute even if nothing needs them: overwritten arguments, and calls to operators without a result."""
    for node, value in lowered.items():
        for x in tree_leaves(value):
            if isinstance(x, Computed) and x.into is not None or isinstance(x, Called) and is_effect(node):
                yield x


def is_effect(node: Node) -> bool:
    """Whether an operator runs for its side effects."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable or not node.users


def may_share_memory(node: Node) -> bool:
    """Whether a result of an operator may be a view of one of its operands."""
    schema = getattr(node.target, "_schema", None)
    return schema is None or any(result.alias_info is not None for result in schema.returns)


class ProgramWriter:
    """Writes the steps of a program."""

    def __init__(self, graph: Graph, lowered: dict[Node, Lowered], partition: Partition) -> None:
        self.graph, self.lowered, self.partition = graph, lowered, partition
        self.groups = partition.ordered()
        self.kernels: dict[tuple[Any, ...], Kernel] = {}  # by their text, and the dtypes and devices of their tensors
        self.used: list[Kernel] = []
        self.steps: list[str] = []
        self.calls: dict[str, Callable[..., Any]] = {}
        self.called: dict[Node, list[str]] = {}  # the names of the results
        self.names: dict[Tensor, str] = {}
        self.free: dict[tuple[Any, ...], list[tuple[str, str]]] = {}  # buffers to reuse, and their layouts
        self.shared: set[Tensor] = set()  # tensors whose memory a result of PyTorch may share

    def write(self, results: Sequence[Any], structure: Any, reuse: bool) -> CompiledGraph:
        self.bind_arguments()
        last = self.last_uses(results) if reuse else {}
        for number, group in enumerate(self.groups):
            self.call(group) if group.is_call else self.launch(group)
            for tensor in last.get(number, ()):
                self.release(tensor)
        self.steps.append(f"return [{', '.join(map(self.text_of, results))}]")
        kernels = "\n\n".join(f"@FusedKernel\n{kernel.text}\n" for kernel in self.kernels.values())
        steps = "\n".join(f"    {step}" for step in delete_after_last_use(self.steps))
        source = f"{HEADER}\n\n{kernels}\n{list_kernels(self.used)}\n\ndef call(args):\n{steps}\n"
        run: Any = load(source, self.calls)
        if structure.type not in (list, tuple) or structure.num_children != structure.num_leaves:
            call, run = run, lambda args: tree_unflatten(call(args), structure)
            run._boxed_call = True
        return CompiledGraph(source, run, self.partition, self.groups, self.used)

    def bind_arguments(self) -> None:
        """Name the arguments, and the symbols in their sizes."""
        known: set[str] = set()
        arguments, shapes = [], []
        for node in self.graph.nodes:
            if node.op == "get_attr":
                self.names[self.lowered[node]] = node.name
                self.calls[node.name] = getattr(self.graph.owning_module, node.target)
            if node.op != "placeholder":
                continue
            arguments.append(node.name)
            value = self.lowered[node]
            if isinstance(value, Tensor):
                self.names[value] = node.name
                for number, size in enumerate(value.shape):
                    shapes.append((size, f"{node.name}.size({number})"))
            else:
                shapes.append((value, node.name))
        if arguments:
            self.steps.append(f"{', '.join(arguments)}{',' if len(arguments) == 1 else ''} = args")
        self.steps.append("args.clear()")
        for size, text in shapes:
            if isinstance(size, sympy.Symbol) and size.name not in known:
                known.add(size.name)
                self.steps.append(f"{size.name} = {text}")

    def last_uses(self, results: Sequence[Any]) -> dict[int, list[Tensor]]:
        """By the number of a group in `self.groups`: the buffers that no later group needs.

        A buffer is the memory of a tensor in its group's `stored`. The program must reuse neither arguments nor buffers
        of results, and a result may be a view of a buffer. Tensors that overwrite an argument may be listed, because
        `release` skips them.
        """
        # Task 12.5: `self.partition.uses` tells which tensors a tensor needs. Given: `materialize`.
        raise NotImplementedError("Task 12.5: Products and memory")

    # --- memory

    def allocate(self, tensor: Tensor) -> None:
        """Allocate memory for a tensor: a free buffer of the same size, or a new one. (Given.)"""
        name = self.names[tensor] = identifier(tensor.name)
        layout = layout_text(tensor)
        if buffers := self.free.get(self.kind_of(tensor)):
            buffer, before = buffers.pop()
            viewed = buffer if before == layout else f"reinterpret_tensor({buffer}, {layout}, 0)"
            self.steps.append(f"{name} = {viewed}")
        elif tensor.device.type == "cuda":
            self.steps.append(f"{name} = empty_strided_cuda({layout}, {tensor.dtype}, {tensor.device.index})")
        else:
            kind = f'dtype={tensor.dtype}, device="{tensor.device}"'
            self.steps.append(f"{name} = torch.empty_strided({layout}, {kind})")

    def release(self, tensor: Tensor) -> None:
        name = self.names.get(tensor)
        if name is None or isinstance(tensor, Called) or overwritten_by(tensor) or not tensor.is_dense:
            return
        if tensor in self.shared:
            return
        self.free.setdefault(self.kind_of(tensor), []).append((name, layout_text(tensor)))

    def kind_of(self, tensor: Tensor) -> tuple[Any, ...]:
        return tensor.numel, tensor.dtype, tensor.device

    # --- steps

    def launch(self, group: Group) -> None:
        """Launch the kernel of a group."""
        for tensor in group.stored:
            target = getattr(tensor, "into", None)
            if target is None:
                self.allocate(tensor)
            else:
                self.names[tensor] = self.names[target]
        is_product = any(isinstance(tensor, Product) for tensor in group.members)
        kernel = ProductWriter(group).write() if is_product else write_kernel(group)
        key = kernel.text, *((tensor.dtype, tensor.device) for tensor in kernel.tensors)
        known = self.kernels.get(key)
        kernel.name = known.name if known else f"{name_for(group)}_{len(self.kernels)}"
        kernel.text = kernel.text.replace("NAME", kernel.name, 1)
        self.kernels.setdefault(key, kernel)
        self.used.append(kernel)
        device = group.members[0].device
        arguments = [self.names[x] + (f'.to("{device}")' if x.device != device else "") for x in kernel.tensors]
        arguments += kernel.numbers
        arguments += [f"{name}={value}" for name, value in kernel.constants.items()]
        self.steps.append(f"{kernel.name}[{kernel.grid}]({', '.join(arguments)})")

    def call(self, group: Group) -> None:
        """Call the operator that PyTorch computes."""
        tensor = group.members[0]
        assert isinstance(tensor, Called)
        node = tensor.call
        if may_share_memory(node):
            self.shared.update(tensor.inputs)
        if node not in self.called:
            name, results = f"result_{identifier(node.name)}", node.meta.get("val")
            is_several = isinstance(results, list | tuple)
            self.called[node] = [f"{name}_{number}" for number in range(len(results))] if is_several else [name]
            target = f"[{', '.join(self.called[node])}]" if is_several else name
            arguments, keywords = torch.fx.map_arg((node.args, node.kwargs), lambda n: self.lowered[n])
            texts = list(map(self.text_of, arguments))
            texts += [f"{name}={self.text_of(value)}" for name, value in keywords.items()]
            self.calls[f"call_{identifier(node.name)}"] = node.target
            self.steps.append(f"{target} = call_{identifier(node.name)}({', '.join(texts)})")
        self.names[tensor] = self.called[node][tensor.position_in_result or 0]

    def text_of(self, value: Any) -> str:
        """The expression in the program's source for a value of the graph."""
        if isinstance(value, Tensor):
            root = materialize(value)
            if root is value:
                return self.names[value]
            assert isinstance(value, View)
            start = write_for_host(value.offset_in_base)
            return f"reinterpret_tensor({self.names[root]}, {layout_text(value)}, {start})"
        if isinstance(value, sympy.Expr):
            return write_for_host(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.text_of, value))}]"
        if value is None or isinstance(value, bool | int | str | torch.dtype):
            return repr(value)
        name = f"constant_{len(self.calls)}"
        self.calls[name] = value
        return name


def layout_text(tensor: Tensor) -> str:
    return f"{shape_text(tensor.shape)}, {shape_text(tensor.strides)}"


def shape_text(sizes: Sequence[sympy.Expr]) -> str:
    texts = [write_for_host(size) for size in sizes]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def name_for(group: Group) -> str:
    """A name that lists a kernel's operators: fused_mul_softmax."""
    operators = dict.fromkeys(
        re.sub(r"(_\d+)+$", "", identifier(tensor.name)).removesuffix("_rows") for tensor in group.members
    )
    return "_".join(["fused", *list(operators)[:5]])
