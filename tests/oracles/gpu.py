"""Real Triton on a GPU: run a module's text, and let PyTorch say whether the result is right.

    out, = gpu.launch(text, (4, 1, 1), x, y, out, n)[2:3]
    gpu.check_add(text)

The GPU is used by the server's process only, so that a bad module cannot take the tests with it. torch is
imported when first needed.
"""

from __future__ import annotations

import functools
import math
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests import oracles
from tests.oracles import triton
from tests.oracles.process import Silent

if TYPE_CHECKING:
    import torch

SECONDS = 300.0
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


def launch(text: str, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = (), **options: Any) -> list[Any]:
    """The arguments (CPU tensors, integers, floats) as they are after the kernel ran on copies of them.

    `{"addresses": [2, 3]}` stands for a tensor with the addresses of the arguments 2 and 3. `hidden` ones come after
    the others, and are known to the kernel by their addresses only.
    """
    parameters = list(range(len(arguments)))
    return _launched({"do": "launch", "text": text, "options": options}, grid, [*arguments, *hidden], parameters)


def launch_source(source: triton.Source, grid: Sequence[int], *arguments: Any, hidden: Sequence[Any] = ()) -> list[Any]:
    """The same for a kernel in a Python text, compiled by real Triton. Constants are left out of the arguments."""
    places = iter(range(len(arguments)))
    parameters = [None if kind == "constexpr" else next(places) for kind in source.signature.values()]
    return _launched({"do": "launch_written", **source.question()}, grid, [*arguments, *hidden], parameters)


def _launched(
    request: dict[str, Any], grid: Sequence[int], values: Sequence[Any], parameters: Sequence[int | None]
) -> list[Any]:
    """The values after a launch with some of them; None is a parameter that needs no value."""
    if not available():
        oracles.unavailable("no CUDA GPU")
    import torch

    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        file = os.path.join(folder, "arguments.pt")
        torch.save(list(values), file)
        request |= {"arguments": file, "grid": [*grid, 1, 1][:3], "parameters": list(parameters)}
        try:
            (answer,) = triton.server().ask([request], SECONDS)
        except Silent as silence:
            oracles.unavailable(str(silence))
        if not answer["ok"]:
            triton.server().stop()  # an illegal access leaves a process without its GPU
        assert answer["ok"], f"real Triton could not run this kernel on the GPU: {answer['diagnostic']}"
        oracles.note("triton", f"gpu {triton.version()}")
        return torch.load(file, weights_only=True)


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
