"""The questions about front end and launcher whose answers are recorded, as plain data: full cross products."""

import itertools
import math
from typing import Any

INTEGERS = ("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("fp8e5", "fp8e4nv", "fp16", "bf16", "fp32", "fp64")
DTYPES = INTEGERS + FLOATS
LIKE = {"fp8e5b16": "fp8e4nv", "fp8e4b8": "fp8e5"}
"""Dtypes without answers, because Triton compiles them only for AMD's GPUs: its rules treat every fp8 dtype alike."""
POINTERS = ("pointer<fp32>", "pointer<fp16>")

ARITHMETIC = ("+", "/", "//", "%")

LITERALS: tuple[bool | int | float, ...] = (
    *(True, False, 0, 1, -1, 127, 128, 255, 256, 300, -128, -129, 2**15),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64),
    *(-(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1),
    *(0.0, 1.5, -2.5, 1e300, 1e-40, math.inf, math.nan, 0.1),
)
LONE_LITERALS = (*LITERALS, -math.inf, -0.0, 2.0**-126, 2.0**-127, 3.4e38, 3.5e38)

SHAPES = tuple(shape for rank in range(4) for shape in itertools.product((1, 2, 4), repeat=rank))

BLOCK_SHAPES: tuple[tuple[Any, ...], ...] = (
    *((), (0,), (1,), (2,), (3,), (4,), (6,), (7,), (48,), (64,), (100,), (1024,), (1023,), (1025,)),
    *((2**19,), (2**20,), (2**21,), (2**20 + 1,), (2**30,), (-1,), (-2,), (-4,), (-64,)),
    *((1, 1), (2, 4), (4, 2), (3, 4), (4, 3), (0, 4), (4, 0), (-4, 4), (4, -4), (3, -4), (128, 64)),
    *((1024, 1024), (1024, 2048), (2048, 512), (2**20, 1), (2**20, 2), (1, 2**21)),
    *((2, 2, 2), (4, 1, 16), (2, 3, 4), (128, 128, 64), (128, 128, 128), (1,) * 5, (2,) * 20, (2,) * 21),
    *((True,), (False,), (True, 4), (4.0,), (0.5,), (4, 2.0), (3, 4.0), (3.0, 3), (4.0, 3), (None,), ("4",)),
)

INTEGER_ARGUMENTS = tuple(
    sorted(
        {sign * 2**power + offset for power in (0, 4, 5, 31, 32, 63, 64) for sign in (1, -1) for offset in (-1, 0, 1)}
        | {3, 15, 17, 48, 1000, 1024, -48, 2**40 + 16, 2**40 + 8, 10**20, -(10**20)}
    )
)
MEMORY = (
    *("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()),
    *("float16 bfloat16 float32 float64 float8_e5m2 float8_e4m3fn complex64".split()),
)
ADDRESSES = (4096, 4104, 4097)
ARGUMENTS = (
    *(None, True, False, 0.0, 1.0, -16.0, 0.5, math.inf, math.nan, *INTEGER_ARGUMENTS),
    *(f"{dtype}@{address}" for dtype in MEMORY for address in ADDRESSES),
)


def like(dtype: str) -> str:
    """The dtype whose recorded answers also hold for this dtype."""
    return LIKE.get(dtype, dtype)


def key(*parts: Any) -> str:
    """The key of an entry: the `repr` of its parts, but strings without quotation marks, as in `int8 + -1`."""
    return " ".join(part if isinstance(part, str) else repr(part) for part in parts)


FAMILIES: dict[str, list[list[Any]]] = {
    # Two tensors: `fp16 + bf16`.
    "promotion": [[a, operator, b] for operator, a, b in itertools.product(ARITHMETIC, DTYPES, DTYPES)],
    # A tensor and a Python number, either first: `int8 + 300`, `300 + int8`.
    "literal_promotion": [
        parts
        for operator, dtype, value in itertools.product(ARITHMETIC, DTYPES, LITERALS)
        for parts in ([dtype, operator, value], [value, operator, dtype])
    ],
    # A Python number alone.
    "literal_type": [[value] for value in LONE_LITERALS],
    # `x.to(dtype)`, pointers included: `fp16 bf16`.
    "cast": [[source, target] for source, target in itertools.product(DTYPES + POINTERS, repeat=2)],
    # The shape of `a + b`: `(2, 1) (4,)`.
    "broadcast": [[a, b] for a, b in itertools.product(SHAPES, SHAPES)],
    # Whether a block may have this shape.
    "block_shape": [[shape] for shape in BLOCK_SHAPES],
    # What a launch tells the compiler about an argument; memory is a dtype and an address, `int8@4096`. The other two
    # parts of a question: whether its parameter is specialized at all, and whether by multiples of 16.
    "specialization": [list(parts) for parts in itertools.product(ARGUMENTS, (True, False), (True, False))],
}
