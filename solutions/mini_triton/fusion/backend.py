"""A back end of `torch.compile`: `torch.compile(model, backend="mini_triton")`.

PyTorch traces a model to a graph (Dynamo), makes a graph of its backward pass, and takes both apart into core operators
without mutation (AOTAutograd). What this compiler gets is that graph, and what it returns is a function.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from mini_triton.fusion.program import Program, compile_graph

aten = torch.ops.aten

DECOMPOSED = (
    *(aten.native_layer_norm, aten.native_layer_norm_backward, aten.native_group_norm, aten.native_batch_norm),
    *(aten._native_batch_norm_legit_functional, aten._native_batch_norm_legit, aten.native_batch_norm_backward),
    *(aten._native_batch_norm_legit_no_training, aten._softmax, aten._log_softmax, aten.gelu, aten.gelu_backward),
    *(
        aten.linalg_vector_norm,
        aten.addmm,
        aten.baddbmm,
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
"""Operators of PyTorch's that are taken apart beside those that it takes apart by default, and those that are not."""


def decompositions() -> dict[Any, Any]:
    """What composite operators are made of."""
    table = {**core_aten_decompositions(), **get_decompositions(DECOMPOSED)}
    kept = {getattr(packet, overload) for packet in KEPT for overload in packet.overloads()}
    return {op: function for op, function in table.items() if op not in kept}


programs: list[Program] = []
"""The programs that were compiled in this process."""


def compile_fx(graph: GraphModule, inputs: Any) -> Any:
    program = compile_graph(graph.graph)
    programs.append(program)
    return program.run


def mini_triton(graph: GraphModule, inputs: Any, **_: Any) -> Any:
    from functorch.compile import min_cut_rematerialization_partition

    compiler = aot_autograd(
        fw_compiler=compile_fx,
        bw_compiler=compile_fx,
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compiler(graph, inputs)
