"""A back end of `torch.compile`: `torch.compile(model, backend="mini_triton")`.

Dynamo traces a model to a graph. AOTAutograd derives the graph of the backward pass, and decomposes both graphs into
core operators without mutation. Our compiler takes one such graph at a time and returns a function.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._decomp import _core_aten_decompositions_post_autograd, get_decompositions
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from mini_triton.fusion.libraries import add_product, convolve, convolve_backward
from mini_triton.fusion.program import CompiledGraph, compile_graph
from mini_triton.fusion.report import describe
from mini_triton.fusion.stored import aot_autograd, keep

aten = torch.ops.aten

DECOMPOSED = (
    *(aten.native_layer_norm, aten.native_layer_norm_backward, aten.native_group_norm, aten.native_batch_norm),
    *(aten._native_batch_norm_legit_functional, aten._native_batch_norm_legit, aten.native_batch_norm_backward),
    *(aten._native_batch_norm_legit_no_training, aten._softmax, aten._log_softmax, aten.gelu, aten.gelu_backward),
    *(
        aten.linalg_vector_norm,
        aten.var_mean,
        aten.mean,
        aten.std,
        aten.logsumexp,
        aten.tril,
        aten.triu,
        aten.elu,
        aten.hardtanh,
    ),
    *(aten.leaky_relu, aten.sigmoid_backward, aten.native_dropout_backward, aten.t, aten.transpose, aten.unbind),
)
KEPT = (
    *(aten.squeeze, aten.where, aten.native_dropout, aten._scaled_dot_product_flash_attention_for_cpu),
    aten._scaled_dot_product_flash_attention_for_cpu_backward,
)
"""Operators that we decompose in addition to PyTorch's defaults, and operators of the defaults that we keep whole."""


@functools.cache
def decompositions() -> Mapping[Any, Any]:
    """The decompositions of composite operators that AOTAutograd itself does not decompose."""
    table = {**_core_aten_decompositions_post_autograd(), **get_decompositions(DECOMPOSED)}
    table |= {aten.addmm.default: add_product, aten.baddbmm.default: add_product}
    table |= {aten.convolution.default: convolve, aten.convolution_backward.default: convolve_backward}
    kept = {getattr(packet, overload) for packet in KEPT for overload in packet.overloads()}
    return {op: function for op, function in table.items() if op not in kept}


OPTIONS = ("fuse", "reuse")
"""The options of `compile_graph`."""

programs: list[CompiledGraph] = []
"""The programs compiled in this process. For each model, the forward pass precedes the backward pass. The next process
finds large programs on disk, and does not compile them."""


@keep
def mini_triton(graph: GraphModule, inputs: Any, options: dict[str, Any] | None = None) -> Any:
    """Compile the graph that Dynamo traced, with its backward pass, to a function. `torch.compile` calls `mini_triton`.

    `options` are those of `compile_graph`: `torch.compile(f, backend="mini_triton", options={"fuse": False})`. Each
    pass, forward or backward, becomes a `CompiledGraph` in `programs`. Its graph contains, for these functions:

        F.gelu(x)              mul, erf, add: no operator that `decompositions` takes apart
        x.add_(y).sin()        add, sin and copy_: the program itself writes the argument x
        x.exp().sin().cos()    in the backward pass, exp and sin again: the forward pass keeps only x
    """
    if unknown := (options or {}).keys() - OPTIONS:
        names = ", ".join(map(repr, sorted(unknown)))
        raise ValueError(f"the back end mini_triton has no option {names}; the options are {', '.join(OPTIONS)}")

    # [task 12.1] `aot_autograd` makes back ends that split graphs into passes. It takes the keywords of
    # `functorch.compile.aot_module_simplified`; `help(functorch.compile.aot_function)` describes most of them. A graph
    # without gradients may change its arguments itself, if `keep_inference_input_mutations` is true.
    def compile_pass(graph: GraphModule, inputs: Any) -> Any:
        program = compile_graph(graph.graph, **(options or {}))
        programs.append(program)
        return program.run

    compiler = aot_autograd(
        fw_compiler=compile_pass,
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compiler(graph, inputs)
    # [end]


def explain(model: Any, *inputs: Any) -> str:
    """Describe a compiled model: its kernels, the operators in each, and the operators left to PyTorch, with reasons.

    If an input or a parameter requires a gradient, the backward pass is also compiled.
    """
    torch._dynamo.reset()
    before = len(programs)
    results = torch.compile(model, backend=mini_triton.__wrapped__)(*inputs)
    differentiable = [x for x in tree_leaves(results) if isinstance(x, torch.Tensor) and x.requires_grad]
    if differentiable:
        torch.autograd.backward(differentiable, [torch.ones_like(x) for x in differentiable])
    return "\n\n".join(describe(program) for program in programs[before:])
