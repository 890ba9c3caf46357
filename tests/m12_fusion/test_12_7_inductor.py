"""Task 12.7: the kernels that PyTorch's Inductor writes, on this compiler."""

import copy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.fusion import inductor
from mini_triton.runtime.binding import Parameter
from mini_triton.runtime.jit import JITFunction
from torch import nn

from tests.checks import described
from tests.oracles import triton
from tests.support.m12_fusion.compiling import launches, normal, odd, plain_errors, program, whole
from tests.support.m12_fusion.training import STEPS, follow, losses


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    """Let mini_triton compile Inductor's kernels while a test runs, without cached results."""
    triton.version()  # Inductor needs Triton, if only to import it
    with torch._inductor.config.patch(force_disable_caches=True):
        inductor.enable()
        try:
            yield
        finally:
            inductor.disable()


class through_inductor(program):
    """A program that Inductor compiles to Triton kernels, which mini_triton compiles."""

    def run(self) -> dict[str, torch.Tensor]:
        torch._dynamo.reset()
        with launches() as kernels, plain_errors():
            result = self.everything(torch.compile(self.eager, dynamic=self.dynamic))
        self.kernels = kernels
        return result

    def __repr__(self) -> str:
        return self.words.replace("backend=mini_triton", 'backend="inductor"')


