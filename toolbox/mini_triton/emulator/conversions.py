"""cvt: conversions between number formats, with PTX's ways to round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import LARGEST, Array, Type, flush, not_negative, round_to, type_of

ROUNDINGS = ("rn", "rna", "rz", "rm", "rp")
WHOLE: dict[str, Any] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


@instruction("cvt")
def convert(machine: Machine, i: Instruction) -> Step:
    """A conversion of one operand, or of two into a packed type: the first operand is the upper half."""
    target, source = i.types[-2:]
    function = conversion(i, target, source)
    if len(i.operands) == 3:
        upper, lower = (machine.source(operand, source) for operand in i.operands[1:])
        put = machine.target(i.operands[0], target)

        def pair(mask: Mask) -> None:
            both = np.stack(np.broadcast_arrays(function(lower()), function(upper())), -1)
            put(np.ascontiguousarray(both).view(target.bits)[..., 0], mask)

        return pair
    if target.packed != source.packed or len(i.operands) != 2:
        raise KeyError(target.name)
    get, put = machine.source(i.operands[1], source), machine.target(i.operands[0], target)

    def step(mask: Mask) -> None:
        bits = np.asarray(function(get()))
        put(np.ascontiguousarray(bits).view(target.bits)[..., 0] if target.packed > 1 else bits, mask)

    return step


def conversion(i: Instruction, target: Type, source: Type) -> Callable[[Array], Array]:
    """A function from values of one type to the bits of another, for each element of a packed type."""
    before = flush if i.has("ftz") and source.element == "f32" else (lambda x: x)
    saturate, whole = i.has("satfinite"), WHOLE.get(i.one_of(*WHOLE))
    relu = not_negative if i.has("relu") else (lambda x: x)
    if target.is_float:
        element, way = target.element, i.one_of(*ROUNDINGS) or "rn"
        if source.is_float and element in ("f32", "f64") and i.has("sat"):
            return lambda x: type_of(element).write(np.nan_to_num(np.clip(before(x), 0, 1), nan=0) + x.dtype.type(0))
        if whole:
            return lambda x: type_of(element).write(whole(before(x)))
        if source.is_float and element in LARGEST or element == "tf32":
            after = (lambda b: flush(b.view(np.float32)).view(np.uint32)) if i.has("ftz") and element == "f32" else None
            exact = lambda x: round_to(relu(before(x)), element, way, saturate)  # noqa: E731
            return (lambda x: after(exact(x))) if after else exact
        if way != "rn" and not source.is_float:
            return lambda x: directed_integer(x, element, way)
        return lambda x: type_of(element).write(np.asarray(before(x)))
    if source.is_float:
        return lambda x: to_integer(before(x), target, source, whole or np.trunc)
    if i.has("sat"):
        limits = np.iinfo(target.value)
        return lambda x: clip_integer(x, limits).astype(target.value).view(target.bits)
    return lambda x: np.asarray(x).astype(target.value).view(target.bits)


def to_integer(x: Array, target: Type, source: Type, whole: Any) -> Array:
    """Floats as integers, those out of range as the nearest integer. A NaN is 0, or 2^63 for wide types."""
    limits = np.iinfo(target.value)
    rounded = whole(np.asarray(x)).astype(np.float64)
    low, high = float(limits.min), float(limits.max)
    inside = np.where((rounded > low) & (rounded < high), rounded, 0).astype(target.value)
    result = np.where(
        rounded <= low, target.value(limits.min), np.where(rounded >= high, target.value(limits.max), inside)
    )
    strange = 1 << (target.width - 1) if source.width == 64 or target.width == 64 else 0
    return np.where(np.isnan(rounded), target.bits(strange), result.view(target.bits))


def clip_integer(x: Array, limits: Any) -> Array:
    """Integers in the range of another type of integers."""
    known = np.iinfo(x.dtype)
    return np.clip(x, max(limits.min, known.min), min(limits.max, known.max))


def directed_integer(x: Array, element: str, way: str) -> Array:
    """Integers as floats that are not rounded to the nearest."""
    kind = type_of(element)
    bits = kind.write(np.asarray(x))
    error = kind.read(bits).astype(np.longdouble) - x.astype(np.longdouble)
    up = {"rz": (error > 0) == (x > 0), "rm": error > 0, "rp": error < 0}[way] & (error != 0)
    step = np.where((error > 0) == (x > 0), -1, 1).astype(np.int64)
    return np.where(up, (bits.astype(np.int64) + step).astype(kind.bits), bits)
