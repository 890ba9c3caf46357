"""Expressions that call a function of each element: `tl.where`, `tl.exp`, casts."""

from __future__ import annotations

from dataclasses import replace

from tests.support.m05_frontend.random_kernels.operators import (
    COMPARED_WITH_NUMBERS,
    comparison,
    condition,
    fitting,
    is_number,
    literal,
    partner,
    together,
)
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import (
    FLOATS,
    FP8,
    INTEGERS,
    MOST,
    NUMBERS,
    SIGNED,
    STORED,
    UNSIGNED,
    Shape,
    broadcast,
    elements,
    in_language,
    promoted,
    width,
)
from tests.support.m05_frontend.random_kernels.writer import Function

EXACT = ("tl.floor", "tl.ceil", "tl.abs")
APPROXIMATE = (
    *("tl.exp", "tl.sqrt", "tl.sin", "tl.cos", "tl.log", "tl.exp2", "tl.log2", "tl.rsqrt", "tl.erf"),
    *("tl.math.exp", "tl.math.sqrt", "tl.math.erf", "tl.math.sin"),
)
BOUNDED = ("tl.sin", "tl.cos", "tl.floor", "tl.ceil", "tl.abs")  # of what is within ±8


def is_wide_float(value: Value) -> bool:
    """Whether there are mathematical functions for it."""
    return value.dtype in ("fp32", "fp64")


def math(k: Function) -> Value | None:
    """`tl.exp(x)` and its like; `tl.abs` also of integers."""
    if k.chance(20) and (a := k.operand(lambda value: value.dtype in (*SIGNED, "fp16", "bf16"))):
        return replace(a, text=f"tl.abs({a.text})", loose=False, fixed=False)
    if not (a := k.operand(is_wide_float)):
        return None
    name = k.of((*EXACT, *(APPROXIMATE * (not k.program.exact))))
    if a.dtype == "fp32" and k.chance(15):
        name = "tl.sqrt_rn"
    return Value(f"{name}({a.text})", a.dtype, a.shape, tame=a.tame and name in BOUNDED)


def several(k: Function) -> Value | None:
    """`tl.fma(x, y, z)`, `tl.clamp(x, low, high)`, `tl.div_rn(x, y)`, `tl.umulhi(x, y)`."""
    kind = k.of((1, 1, 0, 0, 2, 3))
    if kind == 0 and (a := k.operand(lambda value: is_wide_float(value) and value.tame)):
        return Value(f"tl.clamp({a.text}, -1.0, 2.0)", a.dtype, a.shape, tame=True)
    if kind == 1 and not k.program.exact and (a := k.operand(is_wide_float)):
        b, c = (_alike(k, a) for _ in range(2))
        return Value(f"tl.fma({a.text}, {b.text}, {c.text})", a.dtype, a.shape)
    if kind == 2 and (a := k.operand(lambda value: value.dtype == "fp32")):
        return _called("tl.div_rn", a, _alike(k, a), a.dtype)
    if kind == 3 and (a := k.operand(lambda value: value.dtype in ("int32", "uint32"))):
        return _called("tl.umulhi", a, _alike(k, a), a.dtype)
    return None


def _alike(k: Function, a: Value) -> Value:
    """A value of the type of `a`."""
    return k.pick(lambda value: value.type == a.type) or a


def larger(k: Function) -> Value | None:
    """`tl.maximum(x, y)`, `tl.minimum(x, y)`; of scalars also `max(x, y)`."""
    if not (a := k.operand(lambda value: is_number(value) and value.dtype not in ("int1", "bf16"))):
        return None
    b = k.pick(lambda value: fitting(a)(value) and value.dtype not in ("int1", "bf16")) or a
    if a.dtype in COMPARED_WITH_NUMBERS and k.chance(40):
        b = literal(k, a)
    name = k.of(("tl.maximum", "tl.minimum"))
    if not a.shape and not b.shape and k.chance(50):
        name = k.of(("max", "min"))
    return _called(name, a, b, promoted(a.dtype, b.dtype))


def where(k: Function) -> Value | None:
    """`tl.where(condition, x, y)`."""
    if not (a := k.operand(is_number)):
        return None
    b = partner(k, a)
    if not (both := _called("", a, b, promoted(a.dtype, b.dtype))):
        return None
    chooser = k.pick(lambda value: value.dtype == "int1" and broadcast(value.shape, both.shape) is not None)
    if chooser is None or k.chance(40):
        chooser = comparison(k) or condition(k)
    if (shape := broadcast(chooser.shape, both.shape)) is None or elements(shape) > MOST:
        return None
    x, y = (a.text, b.text) if k.chance(70) else (b.text, a.text)
    return Value(f"tl.where({chooser.text}, {x}, {y})", both.dtype, shape)


