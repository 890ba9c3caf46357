"""Real Triton's interpreter, which runs a kernel on the CPU without compiling it, as `TRITON_INTERPRET=1` does.

It is right about most kernels. It is wrong about arithmetic of bf16, conversions to fp8 and bf16, maxima and minima of
NaN, floats out of an integer's range; and it fuses nothing and has its own order of adding floats up.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence

from tests import oracles
from tests.oracles import launching, triton
from tests.oracles.launching import Launch, Launched
from tests.oracles.process import Server

SECONDS = 60.0


def launch_many(launches: Sequence[Launch]) -> list[Launched]:
    """All arguments as they are after each launch of a kernel in a Python text; or why there are none."""
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    if importlib.util.find_spec("torch") is None:
        oracles.unavailable("Triton's interpreter needs PyTorch, which is not installed")
    results = launching.run_many([_server()], launches, SECONDS, "interpret")
    oracles.note("triton", f"interpreter {triton.version()}")
    return results


@functools.cache
def _server() -> Server:
    return Server(TRITON_INTERPRET="1")
