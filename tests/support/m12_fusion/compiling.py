"""PyTorch programs, compiled by the learner's back end, and compared with eager execution.

A program is a text such as "torch.relu(x @ w)"; a failure shows it. The judge is PyTorch's eager execution in
float64. Different orders of summation round differently, so the error of a result may be `SLACK` times the error of
eager execution in the program's own dtypes, plus the rounding of a few operations, plus a remainder where numbers of
about 1 cancel, as in a variance of 0. Long sums may therefore have larger errors than short ones, and integers must be
exact.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, Self
from unittest import mock

import torch
from mini_triton.fusion import backend
from mini_triton.fusion.program import compile_graph
from mini_triton.runtime.jit import JITFunction
from torch._dynamo.exc import BackendCompilerFailed
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves

from tests.checks import described
from tests.oracles import triton

SLACK = 8
LEFT = {torch.float64: 1024 * torch.finfo(torch.float64).eps}
"""The allowed remainder when numbers cancel. `LEFT_NARROW` is for other dtypes, which kernels compute in float32.
In float64, no wider judge exists, so eager's own error is unknown, and more roundings are allowed."""
LEFT_NARROW = 4 * torch.finfo(torch.float32).eps
UNFUSED = {"fuse": False, "reuse": False}
"""Each operator has its own kernel, as in tasks 12.1 and 12.2."""
FUSED = {"reuse": False}
"""Operators are fused, and each tensor has its own memory, as in tasks 12.3 and 12.4."""


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Normally distributed numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + 1)).to(dtype)


def whole(*shape: int, low: int = -5, high: int = 6, dtype: torch.dtype = torch.int64, seed: int = 0) -> torch.Tensor:
    """Integers."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed + 1)).to(dtype)


def odd(*shape: int) -> torch.Tensor:
    """Numbers with NaN, infinities and both zeros among them."""
    result = normal(*shape)
    for place, number in enumerate((float("nan"), float("inf"), -float("inf"), 0.0, -0.0)):
        result.view(-1)[3 * place] = number
    return result


def copied(x: Any, wide: bool = False, gradient: bool = False) -> Any:
    """A copy of an input, with the same strides. If `wide`, floats become float64."""
    dtype = torch.float64 if wide and x.is_floating_point() else x.dtype
    memory = x.as_strided((x.untyped_storage().nbytes() // x.itemsize,), (1,), 0).clone().to(dtype)
    result = memory.as_strided(x.shape, x.stride(), x.storage_offset())
    return result.requires_grad_(gradient and x.is_floating_point())


class program(described):
    """A program, compiled: `program("x + y", x=…, y=…).computes_what_eager_does()`.

    If the program fails, the grader names the `suspect`. Otherwise, it names the functions that compiled the program.
    """

    def __init__(
        self,
        text: str | Callable[..., Any],
        *,
        options: dict[str, Any] | None = None,
        gradient: bool = False,
        dynamic: bool | None = None,
        device: str = "cpu",
        suspect: Callable[..., Any] | None = None,
        **inputs: torch.Tensor,
    ) -> None:
        self.suspect = suspect
        self.inputs = [x.to(device) for x in inputs.values()]
        self.gradient, self.dynamic, self.compile_options = gradient, dynamic, options
        if callable(text):
            self.eager, words = text, text.__name__
        else:
            words = f"lambda {', '.join(inputs)}: {text}"
            self.eager = eval(words, {"torch": torch, "F": torch.nn.functional})
        shown = ", ".join(f"{name}: {described_tensor(x)}" for name, x in inputs.items())
        said = "".join([", dynamic=True" * bool(dynamic), f", options={options}" if options else ""])
        both = ", and its gradients" * gradient
        super().__init__(f"torch.compile({words}, backend=mini_triton{said})({shown}){both}", self.run)
        self.kernels: list[Any] = []  # the launched kernels, compiled by the run time
        self.programs: list[Any] = []

    def run(self) -> dict[str, torch.Tensor]:
        """Compile the program again, and run it."""
        torch._dynamo.reset()
        before = len(backend.programs)
        options = {"options": self.compile_options} if self.compile_options else {}
        fast = torch.compile(self.eager, backend=backend.mini_triton, dynamic=self.dynamic, **options)
        with launches() as kernels, plain_errors():
            result = self.everything(fast)
        self.kernels, self.programs = kernels, backend.programs[before:]
        return result

    def everything(self, function: Callable[..., Any], wide: bool = False) -> dict[str, torch.Tensor]:
        """Everything that a program computes: results, inputs afterwards, and gradients."""
        inputs = [copied(x, wide, self.gradient) for x in self.inputs]
        results = [x for x in tree_leaves(function(*inputs)) if isinstance(x, torch.Tensor)]
        found = {f"result {number}" if len(results) > 1 else "the result": x for number, x in enumerate(results)}
        if self.gradient:
            leaves = [x for x in inputs if x.requires_grad]
            roots = [x for x in results if x.requires_grad]
            seeds = [normal(*x.shape, seed=7 + n).to(x.device, x.dtype) for n, x in enumerate(roots)]
            for number, x in enumerate(torch.autograd.grad(roots, leaves, seeds, allow_unused=True)):
                if x is not None:
                    found[f"the gradient of argument {number}"] = x
        found |= {f"argument {number} afterwards": x for number, x in enumerate(inputs)}
        return {name: x.detach() for name, x in found.items()}

    def computes_what_eager_does(self, because: str = "", exact: bool = False) -> Self:
        """Run the program, and compare values, dtypes, shapes and strides with those of eager execution."""
        __tracebackhide__ = True
        expected = self.everything(self.eager)
        right = expected if exact else self.everything(self.eager, wide=True)
        got = self.succeeds("the results of eager execution", because)
        if list(got) != list(expected):
            self.fail(", ".join(expected), ", ".join(got), because)
        for name, x in expected.items():
            self.compare(name, x, right[name], got[name], because)
        return self

    def compare(self, name: str, x: torch.Tensor, right: torch.Tensor, y: torch.Tensor, because: str = "") -> None:
        __tracebackhide__ = True
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            self.fail(f"{name} is {described_tensor(x)}", described_tensor(y), because)
        if x.numel() > 1 and name.endswith("result") and memory_of(x) != memory_of(y):
            self.fail(f"{name} has strides {x.stride()}", y.stride(), because or "eager's result has these strides")
        difference = first_difference(x, right, y)
        if difference:
            place, wanted, found, limit = difference
            element = f"element {place} of {name}" if x.dim() else name
            near = f", or less than {limit:.2g} away" if limit else ""
            self.fail(f"{element} is {wanted}{near}", found, because)

    def launches(self, count: int, because: str) -> Self:
        """Check the number of launched kernels."""
        __tracebackhide__ = True
        if len(self.kernels) != count:
            self.fail(f"{count} kernel{'s' * (count != 1)}", f"{len(self.kernels)}: {self.names()}", because)
        return self

    def names(self) -> str:
        return ", ".join(kernel.name for program in self.programs for kernel in program.kernels) or "none"

    def shown(self, value: Any) -> str:
        return str(value)


def described_tensor(x: torch.Tensor) -> str:
    """A tensor's description in a failure: float32[3, 4], with strides if it is not contiguous."""
    strides = "" if x.is_contiguous() else f" with strides {x.stride()}"
    return f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}{strides}"


