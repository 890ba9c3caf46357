"""Task 8.16: kernels as functions with gradients, and as modules."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import calling, one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.autograd import expected_of, modules, of_function, of_function_changed, of_module
from tests.support.m08_kernels.host_calls import host_call, triton_call
from tests.support.m08_kernels.philox import rand
from tests.support.m08_kernels.tensors import ADDITIONS, SEEDS, UNIT, U, dtype_of, normal

FEW = one_in(4)  # few examples, because each computes gradients
# PyTorch itself computes a Linear's products, activations, sums of gradients, and the initial parameters.
LINEAR = ("addmm", "mm", "add", "sum", "uniform_")
ALLOWED: dict[str, Any] = {"besides": (*LINEAR, "gelu", "gelu_backward"), "of_kernels": 2}
SHARES = (0.0, 0.25, 0.5, 1.0)

layouts = st.sampled_from(["contiguous", "transposed", "expanded", "every other"])


def laid_out(x: Any, layout: str) -> Any:
    """A tensor of the same shape with other strides. "expanded" repeats one row, as the gradient of a sum does."""
    if layout == "transposed":
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "expanded":
        return x[:1].expand(x.shape)
    if layout == "every other":
        return torch.stack([x, torch.full_like(x, float("nan"))], -1)[..., 0]
    return x


def compare(
    call: host_call, expected: Sequence[Any], names: Sequence[str], steps: int, because: str = "", got: Any = None
) -> None:
    """Check the result and the gradients of `names`.

    The kernels' own tasks judge the kernels' precision. This limit allows for `steps` operations in sequence, each with
    an error of a fixed fraction of the largest expected element. In a dtype narrower than fp32, each operation may
    also round its operands and its result.
    """
    got = call() if got is None else got
    dtype = dtype_of(got[0])
    largest = max(float(x.abs().max()) for x in expected)
    limit = steps * largest * (ADDITIONS * U + (2 * UNIT[dtype] if dtype != "float32" else 0))
    for name, x, right in zip(
        ["the result", *(f"the gradient of {name}" for name in names)], got, expected, strict=True
    ):
        call.compare(name, x, right, limit, got[0].dtype, because)


def layer_norm(eps: float) -> Callable[..., Any]:
    """PyTorch's layer norm."""
    return lambda x, weight, bias: torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)


def attention(causal: bool) -> Callable[..., Any]:
    """PyTorch's attention."""
    return lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def parameters_of(name: str, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """The parameters of a new module, slightly perturbed, because a new LayerNorm's weights are all 1."""
    named = getattr(modules(), name)(**options).named_parameters()
    return {
        key: value.detach() + normal(value.shape, seed + place, scale=0.1) for place, (key, value) in enumerate(named)
    }


@FEW
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.sampled_from(SHARES), SEEDS, layouts, layouts)
@example([5, 7], 0.5, 3, "transposed", "expanded")
def test_dropout_function(shape: list[int], p: float, seed: int, of_x: str, of_gradient: str) -> None:
    x, dout = laid_out(normal((*shape,), seed), of_x), laid_out(normal((*shape,), seed + 1), of_gradient)
    numbers = torch.from_numpy(rand(seed, np.arange(x.numel()))).reshape(x.shape)
    factor = torch.where(numbers >= p, 1 / (1 - p or 1), 0.0)
    call = host_call(of_function, "DropoutFunction", dout, x, p, seed)
    because = f"elements are multiplied by 0 or by 1 / (1 - {p}), and so are their gradients"
    compare(call, (x * factor, dout * factor), ["x"], 1, because)


@FEW
@given(
    st.lists(st.integers(1, 5), max_size=3),
    *(st.sampled_from([8, 17, 64, 100]), SEEDS, st.sampled_from([1e-5, 0.3]), layouts, layouts),
)
@example([2, 3], 17, 0, 1e-5, "transposed", "contiguous")
@example([2, 3], 17, 0, 1e-5, "contiguous", "transposed")
@example([2, 3], 17, 0, 1e-5, "every other", "expanded")
@example([], 17, 0, 0.3, "contiguous", "contiguous")
def test_layer_norm_function(axes: list[int], size: int, seed: int, eps: float, of_x: str, of_gradient: str) -> None:
    x, dout = normal((*axes, size), seed), laid_out(normal((*axes, size), seed + 1), of_gradient)
    arrays = (laid_out(x, of_x if axes else "contiguous"), normal((size,), seed + 2), normal((size,), seed + 3))
    call = host_call(of_function, "LayerNormFunction", dout, *arrays, eps)
    compare(call, expected_of(layer_norm(eps), dout, *arrays), ["x", "weight", "bias"], 8)


