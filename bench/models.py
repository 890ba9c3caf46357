"""Whole models in plain PyTorch, as deep as the real ones, with as many kernels to compile."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from tests.support.m12_fusion.programs import ResBlock


class Residual(nn.Module):
    """`x + f(x)`, if the shapes agree."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if x.shape == y.shape else y


class Dense(nn.Module):
    """`x` and what layers make of it, side by side."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, self.layers(x)], 1)


class Attention(nn.Module):
    """Heads of 64 elements. Keys and values may have fewer heads than queries; positions may be rotations."""

    def __init__(self, width: int, groups: int = 1, is_causal: bool = True, rotates: bool = False) -> None:
        super().__init__()
        self.heads, self.few = width // 64, width // 64 // groups
        self.is_causal, self.rotates = is_causal, rotates
        self.qkv = nn.Linear(width, (self.heads + 2 * self.few) * 64, bias=not rotates)
        self.out = nn.Linear(width, width, bias=not rotates)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sizes = [self.heads, self.few, self.few]
        q, k, v = self.qkv(x).unflatten(-1, (-1, 64)).transpose(1, 2).split(sizes, 1)
        if self.rotates:
            q, k = rotate(q), rotate(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal, enable_gqa=self.few != self.heads)
        return self.out(y.transpose(1, 2).flatten(2))


def rotate(x: torch.Tensor) -> torch.Tensor:
    places = torch.arange(x.shape[-2], device=x.device)[:, None]
    angles = places * 10000.0 ** (-torch.arange(0, 64, 2, device=x.device) / 64)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class SwiGLU(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Language(nn.Module):
    """Words in, the loss of the next word out."""

    def __init__(self, words: int, width: int, positions: int, *layers: nn.Module) -> None:
        super().__init__()
        self.words, self.layers = nn.Embedding(words, width), nn.Sequential(*layers)
        self.positions = nn.Embedding(positions, width) if positions else None
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.words(x)
        if self.positions is not None:
            h = h + self.positions(torch.arange(x.shape[1], device=x.device))
        logits = self.head(self.layers(h))[:, :-1]
        return F.cross_entropy(logits.flatten(0, 1).float(), x[:, 1:].flatten())


class Picture(nn.Module):
    """Pictures in, the loss of a class out."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.layers(x).float(), torch.arange(x.shape[0], device=x.device))


class Tokens(nn.Module):
    """Patches of a picture as a row of tokens."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.places = nn.Parameter(torch.zeros((size // 16) ** 2, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.patches(x).flatten(2).transpose(1, 2) + self.places


class Mean(nn.Module):
    """The mean of all tokens."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(1)


