"""Expressions: a table of forms, each with its permitted operands and its result. `expression` writes an expression.

Both operands of a form have one dtype. How Triton promotes two is not the front end's affair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.support.m05_frontend.random_kernels.writing import (
    FLOATS,
    INTEGERS,
    MOST,
    NUMBERS,
    SIGNED,
    STORED,
    UNSIGNED,
    Fits,
    Function,
    Shape,
    Value,
    broadcast,
    kind,
)

# --- operands

WIDE_INTEGERS = ("int32", "int64", "uint32", "uint64")
WIDE_FLOATS = ("float32", "float64")
WIDE = (*WIDE_INTEGERS, *WIDE_FLOATS)  # in all versions compared with numbers by the same rule
integer, number, stored, wide_float = map(kind, (INTEGERS, NUMBERS, STORED, WIDE_FLOATS))


def block(dtypes: tuple[str, ...]) -> Fits:
    """Whether a value has an axis to reduce, and one of these dtypes."""
    return lambda value: value.dtype in dtypes and value.shape[-1:] > (1,)


def merged(value: Value) -> bool:
    """Whether branches may choose it. A condition that is chosen by itself is simplified by chance only."""
    return number(value) or value.dtype == "int1" and value.shape != ()


def literal(k: Function, a: Value) -> Value:
    """A number in the range of `a` that is exact in every float type."""
    if a.dtype in FLOATS:
        return Value(k.of(("0.5", "2.0", "1.5", "3", "-0.75")), "float")
    names = [value.text for value in k.scopes[-1].values() if value.dtype == "int"] + ["C"] * (not k.helper)
    return Value(k.of(("1", "2", "3", "7", *("-1", "-3") * (a.dtype in SIGNED), *names * 3)), "int")


def like(k: Function, a: Value) -> Value:
    """Another value of the dtype of `a`, with a shape that broadcasts with the shape of `a`."""

    def fits(b: Value) -> bool:
        shape = broadcast(a.shape, b.shape)
        return b.dtype == a.dtype and b.text != a.text and shape is not None and math.prod(shape) <= MOST

    return k.pick(fits) or a


def partner(k: Function, a: Value) -> Value:
    """The possible other operands of an operator."""
    return literal(k, a) if a.dtype in WIDE and k.chance(35) else like(k, a)


def another(k: Function, like: Value) -> Value:
    """A value of the same type as this one, made from what is visible besides it, if possible."""
    dtype, shape = like.dtype, like.shape

    def fits(value: Value) -> bool:
        return number(value) and value.text != like.text and broadcast(value.shape, shape) == shape

    source = (k.pick(lambda value: fits(value) and value.type == like.type) if k.chance(40) else None) or k.pick(fits)
    if source is None:
        return filled(k, dtype, shape)
    value = converted(source, dtype)
    if value.shape == shape:
        return value
    return Value(f"{value.inner} {'|' if dtype == 'int1' else '+'} tl.zeros({shape}, tl.{dtype})", dtype, shape)


# --- the table

SHAPES: dict[str, Callable[[Shape, int], Shape]] = {
    "same": lambda shape, axis: shape,
    "column": lambda shape, axis: (*shape, 1),
    "row": lambda shape, axis: (1, *shape),
    "pairs": lambda shape, axis: (*shape, 2),
    "flat": lambda shape, axis: (math.prod(shape),) if len(shape) == 2 else (math.prod(shape) // 2, 2),
    "transposed": lambda shape, axis: shape[::-1],
    "wide": lambda shape, axis: tuple(4 if size == 1 else size for size in shape),
    "reduced": lambda shape, axis: shape[:axis] + shape[axis + 1 :],
    "kept": lambda shape, axis: (*shape[:axis], 1, *shape[axis + 1 :]),
    "scalar": lambda shape, axis: (),
}
"""The shape of the result, from that of the operands, broadcast, and an axis."""


@dataclass(frozen=True)
class Form:
    """Expressions of one kind.

    In the texts, `{a}` and `{b}` are operands, in parentheses if need be; `{A}` and `{B}` are arguments; `{axis}` is
    an axis of `a`, `{shape}` the result's, `{mask}` a condition for each of its elements, `{condition}` a scalar one.
    """

    texts: tuple[str, ...]
    a: Fits
    b: Callable[[Function, Value], Value] | None = None
    dtype: str = ""  # the result's dtype, if it differs from the dtype of `a`
    shape: str = "same"
    weight: int = 2
    rounds: bool = False  # whether machines round the result differently
    finite: bool = False  # whether the operands must be finite

    def __call__(self, k: Function) -> Value | None:
        """An expression of this form, if something visible fits. Its operand may be an expression, too."""
        # Real Triton 3.7 never ends compiling a block that is carried and transposed.
        if self.rounds and k.program.exact or self.shape == "transposed" and (k.trips > 1 or k.helper):
            return None
        a = None
        if not k.nested and k.chance(20):
            k.nested = True
            a = expression(k)
            k.nested = False
        if a is None or not self.a(a):
            a = k.pick(self.a)
        return self._written(k, finite(a) if self.finite else a) if a else None

    def _written(self, k: Function, a: Value) -> Value | None:
        """The expression with this operand, if it is not too large."""
        b = self.b(k, a) if self.b else a
        operands = broadcast(a.shape, b.shape) or ()
        axis = k.of((0, 1)) if len(operands) == 2 and operands[0] > 1 else len(operands) - 1
        shape = SHAPES[self.shape](operands, axis)
        if math.prod(shape) > MOST:
            return None
        text = k.of(self.texts)
        names = {"a": a.inner, "b": b.inner, "A": a.text, "B": b.text, "axis": str(axis), "shape": str(shape)}
        for name, make in (("mask", lambda: mask(k, shape)), ("condition", lambda: condition(k))):
            if name in text:
                names[name] = make().text
        return Value(text.format(**names), self.dtype or a.dtype, shape)


def texts(pattern: str, *words: str) -> tuple[str, ...]:
    """The pattern with each of these words in the place of `@`."""
    return tuple(pattern.replace("@", word) for word in words)


HELPERS = {"combine_add": "def combine_add(a, b):\n    return a + b"}
"""Functions for reductions and scans."""


def over_blocks(dtypes: tuple[str, ...], rounds: bool) -> tuple[Form, ...]:
    """Sums over an axis and along it. Sums of floats depend on the order of their terms."""
    sums = ("tl.sum({A}, axis={axis})", "{a}.sum({axis})", "tl.reduce({A}, {axis}, combine_add)")
    scans = ("tl.cumsum({A}, axis={axis})", "tl.associative_scan({A}, {axis}, combine_add, reverse=True)")
    return (
        Form(sums, block(dtypes), shape="reduced", weight=3, rounds=rounds),
        Form(("tl.sum({A}, {axis}, keep_dims=True)",), block(dtypes), shape="kept", weight=1, rounds=rounds),
        Form(("tl.sum({A})",), block(dtypes), shape="scalar", weight=1, rounds=rounds),
        Form(scans, block(dtypes), rounds=rounds),
    )


ARITHMETIC = Form(texts("{a} @ {b}", "+", "*", "-", "+", "*"), number, partner, weight=6)
COLUMN = Form(("{a}[:, None]", "tl.expand_dims({A}, 1)"), kind(STORED, 1), shape="column", weight=3)
FORMS = (
    ARITHMETIC,
    Form(texts("{a} @ {b}", "<", ">", "==", "!=", "<=", ">="), number, partner, "int1", weight=3),
    Form(("tl.where({mask}, {A}, {B})", "tl.where({mask}, {B}, {A})"), number, partner, weight=3),
    Form(("{a} if {condition} else {b}", "{b} if {condition} else {a}"), merged, another, weight=3),
    Form(texts("{a} @ {b}", *"&|^"), kind((*INTEGERS, "int1")), like, weight=3),
    Form(texts("{a} @ 7", "&", "|", "^", "//", "%", "<<", ">>"), integer, weight=5),
    Form(texts("{a} @ ({b} & 7)", "<<", ">>"), integer, like),
    Form(texts("{a} @ ({b} & 7 | 1)", "//", "%"), integer, like, weight=3),
    Form(texts("{a} @ {b}", "/", "%"), wide_float, partner, rounds=True),
    Form(texts("@{a}", "-", "~"), integer, weight=3),
    # functions
    Form(texts("tl.@({A})", "floor", "ceil", "abs"), wide_float, weight=4),
    Form(texts("tl.@({A})", "sin", "cos", "exp", "sqrt", "log", "math.exp", "erf"), wide_float, rounds=True, weight=5),
    Form(("tl.sqrt_rn({A})", "tl.div_rn({A}, {B})"), kind(("float32",)), another),
    Form(("tl.fma({A}, {B}, {A})",), wide_float, another, rounds=True),
    Form(("tl.clamp({A}, -1.0, 2.0)",), wide_float, finite=True),
    Form(("tl.umulhi({A}, {B})",), kind(("int32", "uint32")), another),
    Form(texts("tl.@({A}, {B})", "maximum", "minimum"), kind(WIDE), partner, weight=4),
    Form(texts("@({A}, {B})", "max", "min"), kind(WIDE, 0), literal, weight=1),
    Form(("{a}.to(tl.float32, bitcast=True)",), kind(("int32", "uint32")), dtype="float32"),
    # shapes
    COLUMN,
    Form(("{a}[None, :]", "tl.expand_dims({A}, 0)"), kind(STORED, 1), shape="row", weight=3),
    Form(("tl.reshape({A}, {shape})", "{a}.reshape{shape}"), block(STORED), shape="flat", weight=3),
    Form(("tl.trans({A})", "{a}.T", "tl.permute({A}, (1, 0))"), kind(STORED, 2), shape="transposed", weight=4),
    Form(("tl.join({A}, {B})",), kind(STORED, 1), another, shape="pairs", weight=3),
    Form(("tl.broadcast_to({A}, {shape})",), lambda value: stored(value) and 1 in value.shape, shape="wide"),
    # reductions and scans
    *over_blocks(WIDE_INTEGERS, rounds=False),
    *over_blocks(WIDE_FLOATS, rounds=True),
    Form(texts("tl.@({A}, axis={axis})", "max", "min"), block(WIDE), shape="reduced", finite=True),
    Form(texts("tl.@({A}, axis={axis})", "argmax", "argmin"), block(WIDE), None, "int32", "reduced", finite=True),
)


# --- what is written


def expression(k: Function) -> Value | None:
    """A new expression."""
    for _ in range(4):
        if value := k.of(k.program.grammar.expressions)(k):
            return value
    return None


def condition(k: Function) -> Value:
    """A scalar that is true or false."""
    first = simple_condition(k)
    match k.of(range(10)):
        case 7 | 8:
            return Value(f"{first.inner} {k.of(('and', 'or'))} {simple_condition(k).inner}", "int1")
        case 9 if not k.helper:
            # Not of a comparison: real Triton's canonicalizer then inverts either that or the branches, as it comes.
            return Value("not flag", "int1")
    return first


def simple_condition(k: Function) -> Value:
    """A comparison with a number, or a name."""
    if k.chance(40) and (known := k.pick(kind(("int1",), 0))):
        return known
    value = k.pick(kind(WIDE, 0)) or k.pid
    if value.dtype in INTEGERS and k.chance(20):
        return Value(f"{value.text} & 1 {k.of(('==', '!='))} 0", "int1")
    return Value(f"{value.text} {k.of(('>', '==', '<', '!=', '<=', '>='))} {k.of((0, 1, 2))}", "int1")


def mask(k: Function, shape: Shape) -> Value:
    """A condition for each element, or for all."""
    if k.chance(60) and (found := k.pick(lambda m: m.dtype == "int1" and broadcast(m.shape, shape) == shape)):
        return found
    return Value(f"{k.place(shape) if shape else 'pid'} < {'3' if k.helper else 'n'}", "int1", shape)


def cast(k: Function) -> Value | None:
    """`x.to(dtype)`."""
    a = k.pick(stored)
    return a and converted(a, k.of([dtype for dtype in ("float32", "int32", *STORED) if dtype != a.dtype]))


def converted(a: Value, dtype: str) -> Value:
    """`a` as a value of this type, such as it has one there on all machines."""
    if a.dtype == dtype:
        return a
    if a.dtype in FLOATS and dtype in INTEGERS:
        a = finite(a if wide_float(a) else converted(a, "float32"))
        a = replace(a, text=f"tl.abs({a.text})") if dtype in UNSIGNED else a
    return Value(f"{a.inner}.to(tl.{dtype})", dtype, a.shape)


def finite(a: Value) -> Value:
    """`a` where it is in the range of every integer, and 0 elsewhere."""
    return replace(a, text=f"tl.where(tl.abs({a.text}) < 100.0, {a.text}, 0.0)") if wide_float(a) else a


def filled(k: Function, dtype: str, shape: Shape) -> Value:
    """A block of one number, or a scalar."""
    if not shape and dtype in ("int32", "float32"):
        return Value("0" if dtype == "int32" else "0.0", dtype)
    return Value(f"tl.full({shape}, {k.of((0, 1))}, tl.{dtype})", dtype, shape)


def new_block(k: Function) -> Value:
    """`tl.arange`."""
    size = k.of((k.program.columns, k.program.rows))
    start = k.of((0, size))
    return Value(f"tl.arange({start}, {start + size})", "int32", (size,))


# --- memory

LOADED = ("float32", "int32", "float16", *("float32",) * 6, *("int32",) * 3, *STORED)
STEPS = (1, 2, 4)


def is_pointer(value: Value) -> bool:
    """Whether a load can read from the value."""
    return value.dtype.startswith("*")


def load(k: Function) -> Value | None:
    """`tl.load`, with and without a mask."""
    if not (at := address(k)):
        return None
    if not k.chance(45):
        return read(at)
    dtype, shape = at.dtype.removeprefix("*"), at.shape
    other = k.pick(lambda value: value.dtype == dtype and broadcast(value.shape, shape) == shape)
    one = "True" if dtype == "int1" else "1"  # `tl.where(mask, booleans, 1)` gives integers
    guard, rest = mask(k, shape).text, other.text if other and k.chance(60) else one
    if k.chance(30):
        return Value(f"tl.where({guard}, tl.load({at.text}, mask={guard}), {rest})", dtype, shape)
    return Value(f"tl.load({at.text}, mask={guard}, other={rest})", dtype, shape)


def read(at: Value) -> Value:
    """The value that a load from this place gives."""
    return Value(f"tl.load({at.text})", at.dtype.removeprefix("*"), at.shape)


def address(k: Function) -> Value | None:
    """The source of a load: where a pointer is now, a program's own part of a buffer, or any of its first elements."""
    known = k.pick(is_pointer)
    if known and (k.helper or k.chance(40)):
        step = k.of((0, 0, *STEPS))
        return replace(known, text=f"{known.text} + {step}") if step else known
    if k.helper:
        return None
    dtype, (rows, columns) = k.program.dtype(LOADED), (k.program.rows, k.program.columns)
    shape: Shape = k.of(((columns,), (rows, columns), (), (rows,)))
    offset, way = k.place(shape), k.of(range(6))
    if way == 5 and (index := k.pick(integer)):
        shape, offset = index.shape, f"({index.inner} & 7)"
    elif way > 2:
        offset = k.own_place(shape)
    name = k.program.buffer(dtype)
    return Value(name if offset == "0" else f"{name} + {offset}", f"*{dtype}", shape)
