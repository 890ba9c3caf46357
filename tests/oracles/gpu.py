"""Real Triton on a GPU: run a module's text, or a kernel in a Python text.

    out, = gpu.launch(text, (4, 1, 1), x, y, out, n)[2:3]
    for launched in gpu.launch_many([Launch(text, (4,), [x, y, out, n]), …]): …

Only the servers' processes use the GPU, so a bad module cannot end the process of the tests. torch is imported when it
is first needed.
"""

import functools
import os
from collections.abc import Sequence
from typing import Any

from tests import oracles
from tests.oracles import launching, triton
from tests.oracles.launching import Launch, Launched
from tests.oracles.process import Server, Silent

SECONDS = 300.0
MOST_SERVERS = 12  # each server has its own torch and its own part of the GPU's memory


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


def insist() -> None:
    """End the test as unavailable unless there is a GPU here; remember that it judged."""
    if not available():
        oracles.unavailable("no CUDA GPU")
    oracles.note("triton", f"gpu {triton.version()}")


def launch(
    kernel: str | triton.Source, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = ()
) -> Sequence[Any]:
    """The arguments as they are after the kernel ran on copies of them."""
    insist()
    try:
        launched = launching.run(triton.server(), Launch(kernel, grid, arguments, hidden), SECONDS)
    except Silent as silence:
        oracles.unavailable(str(silence))
    assert launched, f"real Triton could not run this kernel on the GPU: {launched.diagnostic}"
    return launched.values


def launch_many(launches: Sequence[Launch], seconds: float = SECONDS) -> list[Launched]:
    """The results of many launches on several servers. A launch that fails, or takes too long, has a diagnostic."""
    insist()
    return launching.run_many(_servers(), launches, seconds)


@functools.cache
def _servers() -> list[Server]:
    """Servers for much work."""
    return [Server() for _ in range(min(os.cpu_count() or 1, MOST_SERVERS))]
