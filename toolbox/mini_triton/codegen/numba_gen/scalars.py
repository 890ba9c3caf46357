"""Scalars: the expressions of elementwise operations, and the representation of numbers in variables and memory.

A narrow float is held as a float32, rounded after each operation; bf16 and fp16 are stored in 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mini_triton.codegen.numba_gen.expressions import ZERO, Expression, Name, apply, apply_formula
from mini_triton.codegen.numba_gen.plan import Unsupported
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import FloatType, IntegerType, PointerType, Type, element_type

NARROW = {"f16": "f16", "bf16": "bf16"}


def kind(type: Type) -> str:
    """The dtype of a variable for a number of this type: "float32", "int8", "bool_"."""
    element = element_type(type)
    if isinstance(element, PointerType):
        return "int64"
    if isinstance(element, IntegerType):
        return "bool_" if element.width == 1 else f"int{element.width}"
    if element.name in ("f32", "f64"):
        return f"float{element.width}"
    if element.name in NARROW:
        return "float32"
    raise Unsupported(str(element))


def narrow(type: Type) -> str:
    """The name of a narrow float; "" for any other type."""
    element = element_type(type)
    return element.name if isinstance(element, FloatType) and element.name in NARROW else ""


def memory_dtype(type: Type) -> str:
    """The dtype of elements in memory."""
    return "uint16" if narrow(type) else kind(type).rstrip("_")


def constant(type: Type, value: bool | int | float = 0) -> Expression:
    """A literal of this type."""
    name = kind(type)
    if name == "bool_":
        return Name(str(bool(value)))
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        special = Name("np.nan" if value != value else "np.inf")
        return apply(name, apply("negative", special) if value < 0 else special)
    return apply(name, value)


def number(type: Type, value: Expression) -> Expression:
    """A result, wrapped around or rounded to its type."""
    if form := narrow(type):
        return apply(f"round_{form}", value)
    name = kind(type)
    return value if name in ("bool_", "float32", "float64") else apply(name, value)


def loaded(type: Type, value: Expression) -> Expression:
    """An element of memory, converted to its variable's dtype."""
    return apply(f"from_{narrow(type)}", value) if narrow(type) else value


def stored(type: Type, value: Expression) -> Expression:
    """A number, converted to its dtype in memory."""
    return apply(f"to_{narrow(type)}", value) if narrow(type) else value


def elementwise(operation: Operation, operands: Sequence[Expression]) -> Expression:
    """The expression of an elementwise operation."""
    name, result = operation.name, operation.result.type
    special = CASTS.get(name) or SPECIAL.get(name)
    found = special(operation, *operands) if special else None
    if found is not None:
        return found
    formula = meaning(operation)
    if formula is None or name == "tt.extern_elementwise" or "astype" in formula or "asarray" in formula:
        what = "libdevice" if name == "tt.extern_elementwise" else name
        raise Unsupported(what)
    return number(result, apply_formula(formula, operands))


# --- operations whose formula is for arrays


def _add_pointer(_: Operation, pointer: Expression, offset: Expression) -> Expression:
    return apply("int64", offset) if pointer == ZERO else apply("+", pointer, offset)


def _floor_divide(operation: Operation, x: Expression, y: Expression) -> Expression | None:
    return apply("floordivsi", x, y) if kind(operation.result.type) != "bool_" else None


def _fma(operation: Operation, *operands: Expression) -> Expression | None:
    form = narrow(operation.result.type)
    if not form:
        return None
    x, y, z = (apply("float64", operand) for operand in operands)
    return apply(f"round_{form}", apply("odd32", apply("+", apply("*", x, y), z)))


def _clamp(operation: Operation, x: Expression, least: Expression, most: Expression) -> Expression:
    end = "imumf" if operation.attributes["propagateNan"] == "all" else "numf"
    return apply(f"exact.min{end}", apply(f"exact.max{end}", x, least), most)


