"""Arguments for the kernels of the corpus: random NumPy arrays, which are the same on every machine for the same seed.

Only the random bits of a generator are the same in all versions of NumPy, so this module computes numbers from the
bits.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.corpus.cases import Argument, Case

DTYPES = {
    "fp64": np.dtype(np.float64),
    "fp32": np.dtype(np.float32),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "i1": np.dtype(np.bool_),
    **{f"i{width}": np.dtype(f"int{width}") for width in (8, 16, 32, 64)},
    **{f"u{width}": np.dtype(f"uint{width}") for width in (8, 16, 32, 64)},
}
MAGNITUDE = 100  # the bound of random integers
DEVIATION = 65536 / 3**0.5  # the standard deviation of a sum of four random numbers of 16 bits


def inputs(case: Case, seed: int) -> tuple[list[Any], list[Any]]:
    """The arguments of the kernel in order, and the buffers that it reaches only by their addresses."""
    generator = np.random.PCG64(seed)
    values = {argument.name: _value(argument, generator) for argument in case.arguments}
    parameters = [name for name, kind in case.source().signature.items() if kind != "constexpr"]
    order = [*parameters, *(name for name in values if name not in parameters)]
    for name, value in values.items():
        if isinstance(value, dict):
            values[name] = {"addresses": [order.index(other) for other in value["addresses"]]}
    return [values[name] for name in parameters], [values[name] for name in order[len(parameters) :]]


def buffers(case: Case, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The names and the arrays among the values of a launch, before or after the launch."""
    parameters = [name for name, kind in case.source().signature.items() if kind != "constexpr"]
    names = [*parameters, *(argument.name for argument in case.arguments if argument.name not in parameters)]
    return ((name, value) for name, value in zip(names, values, strict=True) if isinstance(value, np.ndarray))


def checksum(values: Sequence[Any]) -> int:
    """A checksum of the values' bits."""
    bits = [value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode() for value in values]
    return zlib.crc32(b"".join(bits))


def _value(argument: Argument, generator: np.random.PCG64) -> Any:
    if argument.length is None:
        return argument.number
    word, *rest = argument.value.split() or ["random"]
    dtype, length = DTYPES[argument.type.lstrip("*")], argument.length
    match word:
        case "addresses":
            return {"addresses": rest}
        case "zeros" | "ones":
            return np.full(length, word == "ones").astype(dtype)
        case "bits":
            return random_bits(length, dtype, generator)
        case "below":
            return (generator.random_raw(length) % np.uint64(int(rest[0]))).astype(dtype)
        case "ascending":
            return np.sort(random_numbers(length, dtype, generator))
        case "random":
            return random_numbers(length, dtype, generator)
    return np.resize(np.array([float(number) for number in (word, *rest)]), length).astype(dtype)


def random_bits(length: int, dtype: np.dtype, generator: np.random.PCG64) -> np.ndarray:
    """Numbers with random bits."""
    return generator.random_raw(length).view(dtype)[:length].copy()


def random_numbers(length: int, dtype: np.dtype, generator: np.random.PCG64) -> np.ndarray:
    """Floats around 0 with an almost normal distribution, or integers."""
    raw = generator.random_raw(length)
    if dtype.name.startswith(("float", "bfloat")):
        sums = raw.view(np.uint16).reshape(length, 4).sum(axis=1, dtype=np.int64) - 2 * 65535
        return (sums / DEVIATION).astype(dtype)
    if dtype == np.bool_:
        return (raw & np.uint64(1)).astype(dtype)
    signed = (raw % np.uint64(2 * MAGNITUDE)).astype(np.int64) - MAGNITUDE
    return (signed if dtype.kind == "i" else np.abs(signed)).astype(dtype)
