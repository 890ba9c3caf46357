"""Arrays of results, and how near two right ones are: equal in every bit, or, where machines round differently, nearly.

    check("out of softmax", got, expected, rounding(module))

Addition, multiplication, comparison and conversion have one right result. Only sums of several floats, which may be
added up in any order, and functions like exp, which GPUs approximate, leave something open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.types import BF16, F16, F32, F64, element_type, shape_of

APPROXIMATE = ("arith.divf", "arith.remf", "tt.extern_elementwise", "tt.elementwise_inline_asm", "math.fma") + tuple(
    f"math.{name}" for name in ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf")
)
MANTISSA = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7, "float8_e4m3fn": 3, "float8_e5m2": 2}
TRIPS = 32  # how often a loop may add to a sum


@dataclass(frozen=True)
class Rounding:
    """How results may differ: by `units` in the last place of their own dtype, and as much as sums may.

    A sum of so many `terms` may be off by a unit in the last place, 2^-`mantissa`, for each of them; the terms are
    taken to be no larger than the largest result. What is `tiny` may as well be zero. All zero: not at all.
    """

    units: float = 0.0
    terms: float = 0.0
    mantissa: int = 23
    tiny: float = 0.0

    def allowed(self, expected: np.ndarray, mantissa: int) -> np.ndarray:
        """How far each result, in fp64, may be off, if its dtype has a mantissa of so many bits."""
        sizes = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected))
        own = self.units * 2.0**-mantissa * sizes
        return own + self.terms * 2.0**-self.mantissa * sizes.max(initial=0.0) + self.tiny


EXACT = Rounding()


def rounding(module: Module) -> Rounding:
    """How results of a kernel may differ, by the operations in it."""
    operations = list(module.walk())
    sums = [operation for operation in operations if _sums_floats(operation)]
    if not sums and not any(operation.name in APPROXIMATE and _float(operation) for operation in operations):
        return EXACT
    looping = any(operation.name in ("scf.for", "scf.while") for operation in operations)
    terms = max((_terms(operation) for operation in sums), default=1)
    # The errors of a sum are as often up as down: they grow with the root of the number of terms.
    return Rounding(2.0, 4 * (terms * (TRIPS if looping else 1)) ** 0.5, min(map(_mantissa, sums), default=23))


def check(what: str, got: np.ndarray, expected: np.ndarray, rounding: Rounding = EXACT) -> None:
    """Fail unless the results are right."""
    __tracebackhide__ = True
    if found := difference(got, expected, rounding):
        raise AssertionError(f"{what}: {found}")


def difference(got: np.ndarray, expected: np.ndarray, rounding: Rounding = EXACT) -> str:
    """Which elements are wrong, and the first of them, or nothing. A NaN is like any other, a zero has no sign."""
    wide_got, wide_expected = _wide(got), _wide(expected)
    wrong = (wide_got != wide_expected) & ~((wide_got != wide_got) & (wide_expected != wide_expected))
    allowed = np.zeros(wrong.shape)
    if rounding != EXACT and expected.dtype.name in MANTISSA:
        allowed = rounding.allowed(wide_expected, MANTISSA[expected.dtype.name])
        with np.errstate(invalid="ignore"):
            wrong &= ~(np.abs(wide_got - wide_expected) <= allowed)
    if not wrong.any():
        return ""
    first = int(np.flatnonzero(wrong)[0])
    lines = [
        f"{np.count_nonzero(wrong)} of {wrong.size} elements are wrong, the first is element {first}",
        f"  expected  {expected.flat[first]!s}" + (f" ± {allowed[first]:.3g}" if allowed[first] else ""),
        f"  got       {got.flat[first]!s}",
    ]
    return "\n".join(lines)


def _wide(array: np.ndarray) -> np.ndarray:
    return array.ravel().astype(np.float64) if array.dtype.name in MANTISSA else array.ravel()


def _float(operation: Operation) -> bool:
    return bool(operation.results) and element_type(operation.results[0].type) in (F16, BF16, F32, F64)


def _sums_floats(operation: Operation) -> bool:
    """Whether the order of additions matters in it."""
    if operation.name == "tt.atomic_rmw":
        return operation.attributes["atomic_rmw_op"] == "fadd"
    if operation.name in ("tt.reduce", "tt.scan"):
        return any(inner.name in ("arith.addf", "arith.mulf") for inner in operation.walk())
    return operation.name == "tt.dot" and _float(operation)


def _terms(operation: Operation) -> int:
    """How many numbers are added up."""
    if operation.name == "tt.atomic_rmw":
        return 256
    shape = shape_of(operation.operands[0].type)
    axis: Any = operation.attributes.get("axis", -1)
    return shape[axis]


def _mantissa(operation: Operation) -> int:
    """The bits that terms and sums have; those of a product of fp32 by tensor cores are cut off."""
    kind = element_type((operation.results[0] if operation.results else operation.operands[1]).type)
    if operation.attributes.get("inputPrecision") == "tf32" and element_type(operation.operands[0].type) == F32:
        return MANTISSA["float16"]
    return {F16: 10, BF16: 7, F32: 23, F64: 52}[kind]  # type: ignore[index]
