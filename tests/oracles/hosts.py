"""The course's kernels called with real Triton as their compiler: on a GPU, or by its interpreter.

    results = hosts.call_many([Call(softmax, (x,))], device)

The host functions are those of the tests' own process, from the same files. They run in a server's process, where
`KERNELS_COMPILER=triton` makes the same source kernels of real Triton.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests import oracles
from tests.oracles import gpu, interpreter, triton
from tests.oracles.process import Server, Silent

SECONDS = 100.0


@dataclass(frozen=True)
class Call:
    """A host function of the kernels' modules, and what it is called with: torch tensors, numbers, strings."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Called:
    """What came of a call. `diagnostic` says why there is no result."""

    result: Any = None
    diagnostic: str = ""


def call_many(calls: Sequence[Call], device: str) -> list[Called]:
    """The results of calls, on the CPU, computed by kernels that real Triton ran on `device`: `cpu` or `cuda`."""
    if device == "cuda":
        if not gpu.available():
            oracles.unavailable("no CUDA GPU")
        oracles.note("triton", f"gpu {triton.version()}")
    else:
        interpreter.insist()
    return [_asked(_server(device), call, device) for call in calls]


def compile_many(calls: Sequence[Call]) -> list[Called]:
    """Why real Triton's compiler refuses kernels that are launched by these calls, if it does. Needs no GPU."""
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    oracles.note("triton", f"compiler {triton.version()}")
    return [_asked(_server("none"), call, "none") for call in calls]


@functools.cache
def _server(device: str) -> Server:
    environment = {"KERNELS_COMPILER": "triton"} | ({"TRITON_INTERPRET": "1"} if device == "cpu" else {})
    return Server(**environment)


def _asked(server: Server, call: Call, device: str) -> Called:
    import torch

    files = {
        name: str(module.__file__)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "kernels" and getattr(module, "__file__", None)
    }
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        values = os.path.join(folder, "values.pt")
        torch.save((list(call.arguments), dict(call.options)), values)
        request = {"do": "call", "files": files, "module": call.function.__module__, "device": device}
        try:
            (answer,) = server.ask([request | {"function": call.function.__name__, "values": values}], SECONDS)
        except Silent as silence:
            oracles.unavailable(str(silence))
        if not answer["ok"]:
            if device == "cuda":
                server.stop()  # an illegal access costs it its GPU
            return Called(diagnostic=answer["diagnostic"])
        return Called(None if device == "none" else torch.load(values, weights_only=True))
