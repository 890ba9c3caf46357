"""Expressions. Each function writes one kind, or gives nothing where no visible value fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.support.m05_frontend.random_kernels.recipe import (
    FLOATS,
    FP8,
    INTEGERS,
    MOST,
    NUMBERS,
    SIGNED,
    STORED,
    UNSIGNED,
    Function,
    Shape,
    Value,
    broadcast,
    elements,
    extreme,
    in_language,
    promoted,
    quotient,
    same_signedness,
    summed,
    width,
)

# --- operators

Argument = tuple[str, str, tuple[int | float | bool, ...]]  # its name, its dtype, its values

FLAG: Argument = ("flag", "int1", (True, False))
ARGUMENTS: tuple[Argument, ...] = (
    ("s", "fp32", (0.5, -2.0, 3.25)),
    ("m", "int32", (7, -3, 48, 0)),
    FLAG,
    ("wide", "int64", (1 << 40, -9 << 32)),  # real Triton passes what fits as int32
    ("bits", "uint32", (9, 0xF0F0F0F0)),
    ("d", "fp64", (0.25, -1.5)),
)
COMPARED_WITH_NUMBERS = ("int32", "int64", "uint32", "uint64", "fp32", "fp64")  # in all versions by the same rule


def is_number(value: Value) -> bool:
    """Whether there is arithmetic for it."""
    return value.dtype in NUMBERS


def is_integer(value: Value) -> bool:
    """Whether it can be divided with `//`, and shifted."""
    return value.dtype in INTEGERS


def is_mask(value: Value) -> bool:
    """Whether it is a block of conditions."""
    return value.dtype == "int1" and bool(value.shape)


def is_merged(value: Value) -> bool:
    """Whether branches may choose it. A condition that is chosen by itself is simplified by chance only."""
    return is_number(value) and (value.dtype != "int1" or is_mask(value))


def fitting(a: Value) -> Callable[[Value], bool]:
    """The other values that can be in an operation with `a`, and that do not make it large."""

    def fits(b: Value) -> bool:
        shape = broadcast(a.shape, b.shape)
        return is_number(b) and b.text != a.text and shape is not None and elements(shape) <= MOST

    return fits


def literal(k: Function, a: Value) -> Value:
    """A Python number that is in the range of `a`, and as it is in every float type."""
    if a.dtype in FLOATS or a.dtype in SIGNED and k.chance(15):
        text = k.of(("0.5", "2.0", "1.5", "3", "0.25", "-1.0", "-0.75"))
        return Value(text, "float" if "." in text else "int")
    if k.chance(20) and not k.helper:
        return Value(k.program.constexpr("C", k.of((3, 2, 5))), "int")
    return Value(k.of(("1", "2", "3", "7", "5", *("-1", "-3") * (a.dtype in SIGNED))), "int")


def argument(k: Function) -> Value | None:
    """A scalar parameter of the kernel."""
    return None if k.helper else k.argument(*k.of(ARGUMENTS))


def partner(k: Function, a: Value) -> Value:
    """What may be on the other side of an operator."""
    number = literal(k, a) if k.chance(35) else None
    return number or k.pick(fitting(a)) or a


def together(a: Value, b: Value, text: str, dtype: str | None) -> Value | None:
    """An operation on two values."""
    shape = broadcast(a.shape, b.shape)
    if dtype is None or shape is None or elements(shape) > MOST:
        return None
    return Value(text, dtype, shape, loose=True)


def arithmetic(k: Function) -> Value | None:
    """`x + y`, `x - y`, `x * y`."""
    if not (a := k.operand(is_number)):
        return None
    b = partner(k, a)
    operator = k.of(("+", "*", "-"))
    if a.dtype == b.dtype == "int1":
        return None
    if k.chance(25):
        a, b = b, a
    return together(a, b, f"{_minus(a)} {operator} {_minus(b)}", promoted(a.dtype, b.dtype))


def bitwise(k: Function) -> Value | None:
    """`x & y`, `x | y`, `x ^ y`."""
    if not (a := k.operand(lambda value: is_integer(value) or value.dtype == "int1")):
        return None
    b = k.pick(lambda value: fitting(a)(value) and value.dtype not in FLOATS) or a
    if a.dtype != "int1" and k.chance(30):
        b = Value(k.of(("1", "3", "7", "15")), "int")
    return together(a, b, f"{a.inner} {k.of(('&', '|', '^'))} {b.inner}", promoted(a.dtype, b.dtype))


def shift(k: Function) -> Value | None:
    """`x << y`, `x >> y`, by less than the width."""
    if not (a := k.operand(is_integer)):
        return None
    operator = k.of(("<<", ">>"))
    b = k.pick(lambda value: fitting(a)(value) and is_integer(value)) if k.chance(40) else None
    if b is None:
        return replace(a, text=f"{a.inner} {operator} {k.of((1, 3, 7))}", loose=True, fixed=False, tame=False)
    return together(a, b, f"{a.inner} {operator} ({b.inner} & 7)", promoted(a.dtype, b.dtype))


def division(k: Function) -> Value | None:
    """`x / y`; `x // y` and `x % y` of integers, never by 0 or -1."""
    if k.chance(40) and not k.program.exact:
        return _float_division(k)
    if not (a := k.operand(is_integer)):
        return None
    operator = k.of(("//", "%"))
    b = k.pick(lambda value: fitting(a)(value) and same_signedness(a.dtype, value.dtype)) if k.chance(50) else None
    if b is None:
        return replace(a, text=f"{a.inner} {operator} {k.of((2, 3, 7))}", loose=True, fixed=False, tame=False)
    return together(a, b, f"{a.inner} {operator} ({b.inner} & 7 | 1)", promoted(a.dtype, b.dtype))


def _float_division(k: Function) -> Value | None:
    if not (a := k.operand(is_number)):
        return None
    if a.dtype in FLOATS and k.chance(30):
        b = k.pick(fitting(a)) or a
        dtype = promoted(a.dtype, b.dtype)
        return together(a, b, f"{a.inner} % {b.inner}", "fp32" if dtype in ("fp16", "bf16") else dtype)
    b = partner(k, a)
    return together(a, b, f"{a.inner} / {_minus(b)}", quotient(a.dtype, b.dtype))


def comparison(k: Function) -> Value | None:
    """`x < y` and its like."""
    if not (a := k.operand(is_number)):
        return None
    b = partner(k, a)
    if b.dtype in ("int", "float") and a.dtype not in COMPARED_WITH_NUMBERS or a.dtype == b.dtype == "int1":
        return None
    known = promoted(a.dtype, b.dtype) and "int1"
    return together(a, b, f"{a.inner} {k.of(('<', '>', '==', '!=', '<=', '>='))} {_minus(b)}", known)


def negation(k: Function) -> Value | None:
    """`-x` and `~x` of integers, `~x` of a mask."""
    if not (a := k.operand(lambda value: is_integer(value) or is_mask(value))):
        return None
    sign = "~" if is_mask(a) else k.of(("~", "-"))
    return replace(a, text=f"{sign}{a.inner}", loose=True, fixed=False, tame=False)


def condition(k: Function) -> Value:
    """A scalar that is true or false."""
    first = _simple_condition(k)
    match k.number(10):
        case 7 | 8:
            other = _simple_condition(k)
            return Value(f"{first.inner} {k.of(('and', 'or'))} {other.inner}", "int1", loose=True)
        case 9 if not k.helper:
            # No comparison: real Triton's canonicalizer then turns either that or the branches around, as it comes.
            flag = k.argument(*FLAG) if first.loose else first
            return Value(f"not {flag.text}", "int1", loose=True)
    return first


def _simple_condition(k: Function) -> Value:
    known = k.pick(lambda value: value.dtype == "int1" and not value.shape)
    if known and k.chance(40):
        return known
    number = k.pick(lambda value: value.dtype in COMPARED_WITH_NUMBERS and not value.shape) or k.pid()
    if number.dtype in INTEGERS and k.chance(20):
        return Value(f"{number.text} % 2 {k.of(('==', '!='))} 0", "int1", loose=True)
    return Value(f"{number.text} {k.of(('>', '==', '<', '!=', '<=', '>='))} {k.of((0, 1, 2))}", "int1", loose=True)


def indexing(k: Function) -> Value | None:
    """`x[:, None]`, `x[None, :]`."""
    if not (a := k.operand(lambda value: len(value.shape) == 1)):
        return None
    index, shape = k.of(((":, None", (*a.shape, 1)), ("None, :", (1, *a.shape))))
    return replace(a, text=f"{a.inner}[{index}]", shape=shape, loose=False, fixed=False)


def _minus(value: Value) -> str:
    """The text as an operand; a negative number in parentheses."""
    return f"({value.text})" if value.text.startswith("-") else value.inner


# --- functions of each element

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


# --- shapes


def reshape(k: Function) -> Value | None:
    """`tl.reshape(x, shape)`, `x.reshape(shape)`."""
    if not (a := k.operand(lambda value: bool(value.shape) and value.dtype in STORED and elements(value.shape) > 1)):
        return None
    count = elements(a.shape)
    shape = k.of([shape for shape in ((count,), (count // 2, 2), (2, count // 2)) if shape != a.shape])
    target = k.shape(shape)
    if count == k.program.rows * k.program.columns and len(shape) == 1 and k.program.named and not k.helper:
        target = f"({k.size(k.program.rows)} * {k.size(k.program.columns)},)"
    text = k.of((f"tl.reshape({a.text}, {target})", f"{a.inner}.reshape{target}"))
    return _changed(a, text, shape)


def transpose(k: Function) -> Value | None:
    """`tl.trans(x)`, `x.T`, `tl.permute(x, (1, 0))`.

    None in a loop: real Triton 3.7 never ends compiling a block that is carried and transposed.
    """
    if k.looping or k.helper or not (a := k.operand(lambda value: len(value.shape) == 2)) or a.dtype not in STORED:
        return None
    text = k.of((f"tl.trans({a.text})", f"{a.inner}.T", f"tl.permute({a.text}, (1, 0))"))
    return _changed(a, text, (a.shape[1], a.shape[0]))


def join(k: Function) -> Value | None:
    """`tl.join(x, y)` and `tl.interleave(x, y)` of blocks with one dimension."""
    if not (a := k.operand(lambda value: len(value.shape) == 1 and value.dtype in STORED)):
        return None
    b = k.pick(lambda value: value.type == a.type) or a
    if elements(a.shape) * 2 > MOST:
        return None
    size = a.shape[0]
    name, shape = k.of((("join", (size, 2)), ("interleave", (size * 2,))))
    return _changed(a, f"tl.{name}({a.text}, {b.text})", shape, tame=a.tame and b.tame)


def expand(k: Function) -> Value | None:
    """`tl.expand_dims(x, axis)`, `tl.broadcast_to(x, shape)`."""
    if not (a := k.operand(lambda value: 0 < len(value.shape) < 3 and value.dtype in STORED)):
        return None
    if 1 in a.shape and elements(a.shape) * 4 <= MOST:
        shape = tuple(4 if size == 1 else size for size in a.shape)
        return _changed(a, f"tl.broadcast_to({a.text}, {k.shape(shape)})", shape)
    if len(a.shape) == 1:
        axis = k.number(2)
        return _changed(a, f"tl.expand_dims({a.text}, {axis})", (*a.shape[:axis], 1, *a.shape[axis:]))
    return None


def new_block(k: Function) -> Value | None:
    """`tl.arange`, and `tl.full` of something that the compiler does not know."""
    size = k.of((k.program.columns, k.program.rows))
    if k.chance(50):
        bounds = k.of((f"0, {k.size(size)}", f"{size}, {2 * size}"))
        return Value(f"tl.arange({bounds})", "int32", (size,))
    dtype, shape = k.of(("fp32", "int32", *NUMBERS)), k.of(((size,), (k.program.rows, k.program.columns)))
    scalar = k.pick(lambda value: value.dtype in NUMBERS and not value.shape) or k.pid()
    if not (value := converted(scalar, dtype)):
        return None
    return Value(f"tl.full({k.shape(shape)}, {value.text}, {in_language(dtype)})", dtype, shape)


def split(k: Function) -> bool:
    """`x, y = tl.split(z)`."""
    if not (a := k.pick(lambda value: len(value.shape) == 2 and value.shape[1] == 2 and value.dtype in STORED)):
        return False
    names = [k.program.fresh("v") for _ in range(2)]
    k.emit(f"{', '.join(names)} = tl.split({a.text})")
    for name in names:
        k.declare(replace(a, shape=a.shape[:1], fixed=False), name)
    return True


def _changed(a: Value, text: str, shape: Shape, tame: bool | None = None) -> Value:
    return replace(a, text=text, shape=shape, loose=False, fixed=False, tame=a.tame if tame is None else tame)


# --- whole axes

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