class ChannelsLast(nn.Module):
    """Layers that see the channels last."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def gpt2(size: int, depth: int = 12, width: int = 768) -> tuple[nn.Module, torch.Tensor]:
    layers = [
        Residual(*part)
        for _ in range(depth)
        for part in (
            (nn.LayerNorm(width), Attention(width)),
            (nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)),
        )
    ]
    return Language(50304, width, size, *layers, nn.LayerNorm(width)), torch.randint(0, 50304, (1, size))


def llama(size: int, depth: int = 8, width: int = 1024) -> tuple[nn.Module, torch.Tensor]:
    layers = [
        Residual(nn.RMSNorm(width, 1e-5), part)
        for _ in range(depth)
        for part in (Attention(width, 4, rotates=True), SwiGLU(width, 2816))
    ]
    return Language(32000, width, 0, *layers, nn.RMSNorm(width, 1e-5)), torch.randint(0, 32000, (1, size))


def vit(size: int, depth: int = 12, width: int = 768) -> tuple[nn.Module, torch.Tensor]:
    layers = [
        Residual(*part)
        for _ in range(depth)
        for part in (
            (nn.LayerNorm(width), Attention(width, is_causal=False)),
            (nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)),
        )
    ]
    return Picture(Tokens(width, size), *layers, nn.LayerNorm(width), Mean(), nn.Linear(width, 1000)), pictures(size)


def pictures(size: int) -> torch.Tensor:
    return torch.randn(2, 3, size, size)


def convolve(c: int, d: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution and a batch norm."""
    return [nn.Conv2d(c, d, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(d)]


def resnet(size: int) -> tuple[nn.Module, torch.Tensor]:
    layers = [*convolve(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for number, c in enumerate((64, 128, 256, 512)):
        if number:
            layers += [*convolve(c // 2, c, 3, 2), nn.ReLU()]
        layers += [ResBlock(c), ResBlock(c)]
    return Picture(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)), pictures(size)


def mobilenet(size: int) -> tuple[nn.Module, torch.Tensor]:
    """MobileNetV2: seventeen inverted residuals."""
    layers, c = [*convolve(3, 32, 3, 2), nn.ReLU6()], 32
    for t, d, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2)):
        for number in range(n):
            wide = [*convolve(c, t * c, 1), nn.ReLU6()] if t > 1 else []
            deep = convolve(t * c, t * c, 3, s if number == 0 else 1, t * c)
            layers.append(Residual(*wide, *deep, nn.ReLU6(), *convolve(t * c, d, 1)))
            c = d
    layers += [*convolve(c, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return Picture(*layers, nn.Linear(1280, 1000)), pictures(size)


def densenet(size: int) -> tuple[nn.Module, torch.Tensor]:
    """DenseNet-121."""
    layers, c = [*convolve(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for number, n in enumerate((6, 12, 24, 16)):
        if number:
            layers += [nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c // 2, 1, bias=False), nn.AvgPool2d(2)]
            c //= 2
        for _ in range(n):
            last = nn.Conv2d(128, 32, 3, padding=1, bias=False)
            layers.append(Dense(nn.BatchNorm2d(c), nn.ReLU(), *convolve(c, 128, 1), nn.ReLU(), last))
            c += 32
    layers += [nn.BatchNorm2d(c), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 1000)]
    return Picture(*layers), pictures(size)


def convnext(size: int) -> tuple[nn.Module, torch.Tensor]:
    """ConvNeXt-T without its scales."""
    layers: list[nn.Module] = [nn.Conv2d(3, 96, 4, 4), ChannelsLast(nn.LayerNorm(96))]
    for c, n in ((96, 3), (192, 3), (384, 9), (768, 3)):
        if c > 96:
            layers += [ChannelsLast(nn.LayerNorm(c // 2)), nn.Conv2d(c // 2, c, 2, 2)]
        for _ in range(n):
            inner = [nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c)]
            layers.append(Residual(nn.Conv2d(c, c, 7, padding=3, groups=c), ChannelsLast(*inner)))
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(768), nn.Linear(768, 1000)]
    return Picture(*layers), pictures(size)


MODELS: dict[str, tuple[Callable[[int], tuple[nn.Module, torch.Tensor]], int]] = {
    "GPT-2": (gpt2, 1024),
    "llama": (llama, 1024),
    "ViT": (vit, 224),
    "ResNet-18": (resnet, 224),
    "MobileNet": (mobilenet, 224),
    "DenseNet": (densenet, 224),
    "ConvNeXt": (convnext, 224),
}
"""Functions that make a model and its input, and a size: the number of words, or of pixels along an edge."""
SMALL, BATCH = 64, {"GPT-2": 8, "llama": 8}
"""The size on a CPU, and the batch on a GPU where it is not 64."""


def make(name: str, gpu: bool) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input; on a GPU, of a real size and in bf16."""
    function, size = MODELS[name]
    model, x = function(size if gpu else SMALL)
    if not gpu:
        return model, x
    shape = BATCH.get(name, 64), *x.shape[1:]
    model.to("cuda", torch.bfloat16)
    if x.is_floating_point():
        return model, torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    return model, torch.randint(0, 32000, shape, device="cuda")
