"""What a random kernel is launched with: random arguments, such as it may have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.inputs import DTYPES, random_bits, random_numbers
from tests.oracles.launching import Launch
from tests.support.m05_frontend.random_kernels import to_source
from tests.support.m05_frontend.random_kernels.writing import INTEGERS, Buffer, Kernel, in_signature

OPTIONS = {"enable_fp_fusion": False}
"""`x * y + z` is rounded twice."""


def launch(kernel: Kernel, seed: int, times: int = 1) -> Launch:
    """A launch of the kernel as real Triton compiles it, of so many times the programs of its grid."""
    generator = np.random.PCG64(seed)
    arguments: list[Any] = [
        _random(argument, generator, times) if isinstance(argument, Buffer) else argument
        for argument in kernel.arguments.values()
    ]
    x, *others = kernel.grid
    return Launch(to_source(kernel, options=OPTIONS), (x * times, *others), arguments)


def _random(buffer: Buffer, generator: np.random.PCG64, times: int) -> np.ndarray:
    """Floats within ±8; integers are small ones or any. Each program has a part of its own: more programs need more."""
    fill = random_bits if buffer.dtype in INTEGERS and generator.random_raw() % 2 else random_numbers
    return fill(buffer.length * times, DTYPES[in_signature(buffer.dtype)], generator)
