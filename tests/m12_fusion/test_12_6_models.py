"""Task 12.6: small models, trained for 20 steps beside eager, with as few kernels as Inductor has."""

import copy
from collections.abc import Callable

import pytest
import torch
from mini_triton.fusion import backend
from torch import nn

from tests.checks import described
from tests.support.m12_fusion.programs import GPTBlock, ResBlock
from tests.support.m12_fusion.training import STEPS, follow, losses


class Language(nn.Module):
    """A GPT with one block: tokens in, scores of the next token out."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 32), nn.Embedding(16, 32)
        self.block, self.norm, self.head = GPTBlock(), nn.LayerNorm(32), nn.Linear(32, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.block(self.tokens(tokens) + self.places(places))))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 10))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), ResBlock(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)
    )


MODELS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "MLP": (mlp, 10),
    "GPT": (Language, 52),
    "ResNet": (convolutional, 36),
}
"""A model's constructor, and the number of Inductor's kernels and calls (PyTorch 2.13) in both passes."""


@pytest.mark.parametrize("name", MODELS)
def test_twenty_steps_beside_eager(name: str, device: str) -> None:
    make, most = MODELS[name]
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = make().to(device)
    wide, fast = copy.deepcopy(model).double(), copy.deepcopy(model)
    before = len(backend.programs)
    compiled = torch.compile(fast, backend=backend.mini_triton)
    call = described(f"the losses of {STEPS} steps of a small {name}, compiled", losses, fast, compiled, name, device)
    got = call.succeeds(f"{STEPS} losses")
    follow(call, got, model, wide, name, device)
    groups = [group for program in backend.programs[before:] for group in program.groups]
    count = len({getattr(group.members[0], "call", group) for group in groups})
    if count > 1.2 * most:
        call.fail(f"at most {1.2 * most:.0f} kernels and calls", count, f"Inductor has {most}")
