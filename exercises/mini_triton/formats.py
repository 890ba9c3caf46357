"""The table of dtypes, which describes every number format once. (Given.)

A format has a different name at each stage of a kernel: `tl.float8e5` in its source, `fp8e5` in its signature, `f8E5M2`
in its IR, and `float8_e5m2` in its arrays. To add a format, add a row to `FORMATS`.

Source: Triton's `python/triton/language/core.py` and `_utils.py`; LLVM's `APFloat.h` (`fltSemantics`).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass


class Kind(enum.IntEnum):
    """Kinds in promotion order: bool < int < float."""

    BOOL = 0
    INT = 1
    FLOAT = 2


class Specials(enum.Enum):
    """Which bits of a float represent infinity and NaN. Each value is the suffix of MLIR's names for these formats."""

    IEEE = ""  # the largest exponent: infinity if the mantissa is zero, otherwise NaN
    FINITE = "FN"  # no infinity; in a NaN, all bits except the sign are ones
    UNSIGNED_ZERO = "FNUZ"  # no infinity; the bits of IEEE's -0.0 are the only NaN; the bias is one larger than IEEE's


@dataclass(frozen=True)
class Format:
    """One number format: its names, and the meaning of its bits."""

    tl: str  # in a kernel's source: `tl.float8e5`
    name: str  # what Triton prints for it
    signature: str  # how a launch spells it
    mlir: str  # in the IR, whose integers are signless
    array: str  # in NumPy, in `ml_dtypes` and in PyTorch
    kind: Kind
    width: int  # in bits
    signed: bool = False  # for integers; i1 counts as the narrowest unsigned integer
    exponent: int = 0  # the number of a float's exponent bits
    specials: Specials = Specials.IEEE
    native: bool = True  # NumPy defines this format; otherwise, `ml_dtypes` does
    capability: int | None = 0  # the first NVIDIA compute capability with this format; None if there is none

    def __str__(self) -> str:
        return self.name

    @property
    def mantissa(self) -> int:
        """The number of bits in a float's mantissa, without the implicit leading one."""
        return self.width - 1 - self.exponent

    @property
    def bias(self) -> int:
        """The amount added to the exponent before it is stored."""
        return 2 ** (self.exponent - 1) - (self.specials is not Specials.UNSIGNED_ZERO)

    @property
    def infinity(self) -> int | None:
        """The bits of infinity, or None if the format has no infinity."""
        return (2**self.exponent - 1) << self.mantissa if self.specials is Specials.IEEE else None

    @property
    def nan(self) -> int:
        """The bits of the NaN that the compiler writes."""
        if self.specials is Specials.UNSIGNED_ZERO:
            return 1 << (self.width - 1)
        everything = (1 << (self.width - 1)) - 1
        return everything if self.infinity is None else self.infinity | 1 << (self.mantissa - 1)

    def value_of(self, bits: int) -> float:
        """The float that `bits` represents."""
        sign, size = -1.0 if bits >> (self.width - 1) else 1.0, bits & ((1 << (self.width - 1)) - 1)
        if self.infinity is not None and size >= self.infinity:
            return math.copysign(math.inf if size == self.infinity else math.nan, sign)
        if self.infinity is None and self.nan in (bits, size):
            return math.copysign(math.nan, sign if size else 1.0)  # the only NaN of FNUZ has no sign
        exponent, mantissa = size >> self.mantissa, size & ((1 << self.mantissa) - 1)
        if exponent:
            mantissa |= 1 << self.mantissa
        return sign * math.ldexp(mantissa, max(exponent, 1) - self.bias - self.mantissa)


BOOL, INT, FLOAT = Kind
# fmt: off
FORMATS = (
    #      tl            name       signature  mlir        array            kind   width
    Format("int1",       "int1",    "u1",      "i1",       "bool",          BOOL,  1),
    Format("int8",       "int8",    "i8",      "i8",       "int8",          INT,   8,  signed=True),
    Format("int16",      "int16",   "i16",     "i16",      "int16",         INT,   16, signed=True),
    Format("int32",      "int32",   "i32",     "i32",      "int32",         INT,   32, signed=True),
    Format("int64",      "int64",   "i64",     "i64",      "int64",         INT,   64, signed=True),
    Format("uint8",      "uint8",   "u8",      "i8",       "uint8",         INT,   8),
    Format("uint16",     "uint16",  "u16",     "i16",      "uint16",        INT,   16),
    Format("uint32",     "uint32",  "u32",     "i32",      "uint32",        INT,   32),
    Format("uint64",     "uint64",  "u64",     "i64",      "uint64",        INT,   64),
    Format("float8e5",   "fp8e5",   "fp8e5",   "f8E5M2",   "float8_e5m2",   FLOAT, 8,  exponent=5, native=False),
    Format("float8e4nv", "fp8e4nv", "fp8e4nv", "f8E4M3FN", "float8_e4m3fn", FLOAT, 8,  exponent=4,
           specials=Specials.FINITE, native=False, capability=89),
    Format("float8e5b16", "fp8e5b16", "fp8e5b16", "f8E5M2FNUZ", "float8_e5m2fnuz", FLOAT, 8, exponent=5,
           specials=Specials.UNSIGNED_ZERO, native=False, capability=None),
    Format("float8e4b8", "fp8e4b8", "fp8e4b8", "f8E4M3FNUZ", "float8_e4m3fnuz", FLOAT, 8, exponent=4,
           specials=Specials.UNSIGNED_ZERO, native=False, capability=None),
    Format("float16",    "fp16",    "fp16",    "f16",      "float16",       FLOAT, 16, exponent=5),
    Format("bfloat16",   "bf16",    "bf16",    "bf16",     "bfloat16",      FLOAT, 16, exponent=8, native=False),
    Format("float32",    "fp32",    "fp32",    "f32",      "float32",       FLOAT, 32, exponent=8),
    Format("float64",    "fp64",    "fp64",    "f64",      "float64",       FLOAT, 64, exponent=11),
)
# fmt: on

INTEGERS = {f"i{row.width}": row for row in FORMATS if row.kind is BOOL or row.signed}
FLOATS = {row.mlir: row for row in FORMATS if row.kind is FLOAT}
"""Formats by their names in the IR. Of two integer formats of the same width, `INTEGERS` has the signed one."""

BY_ARRAY = {row.array: row for row in FORMATS}
"""Formats by their names in NumPy and PyTorch."""