def _reciprocal_root(operation: Operation, x: Expression) -> Expression:
    type = operation.result.type
    return number(type, apply("/", constant(type, 1), apply("np.sqrt", x)))


SPECIAL: dict[str, Callable[..., Expression | None]] = {
    "tt.addptr": _add_pointer,
    "arith.select": lambda operation, condition, x, y: apply("if", condition, x, y),
    "arith.floordivsi": _floor_divide,
    "math.fma": _fma,
    "math.rsqrt": _reciprocal_root,
    "tt.clampf": _clamp,
}
"""For each operation, a function that returns the expression; None if the formula holds."""


# --- casts


def _float_to_float(operation: Operation, x: Expression) -> Expression:
    source, target = operation.operands[0].type, operation.result.type
    if operation.attributes.get("rounding") == "rtz":
        raise Unsupported("rounding toward zero")
    if form := narrow(target):
        if narrow(source) == form:
            return x
        return apply(f"round_{form}", apply("odd32", x) if kind(source) == "float64" else x)
    return x if kind(source) == kind(target) else apply(kind(target), x)


def _integer_to_float(operation: Operation, x: Expression) -> Expression:
    source, target = operation.operands[0].type, operation.result.type
    if kind(source) == "bool_":
        x = apply("int32", x)
        return apply(kind(target), apply("negative", x) if operation.name == "arith.sitofp" else x)
    if operation.name == "arith.uitofp":
        x = apply(f"u{kind(source)}", x)
    if form := narrow(target):
        if element_type(source).width == 64:
            raise Unsupported("64 bits to a narrow float")
        return apply(f"round_{form}", apply("odd32", apply("float64", x)) if form == "bf16" else apply("float32", x))
    return apply(kind(target), x)


def _float_to_integer(operation: Operation, x: Expression) -> Expression:
    target = operation.result.type
    if kind(target) == "bool_":
        return apply("<=", x, -1) if operation.name == "arith.fptosi" else apply(">=", x, 1)
    return apply(f"exact.{operation.name.removeprefix('arith.')}", x, f"np.{kind(target)}")


def _extend(operation: Operation, x: Expression) -> Expression:
    source, target = kind(operation.operands[0].type), kind(operation.result.type)
    if source == "bool_":
        x = apply(target, x)
        return apply(target, apply("negative", x) if operation.name == "arith.extsi" else x)
    return apply(target, x if operation.name == "arith.extsi" else apply(f"u{source}", x))


def _truncate(operation: Operation, x: Expression) -> Expression:
    target = kind(operation.result.type)
    return apply("!=", apply("&", x, 1), 0) if target == "bool_" else apply(target, x)


def _bitcast(operation: Operation, x: Expression) -> Expression:
    source, target = operation.operands[0].type, operation.result.type
    first, last = kind(source), kind(target)
    if isinstance(element_type(source), PointerType):
        if numpy_dtype(pointee(source)).itemsize != numpy_dtype(pointee(target)).itemsize:
            raise Unsupported("pointers to elements of another size")
        return x
    if narrow(source) and narrow(target):
        return apply(f"from_{narrow(target)}", apply(f"to_{narrow(source)}", x))
    if narrow(source):
        return apply("int16", apply(f"to_{narrow(source)}", x))
    if narrow(target):
        return apply(f"from_{narrow(target)}", x)
    if first == last:
        return x
    if "bool_" in (first, last):
        return apply(last, x)
    return apply("float_of" if last.startswith("float") else "bits_of", x)


CASTS: dict[str, Callable[..., Expression]] = {
    **dict.fromkeys(("arith.extf", "arith.truncf", "tt.fp_to_fp"), _float_to_float),
    **dict.fromkeys(("arith.sitofp", "arith.uitofp"), _integer_to_float),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), _float_to_integer),
    **dict.fromkeys(("arith.extsi", "arith.extui"), _extend),
    "arith.trunci": _truncate,
    "arith.bitcast": lambda operation, x: x,
    "tt.bitcast": _bitcast,
}