@FEW
@given(
    *(st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2, 16, 17, 70]), st.booleans(), SEEDS),
    *(layouts, layouts, layouts),
)
@example(2, 2, 17, True, 0, "contiguous", "contiguous", "transposed")
@example(2, 2, 17, False, 0, "transposed", "every other", "contiguous")
@example(2, 3, 5, True, 0, "expanded", "expanded", "expanded")
def test_attention_function(
    batch: int, heads: int, length: int, causal: bool, seed: int, of_q: str, of_k: str, of_gradient: str
) -> None:
    q, k, v, dout = (normal((batch, heads, length, 16), seed + place) for place in range(4))
    arrays, dout = (laid_out(q, of_q), laid_out(k, of_k), v), laid_out(dout, of_gradient)
    call = host_call(of_function, "AttentionFunction", dout, *arrays, causal)
    compare(call, expected_of(attention(causal), dout, *arrays), ["q", "k", "v"], 16)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_functions_keep_the_dtype(dtype: str) -> None:
    dout, *arrays = (normal((2, 2, 17, 16), seed, dtype) for seed in range(4))
    call = host_call(of_function, "AttentionFunction", dout, *arrays, True)
    compare(call, expected_of(attention(True), dout, *arrays), ["q", "k", "v"], 16)
    arrays[1:] = normal((16,), 4, dtype), normal((16,), 5, dtype)
    call = host_call(of_function, "LayerNormFunction", dout, *arrays, 1e-5)
    compare(call, expected_of(layer_norm(1e-5), dout, *arrays), ["x", "weight", "bias"], 8)


SAVING: dict[str, tuple[tuple[int, ...], ...]] = {
    "LayerNormFunction": ((3, 16), (16,), (16,)),
    "AttentionFunction": ((1, 1, 5, 16), (1, 1, 5, 16), (1, 1, 5, 16)),
}


@pytest.mark.parametrize("name", SAVING)
def test_inputs_that_change_before_the_backward_pass(name: str) -> None:
    arrays = [normal(shape, seed) for seed, shape in enumerate(SAVING[name])]
    last, own = (1e-5, layer_norm(1e-5)) if name == "LayerNormFunction" else (True, attention(True))
    dout = normal(SAVING[name][0], 9)
    _, expected, *_ = expected_of(own, dout, *arrays)
    call = host_call(of_function_changed, name, dout, *arrays, last)
    if (got := call()) is not None:
        because = "after a change to a tensor that `ctx.save_for_backward` saved, PyTorch refuses to compute gradients"
        call.compare(
            "the gradient of x", got, expected, 16 * ADDITIONS * U * float(expected.abs().max()), None, because
        )


def calls_of_dropout(p: float, seed: int, x: Any, calls: int = 2) -> tuple[Any, ...]:
    torch.manual_seed(seed)
    module = modules().Dropout(p)
    return tuple(module(x) for _ in range(calls))


@FEW
@given(st.sampled_from([0.25, 0.5]), SEEDS)
def test_dropout_draws_a_new_seed_for_each_call(p: float, seed: int) -> None:
    call = host_call(calls_of_dropout, p, seed, torch.ones(300))
    first, second = call()
    alike = torch.tensor([torch.equal(first, second)])
    call.compare("two calls drop the same elements", alike, torch.tensor([False]), because="each call draws a new seed")
    call.compare(
        "the result for the same seed",
        call()[1],
        second,
        because="seeds come from torch's generator: torch.manual_seed repeats them",
    )


def test_dropout_draws_from_many_seeds() -> None:
    call = host_call(calls_of_dropout, 0.5, 0, torch.ones(300), 60)
    different = torch.tensor([len({tuple(result.tolist()) for result in call()})])
    because = "seeds are from 0 to 2**31 - 1, so 60 calls hardly ever draw the same seed twice"
    call.compare("the number of different results", different, torch.tensor([60]), because=because)


@FEW
@given(st.sampled_from(SHARES), SEEDS)
def test_dropout_drops_the_gradients_of_what_it_drops(p: float, seed: int) -> None:
    torch.manual_seed(seed)
    x, dout = normal((7, 30), seed), normal((7, 30), seed + 1)
    call = host_call(of_module, "Dropout", {"p": p}, dout, x, of_kernels=2)
    result, dx = call()
    factor = torch.where(result == 0, 0.0, 1 / (1 - p or 1))
    compare(call, (x * factor, dout * factor), ["x"], 1, f"kept elements are divided by 1 - {p}", (result, dx))


