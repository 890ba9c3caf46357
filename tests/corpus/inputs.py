"""What the kernels of the corpus are launched with: random, but the same for the same seed."""

from __future__ import annotations

from typing import Any

import torch

from tests.corpus.cases import Argument, Case

DTYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e5": torch.float8_e5m2,
    "fp8e4nv": torch.float8_e4m3fn,
    "i1": torch.bool,
    **{f"i{width}": getattr(torch, f"int{width}") for width in (8, 16, 32, 64)},
    **{f"u{width}": getattr(torch, f"uint{width}") for width in (8, 16, 32, 64)},
}
MAGNITUDE = 100  # of random integers


def inputs(case: Case, seed: int) -> tuple[list[Any], list[Any]]:
    """The arguments of the kernel in order, and the buffers that it only has the addresses of."""
    generator = torch.Generator().manual_seed(seed)
    values = {argument.name: _value(argument, generator) for argument in case.arguments}
    parameters = [name for name, kind in case.source().signature.items() if kind != "constexpr"]
    order = [*parameters, *(name for name in values if name not in parameters)]
    for name, value in values.items():
        if isinstance(value, dict):
            values[name] = {"addresses": [order.index(other) for other in value["addresses"]]}
    return [values[name] for name in parameters], [values[name] for name in order[len(parameters) :]]


def _value(argument: Argument, generator: torch.Generator) -> Any:
    if argument.length is None:
        return argument.number
    word, *rest = argument.value.split() or ["random"]
    dtype = DTYPES[argument.type.lstrip("*")]
    shape = (argument.length,)
    match word:
        case "addresses":
            return {"addresses": rest}
        case "zeros":
            return torch.zeros(shape, dtype=dtype)
        case "ones":
            return torch.ones(shape).to(dtype)
        case "bits":
            return torch.randint(0, 256, (dtype.itemsize * argument.length,), generator=generator).byte().view(dtype)
        case "below":
            return torch.randint(0, int(rest[0]), shape, generator=generator).to(dtype)
        case "ascending":
            return _random(shape, dtype, generator).sort().values
        case "random":
            return _random(shape, dtype, generator)
    numbers = torch.tensor([float(number) for number in (word, *rest)], dtype=torch.float64)
    return numbers.repeat(argument.length // len(numbers) + 1)[: argument.length].to(dtype)


def _random(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    signed = dtype in (torch.int8, torch.int16, torch.int32, torch.int64)
    low, high = (-MAGNITUDE if signed else 0), (2 if dtype == torch.bool else MAGNITUDE)
    return torch.randint(low, high, shape, generator=generator).to(dtype)
