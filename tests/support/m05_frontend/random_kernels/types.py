"""Types of a random kernel's values, named as Triton prints them: "int8", "uint32", "fp16"; "*fp32" is a pointer.

Python's numbers have no width of their own and are "int" and "float". The rules of promotion stand here once more, in
the generator's own words.
"""

from __future__ import annotations

import math

Shape = tuple[int, ...]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FP8 = ("fp8e5", "fp8e4nv")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
PYTHON = ("int", "float")
NUMBERS = ("int1", *INTEGERS, *FLOATS)  # what there is arithmetic for
STORED = (*NUMBERS, *FP8)

MOST = 256  # elements of a block: larger ones show nothing more


def in_language(dtype: str) -> str:
    """The dtype's name in `triton.language`."""
    names = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    return "tl." + names.get(dtype, dtype.replace("fp8", "float8"))


def in_signature(dtype: str) -> str:
    """The dtype's name in a kernel's signature."""
    return dtype.replace("uint", "u").replace("int", "i")


def width(dtype: str) -> int:
    """The bits of a number."""
    return 8 if dtype in FP8 else int(dtype.lstrip("abfintpu"))


def promoted(a: str, b: str) -> str | None:
    """The dtype of `x + y`; nothing where that is refused, or no value of a program at all."""
    if a in PYTHON or b in PYTHON:
        return None if a in PYTHON and b in PYTHON else _with_number(*((b, a) if a in PYTHON else (a, b)))
    if a not in NUMBERS or b not in NUMBERS:
        return None
    for dtype in ("fp64", "fp32", "fp16"):
        if dtype in (a, b):
            return dtype
    if "bf16" in (a, b):
        return "bf16" if a == b else "fp32"
    narrow, wide = sorted((a, b), key=lambda dtype: (width(dtype), dtype in UNSIGNED))
    return wide


def _with_number(dtype: str, number: str) -> str | None:
    """A number has the type of the other operand, if there is a number of its kind in that."""
    if dtype not in NUMBERS or dtype in FLOATS:
        return dtype if dtype in FLOATS else None
    return "fp32" if number == "float" else "int32" if dtype == "int1" else dtype


def quotient(a: str, b: str) -> str | None:
    """The dtype of `x / y`: always a float, and a wide one."""
    both = promoted(a, b)
    if both is None or both in FLOATS:
        return both and ("fp64" if both == "fp64" else "fp32")
    return "fp32" if same_signedness(a, b) else None


def same_signedness(a: str, b: str) -> bool:
    """Whether `x // y` is accepted of two integers."""
    return (a in SIGNED and b in (*SIGNED, "int")) or (a in UNSIGNED and b in UNSIGNED)


def summed(dtype: str) -> str:
    """The dtype of a sum over a block: no integer is narrower than 32 bits."""
    return dtype if dtype in FLOATS or width(dtype) >= 32 else "int32" if dtype in SIGNED else "uint32"


def extreme(dtype: str) -> str:
    """The dtype of a block's maximum or minimum."""
    if dtype in FLOATS:
        return dtype if width(dtype) >= 32 else "fp32"
    return dtype if width(dtype) >= 32 else "int32"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape of `x + y`; nothing where the two do not fit."""
    rank = max(len(a), len(b))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(left, right, strict=True)):
        return None
    return tuple(map(max, left, right))


def elements(shape: Shape) -> int:
    """How many elements a block of this shape has."""
    return math.prod(shape)
