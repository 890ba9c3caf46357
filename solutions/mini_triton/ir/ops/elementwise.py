"""Elementwise operations of `arith`, `math` and `tt`: constants, arithmetic, comparisons, select, casts.

All of these operations work element by element, on scalars and on tensors. None of them converts or broadcasts: both
operands of `arith.addi` have exactly the same type. The builder converts and broadcasts.

Type rules come first. The table below them has one row for each operation, so a new operation is a new row.

Source: MLIR's `ArithOps.td`, `MathOps.td`; Triton's `TritonOps.td`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mini_triton.ir.attributes import FloatPredicate, IntPredicate, PropagateNan, Rounding
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import Rule, op, require
from mini_triton.ir.types import (
    I1,
    I64,
    FloatType,
    IntegerType,
    PointerType,
    Type,
    element_type,
    shape_of,
    with_element,
)


def is_integer(type: Type) -> bool:
    """Whether a type's elements are integers."""
    return isinstance(element_type(type), IntegerType)


def is_float(type: Type) -> bool:
    """Whether a type's elements are floats."""
    return isinstance(element_type(type), FloatType)


def width(type: Type) -> int:
    """The width of an element in bits."""
    return element_type(type).width


# --- constants


@op("arith.constant", assembly="custom", pure=True)
def constant(*, value: bool | int | float, result: Type) -> Type:
    """A number; for a tensor type, this number in every element. Integers are signed."""
    if result == I1 or element_type(result) == I1:
        require(isinstance(value, bool), f"a constant of type {result} is true or false, not {value!r}")
    elif is_integer(result):
        require(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is not a value of type {result}")
        limit = 2 ** (width(result) - 1)
        require(-limit <= value < limit, f"{value} does not fit in {result}")
    else:
        element = element_type(result)
        if not isinstance(element, FloatType):
            raise TypeError(f"there are no constants of type {result}")
        require(isinstance(value, float), f"{value!r} is not a value of type {result}: write it as a float")
        require(element.format.infinity is not None or not math.isinf(value), f"{result} has no infinity")
    return result


# --- arithmetic


def same_integers(lhs: Type, rhs: Type) -> Type:
    """Integer arithmetic: both operands and the result have the same integer type."""
    # [task 2.2] Reject element types other than integers, and two different types; the message names both types.
    require(is_integer(lhs), f"it works on integers, not on {lhs}")
    require(lhs == rhs, f"its operands must have the same type, got {lhs} and {rhs}")
    return lhs
    # [end]


def same_floats(lhs: Type, rhs: Type) -> Type:
    """Float arithmetic: both operands and the result have the same float type."""
    # [task 2.2] The requirements are those of `same_integers`, with floats; the same applies to the message.
    require(is_float(lhs), f"it works on floats, not on {lhs}")
    require(lhs == rhs, f"its operands must have the same type, got {lhs} and {rhs}")
    return lhs
    # [end]


def one_float(operand: Type) -> Type:
    """A function of one float; the result has the same type."""
    require(is_float(operand), f"it works on floats, not on {operand}")
    return operand


def one_integer(operand: Type) -> Type:
    """A function of one integer; the result has the same type."""
    require(is_integer(operand), f"it works on integers, not on {operand}")
    return operand


def fma(a: Type, b: Type, c: Type) -> Type:
    """`a * b + c`, rounded once."""
    return same_floats(same_floats(a, b), c)


def clampf(x: Type, min: Type, max: Type, *, propagateNan: PropagateNan) -> Type:
    return same_floats(same_floats(x, min), max)


def extern_elementwise(*args: Type, symbol: str, libname: str, libpath: str, pure: bool, result: Type) -> Type:
    """A function of a device library, such as `__nv_tanhf`."""
    require(all(shape_of(arg) == shape_of(result) for arg in args), "operands and result must have one shape")
    return result


# --- comparisons and select


def cmpi(lhs: Type, rhs: Type, *, predicate: IntPredicate) -> Type:
    """Compare integers. The predicate determines the signedness: `slt` is signed, `ult` is unsigned."""
    # [task 2.2] The requirements on operands are those of integer arithmetic. The result has one boolean for each pair
    # of elements.
    return with_element(same_integers(lhs, rhs), I1)
    # [end]


def cmpf(lhs: Type, rhs: Type, *, predicate: FloatPredicate) -> Type:
    """Compare floats. If an operand is NaN, `o..` predicates are false and `u..` predicates are true."""
    # [task 2.2] Which operands does this comparison take, and what does it return for two scalars?
    return with_element(same_floats(lhs, rhs), I1)
    # [end]


def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    """`true_value` where the condition is true, otherwise `false_value`. A scalar condition selects a whole tensor."""
    # [task 2.2] Both values must have the same type, which may be any type. For values of type `tensor<8xf32>`, exactly
    # two types of the condition are valid; reject all others, such as `tensor<4xi1>`.
    require(true_value == false_value, f"its values must have the same type, got {true_value} and {false_value}")
    require(
        condition in (I1, with_element(true_value, I1)),
        f"its condition must be i1 or {with_element(true_value, I1)}, got {condition}",
    )
    return true_value
    # [end]


# --- casts


def _same_shape(input: Type, result: Type) -> None:
    require(shape_of(input) == shape_of(result), f"a cast keeps the shape, got {input} and {result}")


def wider_float(input: Type, *, result: Type) -> Type:
    """`arith.extf` converts a float to a wider float type, without rounding. `tt.fp_to_fp` converts fp8."""
    # [task 2.2] Reject different shapes, integers, fp8, and a result that is not wider. Is `f16` wider than `bf16`?
    _same_shape(input, result)
    require(is_float(input) and is_float(result), f"it casts floats to floats, not {input} to {result}")
    require(16 <= width(input) < width(result), f"{result} must be wider than {input}, and neither may be fp8")
    return result
    # [end]


def narrower_float(input: Type, *, result: Type) -> Type:
    """`arith.truncf`: rounds to the nearest value of the narrower float."""
    wider_float(result, result=input)
    return result


def wider_integer(input: Type, *, result: Type) -> Type:
    """`arith.extsi` copies the sign bit into the new bits, and `arith.extui` fills them with zeros."""
    # [task 2.2] Reject different shapes, floats, and a result that is not wider.
    _same_shape(input, result)
    require(is_integer(input) and is_integer(result), f"it takes integer to integer, not {input} to {result}")
    require(width(input) < width(result), f"{result} must be wider than {input}")
    return result
    # [end]


def narrower_integer(input: Type, *, result: Type) -> Type:
    """`arith.trunci` drops the upper bits."""
    wider_integer(result, result=input)
    return result


def float_to_integer(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(is_float(input) and is_integer(result), f"it casts floats to integers, not {input} to {result}")
    return result


def integer_to_float(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(is_integer(input) and is_float(result), f"it casts integers to floats, not {input} to {result}")
    return result


def fp_to_fp(input: Type, *, rounding: Rounding = "", result: Type) -> Type:
    """Float to float with explicit rounding; the only cast to and from fp8."""
    _same_shape(input, result)
    require(is_float(input) and is_float(result), f"it casts floats to floats, not {input} to {result}")
    require(bool(rounding) or width(result) >= width(input), f"from {input} to {result}, it needs a rounding")
    return result


def bitcast(input: Type, *, result: Type) -> Type:
    """The same bits, read as a different type of the same size."""
    # [task 2.2] Only `tt.ptr_to_int` and `tt.int_to_ptr` convert between pointers and numbers, even those of 64 bits.
    _same_shape(input, result)
    require(width(input) == width(result), f"{input} and {result} differ in size")
    pointers = isinstance(element_type(input), PointerType), isinstance(element_type(result), PointerType)
    require(pointers[0] == pointers[1], "a pointer becomes an integer by tt.ptr_to_int, and back by tt.int_to_ptr")
    return result
    # [end]


def arith_bitcast(input: Type, *, result: Type) -> Type:
    """A cast from a type to itself, which real Triton prints where only the signedness of a dtype changes."""
    require(input == result, f"{input} cannot become {result}: only tt.bitcast changes the type")
    return result


def int_to_ptr(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(element_type(input) == I64, f"an address is an i64, not {input}")
    require(isinstance(element_type(result), PointerType), f"{result} is not a pointer")
    return result


def ptr_to_int(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(isinstance(element_type(input), PointerType), f"{input} is not a pointer")
    require(element_type(result) == I64, f"an address is an i64, not {result}")
    return result


# --- the table

INTEGERS = "$lhs , $rhs ignore(overflow) ignore(overflowFlags) attr-dict : type(result)"
FLOATS = "$lhs , $rhs ignore(fastmath) attr-dict : type(result)"
UNARY = "$operand ignore(fastmath) attr-dict : type(result)"
CAST = "$input ignore(fastmath) ignore(overflow) ignore(overflowFlags) attr-dict : type($input) to type(result)"
CONVERT = "$input attr-dict : type($input) -> type(result)"


@dataclass(frozen=True)
class Exposed:
    """A function of the language that builds one operation: its name in `tl`, its docstring, the dtypes it accepts."""

    name: str
    doc: str
    accepted: tuple[str, ...] = ("fp32", "fp64")


Meaning = str | dict[str, str]
"""A Python expression; for a comparison, a dict with one expression for each predicate."""


@dataclass(frozen=True)
class Row:
    """An elementwise operation.

    `meaning` is a Python expression on NumPy values. `{0}`, `{1}`, ... are replaced by the operands, `{operands}` by
    all of them, `{dtype}` by the NumPy dtype of the result's elements, and other names, such as `{symbol}`, by
    attributes. Where NumPy differs from the IR, the expression calls a function of `exact`. For operations on pointers,
    `meaning` is empty.

    Booleans are integers of one bit, which is the sign bit, so true is -1. `of_booleans` applies if the first operand
    has boolean elements; otherwise, `to_booleans` applies if the result has boolean elements. If the one that applies
    is empty, `meaning` applies.
    """

    name: str
    rule: Rule
    assembly: str
    meaning: Meaning = ""
    of_booleans: Meaning = ""
    to_booleans: Meaning = ""
    tl: Exposed | None = None
    divides: bool = False  # divides integers


COMPARED_INTEGERS = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "slt": "{0} < {1}",
    "sle": "{0} <= {1}",
    "sgt": "{0} > {1}",
    "sge": "{0} >= {1}",
    "ult": "exact.unsigned({0}) < exact.unsigned({1})",
    "ule": "exact.unsigned({0}) <= exact.unsigned({1})",
    "ugt": "exact.unsigned({0}) > exact.unsigned({1})",
    "uge": "exact.unsigned({0}) >= exact.unsigned({1})",
}
COMPARED_BOOLEANS = {"slt": "{0} > {1}", "sle": "{0} >= {1}", "sgt": "{0} < {1}", "sge": "{0} <= {1}"}
COMPARED_FLOATS = {  # Python's comparisons with a NaN are false, except `!=`
    "oeq": "{0} == {1}",
    "ogt": "{0} > {1}",
    "oge": "{0} >= {1}",
    "olt": "{0} < {1}",
    "ole": "{0} <= {1}",
    "one": "({0} < {1}) | ({0} > {1})",
    "ord": "({0} <= {1}) | ({0} >= {1})",
    "false": "({0} < {1}) & ({0} > {1})",
    "une": "{0} != {1}",
    "ult": "~({0} >= {1})",
    "ule": "~({0} > {1})",
    "ugt": "~({0} <= {1})",
    "uge": "~({0} < {1})",
    "ueq": "~(({0} < {1}) | ({0} > {1}))",
    "uno": "~(({0} <= {1}) | ({0} >= {1}))",
    "true": "~(({0} < {1}) & ({0} > {1}))",
}
EXTERN = "exact.extern({symbol!r}, {operands})"
FP_TO_FP = CONVERT.replace("attr-dict", "(, rounding = #rounding)? attr-dict")

ROWS = (
    # Integers wrap around.
    Row("arith.addi", same_integers, INTEGERS, "{0} + {1}", of_booleans="{0} ^ {1}"),
    Row("arith.subi", same_integers, INTEGERS, "{0} - {1}", of_booleans="{0} ^ {1}"),
    Row("arith.muli", same_integers, INTEGERS, "{0} * {1}", of_booleans="{0} & {1}"),
    Row("arith.divsi", same_integers, INTEGERS, "exact.divsi({0}, {1})", of_booleans="{0} & {1}", divides=True),
    Row("arith.divui", same_integers, INTEGERS, "exact.divui({0}, {1})", of_booleans="{0} & {1}", divides=True),
    Row("arith.remsi", same_integers, INTEGERS, "exact.remsi({0}, {1})", of_booleans="{0} & ~{1}", divides=True),
    Row("arith.remui", same_integers, INTEGERS, "exact.remui({0}, {1})", of_booleans="{0} & ~{1}", divides=True),
    Row("arith.floordivsi", same_integers, INTEGERS, "{0} // {1}", of_booleans="{0} & {1}", divides=True),
    Row("arith.ceildivsi", same_integers, INTEGERS, "exact.ceildivsi({0}, {1})", of_booleans="{0} & {1}", divides=True),
    Row("arith.andi", same_integers, INTEGERS, "{0} & {1}"),
    Row("arith.ori", same_integers, INTEGERS, "{0} | {1}"),
    Row("arith.xori", same_integers, INTEGERS, "{0} ^ {1}"),
    Row("arith.shli", same_integers, INTEGERS, "exact.shli({0}, {1})", of_booleans="{0} & ~{1}"),
    Row("arith.shrsi", same_integers, INTEGERS, "exact.shrsi({0}, {1})", of_booleans="{0} | ({0} & {1})"),
    Row("arith.shrui", same_integers, INTEGERS, "exact.shrui({0}, {1})", of_booleans="{0} & ~{1}"),
    Row("arith.maxsi", same_integers, INTEGERS, "np.maximum({0}, {1})", of_booleans="{0} & {1}"),
    Row("arith.minsi", same_integers, INTEGERS, "np.minimum({0}, {1})", of_booleans="{0} | {1}"),
    Row("arith.maxui", same_integers, INTEGERS, "exact.maxui({0}, {1})", of_booleans="{0} | {1}"),
    Row("arith.minui", same_integers, INTEGERS, "exact.minui({0}, {1})", of_booleans="{0} & {1}"),
    Row(
        "tt.mulhiui",
        same_integers,
        INTEGERS,
        "exact.mulhiui({0}, {1})",
        tl=Exposed(
            "umulhi",
            "The upper half of `x * y`, which has twice as many bits as `x`. Operands are read as unsigned integers.",
            accepted=("int32", "int64", "uint32", "uint64"),
        ),
    ),
    Row("math.absi", one_integer, UNARY, "np.abs({0})", of_booleans="{0}"),
    # Floats are rounded to nearest even.
    Row("arith.addf", same_floats, FLOATS, "{0} + {1}"),
    Row("arith.subf", same_floats, FLOATS, "{0} - {1}"),
    Row("arith.mulf", same_floats, FLOATS, "{0} * {1}"),
    Row("arith.divf", same_floats, FLOATS, "{0} / {1}"),
    Row(
        "tt.precise_divf",
        same_floats,
        FLOATS,
        "{0} / {1}",
        tl=Exposed("div_rn", "The fp32 quotient `x / y`, rounded to nearest.", accepted=("fp32",)),
    ),
    Row("arith.remf", same_floats, FLOATS, "np.fmod({0}, {1})"),
    Row("arith.negf", one_float, UNARY, "-{0}"),
    Row("arith.maximumf", same_floats, FLOATS, "exact.maximumf({0}, {1})"),
    Row("arith.minimumf", same_floats, FLOATS, "exact.minimumf({0}, {1})"),
    Row("arith.maxnumf", same_floats, FLOATS, "exact.maxnumf({0}, {1})"),
    Row("arith.minnumf", same_floats, FLOATS, "exact.minnumf({0}, {1})"),
    Row(
        "tt.clampf",
        clampf,
        "$x , $min , $max , propagateNan = #propagateNan attr-dict : type(result)",
        meaning="exact.clampf({0}, {1}, {2}, {propagateNan!r})",
    ),
    Row("math.fma", fma, "$a , $b , $c ignore(fastmath) attr-dict : type(result)", "exact.fma({0}, {1}, {2})"),
    Row("math.exp", one_float, UNARY, "np.exp({0})", tl=Exposed("exp", "e to the power of `x`.")),
    Row("math.exp2", one_float, UNARY, "exact.exp2({0})", tl=Exposed("exp2", "2 to the power of `x`.")),
    Row("math.log", one_float, UNARY, "np.log({0})", tl=Exposed("log", "The natural logarithm.")),
    Row("math.log2", one_float, UNARY, "np.log2({0})", tl=Exposed("log2", "The logarithm to base 2.")),
    Row("math.sin", one_float, UNARY, "np.sin({0})", tl=Exposed("sin", "The sine.")),
    Row("math.cos", one_float, UNARY, "np.cos({0})", tl=Exposed("cos", "The cosine.")),
    Row("math.acos", one_float, UNARY, "np.arccos({0})", tl=Exposed("acos", "The inverse of the cosine.")),
    Row("math.sqrt", one_float, UNARY, "np.sqrt({0})", tl=Exposed("sqrt", "The square root; GPUs approximate it.")),
    Row(
        "tt.precise_sqrt",
        one_float,
        UNARY,
        "np.sqrt({0})",
        tl=Exposed("sqrt_rn", "The fp32 square root, rounded to nearest.", accepted=("fp32",)),
    ),
    Row("math.rsqrt", one_float, UNARY, "np.reciprocal(np.sqrt({0}))", tl=Exposed("rsqrt", "1 / sqrt(x)")),
    Row("math.erf", one_float, UNARY, "exact.erf({0})", tl=Exposed("erf", "The error function.")),
    Row("math.floor", one_float, UNARY, "np.floor({0})", tl=Exposed("floor", "The largest whole number <= `x`.")),
    Row("math.ceil", one_float, UNARY, "np.ceil({0})", tl=Exposed("ceil", "The smallest whole number >= `x`.")),
    Row("math.absf", one_float, UNARY, "np.abs({0})"),
    # Comparisons and select.
    Row(
        "arith.cmpi",
        cmpi,
        "#predicate , $lhs , $rhs attr-dict : type($lhs)",
        COMPARED_INTEGERS,
        of_booleans=COMPARED_BOOLEANS,
    ),
    Row("arith.cmpf", cmpf, "#predicate , $lhs , $rhs ignore(fastmath) attr-dict : type($lhs)", COMPARED_FLOATS),
    Row("arith.select", select, "custom", "np.where({0}, {1}, {2})"),
    # Casts.
    Row("arith.extf", wider_float, CAST, "{0}.astype({dtype})"),
    Row("arith.truncf", narrower_float, CAST, "exact.truncf({0}, {dtype})"),
    Row("tt.fp_to_fp", fp_to_fp, FP_TO_FP, "exact.fp_to_fp({0}, {dtype}, {rounding!r})"),
    Row("arith.extsi", wider_integer, CAST, "{0}.astype({dtype})", of_booleans="-{0}.astype({dtype})"),
    Row("arith.extui", wider_integer, CAST, "exact.unsigned({0}).astype({dtype})"),
    Row("arith.trunci", narrower_integer, CAST, "{0}.astype({dtype})", to_booleans="{0} & 1 != 0"),
    Row(
        "arith.sitofp",
        integer_to_float,
        CAST,
        "exact.sitofp({0}, {dtype})",
        of_booleans="-{0}.astype({dtype}) + {dtype}(0)",
    ),
    Row("arith.uitofp", integer_to_float, CAST, "exact.uitofp({0}, {dtype})", of_booleans="{0}.astype({dtype})"),
    Row("arith.fptosi", float_to_integer, CAST, "exact.fptosi({0}, {dtype})", to_booleans="{0} <= -1"),
    Row("arith.fptoui", float_to_integer, CAST, "exact.fptoui({0}, {dtype})", to_booleans="{0} >= 1"),
    Row("arith.bitcast", arith_bitcast, CAST, "{0}"),
    Row("tt.bitcast", bitcast, CONVERT, "np.asarray({0}).view({dtype})"),
    Row("tt.int_to_ptr", int_to_ptr, CONVERT),
    Row("tt.ptr_to_int", ptr_to_int, CONVERT),
    # Functions of a device library.
    Row("tt.extern_elementwise", extern_elementwise, "$args attr-dict : functional-type", EXTERN),
)
TABLE = {row.name: row for row in ROWS}

for row in ROWS:
    op(row.name, assembly=row.assembly, pure=True, elementwise=True, divides=row.divides)(row.rule)


def meaning(operation: Operation) -> str | None:
    """The expression that computes an operation's result from its operands; None if no expression defines it.

    The expression depends on the predicate, and on whether elements are booleans.
    """
    row = TABLE.get(operation.name)
    if row is None:
        return None
    variants: list[Meaning] = [row.meaning]
    if element_type(operation.operands[0].type) == I1:
        variants.insert(0, row.of_booleans)
    elif element_type(operation.result.type) == I1:
        variants.insert(0, row.to_booleans)
    predicate = str(operation.attributes.get("predicate"))
    texts = (variant.get(predicate) if isinstance(variant, dict) else variant for variant in variants)
    return next(filter(None, texts), None)