PROGRAMS = {
    "x * y + 1": "the kernel is elementwise",
    "torch.softmax(x * 2, -1)": "a row is in one block",
    "torch.softmax(z, -1)": "rows are read in loops",
    "(x.sum(0), x.argmax(1), x.var(1))": "reductions run along both axes, and one of them combines pairs",
    "F.layer_norm(F.gelu(x) + y, (70,))": "Inductor's own functions are also compiled",
    "(x.t() * w, torch.cat([x, y], 1)[:, 3:])": "tiles have two dimensions",
    "torch.relu(x @ w) + x.sum()": "PyTorch computes the product",
    "x.gather(1, i) + torch.flip(x, [1])[:, :4]": "the kernel computes the places of elements",
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs(text: str, device: str) -> None:
    inputs = {"x": normal(50, 70), "y": normal(50, 70, seed=1), "z": normal(2, 20000), "w": normal(70, 50)}
    inputs["i"] = whole(50, 4, low=0, high=70)
    used = {
        name: x for name, x in inputs.items() if name in text.replace("exp", "").replace("flip", "").replace("sum", "")
    }
    call = through_inductor(text, **used, device=device).computes_what_eager_does(PROGRAMS[text])
    if not call.kernels:
        call.fail("at least one kernel that mini_triton launches", "no kernel")


def test_gradients(device: str) -> None:
    call = through_inductor(
        "F.layer_norm(F.gelu(x) * y, (70,))", x=normal(5, 70), y=normal(70), gradient=True, device=device
    )
    call.computes_what_eager_does("the backward pass is compiled as well")


def test_nan_and_infinity() -> None:
    text = "(torch.maximum(x, -x), x.amax(1), x.argmin(1), torch.where(x > 0, x, 2.0))"
    through_inductor(text, x=odd(4, 7)).computes_what_eager_does("Inductor's own functions treat NaN as eager does")


def test_sizes_of_the_launch() -> None:
    call = through_inductor("torch.softmax(x + y, -1)", x=normal(5, 70), y=normal(70), dynamic=True)
    call.computes_what_eager_does("sizes are arguments of the kernel")


# --- the parameters


@given(st.lists(st.sampled_from(["argument", "configuration", "constant"]), min_size=1, max_size=6))
def test_every_parameter_has_a_value(sources: list[str]) -> None:
    """Parameter p0 has the value 10, p1 has the value 11, and so on. In place of constants, the program passes -1."""
    expected = {f"p{number}": 10 + number for number in range(len(sources))}
    configured, constants, arguments = {"YBLOCK": 1}, {}, []
    for (name, value), source in zip(expected.items(), sources, strict=True):
        if source == "configuration":
            configured[name] = value
        else:
            arguments.append(-1 if source == "constant" else value)
        if source == "constant":
            constants[name] = value
    kernel: Any = object.__new__(inductor.InductorKernel)
    kernel.function = SimpleNamespace(parameters=tuple(map(Parameter, expected)))
    kernel.facts = {"constants": constants, "signature": {}}
    config = SimpleNamespace(kwargs=configured, num_warps=4, num_stages=1)
    shown = f"bind(Config({configured}), {arguments}), with parameters {', '.join(expected)} and constants {constants}"
    described(shown, kernel.bind, config, tuple(arguments)).returns(expected, "the kernel has no parameter YBLOCK")


# --- launch


class launching(described):
    """A launch of the kernel that Inductor writes for x + 1 on 1000 elements, and its result."""

    def __init__(self, words: str, kwargs: dict[str, Any], **options: int) -> None:
        from triton import Config

        torch._dynamo.reset()
        with mock.patch.object(inductor.InductorKernel, "run", lambda *_, **__: None):
            torch.compile(lambda x: x + 1)(torch.zeros(1000))
        kernel = inductor.kernels[-1]
        self.x, self.out = torch.arange(1000.0), torch.zeros(1000)
        self.seen: list[Any] = []
        if "in_ptr0" in kwargs:
            kwargs = {**kwargs, "in_ptr0": self.x}
        config = Config(kwargs, **options)
        given = {"x": self.x, "out": self.out, "1000": 1000}
        if "in_ptr0" in kwargs:
            del given["x"]
        super().__init__(f"launch({words}, ({', '.join(given)}))", kernel.launch, config, tuple(given.values()))

    def made(self) -> Any:
        """Grid and keywords of the launch."""
        launch = JITFunction.launch

        def noted(function: Any, grid: Any, /, *arguments: Any, **keywords: Any) -> Any:
            self.seen.append((grid, arguments, keywords))
            return launch(function, grid, *arguments, **keywords)

        with mock.patch.object(JITFunction, "launch", noted):
            self.succeeds("a launch")
        if len(self.seen) != 1:
            self.fail("one launch", len(self.seen))
        if not torch.equal(self.out, self.x + 1):
            self.fail("x + 1 in out", self.out)
        return self.seen[0]


@pytest.mark.parametrize("block", [64, 256])
def test_the_configuration_sets_block_and_grid(block: int) -> None:
    call = launching(f"Config(XBLOCK={block})", {"XBLOCK": block})
    grid, _, keywords = call.made()
    if tuple(grid) != (-(-1000 // block), 1, 1):
        call.fail(f"a grid of {-(-1000 // block)} programs", grid, f"each computes XBLOCK = {block} of 1000 elements")
    if keywords.get("XBLOCK", block) != block:
        call.fail(f"XBLOCK={block}", keywords)


def test_a_configuration_may_set_unknown_options() -> None:
    call = launching("Config(XBLOCK=128, YBLOCK=1)", {"XBLOCK": 128, "YBLOCK": 1})
    call.made()


def test_a_configuration_may_set_any_parameter() -> None:
    launching("Config(XBLOCK=128, in_ptr0=x)", {"XBLOCK": 128, "in_ptr0": None}).made()


def test_options_are_the_configurations() -> None:
    call = launching("Config(XBLOCK=128, num_warps=2, num_stages=5)", {"XBLOCK": 128}, num_warps=2, num_stages=5)
    _, _, keywords = call.made()
    got = {name: keywords.get(name) for name in ("num_warps", "num_stages")}
    if got != {"num_warps": 2, "num_stages": 5}:
        call.fail("num_warps=2, num_stages=5", got, "they are options of the launch, not arguments of the kernel")


# --- a model


def test_twenty_steps_beside_eager(device: str) -> None:
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 10)).to(device)
    wide, fast = copy.deepcopy(model).double(), copy.deepcopy(model)
    call = described(
        f"the losses of {STEPS} steps, by Inductor on this compiler", losses, fast, torch.compile(fast), "MLP", device
    )
    got = call.succeeds(f"{STEPS} losses")
    follow(call, got, model, wide, "MLP", device)