def cast(k: Function) -> Value | None:
    """`x.to(dtype)`."""
    if not (a := k.operand(lambda value: value.dtype in STORED)):
        return None
    dtypes = FP8 if a.tame and k.chance(25) else ("fp32", "int32", *FLOATS, *INTEGERS, "int1")
    return converted(a, k.of([dtype for dtype in dtypes if dtype != a.dtype]))


def bitcast(k: Function) -> Value | None:
    """`x.to(dtype, bitcast=True)`: never of what may be a NaN."""
    if not (a := k.operand(lambda value: is_number(value) and value.dtype != "int1")):
        return None
    if a.dtype in FLOATS and not a.tame:
        return None
    dtypes = [dtype for dtype in NUMBERS[1:] if width(dtype) == width(a.dtype) and dtype != a.dtype]
    dtype = k.of(dtypes)
    return Value(f"{a.inner}.to({in_language(dtype)}, bitcast=True)", dtype, a.shape)


def converted(a: Value, dtype: str) -> Value | None:
    """`a` as a value of this type, if it has one there in all versions and on all machines."""
    if a.dtype == dtype:
        return a
    if dtype in FP8:
        return _to(a, dtype) if a.tame and a.dtype in FLOATS[:3] else None
    if a.dtype in FP8:
        return _to(a, dtype) if dtype in FLOATS else None
    if a.dtype in FLOATS and dtype in INTEGERS:
        return _whole(a, dtype)
    return _to(a, dtype)


def _whole(a: Value, dtype: str) -> Value | None:
    """A float as an integer: in range, and no NaN."""
    if a.dtype not in ("fp32", "fp64"):
        wide = _to(a, "fp32")
        return wide and _whole(wide, dtype)
    if not a.tame:
        a = replace(a, text=f"tl.where(tl.abs({a.text}) < 100.0, {a.text}, 0.0)", loose=False)
    return _to(replace(a, text=f"tl.abs({a.text})", loose=False) if dtype in UNSIGNED else a, dtype)


def _to(a: Value, dtype: str) -> Value:
    tame = a.tame and dtype in (*FLOATS, *FP8)
    return Value(f"{a.inner}.to({in_language(dtype)})", dtype, a.shape, tame=tame)


def filled(k: Function, dtype: str, shape: Shape) -> Value:
    """A block of one number, or a scalar."""
    if not shape:
        number = {"int32": "0", "fp32": "0.0"}.get(dtype)
        return Value(number or f"tl.full((), 1, {in_language(dtype)})", dtype)
    if dtype not in ("int1", *UNSIGNED) and k.chance(40):
        return Value(f"tl.full({k.shape(shape)}, {k.of((1, 3, -1))}, {in_language(dtype)})", dtype, shape)
    return Value(f"tl.zeros({k.shape(shape)}, {in_language(dtype)})", dtype, shape)


def another(k: Function, like: Value) -> Value:
    """A value of the same type as this one, made from what is visible besides it, if possible."""
    dtype, shape = like.dtype, like.shape

    def is_same(value: Value) -> bool:
        return value.type == like.type and value.text != like.text

    def fits(value: Value) -> bool:
        return is_number(value) and value.text != like.text and broadcast(value.shape, shape) == shape

    source = (k.pick(is_same) if k.chance(40) else None) or k.pick(fits)
    value = source and converted(source, dtype)
    if value is None:
        return filled(k, dtype, shape)
    if value.shape == shape:
        return value
    if len(value.shape) == len(shape) and k.chance(50):
        return replace(value, text=f"tl.broadcast_to({value.text}, {k.shape(shape)})", shape=shape, loose=False)
    text = f"{value.inner} {'|' if dtype == 'int1' else '+'} tl.zeros({k.shape(shape)}, {in_language(dtype)})"
    return Value(text, dtype, shape, loose=True)


def _called(name: str, a: Value, b: Value, dtype: str | None) -> Value | None:
    value = together(a, b, f"{name}({a.text}, {b.text})", dtype)
    return value and replace(value, loose=False)
