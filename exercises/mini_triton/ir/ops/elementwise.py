"""arith, math and the elementwise part of tt: constants, arithmetic, comparisons, select, casts.

All of these work alike on scalars and on tensors, element by element, and none of them converts or broadcasts:
both operands of `arith.addi` have the very same type. Converting and broadcasting is the builder's work.

Source: MLIR's `ArithOps.td`, `MathOps.td`; Triton's `TritonOps.td`.
"""

from __future__ import annotations

import math

from mini_triton.ir.attributes import FloatPredicate, IntPredicate, PropagateNan, Rounding
from mini_triton.ir.ops.definition import op, require
from mini_triton.ir.types import (
    F8E4M3FN,
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

INTEGERS = "$lhs , $rhs ignore(overflow) ignore(overflowFlags) attr-dict : type(result)"
FLOATS = "$lhs , $rhs ignore(fastmath) attr-dict : type(result)"
UNARY = "$operand ignore(fastmath) attr-dict : type(result)"
CAST = "$input ignore(fastmath) ignore(overflow) ignore(overflowFlags) attr-dict : type($input) to type(result)"
CONVERT = "$input attr-dict : type($input) -> type(result)"


def is_integer(type: Type) -> bool:
    """Whether the elements are integers."""
    return isinstance(element_type(type), IntegerType)


def is_float(type: Type) -> bool:
    """Whether the elements are floats."""
    return isinstance(element_type(type), FloatType)


def width(type: Type) -> int:
    """Bits of one element."""
    return element_type(type).width


# --- constants


@op("arith.constant", assembly="custom", pure=True)
def constant(*, value: bool | int | float, result: Type) -> Type:
    """A number; for a tensor type, that number in every element. Integers are written as signed."""
    if result == I1 or element_type(result) == I1:
        require(isinstance(value, bool), f"a constant of type {result} is true or false, not {value!r}")
    elif is_integer(result):
        require(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no {result}")
        limit = 2 ** (width(result) - 1)
        require(-limit <= value < limit, f"{value} does not fit in {result}")
    else:
        require(is_float(result), f"there are no constants of type {result}")
        require(isinstance(value, float), f"{value!r} is no {result}: write it as a float")
        require(element_type(result) != F8E4M3FN or not math.isinf(value), f"{result} has no infinity")
    return result


# --- arithmetic


def same_integers(lhs: Type, rhs: Type) -> Type:
    """Integer arithmetic: two equal integer types, and the result is of that type."""
    # Task 2.2: Refuse elements that are no integers. For two different types the message names both.
    raise NotImplementedError("Task 2.2: Elementwise operations")


def same_floats(lhs: Type, rhs: Type) -> Type:
    """Float arithmetic: two equal float types, and the result is of that type."""
    # Task 2.2: The same for floats.
    raise NotImplementedError("Task 2.2: Elementwise operations")


def one_float(operand: Type) -> Type:
    """A function of one float, of the same type."""
    require(is_float(operand), f"it works on floats, not on {operand}")
    return operand


INTEGER_BINARY = (
    "addi subi muli divsi divui remsi remui floordivsi ceildivsi andi ori xori shli shrsi shrui maxsi maxui minsi minui"
).split()
FLOAT_BINARY = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
FLOAT_UNARY = "exp exp2 log log2 sin cos sqrt rsqrt erf floor ceil absf".split()

for name in INTEGER_BINARY:
    op(f"arith.{name}", assembly=INTEGERS, pure=True)(same_integers)
for name in FLOAT_BINARY:
    op(f"arith.{name}", assembly=FLOATS, pure=True)(same_floats)
for name in FLOAT_UNARY:
    op(f"math.{name}", assembly=UNARY, pure=True)(one_float)
op("tt.mulhiui", assembly=INTEGERS, pure=True)(same_integers)
op("tt.precise_divf", assembly=FLOATS, pure=True)(same_floats)
op("tt.precise_sqrt", assembly=UNARY, pure=True)(one_float)
op("arith.negf", assembly=UNARY, pure=True)(one_float)


@op("math.absi", assembly=UNARY, pure=True)
def absi(operand: Type) -> Type:
    require(is_integer(operand), f"it works on integers, not on {operand}")
    return operand


@op("math.fma", assembly="$a , $b , $c ignore(fastmath) attr-dict : type(result)", pure=True)
def fma(a: Type, b: Type, c: Type) -> Type:
    """`a * b + c`, rounded once."""
    return same_floats(same_floats(a, b), c)


@op(
    "tt.clampf",
    assembly="$x , $min , $max , propagateNan = #propagateNan attr-dict : type(result)",
    pure=True,
)
def clampf(x: Type, min: Type, max: Type, *, propagateNan: PropagateNan) -> Type:
    return same_floats(same_floats(x, min), max)


@op("tt.extern_elementwise", assembly="$args attr-dict : functional-type", pure=True)
def extern_elementwise(*args: Type, symbol: str, libname: str, libpath: str, pure: bool, result: Type) -> Type:
    """A function of a device library, such as `__nv_tanhf`."""
    require(all(shape_of(arg) == shape_of(result) for arg in args), "operands and result must have one shape")
    return result


# --- comparisons and select


@op("arith.cmpi", assembly="#predicate , $lhs , $rhs attr-dict : type($lhs)", pure=True)
def cmpi(lhs: Type, rhs: Type, *, predicate: IntPredicate) -> Type:
    """Compare integers; signedness is in the predicate: `slt` or `ult`."""
    # Task 2.2: The operands follow `same_integers`; the result has their shape, with `i1` elements.
    raise NotImplementedError("Task 2.2: Elementwise operations")


@op("arith.cmpf", assembly="#predicate , $lhs , $rhs ignore(fastmath) attr-dict : type($lhs)", pure=True)
def cmpf(lhs: Type, rhs: Type, *, predicate: FloatPredicate) -> Type:
    """Compare floats; `o..` predicates are false when an operand is NaN, `u..` ones are true."""
    # Task 2.2: As for integers.
    raise NotImplementedError("Task 2.2: Elementwise operations")


@op("arith.select", assembly="custom", pure=True)
def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    """`true_value` where the condition holds, else `false_value`. A scalar condition chooses between whole tensors."""
    # Task 2.2: Both values have one type, any type. The condition is `i1`, or `i1` in the shape of the values.
    raise NotImplementedError("Task 2.2: Elementwise operations")


# --- casts


def _same_shape(input: Type, result: Type) -> None:
    require(shape_of(input) == shape_of(result), f"a cast keeps the shape, got {input} and {result}")


def wider_float(input: Type, *, result: Type) -> Type:
    """`arith.extf`: every value of the narrower float exists in the wider one. fp8 goes through `tt.fp_to_fp`."""
    # Task 2.2: Same shape, floats on both sides, more bits in the result, and at least 16 in the input.
    raise NotImplementedError("Task 2.2: Elementwise operations")


def narrower_float(input: Type, *, result: Type) -> Type:
    """`arith.truncf`: rounds to the nearest value of the narrower float."""
    wider_float(result, result=input)
    return result


def wider_integer(input: Type, *, result: Type) -> Type:
    """`arith.extsi` copies the sign bit into the new bits, `arith.extui` zeros."""
    # Task 2.2: Same shape, integers on both sides, more bits in the result.
    raise NotImplementedError("Task 2.2: Elementwise operations")


def narrower_integer(input: Type, *, result: Type) -> Type:
    """`arith.trunci` drops the upper bits."""
    wider_integer(result, result=input)
    return result


def float_to_integer(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(is_float(input) and is_integer(result), f"it takes float to integer, not {input} to {result}")
    return result


def integer_to_float(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(is_integer(input) and is_float(result), f"it takes integer to float, not {input} to {result}")
    return result


for name, rule in {
    "extf": wider_float,
    "truncf": narrower_float,
    "extsi": wider_integer,
    "extui": wider_integer,
    "trunci": narrower_integer,
    "fptosi": float_to_integer,
    "fptoui": float_to_integer,
    "sitofp": integer_to_float,
    "uitofp": integer_to_float,
}.items():
    op(f"arith.{name}", assembly=CAST, pure=True)(rule)


@op("tt.fp_to_fp", assembly=CONVERT.replace("attr-dict", "(, rounding = #rounding)? attr-dict"), pure=True)
def fp_to_fp(input: Type, *, rounding: Rounding = "", result: Type) -> Type:
    """Float to float with a stated rounding; the only way to and from fp8."""
    _same_shape(input, result)
    require(is_float(input) and is_float(result), f"it takes float to float, not {input} to {result}")
    require(bool(rounding) or width(result) >= width(input), f"its rounding must be stated from {input} to {result}")
    return result


@op("tt.bitcast", assembly=CONVERT, pure=True)
def bitcast(input: Type, *, result: Type) -> Type:
    """The same bits read as another type of the same size."""
    # Task 2.2: Same shape, same width. A pointer's bits may only be read as another pointer's.
    raise NotImplementedError("Task 2.2: Elementwise operations")


@op("arith.bitcast", assembly=CAST, pure=True)
def arith_bitcast(input: Type, *, result: Type) -> Type:
    """Real Triton prints it where only the signedness changed, from a type to itself."""
    require(input == result, "tt.bitcast is the one that changes the type")
    return result


@op("tt.int_to_ptr", assembly=CONVERT, pure=True)
def int_to_ptr(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(element_type(input) == I64, f"an address is an i64, not {input}")
    require(isinstance(element_type(result), PointerType), f"{result} is no pointer")
    return result


@op("tt.ptr_to_int", assembly=CONVERT, pure=True)
def ptr_to_int(input: Type, *, result: Type) -> Type:
    _same_shape(input, result)
    require(isinstance(element_type(input), PointerType), f"{input} is no pointer")
    require(element_type(result) == I64, f"an address is an i64, not {result}")
    return result
