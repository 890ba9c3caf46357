"""Real Triton's interpreter, which runs a kernel on the CPU without compiling it, as `TRITON_INTERPRET=1` does.

Its results are right for most kernels; `doubt` names the exceptions. It also does not saturate floats that are out of
an integer's range, and it adds floats in a different order.
"""

import functools
import importlib.util
import re
from collections.abc import Sequence

import numpy as np

from tests import oracles
from tests.oracles import launching, triton
from tests.oracles.launching import Launch, Launched
from tests.oracles.process import Server

SECONDS = 60.0
WRONG = {
    r"bf16|bfloat16": "the interpreter computes bf16 arithmetic on the numbers' bits",
    r"fp8|float8": "a number that is rounded up to a power of two in fp8 becomes half of this power",
    r"umulhi": "umulhi multiplies signed numbers",
    r"(?<![.\w])(min|max)\(": "Python's own min returns one of its operands, with the type of this operand",
    r"(?s)(tl\.(split|trans)\(|reverse=True).*tl\.atomic": "an atomic takes wrong elements of a strided block",
}
WRONG_OF_NAN = r"tl\.(maximum|minimum|clamp)\("


def launch_many(launches: Sequence[Launch]) -> list[Launched]:
    """All arguments after each launch of a kernel in a Python text, or the reason why the launch failed."""
    insist()
    return launching.run_many([_server()], launches, SECONDS, "interpret")


def insist() -> None:
    """End the test as unavailable unless the interpreter runs here; remember that it judged."""
    version = triton.version()
    if importlib.util.find_spec("torch") is None:
        oracles.unavailable(oracles.not_installed("PyTorch"))
    if version.startswith("3.6") and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        oracles.unavailable("the interpreter of Triton 3.6 cannot run loops with NumPy 2.4 and later")
    oracles.note("triton", f"interpreter {version}")


@functools.cache
def _server() -> Server:
    return Server(TRITON_INTERPRET="1")


def doubt(launch: Launch, launched: Launched | None = None) -> str:
    """Why the interpreter's results may be wrong or missing; "" if they are right. Some reasons need no results."""
    assert isinstance(launch.kernel, triton.Source)
    text = f"{launch.kernel.text}\n{launch.kernel.signature}"
    for pattern, reason in WRONG.items():
        if re.search(pattern, text):
            return reason
    if launched is None:
        return ""
    if re.search(WRONG_OF_NAN, text) and any(_has_nan(value) for value in launched.values):
        return "in versions before 3.8, the maximum of NaN and a number is NaN"
    return launched.diagnostic  # the interpreter has Python numbers where the compiler has tensors


def _has_nan(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and bool(np.isnan(value).any())
