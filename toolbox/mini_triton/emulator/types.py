"""PTX's types: how the bits of a register become numbers, and how numbers become bits.

A register holds unsigned integers of its width, or booleans. A value is what an instruction computes with: `read` makes
values of bits, and `write` makes bits of values. A packed type, such as f16x2, has values with one more axis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import ml_dtypes
import numpy as np

Array = Any  # a NumPy array of one value for each lane, or one value for all lanes

BITS: dict[int, Any] = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
"""The type of the bits in a register, by width."""
ZEROS = {width: np.zeros((), kind) for width, kind in BITS.items()}
"""What a register holds before anything sets it."""
NATIVE = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SMALL = {"bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
"""Formats that NumPy lacks. Their values are float32."""
LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "e4m3": 448.0, "e5m2": 57344.0, "f32": 3.4028234663852886e38}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "e4m3": 0x7F, "e5m2": 0x7F}
"""The bits of the NaN that a conversion produces."""
MANTISSA = {"f16": 10, "bf16": 7, "tf32": 10, "e4m3": 3, "e5m2": 2, "f32": 23, "f64": 52}


@dataclass(frozen=True)
class Type:
    """A type such as s32, bf16, pred or f16x2."""

    name: str
    element: str  # the name without "x2"
    width: int  # in bits, of the whole type
    packed: int = 1  # the number of values in a register

    @cached_property
    def bits(self) -> Any:
        return BITS[self.width]

    @cached_property
    def is_float(self) -> bool:
        return self.element[0] in "fe" or self.element in ("bf16", "tf32")

    @cached_property
    def is_signed(self) -> bool:
        return self.element[0] == "s"

    @cached_property
    def value(self) -> Any:
        """NumPy's type of the values."""
        if self.element in SMALL or self.element == "tf32":
            return np.float32
        return NATIVE.get(self.element) or (np.dtype(f"int{self.width}").type if self.is_signed else self.bits)

    @cached_property
    def true(self) -> Any:
        """The value that `set` gives for true: one, or an integer with all bits set."""
        return self.value(1) if self.is_float else ~self.value(0)

    def read(self, bits: Array) -> Array:
        """The values of bits."""
        if self.packed > 1:
            return type_of(self.element).read(split(bits, BITS[self.width // self.packed]))
        if self.element == "bf16":
            return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
        if self.element in SMALL:
            return np.asarray(bits).view(SMALL[self.element]).astype(np.float32)
        return bits if self.value is self.bits else bits.view(self.value)

    def write(self, values: Array) -> Array:
        """The bits of values, rounded to the nearest number of this type, and to even numbers at ties."""
        if self.packed > 1:
            element = type_of(self.element)
            bits = element.write(values)
            if self.is_float:  # an operation on two halves produces this NaN
                bits = np.where(np.isnan(values), element.bits(NAN[self.element]), bits)
            return join(bits, self.bits)
        if self.element in SMALL:
            return np.asarray(values, np.float32).astype(SMALL[self.element]).view(self.bits)
        if values.dtype != self.value:
            values = values.astype(self.value)
        return values if self.value is self.bits else values.view(self.bits)


@cache
def type_of(name: str) -> Type:
    """The type of this name. Raises `KeyError` for a word that names no type."""
    if name == "pred":
        return Type(name, name, 1)
    if match := re.fullmatch(r"([busf])(8|16|32|64)", name):
        return Type(name, name, int(match[2]))
    if name in ("bf16", "tf32", "e4m3", "e5m2"):
        return Type(name, name, {"bf16": 16, "tf32": 32}.get(name, 8))
    if match := re.fullmatch(r"(f16|bf16|f32|e4m3|e5m2|u16|s16)x([24])", name):
        element, packed = match[1], int(match[2])
        return Type(name, element, type_of(element).width * packed, packed)
    raise KeyError(name)


def split(bits: Array, unit: Any) -> Array:
    """The pieces of numbers, along a new last axis."""
    return np.asarray(bits, order="C")[..., None].view(unit)


def join(pieces: Array, unit: Any) -> Array:
    """The numbers whose pieces are along the last axis."""
    return np.asarray(pieces, order="C").view(unit)[..., 0]


def unsigned(width: int) -> Type:
    """The type of unsigned integers of a width."""
    return type_of("pred" if width == 1 else f"u{width}")


def round_to(values: Array, target: str, way: str = "rn", saturate: bool = False) -> Array:
    """The bits of floats in a narrower format, rounded up, down, to zero, or to the nearest number.

    The ways are PTX's: rn (ties to even), rna (ties away from zero), rz, rm (down), rp (up). A number that is too large
    becomes infinity; with `saturate`, the largest finite number.
    """
    if target == "tf32":
        return _round_tf32(np.asarray(values, np.float32), way)
    values = np.asarray(values)
    kind = type_of(target)
    source = values
    if saturate:
        values = np.clip(values, -LARGEST[target], LARGEST[target]).astype(values.dtype)
    bits = kind.write(values)
    if way != "rn":
        bits = _directed(source, bits, kind, way)
    return np.where(np.isnan(values), kind.bits(NAN[target]), bits) if target in NAN else bits


def _directed(exact: Array, bits: Array, kind: Type, way: str) -> Array:
    """The neighbor of a rounded number in a direction, if the number was rounded in the other direction."""
    exact, rounded = exact.astype(np.longdouble), kind.read(bits).astype(np.longdouble)  # both exactly
    wrong = {"rz": np.abs(rounded) > np.abs(exact), "rm": rounded > exact, "rp": rounded < exact}[way]
    one = kind.bits(1)
    outward = (rounded < exact) == (rounded > 0)  # the neighbor is farther from zero
    sign = kind.bits(1 << (kind.width - 1))
    across = sign | one if way == "rm" else one  # the neighbor of zero
    neighbor = np.where(rounded == 0, across, np.where(outward, bits + one, bits - one))
    return np.where(wrong & ~np.isnan(exact), neighbor, bits).astype(kind.bits)


def _round_tf32(values: Array, way: str) -> Array:
    """The bits of float32 with the last thirteen bits rounded away."""
    bits = values.view(np.uint32)
    up = {"rna": np.uint32(0x1000), "rn": np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))}
    rounded = (bits + up.get(way, np.uint32(0))) & np.uint32(0xFFFFE000)
    kept = bits if way == "rna" else np.where(np.isnan(values), np.uint32(0x7FFFE000), bits)
    return np.where(np.isfinite(values), rounded, kept)


def not_negative(values: Array) -> Array:
    """Floats with zero for negative numbers and for -0: PTX's `.relu`."""
    return np.where(values <= 0, values.dtype.type(0), values)


def flush(values: Array) -> Array:
    """Floats with subnormal numbers replaced by zeros of the same sign: PTX's `.ftz`."""
    small = np.abs(values) < np.float32(2**-126)
    return np.where(small, np.copysign(np.float32(0), values), values) if small.any() else values