def dropout_in_evaluation(p: float, x: Any) -> Any:
    return modules().Dropout(p).eval()(x)


@pytest.mark.parametrize("p", SHARES)
def test_dropout_in_evaluation_drops_nothing(p: float) -> None:
    x = normal((7, 30), 0)
    call = host_call(dropout_in_evaluation, p, x, of_kernels=0)
    result = calling.__call__(call)  # this call need not launch a kernel
    call.compare("the result", result, x, because="`self.training` is False after `.eval()`")


@FEW
@given(st.integers(1, 4), st.sampled_from([8, 17, 64]), SEEDS, st.sampled_from([1e-5, 0.3]), layouts, layouts)
@example(2, 17, 0, 0.3, "contiguous", "contiguous")
def test_layer_norm_module(rows: int, size: int, seed: int, eps: float, of_x: str, of_gradient: str) -> None:
    options = {"size": size, "eps": eps}
    parameters = parameters_of("LayerNorm", options, seed)
    x, dout = (
        laid_out(normal((2, rows, size), seed + 8), of_x),
        laid_out(normal((2, rows, size), seed + 9), of_gradient),
    )
    call = host_call(of_module, "LayerNorm", options, dout, x, *parameters.values(), of_kernels=2)
    compare(call, expected_of(layer_norm(eps), dout, x, *parameters.values()), ["x", *parameters], 8)


def later(length: int) -> Any:
    """A mask that is True for keys after a query."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


@FEW
@given(st.integers(1, 3), st.sampled_from([1, 2, 17, 33]), st.integers(1, 3), st.booleans(), SEEDS, layouts, layouts)
@example(2, 17, 2, True, 0, "contiguous", "expanded")
@example(2, 17, 3, False, 0, "transposed", "contiguous")
def test_self_attention(
    batch: int, length: int, heads: int, causal: bool, seed: int, of_x: str, of_gradient: str
) -> None:
    size = 16 * heads
    options = {"size": size, "heads": heads, "causal": causal}
    parameters = parameters_of("SelfAttention", options, seed)
    x, dout = (normal((batch, length, size), seed + place) for place in (8, 9))
    x, dout = laid_out(x, of_x), laid_out(dout, of_gradient)
    own = torch.nn.MultiheadAttention(size, heads, batch_first=True, dtype=torch.float64)
    names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    others = {"need_weights": False, "attn_mask": later(length) if causal else None}

    def twin(x: Any, *values: Any) -> Any:
        return torch.func.functional_call(own, dict(zip(names, values, strict=True)), (x, x, x), others)[0]

    call = host_call(of_module, "SelfAttention", options, dout, x, *parameters.values(), besides=LINEAR, of_kernels=2)
    compare(call, expected_of(twin, dout, x, *parameters.values()), ["x", *parameters], 20)


def block(size: int, heads: int, length: int) -> Callable[..., Any]:
    """A transformer block of PyTorch's own layers, with different parameter names."""
    own = torch.nn.TransformerEncoderLayer(
        size, heads, 4 * size, 0.0, "gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    names = [
        f"{part}{kind}"
        for part in ("norm1.", "self_attn.in_proj_", "self_attn.out_proj.", "norm2.", "linear1.", "linear2.")
        for kind in ("weight", "bias")
    ]

    def call(x: Any, *values: Any) -> Any:
        return torch.func.functional_call(own, dict(zip(names, values, strict=True)), (x, later(length)))

    return call


SIZES = [(False, 2, 2, 1), (False, 1, 17, 2), (False, 1, 70, 1), (True, 1, 19, 2)]


@pytest.mark.parametrize(("real", "batch", "length", "heads"), SIZES)
def test_a_transformer_block_has_the_gradients_of_torchs_own(
    device: str, real: bool, batch: int, length: int, heads: int
) -> None:
    options = {"size": 16 * heads, "heads": heads, "p": 0.0}
    parameters = parameters_of("TransformerBlock", options, 0)
    x, dout = (normal((batch, length, 16 * heads), seed) for seed in (98, 99))
    ask = partial(triton_call, device) if real else host_call
    call = ask(of_module, "TransformerBlock", options, dout, x, *parameters.values(), **ALLOWED)
    own = block(16 * heads, heads, length)
    compare(call, expected_of(own, dout, x, *parameters.values()), ["x", *parameters], 40)
