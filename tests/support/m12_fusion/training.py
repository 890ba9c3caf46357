"""Training for a few steps, compared with eager execution."""

from typing import Any

import torch
from torch import nn

from tests.checks import described
from tests.support.m12_fusion.compiling import plain_errors

STEPS = 20


def batches(name: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Inputs and targets for the training of a model."""
    generator = torch.Generator().manual_seed(1)
    if name == "GPT":
        tokens = [torch.randint(0, 50, (2, 17), generator=generator) for _ in range(STEPS)]
        return [(x[:, :-1], x[:, 1:].flatten()) for x in tokens]
    shape = (16, 8) if name == "MLP" else (4, 3, 8, 8)
    return [
        (torch.randn(shape, generator=generator), torch.randint(0, 10, shape[:1], generator=generator))
        for _ in range(STEPS)
    ]


def losses(model: nn.Module, forward: Any, name: str, device: str) -> list[float]:
    """The loss of each step; `forward` is the model, perhaps compiled."""
    found = []
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    dtype = next(model.parameters()).dtype
    with plain_errors():
        for x, target in batches(name):
            scores = forward(x.to(device, dtype) if x.is_floating_point() else x.to(device))
            loss = nn.functional.cross_entropy(scores.flatten(0, -2), target.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return found


def follow(call: described, got: list[float], model: nn.Module, wide: nn.Module, name: str, device: str) -> None:
    """Fail unless these losses are those of eager training. `wide` is the same model in float64."""
    __tracebackhide__ = True
    eager, right = losses(model, model, name, device), losses(wide, wide, name, device)
    off = 0.0
    for step, (x, exact, y) in enumerate(zip(eager, right, got, strict=True)):
        off = max(off, abs(x - exact))
        limit = 16 * off + 1e-5
        if not abs(exact - y) <= limit:
            because = f"eager in fp32 was off by {off:.1e} so far, and rounding errors add up"
            call.fail(f"a loss of {x} at step {step}, or less than {limit:.0e} away", y, because)
