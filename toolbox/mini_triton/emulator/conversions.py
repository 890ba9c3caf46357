"""cvt: conversions between number formats, with PTX's ways to round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array, Type, flush, join, not_negative, round_to, type_of

Conversion = Callable[[Array], Array]
ROUNDINGS = ("rn", "rna", "rz", "rm", "rp")
WHOLE: dict[str, Any] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


@instruction("cvt")
def convert(machine: Machine, i: Instruction) -> Step:
    """A conversion of one operand, or of two into a packed type: the first operand is the upper half."""
    target, source = i.types[-2:]
    function, put = conversion(i, target, source), machine.target(i.operands[0], target)
    gets = [machine.source(operand, source) for operand in i.operands[:0:-1]]
    if target.packed != source.packed * len(gets):
        raise KeyError(target.name)

    def step(mask: Mask) -> None:
        pieces = [np.asarray(function(get())) for get in gets]
        bits = np.stack(np.broadcast_arrays(*pieces), -1) if len(gets) > 1 else pieces[0]
        put(join(bits, target.bits) if target.packed > 1 else bits, mask)

    return step


def conversion(i: Instruction, target: Type, source: Type) -> Conversion:
    """A function from values of one type to the bits of another, for each element of a packed type."""
    element = type_of(target.element)
    if source.is_float:
        convert = from_float(i, element, source)
        return (lambda x: convert(flush(x))) if i.has("ftz") and source.element == "f32" else convert
    if target.is_float:
        return lambda x: round_to(x, element.name, i.one_of(*ROUNDINGS) or "rn")
    if not i.has("sat"):
        return lambda x: x.astype(target.value).view(target.bits)
    known, limits = np.iinfo(source.value), np.iinfo(target.value)
    low, high = max(known.min, limits.min), min(known.max, limits.max)
    return lambda x: np.clip(x, low, high).astype(target.value).view(target.bits)


def from_float(i: Instruction, target: Type, source: Type) -> Conversion:
    """A conversion of floats."""
    whole, way = WHOLE.get(i.one_of(*WHOLE)), i.one_of(*ROUNDINGS) or "rn"
    if not target.is_float:
        return lambda x: to_integer((whole or np.trunc)(x), target, source)
    if i.has("sat"):
        return lambda x: target.write(np.nan_to_num(np.clip(x, 0, 1), nan=0) + x.dtype.type(0))
    if whole:
        return lambda x: target.write(whole(x))
    before = not_negative if i.has("relu") else np.asarray
    if target.name == "f32" and i.has("ftz"):
        return lambda x: target.write(flush(round_to(before(x), "f32", way).view(np.float32)))
    return lambda x: round_to(before(x), target.name, way, i.has("satfinite"))


def to_integer(x: Array, target: Type, source: Type) -> Array:
    """Whole floats as integers, those out of range as the nearest integer. A NaN is 0, or 2^63 for wide types."""
    limits, x = np.iinfo(target.value), x.astype(np.float64)
    low, high = x <= float(limits.min), x >= float(limits.max)
    inside = np.where(low | high, 0, x).astype(target.value)
    result = np.where(low, target.value(limits.min), np.where(high, target.value(limits.max), inside))
    strange = 1 << (target.width - 1) if source.width == 64 or target.width == 64 else 0
    return np.where(np.isnan(x), target.bits(strange), result.view(target.bits))
