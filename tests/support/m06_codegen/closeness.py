"""Compare arrays of results: bit by bit, or with a tolerance where machines round differently.

    check("out of softmax", got, expected, rounding(module))

Addition, multiplication, comparison and conversion have one right result each. Sums of several floats, which may be
computed in any order, and functions such as exp, which GPUs approximate, have several.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.types import BF16, F16, F32, F64, element_type, shape_of

APPROXIMATE = ("arith.divf", "arith.remf", "tt.extern_elementwise", "tt.elementwise_inline_asm", "math.fma") + tuple(
    f"math.{name}" for name in ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf")
)
BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8E4M3FN": 3, "f8E5M2": 2}  # bits of the mantissa
MANTISSA = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7, "float8_e4m3fn": 3, "float8_e5m2": 2}
TRIPS = 32  # the most iterations of a loop that adds to a sum


@dataclass(frozen=True)
class Rounding:
    """The allowed difference of results: `units` in the last place of their dtype, and the error of sums.

    A sum may be off by 2^-`mantissa` of the largest result for each of `terms` terms. If terms were rounded to a
    mantissa of `narrow` bits, one term may have become the adjacent float. A further difference of `tiny` is allowed.
    If all fields are zero, results must be equal.
    """

    units: float = 0.0
    terms: float = 0.0
    mantissa: int = 23
    narrow: int | None = None
    tiny: float = 0.0

    def allowed(self, expected: np.ndarray, mantissa: int) -> np.ndarray:
        """The allowed error of each result, in fp64, for a dtype with a mantissa of this many bits."""
        sizes = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected))
        own = self.units * 2.0**-mantissa * sizes
        summed = self.terms * 2.0**-self.mantissa + (2.0**-self.narrow if self.narrow else 0.0)
        return own + summed * sizes.max(initial=0.0) + self.tiny


EXACT = Rounding()


def rounding(module: Module) -> Rounding:
    """The allowed difference of a kernel's results, which follows from its operations."""
    operations = list(module.walk())
    sums = [operation for operation in operations if _sums_floats(operation)]
    if not sums and not any(operation.name in APPROXIMATE and _float(operation) for operation in operations):
        return EXACT
    looping = any(operation.name in ("scf.for", "scf.while") for operation in operations)
    terms = max((_terms(operation) for operation in sums), default=1)
    narrowed = [_bits(operation) for operation in operations if _narrows(operation)] if sums else []
    # A sum's errors have random signs, so their total grows with the square root of the number of terms.
    terms_off = 4 * (terms * (TRIPS if looping else 1)) ** 0.5
    return Rounding(2.0, terms_off, min(map(_mantissa, sums), default=23), min(narrowed, default=None))


def check(what: str, got: np.ndarray, expected: np.ndarray, rounding: Rounding = EXACT) -> None:
    """Fail if a result is outside its tolerance."""
    __tracebackhide__ = True
    if found := difference(got, expected, rounding):
        raise AssertionError(f"{what}: {found}")


def difference(got: np.ndarray, expected: np.ndarray, rounding: Rounding = EXACT) -> str:
    """The number of wrong elements and the first of them, in words; "" if all are right."""
    found = wrong(got, expected, rounding)
    if not found.any():
        return ""
    first = int(np.flatnonzero(found)[0])
    allowed = _allowed(expected, rounding)[first]
    return (
        f"{np.count_nonzero(found)} of {found.size} elements are wrong, the first is element {first}\n"
        f"  expected  {expected.flat[first]!s}" + (f" ± {allowed:.3g}" if allowed else "") + "\n"
        f"  got       {got.flat[first]!s}"
    )


def wrong(got: np.ndarray, expected: np.ndarray, rounding: Rounding = EXACT) -> np.ndarray:
    """Which elements are wrong. All NaNs are equal, and so are both zeros."""
    x, y = _wide(got), _wide(expected)
    different = (x != y) & ~((x != x) & (y != y))
    if rounding == EXACT or expected.dtype.name not in MANTISSA:
        return different
    with np.errstate(invalid="ignore"):
        return different & ~(np.abs(x - y) <= _allowed(expected, rounding))


def _allowed(expected: np.ndarray, rounding: Rounding) -> np.ndarray:
    if expected.dtype.name not in MANTISSA:
        return np.zeros(expected.size)
    return rounding.allowed(_wide(expected), MANTISSA[expected.dtype.name])


def _wide(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # signaling NaNs
        return array.ravel().astype(np.float64) if array.dtype.name in MANTISSA else array.ravel()


def _float(operation: Operation) -> bool:
    return bool(operation.results) and element_type(operation.results[0].type) in (F16, BF16, F32, F64)


def _sums_floats(operation: Operation) -> bool:
    """Whether the operation's result depends on the order in which floats are combined."""
    if operation.name == "tt.atomic_rmw":
        return operation.attributes["atomic_rmw_op"] == "fadd"
    if operation.name in ("tt.reduce", "tt.scan"):
        return any(inner.name in ("arith.addf", "arith.mulf") for inner in operation.walk())
    return operation.name == "tt.dot" and _float(operation)


def _narrows(operation: Operation) -> bool:
    """Whether the operation rounds a float that a later operation uses."""
    if operation.name not in ("arith.truncf", "tt.fp_to_fp"):
        return False
    return any(use.user.name != "tt.store" for use in operation.results[0].uses)


def _terms(operation: Operation) -> int:
    """The number of terms of a sum."""
    if operation.name == "tt.atomic_rmw":
        return 256
    shape = shape_of(operation.operands[0].type)
    axis: Any = operation.attributes.get("axis", -1)
    return shape[axis]


def _mantissa(operation: Operation) -> int:
    """The mantissa bits of terms and sums; tensor cores truncate fp32 operands."""
    if operation.attributes.get("inputPrecision") == "tf32" and element_type(operation.operands[0].type) == F32:
        return BITS["f16"]
    return _bits(operation)


def _bits(operation: Operation) -> int:
    """The mantissa bits of the operation's results, or of the value that it writes."""
    return BITS[str(element_type((operation.results[0] if operation.results else operation.operands[1]).type))]
