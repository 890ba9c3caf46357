"""Task 12.1: a back end of `torch.compile`, which leaves to PyTorch the operators that it cannot compute."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
import torch
from mini_triton.fusion import backend
from mini_triton.fusion.backend import decompositions
from mini_triton.fusion.lowering.graph import HANDLERS, Unsupported, lower_graph
from mini_triton.fusion.report import describe
from mini_triton.fusion.tensors import Called

from tests.checks import described
from tests.support.m12_fusion.compiling import UNFUSED, normal, plain_errors, program, traced


@dataclass
class Program:
    """A substitute for a compiled program."""

    run: Any
    graph: torch.fx.Graph
    options: dict[str, Any]
    kernels: tuple[()] = ()


def compile_with_pytorch(graph: Any, **options: Any) -> Program:
    """A substitute for `compile_graph`: a program whose operators PyTorch computes."""
    if not isinstance(graph, torch.fx.Graph):
        raise TypeError("compile_graph takes a torch.fx.Graph, such as that of a GraphModule")
    interpreter = torch.fx.Interpreter(graph.owning_module)
    run = lambda arguments: interpreter.boxed_run(arguments)  # noqa: E731
    run._boxed_call = True  # type: ignore[attr-defined]
    return Program(run, graph, options)


@pytest.fixture
def stand_in() -> Iterator[None]:
    """Let PyTorch compute the graphs, so that a failure lies in the back end itself."""
    with mock.patch.object(backend, "compile_graph", compile_with_pytorch):
        yield


def operators(compiled: Any) -> set[str]:
    """The names of the operators in the graph of a program."""
    return {str(node.target).split(".")[1] for node in compiled.graph.nodes if node.op == "call_function"}


# --- mini_triton


def test_a_function_comes_back(stand_in: None) -> None:
    call = program("torch.sin(x) + y", x=normal(4, 5), y=normal(5))
    call.computes_what_eager_does("mini_triton returns a function, which takes the inputs of the graph")
    if len(call.programs) != 1:
        call.fail("one program in `programs`", f"{len(call.programs)}", "there is no gradient to compute")


def test_a_backward_pass_is_a_program_of_its_own(stand_in: None) -> None:
    call = program("torch.sin(x) * y", x=normal(4, 5), y=normal(5), gradient=True)
    call.computes_what_eager_does("the gradients come from the backward pass, which is also compiled")
    if len(call.programs) != 2:
        call.fail(
            "two programs in `programs`", f"{len(call.programs)}", "one is the forward pass, and one the backward pass"
        )
    forward, backward = map(operators, call.programs)
    if "sin" not in forward or "cos" not in backward:
        found = f"{sorted(forward)}, then {sorted(backward)}"
        call.fail("sin in the first program, cos in the second", found, "passes are listed in their order")


@pytest.mark.parametrize("text", ["F.gelu(x)", "torch.softmax(x, 1)", "F.layer_norm(x, (5,))", "x.std(1)", "x.t() @ x"])
def test_composite_operators_are_taken_apart(stand_in: None, text: str) -> None:
    call = program(text, x=normal(4, 5), gradient=True).computes_what_eager_does()
    table = decompositions()
    for compiled in call.programs:
        composite = [node.target for node in compiled.graph.nodes if node.target in table]
        if composite:
            call.fail(
                "graphs of core operators", f"{composite[0]} in one", "decompositions() takes composite operators apart"
            )


def test_options_are_passed_on(stand_in: None) -> None:
    call = program("x * 2", x=normal(4), options={"fuse": False}, gradient=True).computes_what_eager_does()
    for compiled in call.programs:
        if compiled.options != {"fuse": False}:
            call.fail(
                "compile_graph(graph, fuse=False)",
                f"options {compiled.options}",
                "the caller gave these options to torch.compile",
            )


def test_arguments_are_overwritten_as_in_eager(stand_in: None) -> None:
    call = program("x.add_(y).sin()", x=normal(4, 5), y=normal(5)).computes_what_eager_does("add_ overwrites x")
    if "copy_" not in operators(call.programs[0]):
        because = "a kernel may overwrite an argument: keep_inference_input_mutations"
        call.fail("copy_ in the graph", sorted(operators(call.programs[0])), because)


def test_the_backward_pass_recomputes_cheap_values(stand_in: None) -> None:
    call = program("torch.sin(torch.exp(torch.tanh(x)))", x=normal(4, 5), gradient=True).computes_what_eager_does()
    (output,) = (node for node in call.programs[0].graph.nodes if node.op == "output")
    count = len(output.args[0])
    if count > 2:
        because = "min_cut_rematerialization_partition keeps x for the backward pass, which then needs no other tensor"
        call.fail("two tensors that leave the forward pass, the result and x", count, because)


def test_one_program_serves_all_sizes(stand_in: None) -> None:
    torch._dynamo.reset()
    before = len(backend.programs)
    fast = torch.compile(lambda x: x.sin() * x.shape[0], backend=backend.mini_triton, dynamic=True)
    for rows in (3, 8, 100):
        x = torch.ones(rows, 4)
        with plain_errors():
            torch.testing.assert_close(fast(x), x.sin() * rows, msg=f"rows of {rows}: the result differs from eager's")
    count = len(backend.programs) - before
    assert count == 1, f"three sizes, dynamic=True\n  expected  one program\n  got       {count}"


# --- lower_call


class lowering(described):
    """The call of `lower_graph` for a program; its result is the tensor of the last operator."""

    def __init__(self, text: str, *inputs: Any) -> None:

        self.graph = traced(eval(f"lambda x: {text}", {"torch": torch}), *inputs)
        self.argument, *_, self.node, _ = self.graph.nodes
        self.lowered: dict[Any, Any] = {}
        super().__init__(f"lower_graph(the graph of {text})[{self.node}]", self.run)

    def run(self) -> Any:
        self.lowered = lower_graph(self.graph)
        return self.lowered[self.node]

    def is_called(self, reason: str, because: str) -> None:
        """Require that PyTorch computes the operator, for this reason."""

        got = self.succeeds("a tensor that is Called", because)
        if not isinstance(got, Called):
            self.fail("a tensor that is Called", got, because)
        if got.reason != reason:
            self.fail(f"a tensor with the reason {reason!r}", repr(got.reason), because)


def handled(name: str, handler: Any) -> Any:
    """A function that lowers an operator, within the `with` block."""
    return mock.patch.dict(HANDLERS, {name: handler})


def test_the_function_for_an_operator_lowers_it() -> None:
    seen: list[Any] = []

    def handler(*arguments: Any, **keywords: Any) -> str:
        seen.append((arguments, keywords))
        return "what the function returns"

    call = lowering("torch.ops.aten.var.correction(x, [1], correction=2, keepdim=True)", torch.ones(3, 4))
    with handled("var", handler):
        call.returns("what the function returns", because="HANDLERS has a function for var")
    expected = (call.node, call.lowered[call.argument], [1]), {"correction": 2, "keepdim": True}
    if seen != [expected]:
        call.fail(
            f"one call with {expected}", seen, "the function takes the node, and the lowered arguments and keywords"
        )


def test_an_operator_without_a_function_is_called() -> None:
    for dtype in (torch.float32, torch.complex64):
        call = lowering("torch.cumsum(x, 1)", torch.ones(3, 4, dtype=dtype))
        call.is_called("no kernel is written for it", "HANDLERS has no function for cumsum, whatever the dtype")


def test_each_result_of_a_call_is_a_tensor() -> None:
    call = lowering("torch.ops.aten.sort.default(x)[0]", torch.ones(3, 4))
    call.is_called("no kernel is written for it", "sort has two results, and x[0] is one of them")


def test_a_result_may_have_parts() -> None:
    """PyTorch calls dropout so in a checkpoint. There are two results, and dropout's two are one of them."""
    operator = "torch.ops.higher_order.run_and_save_rng_state"
    call = lowering(f"{operator}(torch.ops.aten.native_dropout.default, x, 0.5, True)[1][0]", torch.ones(3, 4))
    call.is_called("part of PyTorch's result", "the second result is a tuple of dropout's two results")


