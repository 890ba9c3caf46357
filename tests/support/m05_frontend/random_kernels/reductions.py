"""Expressions over a whole axis: sums, maxima, scans, and those with a combine function of the kernel's own."""

from __future__ import annotations

from tests.support.m05_frontend.random_kernels.operators import is_integer, is_number
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import FLOATS, INTEGERS, Shape, extreme, summed
from tests.support.m05_frontend.random_kernels.writer import Function

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


def is_ordered(value: Value) -> bool:
    """Whether the block's maximum is the same in whatever order it is looked for: no NaN."""
    return is_block(value) and (value.dtype in INTEGERS or value.tame)


def reduced(k: Function) -> Value | None:
    """`tl.sum(x, axis)`, `tl.max`, `tl.min`, `tl.argmax`, `tl.argmin`, `tl.xor_sum`, `tl.reduce`."""
    name = k.of(("sum", "max", "xor_sum", "min", "argmax", "argmin", "sum", "reduce"))
    if name in ("sum", "reduce"):
        a = k.operand(lambda value: _summable(k, value))
    elif name == "xor_sum":
        a = k.operand(lambda value: is_block(value) and is_integer(value))
    else:
        a = k.operand(is_ordered)
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
    if not (a := k.pick(lambda value: is_ordered(value) and value.dtype in WIDE)):
        return False
    axis, shape = _axis(k, a)
    call, dtype = f"tl.{k.of(('max', 'min'))}({a.text}, {axis}, return_indices=True)", "int32"
    kind = k.number(4)
    if kind == 2 and len(a.shape) == 1:
        call = f"tl.reduce(({a.text}, {k.lanes(a.shape[0]).text}), 0, {combine(k, 'combine_first')})"
    if kind == 3 and is_integer(a):
        b = k.pick(lambda value: value.type == a.type) or a
        call = f"tl.associative_scan(({a.text}, {b.text}), {axis}, {combine(k, 'combine_line')})"
        dtype, shape = a.dtype, a.shape
    names = [k.program.fresh("v") for _ in range(2)]
    k.emit(f"{', '.join(names)} = {call}")
    for name, of in zip(names, (a.dtype, dtype), strict=True):
        k.declare(Value(name, of, shape), name)
    return True


def combine(k: Function, name: str) -> str:
    """The name of a combine function, which the file will have."""
    k.program.helpers[name] = COMBINES[name]
    return name


def _summable(k: Function, value: Value) -> bool:
    """Whether all machines agree on the sum: of floats they only do up to rounding."""
    return is_block(value) and value.dtype in (INTEGERS if k.program.exact else (*INTEGERS, *FLOATS))


def _axis(k: Function, a: Value) -> tuple[int, Shape]:
    """An axis with more than one element, and the shape without it."""
    axis = k.number(2) if len(a.shape) == 2 and a.shape[0] > 1 else len(a.shape) - 1
    return axis, a.shape[:axis] + a.shape[axis + 1 :]
