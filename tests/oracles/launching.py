"""Launches of kernels by real Triton, in a server's process: requests and answers.

Values are sent in a file of PyTorch, because Triton launches kernels on PyTorch's tensors.
"""

import os
import queue
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.oracles.process import Server, Silent
from tests.oracles.triton import Source


@dataclass(frozen=True)
class Launch:
    """A kernel, as TTIR or as Python source for real Triton, and its launch.

    Arguments are NumPy arrays or CPU tensors, integers and floats, but not the constants of Python source.
    `{"addresses": [2, 3]}` stands for a buffer with the addresses of the values 2 and 3. Values number the arguments
    first, and then the `hidden` buffers, which the kernel reaches only by their addresses.
    """

    kernel: str | Source
    grid: Sequence[int]
    arguments: Sequence[Any]
    hidden: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # Triton's options, for TTIR
    signature: Sequence[str] = ()  # for TTIR, the types of numbers, which it does not show: "u32", "fp64"

    @property
    def values(self) -> list[Any]:
        """All values of the launch."""
        return [*self.arguments, *self.hidden]

    def request(self, file: str, action: str = "launch_written") -> dict[str, Any]:
        """The request for the server, which reads and writes the values in this file."""
        places = iter(range(len(self.arguments)))
        if isinstance(self.kernel, str):
            request: dict[str, Any] = {"do": "launches.launch", "text": self.kernel, "parameters": list(places)}
            request |= {"options": dict(self.options), "signature": list(self.signature)}
        else:
            kinds = self.kernel.signature.values()
            parameters = [None if kind == "constexpr" else next(places) for kind in kinds]
            request = {"do": f"launches.{action}", **self.kernel.question(), "parameters": parameters}
        return request | {"arguments": file, "grid": [*self.grid, 1, 1][:3]}


@dataclass(frozen=True)
class Launched:
    """The arguments and hidden buffers after a launch. False as a bool if it failed; `diagnostic` says why."""

    values: Sequence[Any] = ()
    diagnostic: str = ""

    def __bool__(self) -> bool:
        return not self.diagnostic


def run(server: Server, launch: Launch, seconds: float, action: str = "launch_written") -> Launched:
    """Launch in a server's process. After a failure, the server gets a new process, whose access to the GPU works."""
    import torch

    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        file = os.path.join(folder, "arguments.pt")
        torch.save([_tensor(value) for value in launch.values], file)
        (answer,) = server.ask([launch.request(file, action)], seconds)
        if not answer["ok"]:
            server.stop()
            return Launched(diagnostic=answer["diagnostic"])
        after = torch.load(file, weights_only=True)
    return Launched([_like(new, old) for new, old in zip(after, launch.values, strict=True)])


def run_many(
    servers: Sequence[Server], launches: Sequence[Launch], seconds: float, action: str = "launch_written"
) -> list[Launched]:
    """Many launches, each by the first free server. A launch without an answer has failed."""
    free: queue.SimpleQueue[Server] = queue.SimpleQueue()
    for server in servers:
        free.put(server)

    def launched(launch: Launch) -> Launched:
        server = free.get()
        try:
            return run(server, launch, seconds, action)
        except Silent as silence:
            return Launched(diagnostic=str(silence))
        finally:
            free.put(server)

    with ThreadPoolExecutor(len(servers)) as threads:
        return list(threads.map(launched, launches))


def _tensor(value: Any) -> Any:
    """A NumPy array as a tensor; any other value unchanged."""
    import torch

    if not isinstance(value, np.ndarray):
        return value
    return torch.from_numpy(value.view(f"i{value.itemsize}")).view(getattr(torch, value.dtype.name))


def _like(new: Any, old: Any) -> Any:
    """A new value, as a NumPy array if the old value was a NumPy array."""
    import torch

    if not isinstance(old, np.ndarray):
        return new
    return new.view(getattr(torch, f"int{8 * old.itemsize}")).numpy().view(old.dtype)
