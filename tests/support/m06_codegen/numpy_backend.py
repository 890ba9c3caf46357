"""Modules run by the NumPy back end under test, and what else they may be compared with.

    after = run(text, (4,), [x, out, 1000])

Values are given as to `tests.oracles.launching.Launch`: NumPy arrays, numbers, and `{"addresses": [0, 3]}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.codegen.library.memory import Buffer
from mini_triton.codegen.values import Mode
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module

from tests.support.m06_codegen.generated_errors import explained


def run(
    module: Module | str,
    grid: Sequence[int],
    arguments: Sequence[Any],
    hidden: Sequence[Any] = (),
    mode: Mode | None = None,
) -> list[Any]:
    """The arguments, and what is hidden, as they are after the kernel ran on copies of them."""
    if isinstance(module, str):
        module = parse_module(module)
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in (*arguments, *hidden)]
    names = [argument.name or f"argument {i}" for i, argument in enumerate(parameters(module))]
    names += [f"hidden {i}" for i in range(len(hidden))]
    given = [
        Buffer.of(name, value) if isinstance(value, np.ndarray) else value
        for name, value in zip(names, values, strict=True)
    ]
    for i, value in enumerate(values):
        if isinstance(value, dict):
            addresses = np.array([int(given[other].address(0)) for other in value["addresses"]])
            given[i] = Buffer.of(names[i], addresses)
    with explained():
        compile_module(module, mode)(tuple(grid), given[: len(arguments)], reachable=given[len(arguments) :])
    return values


def parameters(module: Module) -> Sequence[Any]:
    """The parameters of the one kernel in a module."""
    (function,) = module.body.operations
    return function.regions[0].block.arguments