def refuse(*_: Any, **__: Any) -> Any:
    raise Unsupported("the moon is full")


def test_keywords_are_operands() -> None:
    for handlers, reason in (({}, "no kernel is written for it"), ({"searchsorted": refuse}, "the moon is full")):
        call = lowering("torch.searchsorted(x, x, sorter=torch.argsort(x))", torch.ones(3, 4))
        with mock.patch.dict(HANDLERS, handlers):
            call.is_called(reason, "PyTorch computes searchsorted")
        sorter, inputs = call.lowered[call.node.kwargs["sorter"]], call.lowered[call.node].inputs
        if sorter not in inputs:
            call.fail(f"{sorter.name} among its inputs", [x.name for x in inputs], "the keyword `sorter` is a tensor")


def test_a_function_may_refuse() -> None:
    with handled("sin", refuse):
        lowering("torch.sin(x)", torch.ones(3)).is_called("the moon is full", "the function raised Unsupported")


def test_other_errors_are_not_reasons() -> None:
    def handler(*_: Any, **__: Any) -> Any:
        return [][0]

    with handled("sin", handler):
        lowering("torch.sin(x)", torch.ones(3)).raises(
            IndexError, because="only Unsupported is a reason; other errors are bugs, and must not be hidden"
        )


def test_operators_that_no_kernel_computes_are_not_tried() -> None:
    call = lowering("torch.sin(x)", torch.ones(3, dtype=torch.complex64))
    with handled("sin", lambda *_: "the function was called"):
        call.is_called("kernels do not compute with torch.complex64", "`why_not` returns this reason")


# --- both


@pytest.mark.parametrize(
    "text",
    ["torch.cumsum(x, 1)", "torch.sort(x, 1)", "torch.topk(torch.cummax(x, 0).values, 3)", "torch.linalg.inv(x @ x)"],
)
def test_programs_of_calls_only(text: str) -> None:
    inputs = {"x": normal(4, 4, dtype=torch.float64)}
    call = program(text, **inputs, options=UNFUSED).computes_what_eager_does("PyTorch computes all operators")
    call.launches(0, "PyTorch computes float64 products, and operators without a function")


def test_the_report_says_the_reason() -> None:
    call = program("torch.cumsum(x, 1)", x=normal(3, 4), options=UNFUSED).computes_what_eager_does()
    (reason,) = {x.reason for compiled in call.programs for group in compiled.groups for x in group.members}
    text = describe(call.programs[0])
    if "cumsum" not in text or reason not in text:
        call.fail(f"a report with cumsum and {reason!r}", text)
