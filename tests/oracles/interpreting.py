"""Run kernels by Triton's interpreter. Imports Triton and torch: for the server; from a test, ask `interpreter`.

The server's process must have TRITON_INTERPRET=1.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from tests.oracles import written

NUMPY = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "i1": np.bool_, "u1": np.bool_} | {
    f"{letter}{width}": np.dtype(f"{name}{width}")
    for letter, name in (("i", "int"), ("u", "uint"))
    for width in (8, 16, 32, 64)
}


def run(
    module: ModuleType,
    arguments: str,
    grid: Sequence[int],
    parameters: Sequence[int | None],
    kernel: str,
    signature: dict[str, str],
    constexprs: dict[str, Any],
    **_: Any,
) -> None:
    """Launch a kernel on values in a file, and write them back as they are then: as `launch.run` does on a GPU."""
    values = torch.load(arguments, weights_only=True)
    for value in values:
        if isinstance(value, dict):
            raise NotImplementedError("addresses")
    given = {name: written.constant(value, module) for name, value in constexprs.items()}
    for (name, kind), place in zip(signature.items(), parameters, strict=True):
        if place is not None:
            given[name] = values[place] if kind.startswith("*") else _scalar(values[place], kind)
    getattr(module, kernel)[tuple(grid)](**given)
    torch.save(values, arguments)


def _scalar(value: Any, kind: str) -> Any:
    """A number of the type that the signature says; by itself the interpreter would look at the value."""
    dtype = tl.str_to_ty(kind, None)
    return tl.tensor(TensorHandle(np.array([value], NUMPY[kind]), dtype), dtype)
