"""Real Triton on a GPU: run a module's text, and let PyTorch say whether the result is right.

    out, = gpu.launch(text, (4, 1, 1), x, y, out, n)[2:3]
    gpu.check_add(text)
    for launched in gpu.launch_many([Launch(text, (4,), [x, y, out, n]), …]): …

The GPU is used by the servers' processes only, so that a bad module cannot take the tests with it. torch is
imported when first needed.
"""

from __future__ import annotations

import functools
import math
import os
import queue
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tests import oracles
from tests.oracles import triton
from tests.oracles.process import Server, Silent

if TYPE_CHECKING:
    import torch

SECONDS = 300.0
MOST_SERVERS = 12  # each has torch and a part of the GPU's memory to itself
# Multiples of 16, which is what capstone modules are told of their arguments.
SIZES = (16, 1008, 1024, 98432)  # vectors: less than a block, almost one, a whole one, many and a rest
PROBLEMS = ((64, 64, 32), (256, 128, 512), (208, 144, 80), (16, 16, 1008))  # M, N, K


@functools.cache
def available() -> bool:
    """Whether torch sees a CUDA GPU here, and Triton is installed."""
    if not triton.available():
        return False
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@dataclass(frozen=True)
class Launch:
    """A kernel, as TTIR or in a Python text that real Triton compiles, and what it is launched with.

    Arguments are NumPy arrays or CPU tensors, integers, floats; for the constants of a Python text there are none.
    `{"addresses": [2, 3]}` stands for a buffer with the addresses of the arguments 2 and 3. `hidden` ones come after
    the others, and are known to the kernel by their addresses only.
    """

    kernel: str | triton.Source
    grid: Sequence[int]
    arguments: Sequence[Any]
    hidden: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of Triton's, for TTIR

    @property
    def values(self) -> list[Any]:
        """All that goes to the GPU and back."""
        return [*self.arguments, *self.hidden]

    def request(self, file: str) -> dict[str, Any]:
        """As the server wants it."""
        places = iter(range(len(self.arguments)))
        if isinstance(self.kernel, str):
            request = {"do": "launch", "text": self.kernel, "options": dict(self.options), "parameters": list(places)}
        else:
            kinds = self.kernel.signature.values()
            parameters = [None if kind == "constexpr" else next(places) for kind in kinds]
            request = {"do": "launch_written", **self.kernel.question(), "parameters": parameters}
        return request | {"arguments": file, "grid": [*self.grid, 1, 1][:3]}


@dataclass(frozen=True)
class Launched:
    """The arguments, and what is hidden, after a launch. False as a bool when it failed; `diagnostic` says why."""

    values: Sequence[Any] = ()
    diagnostic: str = ""

    def __bool__(self) -> bool:
        return not self.diagnostic


def launch(text: str, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = (), **options: Any) -> list[Any]:
    """The arguments as they are after the kernel ran on copies of them."""
    return _insist(Launch(text, grid, arguments, hidden, options))


def launch_source(source: triton.Source, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = ()) -> list[Any]:
    """The same for a kernel in a Python text, compiled by real Triton."""
    return _insist(Launch(source, grid, arguments, hidden))


def launch_many(launches: Sequence[Launch], seconds: float = SECONDS) -> list[Launched]:
    """The same for many launches, shared by several servers; those that fail, or take longer, say why."""
    if not available():
        oracles.unavailable("no CUDA GPU")
    free: queue.SimpleQueue[Server] = queue.SimpleQueue()
    for server in _servers():
        free.put(server)

    def launched(launch: Launch) -> Launched:
        server = free.get()
        try:
            return _launched(server, launch, seconds)
        except Silent as silence:
            return Launched(diagnostic=str(silence))
        finally:
            free.put(server)

    with ThreadPoolExecutor(len(_servers())) as threads:
        results = list(threads.map(launched, launches))
    oracles.note("triton", f"gpu {triton.version()}")
    return results


@functools.cache
def _servers() -> list[Server]:
    """Servers for much work."""
    return [Server() for _ in range(min(os.cpu_count() or 1, MOST_SERVERS))]


def _insist(launch: Launch) -> list[Any]:
    if not available():
        oracles.unavailable("no CUDA GPU")
    try:
        launched = _launched(triton.server(), launch)
    except Silent as silence:
        oracles.unavailable(str(silence))
    assert launched, f"real Triton could not run this kernel on the GPU: {launched.diagnostic}"
    oracles.note("triton", f"gpu {triton.version()}")
    return list(launched.values)


def _launched(server: Server, launch: Launch, seconds: float = SECONDS) -> Launched:
    import torch

    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        file = os.path.join(folder, "arguments.pt")
        torch.save([_tensor(value) for value in launch.values], file)
        (answer,) = server.ask([launch.request(file)], seconds)
        if not answer["ok"]:
            server.stop()  # an illegal access leaves a process without its GPU
            return Launched(diagnostic=answer["diagnostic"])
        after = torch.load(file, weights_only=True)
    return Launched([_like(new, old) for new, old in zip(after, launch.values, strict=True)])


def _tensor(value: Any) -> Any:
    """A NumPy array as a tensor; all else as it is."""
    import torch

    if not isinstance(value, np.ndarray):
        return value
    return torch.from_numpy(value.view(f"i{value.itemsize}")).view(getattr(torch, value.dtype.name))


def _like(new: Any, old: Any) -> Any:
    """A tensor as a NumPy array, if it was one before."""
    import torch

    if not isinstance(old, np.ndarray):
        return new
    return new.view(getattr(torch, f"int{8 * old.itemsize}")).numpy().view(old.dtype)


def check_add(text: str, block: int = 1024) -> None:
    """Does a module with the parameters of `add_kernel` (x, y, out, n) add, and write nothing else?"""
    if not available():
        oracles.unavailable("no CUDA GPU")
    import torch

    for n in SIZES:
        x, y = torch.randn(n), torch.randn(n)
        padded = torch.full((n + block,), -7.0)
        out = launch(text, (math.ceil(n / block),), x, y, padded, n)[2]
        close(out[:n], x + y, f"x + y of {n} elements", exactly=True)
        close(out[n:], padded[n:], f"what lies behind {n} elements of out", exactly=True)


def check_matmul(text: str, block: tuple[int, int, int] = (64, 64, 32), out_dtype: str = "fp16") -> None:
    """Does a module with the parameters of `matmul_kernel` (a, b, c, M, N, K, row strides) multiply?"""
    if not available():
        oracles.unavailable("no CUDA GPU")
    import torch

    for m, n, k in PROBLEMS:
        a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
        c = torch.full((m, n), -7.0, dtype={"fp16": torch.float16, "fp32": torch.float32}[out_dtype])
        grid = (math.ceil(m / block[0]), math.ceil(n / block[1]))
        out = launch(text, grid, a, b, c, m, n, k, k, n, n)[2]
        close(out, a.float() @ b.float(), f"a ({m}x{k}) @ b ({k}x{n})")


def close(actual: torch.Tensor, expected: torch.Tensor, what: str, exactly: bool = False) -> None:
    """Fail unless torch finds the two alike, as far as `actual`'s dtype allows."""
    import torch

    oracles.note("torch", f"cpu {torch.__version__}")
    tolerance = 0.0 if exactly else 1e-2 if actual.dtype == torch.float16 else 1e-3
    torch.testing.assert_close(
        actual,
        expected.to(actual.dtype),
        rtol=tolerance,
        atol=tolerance,
        msg=lambda difference: f"{what} is not what PyTorch computes.\n{difference}",
    )
