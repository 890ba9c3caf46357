"""Convolutions in channels last. Not graded."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from mini_triton.fusion import channels_last  # noqa: E402
from mini_triton.fusion.backend import mini_triton, programs  # noqa: E402
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402

CHANNELS, SIZE = 6, 5
SAME = {"kernel_size": 3, "padding": 1}


class Sum(nn.Sequential):
    def forward(self, x: Any) -> Any:
        return x + super().forward(x)


class Swap(nn.Module):
    """No strides describe this view of a tensor in channels last."""

    def forward(self, x: Any) -> Any:
        return x.view(x.shape[0], x.shape[1] // 2, 2 * x.shape[2], x.shape[3])


MODELS = {
    "convolution": [nn.Conv2d(CHANNELS, 4, 3)],
    "chain": [nn.Conv2d(CHANNELS, 8, **SAME, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 3, **SAME)],
    "residual": [Sum(nn.Conv2d(CHANNELS, 16, 1), nn.GELU(), nn.Conv2d(16, CHANNELS, **SAME)), nn.MaxPool2d(2)],
    "depthwise": [nn.Conv2d(CHANNELS, CHANNELS, **SAME, groups=CHANNELS), nn.Hardtanh(), nn.Conv2d(CHANNELS, 4, 1)],
    "view": [nn.Conv2d(CHANNELS, 8, **SAME), Swap(), nn.Conv2d(4, 4, **SAME)],
    "head": [nn.Conv2d(CHANNELS, 8, **SAME), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)],
    "flat": [nn.Conv2d(CHANNELS, 8, **SAME), nn.Flatten(), nn.Linear(8 * SIZE * SIZE, 3)],
}


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On CPUs, too."""
    torch._dynamo.reset()
    monkeypatch.setenv("MINI_TRITON_CACHE_PROGRAMS", "0")
    monkeypatch.setattr(channels_last, "is_worthwhile", lambda graph: True)
    yield
    torch._dynamo.reset()


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("training", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("name", MODELS)
def test_results_gradients_and_their_layouts_are_those_of_pytorch(name: str, training: bool) -> None:
    torch.manual_seed(0)
    eager = nn.Sequential(*copy.deepcopy(MODELS[name])).double().train(training)
    ours, inputs = copy.deepcopy(eager), [torch.randn(2, CHANNELS, SIZE, SIZE, dtype=torch.float64) for _ in range(2)]
    inputs[1] = inputs[0].clone()
    results = []
    for model, function, x in zip(
        (eager, ours), (eager, torch.compile(ours, backend=mini_triton)), inputs, strict=True
    ):
        if not training:
            with torch.no_grad():
                results.append([function(x)])
            continue
        y = function(x.requires_grad_())
        y.sin().sum().backward()
        results.append([y, x.grad, *(p.grad for p in model.parameters())])
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)
        assert found.stride() == expected.stride()


@pytest.mark.usefixtures("everywhere")
def test_an_activation_is_copied_once() -> None:
    model = nn.Sequential(*copy.deepcopy(MODELS["chain"])).eval()
    with torch.no_grad():
        torch.compile(model, backend=mini_triton)(torch.randn(2, CHANNELS, SIZE, SIZE))
    strides = [tensor.strides for group in programs[-1].groups for tensor in group.stored if tensor.shape[0] == 2]
    assert all(s[1] == 1 for s in strides[:-1]), "between the first copy and the result, channels are innermost"


def graph_of(*weights: Any, groups: int = 1) -> Any:
    """A graph of convolutions with these weights."""
    graph: Any = torch.fx.Graph()
    x = graph.placeholder("x")
    for weight in weights:
        node = graph.placeholder("w")
        node.meta["val"] = weight
        arguments = (x, node, None, [1], [0], [1], False, [0], groups)
        graph.call_function(torch.ops.aten.convolution.default, arguments)
    return graph


def weight(*shape: int, dtype: Any = torch.bfloat16, device: str = "cuda") -> FakeTensor:
    with FakeTensorMode() as mode:
        return FakeTensor(mode, torch.empty(shape, dtype=dtype, device="meta"), torch.device(device))


def test_where_it_is_worthwhile() -> None:
    dense, deep = weight(8, 8, 3, 3), weight(8, 1, 3, 3)
    assert channels_last.is_worthwhile(graph_of(dense))
    assert channels_last.is_worthwhile(graph_of(deep, groups=8))
    for other in (
        graph_of(),
        graph_of(weight(8, 8, 3, 3, device="cpu")),
        graph_of(weight(8, 8, 3, 3, dtype=torch.float32)),
        graph_of(weight(8, 8, 3)),
        graph_of(dense, weight(8, 2, 3, 3), groups=4),
    ):
        assert not channels_last.is_worthwhile(other)
