"""Modules run by the NumPy back end under test, and by the interpreter under test.

    after = run(text, (4,), [x, out, 1000], mode="fast")

Values are given as to `tests.oracles.launching.Launch`: NumPy arrays, numbers, and `{"addresses": [0, 3]}`.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.ir import interpreter
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer
from mini_triton.transforms.descriptors import lower_descriptors

from tests.support.m06_codegen.generated_errors import explained

Mode = Literal["interpreted", "batched", "fast"]
_ACCESS = re.compile(r"\b(memory|atomics)\.\w+\(|^ *(if|while|for) ")
MODES: tuple[Mode, ...] = ("interpreted", "batched", "fast")


def run(
    module: Module | str,
    grid: Sequence[int],
    arguments: Sequence[Any],
    hidden: Sequence[Any] = (),
    mode: Mode = "batched",
    chunk: int = 0,
) -> list[Any]:
    """The arguments and hidden buffers after the kernel ran on copies of them.

    `chunk` programs run at once; by default, the kernel chooses their number.
    """
    if isinstance(module, str):
        module = parse_module(module)
    lower_descriptors(module)
    values, given, reachable = prepare(module, arguments, hidden)
    if mode == "interpreted":
        interpreter.run(module, tuple(grid), given, reachable)
        return values
    with explained():
        kernel = compile_module(module, mode)
        kernel.chunk = chunk or kernel.chunk
        kernel(tuple(grid), given, reachable)
    return values


def accesses(text: str, mode: Mode) -> list[str]:
    """The numbered lines of the generated function that access memory or compute active programs; may be empty."""
    if mode == "interpreted":
        return []
    source = compile_module(parse_module(text), mode).source.splitlines()
    body = next((number for number, line in enumerate(source) if line.startswith("def ")), 0)
    lines = [(number, line) for number, line in enumerate(source, 1) if number > body and _ACCESS.search(line)]
    return [f"{number:6} {line.rstrip()}" for number, line in lines]


def prepare(
    module: Module, arguments: Sequence[Any], hidden: Sequence[Any] = ()
) -> tuple[list[Any], list[Any], list[Any]]:
    """Copies of the arguments and hidden buffers, and the same copies in a back end's form: buffers and numbers."""
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in (*arguments, *hidden)]
    names = [argument.name or f"argument {i}" for i, argument in enumerate(parameters(module))]
    names += [f"hidden {i}" for i in range(len(hidden))]
    given: list[Any] = [
        Buffer.of(name, value) if isinstance(value, np.ndarray) else value
        for name, value in zip(names, values, strict=True)
    ]
    for i, value in enumerate(values):
        if isinstance(value, dict):
            addresses = np.array([int(given[other].address(0)) for other in value["addresses"]])
            given[i] = Buffer.of(names[i], addresses)
    return values, given[: len(arguments)], given[len(arguments) :]


def parameters(module: Module) -> Sequence[Any]:
    """The parameters of a module's only kernel."""
    (function,) = module.body.operations
    return function.regions[0].block.arguments
