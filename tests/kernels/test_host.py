"""The host's side of the kernels: what it refuses, and in which words; what it takes; and how wrappers are watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernels.conv2d import conv2d
from kernels.dropout import dropout
from kernels.flash_attention import attention, attention_backward
from kernels.layer_norm import layer_norm, layer_norm_backward
from kernels.matmul import matmul
from kernels.softmax import softmax
from kernels.vector_add import add

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call


def r(*shape: int) -> Any:
    """Random numbers."""
    return torch.randn(shape)


def n(*shape: int) -> np.ndarray:
    """Zeros of NumPy."""
    return np.zeros(shape, np.float32)


def ones(*shape: int, dtype: str) -> Any:
    return torch.ones(shape, dtype=getattr(torch, dtype))


def norm_backward(**others: Any) -> Any:
    """A call of `layer_norm_backward` in which all but `others` is right."""
    arrays = {"dy": r(3, 4), "x": r(3, 4), "weight": r(4), "mean": r(3), "rstd": r(3)}
    return layer_norm_backward(**arrays | others)


def attend_backward(**others: Any) -> Any:
    """A call of `attention_backward` in which all but `others` is right."""
    arrays = {name: r(1, 2, 3, 16) for name in ("dout", "q", "k", "v", "out")}
    return attention_backward(**arrays | {"logsumexp": r(1, 2, 3)} | others)


def convolve(**others: Any) -> Any:
    """A call of `conv2d` in which all but `others` is right."""
    return conv2d(**{"x": r(1, 4, 5, 5), "w": r(6, 4, 3, 3)} | others)


REFUSED: dict[str, tuple[type[Exception], str]] = {  # by what is called
    "add([1.0], r(1))": (TypeError, "x must be a torch tensor or a NumPy array, not list"),
    "add(r(3), r(4))": (ValueError, "x is a float32 Tensor of shape (3,), y is a float32 Tensor of"),
    "add(r(3), r(3).half())": (TypeError, "y is a float16 Tensor of shape (3,), x is a float32 T"),
    "add(r(3) > 0, r(3) > 0)": (TypeError, "but is a bool Tensor of shape (3,)"),
    "add(r(3), n(3))": (TypeError, "use one library for all"),
    'add(r(3), r(3).to("meta"))': (ValueError, "y is on meta, x on cpu: they must be on one"),
    'add(*[r(3).to("meta")] * 2)': (ValueError, "which is on meta: kernels run on the CPU"),
    "add(r(3), r(3), block=0)": (ValueError, "block must be at least 1, not 0"),
    "softmax(r(3))": (ValueError, "x must have 2 dimensions, but is a float32 Tensor of shape"),
    'softmax(ones(3, 4, dtype="int32"))': (TypeError, "or float32 or float64, but is a int32"),
    "softmax(r(3, 4).T)": (ValueError, "must be next to each other, but are 4 apart"),
    "matmul(r(3, 4), r(3, 4))": (ValueError, "a must have as many columns as b has rows"),
    "matmul(*[r(4, 4).double()] * 2)": (TypeError, "a must hold float16 or bfloat16 or float32 or"),
    'matmul(r(3, 4), r(4, 4), "gelu")': (ValueError, "'relu', 'leaky_relu', not 'gelu'"),
    'matmul(a=ones(4, 4, dtype="int8"), b=ones(4, 4, dtype="int8"), activation="relu")': (TypeError, "r floats, but a"),
    'matmul(r(3, 4), r(4, 4), tiles={"BLOCKM": 16})': (TypeError, "has no parameter BLOCKM"),
    "dropout(r(3), 1.5, 0)": (ValueError, "p must be a probability, from 0 to 1, not 1.5"),
    "dropout(r(3), 0.5, 0.5)": (TypeError, "seed must be an integer, not 0.5"),
    "layer_norm(r(3, 4).T, r(3), r(3))": (ValueError, "with strides (1, 4)"),
    "layer_norm(r(3, 4), r(3), r(4))": (ValueError, "weight is a float32 Tensor of shape (3,)"),
    "layer_norm(r(3, 4), r(4), r(4).half())": (TypeError, "bias is a float16 Tensor of shape"),
    "layer_norm(r(1, 70000), *[r(70000)] * 2)": (ValueError, "must fit one block of 65536"),
    "norm_backward(dy=r(4, 4))": (ValueError, "dy is a float32 Tensor of shape (4, 4), x is"),
    "norm_backward(weight=r(5))": (ValueError, "it must have an element for each column"),
    "norm_backward(mean=r(2))": (ValueError, "mean must have the shape (3,)"),
    "norm_backward(rstd=r(6)[::2])": (ValueError, "rstd must be contiguous"),
    "attention(*[r(1, 2, 3, 20)] * 3)": (ValueError, "must be one of (16, 32, 64, 128, 256), but q"),
    "attention(*[r(1, 3, 2, 16).transpose(1, 2)] * 3)": (ValueError, "with strides (96, "),
    "attention(r(1, 2, 3, 16), *[r(1, 2, 4, 16)] * 2)": (ValueError, "k is a float32 Tensor of"),
    "attend_backward(dout=r(1, 2, 4, 16))": (ValueError, "dout is a float32 Tensor of shape (1, 2"),
    "attend_backward(logsumexp=r(1, 2, 4))": (ValueError, "logsumexp must have the shape (1, "),
    "convolve(w=r(6, 3, 3, 3))": (ValueError, "each filter must have 4 channels"),
    "convolve(groups=3)": (ValueError, "3 groups must divide the 4 channels of x and the 6 filters"),
    "convolve(w=r(6, 4, 6, 3))": (ValueError, "filters of 6 by 3 do not fit x, a float32 Tensor of"),
    "convolve(stride=0)": (ValueError, "stride must be at least 1, not 0"),
    "convolve(padding=-1)": (ValueError, "padding must be at least 0, not -1"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_wrong_is_said(call: str) -> None:
    error, words = REFUSED[call]
    with pytest.raises(error) as raised:
        eval(call)
    assert words in str(raised.value)


TAKEN: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "add": (add, ((3, 5), (3, 5)), {}),
    "softmax": (softmax, ((3, 5),), {}),
    "matmul": (matmul, ((3, 5), (5, 4)), {}),
    "dropout": (dropout, ((3, 5),), {"p": 0.5, "seed": 3}),
    "layer_norm": (layer_norm, ((3, 5), (5,), (5,)), {}),
    "layer_norm_backward": (layer_norm_backward, ((3, 5), (3, 5), (5,), (3,), (3,)), {}),
    "attention": (attention, ((1, 2, 3, 16),) * 3, {"causal": True}),
    "attention_backward": (attention_backward, (*((1, 2, 3, 16),) * 5, (1, 2, 3)), {}),
    "conv2d": (conv2d, ((1, 4, 5, 5), (6, 4, 3, 3)), {"padding": 1}),
    "conv2d, direct": (conv2d, ((1, 4, 5, 5), (6, 4, 3, 3)), {"direct": True}),
}


@pytest.mark.parametrize("name", TAKEN)
def test_numpy_and_torch_give_the_same(name: str) -> None:
    function, shapes, options = TAKEN[name]
    tensors = [r(*shape) for shape in shapes]
    of_torch, of_numpy = function(*tensors, **options), function(*(x.numpy() for x in tensors), **options)
    if not isinstance(of_torch, tuple):
        of_torch, of_numpy = (of_torch,), (of_numpy,)
    for x, y in zip(of_torch, of_numpy, strict=True):
        assert isinstance(x, torch.Tensor) and isinstance(y, np.ndarray)
        np.testing.assert_array_equal(x.numpy(), y, strict=True)


EMPTY: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "add": (add, ((0, 3), (0, 3)), (0, 3)),
    "softmax: rows": (softmax, ((0, 5),), (0, 5)),
    "softmax: columns": (softmax, ((5, 0),), (5, 0)),
    "matmul: M": (matmul, ((0, 5), (5, 4)), (0, 4)),
    "matmul: N": (matmul, ((3, 5), (5, 0)), (3, 0)),
    "matmul: K": (matmul, ((3, 0), (0, 4)), (3, 4)),
    "layer_norm": (layer_norm, ((0, 5), (5,), (5,)), (0, 5)),
    "layer_norm_backward": (layer_norm_backward, ((0, 5), (0, 5), (5,), (0,), (0,)), (0, 5)),
    "attention: batch": (attention, ((0, 2, 3, 16),) * 3, (0, 2, 3, 16)),
    "attention: length": (attention, ((1, 2, 0, 16),) * 3, (1, 2, 0, 16)),
    "attention_backward": (attention_backward, (*((1, 2, 0, 16),) * 5, (1, 2, 0)), (1, 2, 0, 16)),
    "conv2d: images": (conv2d, ((0, 4, 5, 5), (6, 4, 3, 3)), (0, 6, 3, 3)),
    "conv2d: channels": (conv2d, ((1, 0, 5, 5), (6, 0, 3, 3)), (1, 6, 3, 3)),
    "conv2d: filters": (conv2d, ((1, 4, 5, 5), (0, 4, 3, 3)), (1, 0, 3, 3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_arrays_without_elements(name: str) -> None:
    function, shapes, expected = EMPTY[name]
    results = function(*(r(*shape) for shape in shapes))
    first, *others = results if isinstance(results, tuple) else (results,)
    assert first.shape == expected
    assert not first.any()  # the sum of nothing is 0
    if name == "layer_norm_backward":
        assert not any(gradient.any() for gradient in others)


@pytest.mark.parametrize("name", ["DropoutFunction", "LayerNormFunction", "AttentionFunction"])
def test_gradients_have_no_gradients(name: str) -> None:
    from kernels import modules

    x = r(1, 1, 4, 16).requires_grad_()
    others = {"DropoutFunction": (0.5, 1), "LayerNormFunction": (r(16), r(16), 1e-5), "AttentionFunction": (x, x, True)}
    result = getattr(modules, name).apply(x, *others[name])
    (gradient,) = torch.autograd.grad(result.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        gradient.sum().backward()


def softmax_by_torch(x: Any) -> Any:
    return torch.softmax(x, 1)


def softmax_beside_a_kernel(x: Any) -> Any:
    softmax(x)
    return torch.softmax(x, 1)


def softmax_by_numpy(x: Any) -> Any:
    powers = np.exp(x.numpy())
    return torch.from_numpy(powers / powers.sum(1, keepdims=True))


def softmax_by_numpy_beside_a_kernel(x: Any) -> Any:
    softmax(x)
    return softmax_by_numpy(x)


def softmax_in_place(x: Any) -> Any:
    return x.copy_(softmax(x))


CHEATS: dict[Callable[..., Any], str] = {
    softmax_by_torch: "a result for which torch's _softmax worked",
    softmax_beside_a_kernel: "a result for which torch's _softmax worked",
    softmax_by_numpy: "a result, but no kernel was launched",
    softmax_by_numpy_beside_a_kernel: "a result in which 15 of 15 elements were computed elsewhere",
    softmax_in_place: "another value of",
}


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.__name__)
def test_work_that_kernels_should_do_is_noticed(cheat: Callable[..., Any]) -> None:
    x = r(3, 5)
    expected = torch.softmax(x, 1)
    with pytest.raises(AssertionError) as raised:
        host_call(cheat, x).gives(expected, 1e-6)
    assert f"got       {CHEATS[cheat]}" in str(raised.value)
