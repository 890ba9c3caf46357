"""What a random kernel is launched with: random arguments, such as it may have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.inputs import DTYPES, random_bits, random_numbers
from tests.oracles.launching import Launch
from tests.oracles.triton import Source
from tests.strategies.kernels.kernel import Buffer, Kernel
from tests.strategies.kernels.types import INTEGERS, in_signature

OPTIONS = {"enable_fp_fusion": False}
"""`x * y + z` is rounded twice."""


def launch(kernel: Kernel, seed: int) -> Launch:
    """A launch of the kernel as real Triton compiles it."""
    source = Source(kernel.source, kernel.name, kernel.signature, kernel.constexprs, kernel.divisible, options=OPTIONS)
    return Launch(source, kernel.grid, arguments(kernel, seed))


def arguments(kernel: Kernel, seed: int) -> list[Any]:
    """Buffers with random numbers, floats within ±8, and the numbers that it has to have."""
    generator = np.random.PCG64(seed)
    return [
        _buffer(argument, generator) if isinstance(argument, Buffer) else argument.value
        for argument in kernel.arguments.values()
    ]


def _buffer(buffer: Buffer, generator: np.random.PCG64) -> np.ndarray:
    """Integers are small ones or any."""
    fill = random_bits if buffer.dtype in INTEGERS and generator.random_raw() % 2 else random_numbers
    return fill(buffer.length, DTYPES[in_signature(buffer.dtype)], generator)
