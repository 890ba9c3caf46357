"""Expressions over a whole axis: sums, maxima, scans, and those with a combine function of the kernel's own."""

from __future__ import annotations

from collections.abc import Callable

from tests.strategies.kernels.operators import is_integer, is_number
from tests.strategies.kernels.program import Value
from tests.strategies.kernels.types import FLOATS, INTEGERS, Shape, extreme, summed
from tests.strategies.kernels.writer import Function

COMBINES = {
    "combine_add": "def combine_add(a, b):\n    return a + b",
    "combine_max": "def combine_max(a, b):\n    return tl.maximum(a, b)",
    "combine_and": "def combine_and(a, b):\n    return a & b",
    "combine_line": "def combine_line(a, b, c, d):\n    return a * c, b * c + d",
    "combine_first": "def combine_first(a, i, b, j):\n"
    "    first = (a > b) | ((a == b) & (i <= j))\n"
    "    return tl.where(first, a, b), tl.where(first, i, j)",
}
WIDE = ("int32", "int64", "fp32", "fp64")  # their results have the same type in all versions


def is_block(value: Value) -> bool:
    """Whether there is an axis to reduce."""
    return len(value.shape) in (1, 2) and value.shape[-1] > 1 and is_number(value)


def in_any_order(k: Function) -> Callable[[Value], bool]:
    """The blocks whose maximum is the same in whatever order it is looked for: no NaN."""
    return lambda value: is_block(value) and (value.dtype in INTEGERS or value.tame)


def reduced(k: Function) -> Value | None:
    """`tl.sum(x, axis)`, `tl.max`, `tl.min`, `tl.argmax`, `tl.argmin`, `tl.xor_sum`, `tl.reduce`."""
    name = k.of(("sum", "max", "xor_sum", "min", "argmax", "argmin", "sum", "reduce"))
    if name in ("sum", "reduce"):
        a = k.operand(lambda value: _summable(k, value))
    elif name == "xor_sum":
        a = k.operand(lambda value: is_block(value) and is_integer(value))
    else:
        a = k.operand(in_any_order(k))
    if a is None:
        return None
    axis, shape = _axis(k, a)
    if name == "reduce":
        function = k.of(("combine_add", *("combine_max", "combine_and") * is_integer(a)))
        return Value(f"tl.reduce({a.text}, {axis}, {combine(k, function)})", a.dtype, shape)
    dtype = {"sum": summed(a.dtype), "max": extreme(a.dtype), "min": extreme(a.dtype), "xor_sum": a.dtype}.get(name)
    options = ""
    if name != "reduce" and k.chance(20):
        options, shape = ", keep_dims=True", tuple(1 if i == axis else n for i, n in enumerate(a.shape))
    elif name == "sum" and len(a.shape) == 2 and k.chance(20):
        return Value(k.of((f"tl.sum({a.text})", f"{a.inner}.sum()")), summed(a.dtype))
    text = f"tl.{name}({a.text}, axis={axis}{options})"
    if name in ("sum", "max", "min") and not options and k.chance(30):
        text = f"{a.inner}.{name}({axis})"
    return Value(text, dtype or "int32", shape)


def scanned(k: Function) -> Value | None:
    """`tl.cumsum(x, axis)`, `tl.cumprod`, `tl.associative_scan`."""
    if not (a := k.operand(lambda value: _summable(k, value) and value.dtype not in ("fp16", "bf16"))):
        return None
    axis, _ = _axis(k, a)
    reverse = k.of(("", "", ", reverse=True"))
    match k.number(3):
        case 0:
            return Value(f"tl.cumsum({a.text}, axis={axis}{reverse})", summed(a.dtype), a.shape)
        case 1 if a.dtype in WIDE:
            return Value(f"tl.cumprod({a.text}, axis={axis}{reverse})", a.dtype, a.shape)
    function = combine(k, k.of(("combine_add", *("combine_max", "combine_and") * is_integer(a))))
    return Value(f"tl.associative_scan({a.text}, {axis}, {function}{reverse})", a.dtype, a.shape)


def with_index(k: Function) -> bool:
    """Two results: `v, i = tl.max(x, axis, return_indices=True)`, or a reduction or scan of two blocks."""
    fits = in_any_order(k)
    if not (a := k.pick(lambda value: fits(value) and value.dtype in WIDE)):
        return False
    axis, shape = _axis(k, a)
    i, dtype = Value(f"{k.lanes(a.shape[-1]).text}", "int32", a.shape), a.dtype
    match k.number(4):
        case 0:
            call, second = f"tl.{k.of(('max', 'min'))}({a.text}, {axis}, return_indices=True)", "int32"
        case 1 if len(a.shape) == 1:
            call, second = f"tl.reduce(({a.text}, {i.text}), 0, {combine(k, 'combine_first')})", "int32"
        case 2 if is_integer(a):
            b = k.pick(lambda value: (value.dtype, value.shape) == (a.dtype, a.shape)) or a
            scan = f"tl.associative_scan(({a.text}, {b.text}), {axis}, {combine(k, 'combine_line')})"
            call, second, shape = scan, dtype, a.shape
        case _:
            call, second = f"tl.max({a.text}, {axis}, return_indices=True)", "int32"
    names = [k.program.fresh("v") for _ in range(2)]
    k.emit(f"{', '.join(names)} = {call}")
    for name, of in zip(names, (dtype, second), strict=True):
        k.declare(Value(name, of, shape), name)
    return True


def combine(k: Function, name: str) -> str:
    """The name of a combine function, which the file will have."""
    text = f"@triton.jit\n{COMBINES[name]}"
    if text not in k.program.helpers:
        k.program.helpers.append(text)
    return name


def _summable(k: Function, value: Value) -> bool:
    """Whether all machines agree on the sum: of floats they only do up to rounding."""
    return is_block(value) and value.dtype in (INTEGERS if k.program.exact else (*INTEGERS, *FLOATS))


def _axis(k: Function, a: Value) -> tuple[int, Shape]:
    """An axis with more than one element, and the shape without it."""
    axis = k.number(2) if len(a.shape) == 2 and a.shape[0] > 1 else len(a.shape) - 1
    return axis, a.shape[:axis] + a.shape[axis + 1 :]
