"""Expressions: a table of forms, each with what its operands may be and what its result is; `expression` writes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
    extreme,
    in_language,
    promoted,
    quotient,
    same_signedness,
    summed,
    width,
)
from tests.support.m05_frontend.random_kernels.writing import Fits, Function, Value, fitting, kind

# --- operands

WIDE = ("int32", "int64", "fp32", "fp64")
COMPARED_WITH_NUMBERS = (*WIDE, "uint32", "uint64")  # in all versions by the same rule
ARGUMENTS: tuple[tuple[str, str, tuple[int | float | bool, ...]], ...] = (
    ("flag", "int1", (True, False)),
    ("s", "fp32", (0.5, -2.0, 3.25)),
    ("m", "int32", (7, -3, 48, 0)),
    ("wide", "int64", (1 << 40, -9 << 32)),  # real Triton passes what fits as int32
    ("bits", "uint32", (9, 0xF0F0F0F0)),
    ("d", "fp64", (0.25, -1.5)),
)

integer, number, stored, wide_float = map(kind, (INTEGERS, NUMBERS, STORED, ("fp32", "fp64")))
ordered = kind([dtype for dtype in NUMBERS if dtype not in ("int1", "bf16")])
is_mask, square = kind(("int1",), 1, 2, 3), kind(STORED, 2)
bits, wide = kind((*INTEGERS, "int1")), kind(WIDE)


def either(*options: Fits) -> Fits:
    """Whether a value fits one of these."""
    return lambda value: any(fits(value) for fits in options)


def both(*conditions: Fits) -> Fits:
    """Whether a value fits all of these."""
    return lambda value: all(fits(value) for fits in conditions)


def block(value: Value) -> bool:
    """Whether there is an axis to reduce."""
    return len(value.shape) in (1, 2) and value.shape[-1] > 1


def merged(value: Value) -> bool:
    """Whether branches may choose it. A condition that is chosen by itself is simplified by chance only."""
    return number(value) and (value.dtype != "int1" or is_mask(value))


integer_block, float_block = both(block, integer), both(block, kind(FLOATS))
extremes = both(block, either(integer, kind(FLOATS, tame=True)))  # the same in any order: no NaN


def literal(k: Function, a: Value) -> Value:
    """A Python number that is in the range of `a`, and as it is in every float type."""
    if a.dtype in FLOATS or a.dtype in SIGNED and k.chance(15):
        text = k.of(("0.5", "2.0", "1.5", "3", "0.25", "-1.0", "-0.75"))
        return Value(text, "float" if "." in text else "int")
    if k.chance(30) and (known := k.pick(kind(("int",)))):
        return known
    if k.chance(20) and not k.helper:
        return Value(k.program.constexpr("C", k.of((3, 2, 5))), "int")
    return Value(k.of(("1", "2", "3", "7", "5", *("-1", "-3") * (a.dtype in SIGNED))), "int")


def partner(k: Function, a: Value) -> Value:
    """What may be on the other side of an operator."""
    return literal(k, a) if k.chance(35) else k.pick(fitting(a, number)) or a


def compared(k: Function, a: Value) -> Value | None:
    """What may be compared with the value."""
    b = partner(k, a)
    return b if b.dtype in NUMBERS or a.dtype in COMPARED_WITH_NUMBERS else None


def bounded(k: Function, a: Value) -> Value:
    """What may be in a maximum with the value."""
    if a.dtype in COMPARED_WITH_NUMBERS and k.chance(40):
        return literal(k, a)
    return k.pick(fitting(a, ordered)) or a


def same(k: Function, a: Value) -> Value:
    """A value of the type of `a`."""
    return k.pick(lambda value: value.type == a.type) or a


def other(fits: Fits) -> Callable[[Function, Value], Value]:
    """A second operand like this."""
    return lambda k, a: k.pick(fitting(a, fits)) or a


# --- results


def arithmetic(a: str, b: str) -> str | None:
    """The dtype of `x + y`: conditions are not added."""
    return None if a == b == "int1" else promoted(a, b)


DTYPES: dict[str, Callable[[str, str], str | None]] = {
    "a": lambda a, b: a,
    "index": lambda a, b: "int32",
    "promoted": promoted,
    "arithmetic": arithmetic,
    "comparison": lambda a, b: arithmetic(a, b) and "int1",
    "quotient": quotient,
    "floor": lambda a, b: promoted(a, b) if same_signedness(a, b) else None,
    "remainder": lambda a, b: "fp32" if promoted(a, b) in ("fp16", "bf16") else promoted(a, b),
    "summed": lambda a, b: summed(a),
    "extreme": lambda a, b: extreme(a),
}
"""The dtype of the result, from those of the operands."""

SHAPES: dict[str, Callable[[Shape, int], Shape]] = {
    "same": lambda shape, axis: shape,
    "column": lambda shape, axis: (*shape, 1),
    "row": lambda shape, axis: (1, *shape),
    "pairs": lambda shape, axis: (*shape, 2),
    "double": lambda shape, axis: (2 * shape[0],),
    "flat": lambda shape, axis: (elements(shape),) if len(shape) == 2 else (elements(shape) // 2, 2),
    "transposed": lambda shape, axis: shape[::-1],
    "wide": lambda shape, axis: tuple(4 if size == 1 else size for size in shape),
    "reduced": lambda shape, axis: shape[:axis] + shape[axis + 1 :],
    "kept": lambda shape, axis: (*shape[:axis], 1, *shape[axis + 1 :]),
    "scalar": lambda shape, axis: (),
    "halves": lambda shape, axis: shape[:1],
}
"""The shape of the result, from that of the operands, broadcast, and an axis."""


# --- the table


@dataclass(frozen=True)
class Form:
    """Expressions with one result, or with two.

    In the texts, `{a}` and `{b}` are operands, in parentheses if need be; `{A}` and `{B}` are arguments; `{axis}` is
    an axis of `a`, `{shape}` the result's, `{mask}` a condition for each of its elements, `{condition}` a scalar one.
    """

    texts: tuple[str, ...]
    a: Fits
    b: Callable[[Function, Value], Value | None] | None = None
    dtype: str = "a"
    shape: str = "same"
    weight: int = 2
    rounds: bool = False  # machines round it differently
    tame: bool = False  # if the operands are, so is the result
    second: str = ""  # the dtype of the second result; "a" for that of the first

    def __call__(self, k: Function) -> Value | None:
        """An expression of this form with one result, if something visible fits."""
        results = write(k, self)
        return results[0] if results else None

    def written(self, k: Function, a: Value) -> tuple[Value, ...]:
        """The text with this operand and its results, if there is a second operand that fits."""
        b = self.b(k, a) if self.b else a
        operands = broadcast(a.shape, b.shape) if b else None
        dtype = DTYPES[self.dtype](a.dtype, b.dtype) if b else None
        if b is None or dtype is None or operands is None:
            return ()
        axis = k.of((0, 1)) if len(operands) == 2 and operands[0] > 1 else len(operands) - 1
        shape = SHAPES[self.shape](operands, axis)
        if elements(shape) > MOST:
            return ()
        text = k.of(self.texts)
        names = {"a": a.inner, "b": b.inner, "A": a.text, "B": b.text, "axis": str(axis), "shape": k.shape(shape)}
        names["size"] = str(elements(a.shape))
        for name, make in (("mask", lambda: mask(k, shape)), ("condition", lambda: condition(k))):
            if name in text:
                names[name] = make().text
        result = Value(text.format(**names), dtype, shape, tame=self.tame and a.tame and b.tame)
        second = a.dtype if self.second == "a" else self.second
        return (result, replace(result, dtype=second, tame=False)) if second else (result,)


def texts(pattern: str, *words: str) -> tuple[str, ...]:
    """The pattern with each of these words in the place of `@`."""
    return tuple(pattern.replace("@", word) for word in words)


COMBINES = {
    "combine_add": "def combine_add(a, b):\n    return a + b",
    "combine_max": "def combine_max(a, b):\n    return tl.maximum(a, b)",
    "combine_and": "def combine_and(a, b):\n    return a & b",
    "combine_line": "def combine_line(a, b, c, d):\n    return a * c, b * c + d",
    "combine_first": "def combine_first(a, i, b, j):\n"
    "    first = (a > b) | ((a == b) & (i <= j))\n"
    "    return tl.where(first, a, b), tl.where(first, i, j)",
}
"""Functions for reductions and scans."""

SCANS = tuple(
    f"tl.{call}{end}"
    for call in ("cumsum({A}, axis={axis}", "cumprod({A}, axis={axis}", "associative_scan({A}, {axis}, combine_add")
    for end in (")", ", reverse=True)")
)
EXTREMES = (*texts("tl.@({A}, axis={axis})", "max", "min"), *texts("{a}.@({axis})", "max", "min"))


def over_blocks(a: Fits, rounds: bool) -> tuple[Form, ...]:
    """Sums over an axis and along it. Those of floats depend on the order."""
    return (
        Form(("tl.sum({A}, axis={axis})", "{a}.sum({axis})"), a, None, "summed", "reduced", rounds=rounds),
        Form(("tl.sum({A}, {axis}, keep_dims=True)",), a, None, "summed", "kept", 1, rounds),
        Form(("tl.sum({A})",), a, None, "summed", "scalar", 1, rounds),
        Form(("tl.reduce({A}, {axis}, combine_add)",), a, None, "a", "reduced", 1, rounds),
        Form(SCANS, both(a, wide), rounds=rounds),
    )


ARITHMETIC = Form((*texts("{a} @ {b}", "+", "*", "-", "+", "*"), "{b} - {a}"), number, partner, "arithmetic", weight=6)
COMPARISON = Form(texts("{a} @ {b}", "<", ">", "==", "!=", "<=", ">="), number, compared, "comparison", weight=3)
WHERE = Form(("tl.where({mask}, {A}, {B})", "tl.where({mask}, {B}, {A})"), number, partner, "promoted", weight=3)
CHOICE = Form(
    ("{a} if {condition} else {b}", "{b} if {condition} else {a}"), merged, lambda k, a: another(k, a), weight=3
)
COLUMN = Form(("{a}[:, None]", "tl.expand_dims({A}, 1)"), kind(STORED, 1), shape="column", tame=True, weight=3)
FORMS = (
    ARITHMETIC,
    COMPARISON,
    Form(texts("{a} @ {b}", *"&|^"), bits, other(bits), "promoted", weight=3),
    Form(texts("{a} @ 7", "&", "|", "^", "//", "%", "<<", ">>"), integer, weight=5),
    Form(texts("{a} @ ({b} & 7)", "<<", ">>"), integer, other(integer), "promoted"),
    Form(texts("{a} @ ({b} & 7 | 1)", "//", "%"), integer, other(integer), "floor", weight=3),
    Form(("{a} / {b}",), number, partner, "quotient", rounds=True),
    Form(("{a} % {b}",), kind(FLOATS), other(kind(FLOATS)), "remainder", rounds=True, weight=1),
    Form(("-{a}",), integer),
    Form(("~{a}",), either(integer, is_mask)),
    WHERE,
    CHOICE,
    # functions
    Form(texts("tl.@({A})", "floor", "ceil", "abs"), wide_float, tame=True, weight=4),
    Form(("tl.abs({A})",), kind((*SIGNED, "fp16", "bf16")), tame=True, weight=1),
    Form(texts("tl.@({A})", "sin", "cos", "math.sin"), wide_float, tame=True, rounds=True, weight=1),
    Form(texts("tl.@({A})", "exp", "sqrt", "log", "math.exp", "erf"), wide_float, rounds=True, weight=5),
    Form(("tl.sqrt_rn({A})", "tl.div_rn({A}, {B})"), kind(("fp32",)), same),
    Form(("tl.fma({A}, {B}, {A})",), wide_float, same, rounds=True),
    Form(("tl.clamp({A}, -1.0, 2.0)",), both(wide_float, kind(FLOATS, tame=True)), tame=True),
    Form(("tl.umulhi({A}, {B})",), kind(("int32", "uint32")), same),
    Form(texts("tl.@({A}, {B})", "maximum", "minimum"), ordered, bounded, "promoted", weight=4),
    Form(texts("@({A}, {B})", "max", "min"), both(ordered, kind(NUMBERS, 0)), bounded, "promoted", weight=1),
    # shapes
    COLUMN,
    Form(("{a}[None, :]", "tl.expand_dims({A}, 0)"), kind(STORED, 1), shape="row", tame=True, weight=3),
    Form(("tl.reshape({A}, {shape})", "{a}.reshape{shape}"), both(block, stored), shape="flat", tame=True, weight=3),
    Form(("tl.trans({A})", "{a}.T", "tl.permute({A}, (1, 0))"), square, shape="transposed", tame=True, weight=4),
    Form(("tl.join({A}, {B})",), kind(STORED, 1), same, shape="pairs", tame=True, weight=3),
    Form(("tl.interleave({A}, {B})",), kind(STORED, 1), same, shape="double", tame=True),
    Form(("tl.broadcast_to({A}, {shape})",), both(stored, lambda value: 1 in value.shape), shape="wide", tame=True),
    # reductions and scans
    *over_blocks(integer_block, rounds=False),
    *over_blocks(float_block, rounds=True),
    Form(EXTREMES, extremes, dtype="extreme", shape="reduced"),
    Form(texts("tl.@({A}, axis={axis})", "argmax", "argmin"), extremes, dtype="index", shape="reduced"),
    Form(("tl.xor_sum({A}, axis={axis})",), integer_block, shape="reduced", weight=1),
    Form(texts("tl.reduce({A}, {axis}, combine_@)", "max", "and"), integer_block, shape="reduced", weight=1),
    Form(texts("tl.associative_scan({A}, {axis}, combine_@)", "max", "and"), integer_block, weight=1),
)
halves, wide_extremes = both(stored, lambda value: value.shape[1:] == (2,)), both(extremes, wide)
EXTREME_AND_INDEX = texts("tl.@({A}, {axis}, return_indices=True)", "max", "min")
FIRST = ("tl.reduce(({A}, tl.arange(0, {size})), 0, combine_first)",)
TWO_RESULTS = (
    Form(("tl.split({A})",), halves, shape="halves", tame=True, second="a"),
    Form(EXTREME_AND_INDEX, wide_extremes, shape="reduced", second="int32"),
    Form(FIRST, both(wide_extremes, kind(WIDE, 1)), shape="reduced", second="int32"),
    Form(("tl.associative_scan(({A}, {B}), {axis}, combine_line)",), both(integer_block, wide), same, second="a"),
)


# --- what is written


def expression(k: Function) -> Value | None:
    """A new expression."""
    for _ in range(4):
        if value := k.of(k.program.grammar.expressions)(k):
            return value
    return None


def write(k: Function, form: Form) -> tuple[Value, ...]:
    """The results of an expression of this form, if something visible fits. Its operand may be an expression, too."""
    # Real Triton 3.7 never ends compiling a block that is carried and transposed.
    if form.rounds and k.program.exact or form.shape == "transposed" and (k.trips > 1 or k.helper):
        return ()
    a = None
    if not k.nested and k.chance(20):
        k.nested = True
        a = expression(k)
        k.nested = False
    if a is None or not form.a(a):
        a = k.pick(form.a)
    return form.written(k, a) if a else ()


def condition(k: Function) -> Value:
    """A scalar that is true or false."""
    first = simple_condition(k)
    match k.of(range(10)):
        case 7 | 8:
            return Value(f"{first.inner} {k.of(('and', 'or'))} {simple_condition(k).inner}", "int1")
        case 9 if not k.helper:
            # Not of a comparison: real Triton's canonicalizer then inverts either that or the branches, as it comes.
            return Value(f"not {k.argument(*ARGUMENTS[0]).text}", "int1")
    return first


def simple_condition(k: Function) -> Value:
    """A comparison with a number, or a name."""
    if k.chance(40) and (known := k.pick(kind(("int1",), 0))):
        return known
    value = k.pick(kind(COMPARED_WITH_NUMBERS, 0)) or k.pid()
    if value.dtype in INTEGERS and k.chance(20):
        return Value(f"{value.text} % 2 {k.of(('==', '!='))} 0", "int1")
    return Value(f"{value.text} {k.of(('>', '==', '<', '!=', '<=', '>='))} {k.of((0, 1, 2))}", "int1")


def mask(k: Function, shape: Shape, rank: int = 0) -> Value:
    """A condition for each element, or for all; atomics take none with fewer dimensions."""

    def fits(value: Value) -> bool:
        return value.dtype == "int1" and broadcast(value.shape, shape) == shape and len(value.shape) >= rank

    if k.chance(60) and (found := k.pick(fits)):
        return found
    limit = "3" if k.helper else k.argument("n", "int32", (5, 16, 0, 3, 11)).text
    return Value(f"{k.place(shape) if shape else k.pid().text} < {limit}", "int1", shape)


# --- types on purpose


def argument(k: Function) -> Value | None:
    """A scalar parameter of the kernel."""
    return None if k.helper else k.argument(*k.of(ARGUMENTS))


def cast(k: Function) -> Value | None:
    """`x.to(dtype)`."""
    if not (a := k.pick(stored)):
        return None
    dtypes = FP8 if a.tame and k.chance(25) else ("fp32", "int32", *FLOATS, *INTEGERS, "int1")
    return converted(a, k.of([dtype for dtype in dtypes if dtype != a.dtype]))


def bitcast(k: Function) -> Value | None:
    """`x.to(dtype, bitcast=True)`: never of what may be a NaN."""
    if not (a := k.pick(either(integer, kind(FLOATS, tame=True)))):
        return None
    dtype = k.of([dtype for dtype in NUMBERS[1:] if width(dtype) == width(a.dtype) and dtype != a.dtype])
    return Value(f"{a.inner}.to({in_language(dtype)}, bitcast=True)", dtype, a.shape)


def converted(a: Value, dtype: str) -> Value | None:
    """`a` as a value of this type, if it has one there in all versions and on all machines."""
    if a.dtype == dtype:
        return a
    if dtype in FP8:
        return _to(a, dtype) if a.tame and a.dtype in FLOATS[:3] else None
    if a.dtype in FP8:
        return _to(a, dtype) if dtype in FLOATS else None
    if a.dtype not in FLOATS or dtype not in INTEGERS:
        return _to(a, dtype)
    wide = a if wide_float(a) else _to(a, "fp32")
    text = wide.text if a.tame else f"tl.where(tl.abs({wide.text}) < 100.0, {wide.text}, 0.0)"
    return _to(replace(wide, text=f"tl.abs({text})" if dtype in UNSIGNED else text), dtype)


def _to(a: Value, dtype: str) -> Value:
    return Value(f"{a.inner}.to({in_language(dtype)})", dtype, a.shape, tame=a.tame and dtype in (*FLOATS, *FP8))


def filled(k: Function, dtype: str, shape: Shape) -> Value:
    """A block of one number, or a scalar."""
    if not shape:
        return Value({"int32": "0", "fp32": "0.0"}.get(dtype) or f"tl.full((), 1, {in_language(dtype)})", dtype)
    if dtype not in ("int1", *UNSIGNED) and k.chance(40):
        return Value(f"tl.full({k.shape(shape)}, {k.of((1, 3, -1))}, {in_language(dtype)})", dtype, shape)
    return Value(f"tl.zeros({k.shape(shape)}, {in_language(dtype)})", dtype, shape)


def another(k: Function, like: Value) -> Value:
    """A value of the same type as this one, made from what is visible besides it, if possible."""
    dtype, shape = like.dtype, like.shape

    def fits(value: Value) -> bool:
        return number(value) and value.text != like.text and broadcast(value.shape, shape) == shape

    source = (k.pick(lambda value: fits(value) and value.type == like.type) if k.chance(40) else None) or k.pick(fits)
    value = source and converted(source, dtype)
    if value is None:
        return filled(k, dtype, shape)
    if value.shape == shape:
        return value
    if len(value.shape) == len(shape) and k.chance(50):
        return replace(value, text=f"tl.broadcast_to({value.text}, {k.shape(shape)})", shape=shape)
    text = f"{value.inner} {'|' if dtype == 'int1' else '+'} tl.zeros({k.shape(shape)}, {in_language(dtype)})"
    return Value(text, dtype, shape)


def new_block(k: Function) -> Value | None:
    """`tl.arange`, and `tl.full` of something that the compiler does not know."""
    size = k.of((k.program.columns, k.program.rows))
    if k.chance(50):
        bounds = k.of((f"0, {k.size(size)}", f"{size}, {2 * size}"))
        return Value(f"tl.arange({bounds})", "int32", (size,))
    dtype, shape = k.of(("fp32", "int32", *NUMBERS)), k.of(((size,), (k.program.rows, k.program.columns)))
    value = converted(k.pick(kind(NUMBERS, 0)) or k.pid(), dtype)
    return value and Value(f"tl.full({k.shape(shape)}, {value.text}, {in_language(dtype)})", dtype, shape)


# --- memory

LOADED = ("fp32", "int32", "fp16", *("fp32",) * 6, *("int32",) * 3, *INTEGERS, *FLOATS, "int1", *FP8)
STEPS = (1, 2, 4)


def is_pointer(value: Value) -> bool:
    """Whether it can be read from."""
    return value.dtype.startswith("*")


def load(k: Function) -> Value | None:
    """`tl.load`, with and without a mask."""
    if not (at := address(k)):
        return None
    if not k.chance(45):
        return read(at)
    dtype, shape = at.dtype.removeprefix("*"), at.shape
    tame = dtype in (*FLOATS, *FP8)
    guard = mask(k, shape).text
    rest = Value(k.of(("0.0", "1.0")), "float", tame=True) if tame else Value(k.of(("0", "1")), "int")
    if dtype not in FP8 and k.chance(60):
        found = k.pick(lambda value: number(value) and broadcast(value.shape, shape) == shape)
        rest = found and converted(found, dtype) or rest
    text = f"tl.load({at.text}, mask={guard}, other={rest.text})"
    if k.chance(30) and promoted(dtype, rest.dtype) == dtype:
        text = f"tl.where({guard}, tl.load({at.text}, mask={guard}), {rest.text})"
    return Value(text, dtype, shape, tame=tame and rest.tame)


def read(at: Value) -> Value:
    """What is in memory there. Floats in buffers are tame."""
    dtype = at.dtype.removeprefix("*")
    return Value(f"tl.load({at.text})", dtype, at.shape, tame=dtype in (*FLOATS, *FP8))


def address(k: Function) -> Value | None:
    """What a load reads: where a pointer is now, a program's own part of a buffer, or any of its first elements."""
    known = k.pick(is_pointer)
    if known and (k.helper or k.chance(40)):
        return moved(k, known, k.of((0, 0, *STEPS)))
    if k.helper:
        return None
    dtype, (rows, columns) = k.of(LOADED), (k.program.rows, k.program.columns)
    shape: Shape = k.of(((columns,), (rows, columns), (), (rows,)))
    length, offset, way = elements(shape), k.place(shape), k.of(range(6))
    if way == 5 and (index := k.pick(lambda value: integer(value) and not value.text.startswith("r"))):
        length, shape, offset = 8, index.shape, f"({index.inner} & 7)"
    elif way > 2:
        length, offset = length * k.program.programs, k.own_place(shape)
    name = k.program.buffer(dtype, length)
    return Value(name if offset == "0" else f"{name} + {offset}", f"*{dtype}", shape, buffers=(name,))


def moved(k: Function, pointer: Value, step: int) -> Value:
    """The pointer some elements further on, once for each time that the next line runs."""
    for name in pointer.buffers:
        k.program.lengthen(name, step * k.trips)
    return replace(pointer, text=f"{pointer.text} + {step}") if step else pointer
