"""Dtypes, shapes and numbers for the tests' expressions, and predicates for what Triton's versions treat alike."""

import itertools
import math
from collections.abc import Iterable
from ctypes import c_float

from mini_triton.formats import FORMATS
from mini_triton.language.signature import parse_type

from tests.oracles import records
from tests.support.type_names import SIGNATURES

Shape = tuple[int, ...]

DTYPES = SIGNATURES
TL_NAMES = {"i1": "tl.int1", **{row.signature: f"tl.{row.tl}" for row in FORMATS}}
INTEGERS = tuple(dtype for dtype in DTYPES if dtype[0] in "iu")
POINTERS = ("*fp32", "*fp16", "*i32")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
ALIKE: tuple[Shape, ...] = ((), (4,), (4, 1), (2, 4))
"""Shapes that broadcast together."""


def typed(element: str, shape: Shape) -> str:
    """`*i8[4, 1]`"""
    return f"{element}{list(shape)}" if shape else element


def of_each(dtypes: Iterable[str], shape: Shape) -> dict[str, str]:
    """A value of each dtype: `x_i8` and so on."""
    return {f"x_{dtype.replace('*', 'p_')}": typed(dtype, shape) for dtype in dtypes}


def tl_name(spelling: str) -> str:
    """The dtype's name in kernels: `tl.uint8` for `u8`, `tl.pointer_type(tl.float32)` for `*fp32`."""
    if spelling.startswith("*"):
        return f"tl.pointer_type({tl_name(spelling[1:])})"
    return TL_NAMES[spelling]


def name_of(spelling: str) -> str:
    """The dtype's name in the records: `uint8` for `u8`."""
    return str(parse_type(spelling))


def written(value: bool | int | float) -> str:
    """A number as source text of a kernel."""
    return f"float('{value}')" if isinstance(value, float) and math.isinf(value) else repr(value)


def alike_cast(source: str, target: str) -> bool:
    """Whether all versions of Triton cast alike."""
    return records.cast_ops(name_of(source), name_of(target)).common


def alike_promoted(a: str, b: str, operator: str) -> bool:
    """Whether all versions of Triton convert two tensors to the same types in the same way."""
    answer = records.promotion(name_of(a), name_of(b), _rule(operator))
    casts = [records.cast_ops(name_of(source), answer.value) for source in (a, b) if answer.ok]
    return answer.common and all(cast.common for cast in casts)


def pairs(operator: str, turn: int) -> list[tuple[str, str]]:
    """Pairs of each dtype with itself and some others, which depend on `turn`; Triton's versions treat them alike."""
    return [
        (a, b)
        for (i, a), (j, b) in itertools.product(enumerate(DTYPES), repeat=2)
        if (i == j or (i + j + turn) % 5 == 0) and alike_promoted(a, b, operator)
    ]


def alike_with_number(a: str, value: bool | int | float, operator: str) -> bool:
    """Whether all versions of Triton treat a tensor and a number alike.

    In comparisons, newer versions use the tensor's dtype, and older versions promote both operands.
    """
    if (a, value) == ("bf16", 1e-40):
        return False  # Triton flushes a subnormal number to zero
    answer = records.literal_promotion(name_of(a), value, _rule(operator))
    if not answer.common or operator not in COMPARISONS:
        return answer.common
    if a == "fp64" and isinstance(value, float) and c_float(value).value != value:
        return False  # older versions compare with the value's fp32
    alone = records.literal_type(value)
    return alone.ok and answer.ok and answer.value == records.promotion(name_of(a), alone.value).value


def _rule(operator: str) -> str:
    """The operator whose recorded rules apply to this operator."""
    return operator if operator in ("/", "//", "%") else "+"
