"""The host's side of the kernels: what it refuses, and in which words; what it takes; and how wrappers are watched."""

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
from tests.support.m08_kernels.host_calls import host_call, results_of


def r(*shape: int) -> Any:
    """Random numbers."""
    return torch.randn(shape)


REFUSED: dict[str, tuple[type[Exception], str]] = {  # by what is called
    "add([1.0], r(1))": (TypeError, "x must be a torch tensor or a NumPy array, not list"),
    "add(r(3), r(4))": (ValueError, "x is a float32 Tensor of shape (3,) and y is a float32 Tensor of"),
    "add(r(3), r(3).half())": (TypeError, "y is a float16 Tensor of shape (3,) and x is a float32 T"),
    "add(r(3) > 0, r(3) > 0)": (TypeError, "but is a bool Tensor of shape (3,)"),
    "add(r(3), np.zeros(3, 'f'))": (TypeError, "both must belong to one library"),
    'add(r(3), r(3).to("meta"))': (ValueError, "y is on meta and x is on cpu: they must be on one"),
    'add(*[r(3).to("meta")] * 2)': (ValueError, "which is on meta: tensors there have no data"),
    "add(r(3), r(3), block=0)": (ValueError, "block must be at least 1, not 0"),
    "softmax(r(3))": (ValueError, "x must have 2 dimensions, but is a float32 Tensor of shape"),
    "softmax(r(3, 4).T)": (ValueError, "must be next to each other, but are 4 apart"),
    "matmul(r(3, 4), r(3, 4))": (ValueError, "a must have as many columns as b has rows"),
    'matmul(r(3, 4), r(4, 4), "gelu")': (ValueError, "'relu', 'leaky_relu', not 'gelu'"),
    'matmul(r(3, 4), r(4, 4), tiles={"BLOCKM": 16})': (TypeError, "has no parameter or option BLOCKM"),
    "dropout(r(3), 1.5, 0)": (ValueError, "p must be a probability, from 0 to 1, not 1.5"),
    "dropout(r(3), 0.5, 0.5)": (TypeError, "seed must be an integer, not 0.5"),
    "layer_norm(r(3, 4).T, r(3), r(3))": (ValueError, "with strides (1, 4)"),
    "layer_norm(r(3, 4), r(3), r(4))": (ValueError, "weight is a float32 Tensor of shape (3,)"),
    "layer_norm(r(1, 70000), *[r(70000)] * 2)": (ValueError, "must have 1 to 65536 elements"),
    "layer_norm_backward(r(3, 4), r(3, 4), r(4), r(2), r(3))": (ValueError, "mean must have the shape (3,)"),
    "attention(*[r(1, 2, 3, 20)] * 3)": (ValueError, "must be one of (16, 32, 64, 128, 256), but q"),
    "attention(r(1, 2, 3, 16), *[r(1, 2, 4, 16)] * 2)": (ValueError, "k is a float32 Tensor of"),
    "attention_backward(*[r(1, 2, 3, 16)] * 5, r(1, 2, 4))": (ValueError, "logsumexp must have the shape (1, "),
    "conv2d(r(1, 4, 5, 5), r(6, 3, 3, 3))": (ValueError, "each filter must have 4 channels"),
    "conv2d(r(1, 4, 5, 5), r(6, 4, 3, 3), groups=3)": (ValueError, "3 groups must divide the 4 channels of x and"),
    "conv2d(r(1, 4, 5, 5), r(6, 4, 6, 3))": (ValueError, "filters of 6 by 3 do not fit x, a float32 Tensor of"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_wrong_is_said(call: str) -> None:
    error, words = REFUSED[call]
    with pytest.raises(error) as raised:
        eval(call)
    assert words in str(raised.value)


Shapes = tuple[tuple[int, ...], ...]
TAKEN: list[tuple[Callable[..., Any], Shapes, dict[str, Any]]] = [
    (add, ((3, 5), (3, 5)), {}),
    (softmax, ((3, 5),), {}),
    (matmul, ((3, 5), (5, 4)), {}),
    (dropout, ((3, 5),), {"p": 0.5, "seed": 3}),
    (layer_norm, ((3, 5), (5,), (5,)), {}),
    (layer_norm_backward, ((3, 5), (3, 5), (5,), (3,), (3,)), {}),
    (attention, ((1, 2, 3, 16),) * 3, {"causal": True}),
    (attention_backward, (*((1, 2, 3, 16),) * 5, (1, 2, 3)), {}),
    (conv2d, ((1, 4, 5, 5), (6, 4, 3, 3)), {"padding": 1}),
    (conv2d, ((1, 4, 5, 5), (6, 4, 3, 3)), {"direct": True}),
]


@pytest.mark.parametrize(("function", "shapes", "options"), TAKEN)
def test_numpy_and_torch_give_the_same(function: Any, shapes: Shapes, options: dict[str, Any]) -> None:
    tensors = [r(*shape) for shape in shapes]
    of_torch, of_numpy = function(*tensors, **options), function(*(x.numpy() for x in tensors), **options)
    if not isinstance(of_torch, tuple):
        of_torch, of_numpy = (of_torch,), (of_numpy,)
    for x, y in zip(of_torch, of_numpy, strict=True):
        assert isinstance(x, torch.Tensor) and isinstance(y, np.ndarray)
        np.testing.assert_array_equal(x.numpy(), y, strict=True)


ON_THREADS: list[tuple[Callable[..., Any], Shapes, dict[str, Any]]] = [
    (add, ((3, 1001), (3, 1001)), {}),
    (softmax, ((5, 781),), {}),
    (matmul, ((130, 70), (70, 90)), {"activation": "leaky_relu"}),
    (dropout, ((3, 1001),), {"p": 0.5, "seed": 3}),
    (layer_norm, ((5, 300), (300,), (300,)), {}),
    (layer_norm_backward, ((5, 300), (5, 300), (300,), (5,), (5,)), {}),
    (attention, ((1, 2, 130, 64),) * 3, {"causal": True}),
    (attention, ((1, 1, 130, 128),) * 3, {}),
    (attention_backward, (*((1, 1, 70, 64),) * 5, (1, 1, 70)), {"causal": True}),
    (conv2d, ((2, 4, 9, 9), (6, 4, 3, 3)), {"padding": 1}),
    (conv2d, ((2, 4, 9, 9), (6, 4, 3, 3)), {"direct": True}),
]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("function", "shapes", "options"), ON_THREADS)
def test_threads_give_what_numpy_gives(
    monkeypatch: pytest.MonkeyPatch, device: str, function: Any, shapes: Shapes, options: dict[str, Any], dtype: str
) -> None:
    """The kernels without real Triton: our own PTX, run by the emulator or by a GPU."""
    tensors = [r(*shape) / 4 for shape in shapes]
    many = len(tensors) - {layer_norm_backward: 2, attention_backward: 1}.get(function, 0)  # statistics stay in fp32
    tensors[:many] = [x.to(getattr(torch, dtype)) for x in tensors[:many]]
    by_numpy = results_of(function(*tensors, **options))
    monkeypatch.setenv("MINI_TRITON_BACKEND", "ptx")
    by_threads = results_of(function(*(x.to(device) for x in tensors), **options))
    # Sums of at most 781 terms in two orders; in fp16, operands of a second product that round up or down.
    limit = {"float32": 781 * 2.0**-23, "float16": 4 * 2.0**-10}[dtype]
    for x, y in zip(by_numpy, by_threads, strict=True):
        assert y.device.type == device
        torch.testing.assert_close(y.cpu(), x, rtol=limit, atol=limit)


EMPTY: list[tuple[Callable[..., Any], Shapes, tuple[int, ...]]] = [
    (add, ((0, 3), (0, 3)), (0, 3)),
    (softmax, ((0, 5),), (0, 5)),
    (softmax, ((5, 0),), (5, 0)),
    (matmul, ((0, 5), (5, 4)), (0, 4)),
    (matmul, ((3, 5), (5, 0)), (3, 0)),
    (layer_norm, ((0, 5), (5,), (5,)), (0, 5)),
    (attention, ((0, 2, 3, 16),) * 3, (0, 2, 3, 16)),
    (attention, ((1, 2, 0, 16),) * 3, (1, 2, 0, 16)),
    (attention_backward, (*((1, 2, 0, 16),) * 5, (1, 2, 0)), (1, 2, 0, 16)),
    (conv2d, ((0, 4, 5, 5), (6, 4, 3, 3)), (0, 6, 3, 3)),
    (conv2d, ((1, 0, 5, 5), (6, 0, 3, 3)), (1, 6, 3, 3)),
    (conv2d, ((1, 4, 5, 5), (0, 4, 3, 3)), (1, 0, 3, 3)),
]


@pytest.mark.parametrize(("function", "shapes", "expected"), EMPTY)
def test_arrays_without_elements(function: Any, shapes: Shapes, expected: tuple[int, ...]) -> None:
    results = function(*(r(*shape) for shape in shapes))
    first = results[0] if isinstance(results, tuple) else results
    assert first.shape == expected
    assert not first.any()  # the sum of nothing is 0


@pytest.mark.parametrize("name", ["DropoutFunction", "LayerNormFunction", "AttentionFunction"])
def test_gradients_have_no_gradients(name: str) -> None:
    from kernels import modules

    x = r(1, 1, 4, 16).requires_grad_()
    others = {"DropoutFunction": (0.5, 1), "LayerNormFunction": (r(16), r(16), 1e-5), "AttentionFunction": (x, x, True)}
    result = getattr(modules, name).apply(x, *others[name])
    (gradient,) = torch.autograd.grad(result.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        gradient.sum().backward()


def softmax_by_numpy(x: Any) -> Any:
    powers = np.exp(x.numpy())
    return torch.from_numpy(powers / powers.sum(1, keepdims=True))


@pytest.mark.parametrize(
    ("cheat", "words"),
    [
        (lambda x: (softmax(x), torch.softmax(x, 1))[1], "a result that torch's _softmax computed"),
        (softmax_by_numpy, "a result, but no kernel was launched"),
        (lambda x: (softmax(x), softmax_by_numpy(x))[1], "a result in which 15 of 15 elements were computed elsewhere"),
        (lambda x: x.copy_(softmax(x)), "a changed argument"),
    ],
)
def test_work_that_kernels_should_do_is_noticed(cheat: Callable[..., Any], words: str) -> None:
    x = r(3, 5)
    with pytest.raises(AssertionError) as raised:
        host_call(cheat, x).gives(torch.softmax(x, 1), 1e-6)
    assert f"got       {words}" in str(raised.value)