def memory_of(x: torch.Tensor) -> list[int]:
    """The strides of dimensions whose size is not 1."""
    return [stride for stride, size in zip(x.stride(), x.shape, strict=True) if size != 1]


def first_difference(x: torch.Tensor, right: torch.Tensor, y: torch.Tensor) -> tuple[Any, Any, Any, float] | None:
    """Where `y` is wrong: place, expected, got, limit. `x` is eager's result, and `right` its result in float64."""
    limit = 0.0
    if x.dtype.is_floating_point:
        wide, exact, found = x.double(), right.double(), y.double()
        finite = torch.isfinite(wide) & torch.isfinite(exact)
        if finite.any():
            off = (wide - exact)[finite].abs().max().item()
            rounding = 4 * torch.finfo(x.dtype).eps * exact[finite].abs().max().item()
            limit = SLACK * off + rounding + LEFT.get(x.dtype, LEFT_NARROW)
            limit = 0.0 if right is x else limit
        bad = torch.where(finite, ~((found - exact).abs() <= limit), (found != wide) & ~(found.isnan() & wide.isnan()))
    else:
        bad = x != y
    if not bad.any():
        return None
    place = tuple(bad.nonzero()[0].tolist())
    return place, x[place].item(), y[place].item(), limit


@contextlib.contextmanager
def launches() -> Iterator[list[Any]]:
    """The kernels that are launched in the `with` block."""
    launch, found = JITFunction.launch, []

    def noted(self: Any, grid: Any, /, *arguments: Any, **keywords: Any) -> Any:
        found.append(launch(self, grid, *arguments, **keywords))
        return found[-1]

    with mock.patch.object(JITFunction, "launch", noted):
        yield found


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """The back end's own error, without the error in which Dynamo wraps it."""
    try:
        yield
    except BackendCompilerFailed as error:
        raise error.inner_exception.with_traceback(error.__traceback__) from None


def traced(function: Callable[..., Any], *inputs: torch.Tensor, symbolic: bool = False) -> Any:
    """The graph of a function in core operators. It equals the back end's graph, but is made faster, without Dynamo."""
    mode = "symbolic" if symbolic else "fake"
    graph = make_fx(function, decomposition_table=backend.decompositions(), tracing_mode=mode)(*inputs)
    graph.graph.eliminate_dead_code()
    return graph.graph


class graph_program(program):
    """A program without mutations, whose graph is compiled directly, without Dynamo, because this is much faster."""

    def run(self) -> dict[str, torch.Tensor]:
        compiled = compile_graph(self.graph, **(self.compile_options or {}))
        with launches() as kernels:
            result = self.everything(lambda *inputs: compiled.run(list(inputs)))
        self.kernels, self.programs = kernels, [compiled]
        return result

    @functools.cached_property
    def graph(self) -> Any:
        return traced(self.eager, *self.inputs)


def unfused(text: str, **inputs: torch.Tensor) -> graph_program:
    """A program whose operators each have a kernel of their own."""
    return graph_program(text, options=UNFUSED, **inputs)


def fused(text: str, **inputs: torch.Tensor) -> graph_program:
    """A program whose operators share kernels, but whose buffers are used once."""
    return graph_program(text, options=FUSED, **inputs)


def insist_that_triton_compiles(call: program) -> None:
    """Require that real Triton parses and compiles the kernels that a program launched."""
    texts = list(dict.fromkeys(kernel.asm["ttir"] for kernel in call.kernels))
    if not texts:
        call.fail("at least one launched kernel", "no launch")
    for text, answer in zip(texts, triton.compile_many(texts), strict=True):
        if not answer:
            call.fail(
                "kernels that real Triton compiles", f"{answer.diagnostic}\n{text}", "real Triton should accept our IR"
            )
