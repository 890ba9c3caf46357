"""`torch.compile(model, backend="mini_triton", mode="reduce-overhead")`: a pass is one launch of a CUDA graph. (Given.)

The first run of a pass warms up, the second records, and all later ones replay. PyTorch's CUDA graph trees, which
Inductor also uses, leave the results of a pass in the memory where the next pass expects them.

Source: `cudagraphs` in PyTorch's `torch/_dynamo/backends/cudagraphs.py`; its `torch/_inductor/cudagraph_trees.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.backends import cudagraphs
from torch.fx import GraphModule

Pass = Callable[[list[Any]], Any]

MODES = {"default": False, "reduce-overhead": True}
"""The modes of `torch.compile`, and whether passes are recorded in them."""
records: ContextVar[bool] = ContextVar("records", default=False)
"""Whether to record the passes that are compiled now."""


def record_passes(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `aot_autograd`, for a back end whose passes are recorded if `records` is true.

    PyTorch logs why a pass is not recorded. The backward pass is not recorded without the forward pass.
    """
    if not records.get():
        return {**keywords}
    gpus: list[int] = []  # of the passes recorded so far

    def record(compile_pass: Callable[..., Pass], is_backward: bool, is_inference: bool) -> Callable[..., Pass]:
        def compile(graph: GraphModule, inputs: Any) -> Pass:
            static = static_arguments(graph, is_backward)
            if reason := reason_to_skip(graph, static, is_backward and not gpus):
                cudagraphs.log_cudagraph_skip_and_bump_counter(reason)
                run = compile_pass(graph, inputs)
                return after_recorded(run, gpus[0]) if is_backward and gpus else run
            gpus.append(cudagraphs.get_device_index(graph))
            facts = {
                "device_index": gpus[0],
                "is_backward": is_backward,
                "is_inference": is_inference,
                "stack_traces": cudagraphs.get_stack_traces(graph),
                "placeholders": cudagraphs.get_placeholder_info(graph.graph),
                "mutated_input_idxs": cudagraphs.find_input_mutations(graph.graph),
            }
            return Recording(static, facts).wrap(compile_pass(graph, inputs))

        return compile

    forward = keywords["fw_compiler"]
    return {
        **keywords,
        "fw_compiler": record(forward, False, False),
        "bw_compiler": record(keywords.get("bw_compiler") or forward, True, False),
        "inference_compiler": record(keywords.get("inference_compiler") or forward, False, True),
    }


def static_arguments(graph: GraphModule, is_backward: bool) -> list[int]:
    """The positions of arguments that rarely move: parameters, and what the forward pass has saved."""
    if is_backward:
        return list(range(cudagraphs.count_tangents(graph)))
    context = torch._guards.TracingContext.try_get()
    return list(context.fw_metadata.static_input_indices) if context and context.fw_metadata else []


def reason_to_skip(graph: GraphModule, static: Collection[int], is_alone: bool) -> str | None:
    """Why a pass cannot be recorded; None if it can. A backward pass is alone if its forward pass is skipped."""
    explain = cudagraphs.format_default_skip_message
    if is_alone:
        return explain("a forward pass that is not recorded")
    if cudagraphs.find_input_mutations(graph.graph) - {*static}:
        return explain("mutated inputs")
    if node := cudagraphs.get_first_incompatible_cudagraph_node(graph):
        return explain(f"incompatible op ({node.name})")
    return cudagraphs.check_multiple_devices_or_any_cpu_nodes(cudagraphs.get_device_node_mapping(graph))


def after_recorded(run: Pass, gpu: int) -> Pass:
    """A backward pass that is not recorded, but belongs to a forward pass that is."""

    def call(inputs: list[Any]) -> Any:
        from torch._inductor.cudagraph_trees import get_manager

        if manager := get_manager(gpu, create_if_none_exists=False):
            manager.set_to_running_backward()
        return run(inputs)

    result: Any = call
    result._boxed_call = True
    return result


@dataclass(frozen=True)
class Recording:
    """What PyTorch must know about a pass to record it: the positions of static arguments, and keywords."""

    static: list[int]
    facts: dict[str, Any]

    def wrap(self, run: Pass) -> Pass:
        """A function that records and replays a pass."""
        replay: Pass | None = None

        def call(inputs: list[Any]) -> Any:
            nonlocal replay
            if replay is None:
                from torch._inductor.cudagraph_trees import cudagraphify_impl

                replay = cudagraphify_impl(run, inputs, self.static, **self.facts)
            return replay(inputs)

        result: Any = call
        result._boxed_call, result.recording = True, self
        if hasattr(run, "parts"):
            result.parts = run.parts
        return result
