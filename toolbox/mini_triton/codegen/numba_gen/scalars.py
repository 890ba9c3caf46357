"""Scalars: the expressions of elementwise operations, and the representation of numbers in variables and memory.

A narrow float is held as a float32, rounded after each operation; bf16 and fp16 are stored in 16 bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    raise Unsupported(f"{element} needs the NumPy back end")


def narrow(type: Type) -> str:
    """The name of a narrow float; "" for any other type."""
    element = element_type(type)
    return element.name if isinstance(element, FloatType) and element.name in NARROW else ""


def memory_dtype(type: Type) -> str:
    """The dtype of elements in memory."""
    return "uint16" if narrow(type) else kind(type).rstrip("_")


def held(type: Type, text: str) -> str:
    """The source of a literal of this type."""
    name = kind(type)
    return (
        text
        if name == "bool_" and text in ("True", "False")
        else f"{name}({text})"
        if name != "bool_"
        else str(text != "0")
    )


def number(type: Type, text: str) -> str:
    """The source of a result, wrapped around or rounded to its type."""
    if form := narrow(type):
        return f"round_{form}({text})"
    name = kind(type)
    return text if name in ("bool_", "float32", "float64") else f"{name}({text})"


def loaded(type: Type, text: str) -> str:
    """The source that converts an element of memory to its variable's dtype."""
    return f"from_{narrow(type)}({text})" if narrow(type) else text


def stored(type: Type, text: str) -> str:
    """The source that converts a number to its dtype in memory."""
    return f"to_{narrow(type)}({text})" if narrow(type) else text


def add(*terms: str) -> str:
    """The source of a sum of integers, with the constants added up."""
    known = sum(int(term) for term in terms if re.fullmatch(r"-?\d+", term))
    rest = [term for term in terms if not re.fullmatch(r"-?\d+", term)]
    if known or not rest:
        rest.append(str(known))
    return " + ".join(rest)


def elementwise(operation: Operation, texts: Sequence[str]) -> str:
    """The expression of an elementwise operation."""
    name, result = operation.name, operation.result.type
    if name in CASTS:
        return CASTS[name](operation, texts[0])
    if name == "tt.addptr":
        return f"{texts[0]} + {texts[1]}" if texts[0] != "0" else f"int64({texts[1]})"
    if name == "arith.select":
        return f"{texts[1]} if {texts[0]} else {texts[2]}"
    if name == "arith.floordivsi" and kind(result) != "bool_":
        return f"floordivsi({texts[0]}, {texts[1]})"
    if name == "tt.extern_elementwise":
        raise Unsupported("libdevice needs the NumPy back end")
    if name == "math.fma" and (form := narrow(result)):
        x, y, z = texts
        return f"round_{form}(odd32(float64({x}) * float64({y}) + float64({z})))"
    if name == "tt.clampf":
        largest, least = (
            ("maximumf", "minimumf") if operation.attributes["propagateNan"] == "all" else ("maxnumf", "minnumf")
        )
        return f"exact.{least}(exact.{largest}({texts[0]}, {texts[1]}), {texts[2]})"
    template = meaning(operation)
    if template is None:
        raise Unsupported(f"{name} needs the NumPy back end")
    template = re.sub(r"np\.(exp|log|log2)\(", r"\1(", template).replace("np.reciprocal(", f"{kind(result)}(1) / (")
    if "astype" in template or "asarray" in template:
        raise Unsupported(f"{name} needs the NumPy back end")
    text = template.format(*texts, **operation.attributes)
    if name in ("arith.maxsi", "arith.minsi") and "np." in text:
        text = f"{'max' if name == 'arith.maxsi' else 'min'}({texts[0]}, {texts[1]})"
    return number(result, text)


# --- casts


def _float_to_float(operation: Operation, text: str) -> str:
    source, target = operation.operands[0].type, operation.result.type
    if operation.attributes.get("rounding") == "rtz":
        raise Unsupported("rounding toward zero needs the NumPy back end")
    if form := narrow(target):
        if narrow(source) and not (narrow(source) != form):
            return text
        return f"round_{form}(odd32({text}))" if kind(source) == "float64" else f"round_{form}({text})"
    return text if kind(source) == kind(target) else f"{kind(target)}({text})"


def _integer_to_float(operation: Operation, text: str) -> str:
    source, target = operation.operands[0].type, operation.result.type
    if kind(source) == "bool_":
        return f"{kind(target)}({'-' if operation.name == 'arith.sitofp' else ''}int32({text}))"
    if operation.name == "arith.uitofp":
        text = f"u{kind(source)}({text})"
    if form := narrow(target):
        if element_type(source).width == 64:
            raise Unsupported("64 bits to a narrow float need the NumPy back end")
        return f"round_{form}(odd32(float64({text})))" if form == "bf16" else f"round_{form}(float32({text}))"
    return f"{kind(target)}({text})"


def _float_to_integer(operation: Operation, text: str) -> str:
    target = operation.result.type
    if kind(target) == "bool_":
        return f"{text} <= -1" if operation.name == "arith.fptosi" else f"{text} >= 1"
    return f"exact.{operation.name.removeprefix('arith.')}({text}, np.{kind(target)})"


def _extend(operation: Operation, text: str) -> str:
    source, target = kind(operation.operands[0].type), kind(operation.result.type)
    if source == "bool_":
        return f"{target}({'-' if operation.name == 'arith.extsi' else ''}{target}({text}))"
    return f"{target}({text})" if operation.name == "arith.extsi" else f"{target}(u{source}({text}))"


def _truncate(operation: Operation, text: str) -> str:
    target = kind(operation.result.type)
    return f"({text} & 1) != 0" if target == "bool_" else f"{target}({text})"


def _bitcast(operation: Operation, text: str) -> str:
    source, target = operation.operands[0].type, operation.result.type
    first, last = kind(source), kind(target)
    if isinstance(element_type(source), PointerType):
        if numpy_dtype(pointee(source)).itemsize != numpy_dtype(pointee(target)).itemsize:
            raise Unsupported("pointers to elements of another size need the NumPy back end")
        return text
    if narrow(source) and narrow(target):
        return f"from_{narrow(target)}(to_{narrow(source)}({text}))"
    if narrow(source):
        return f"int16(to_{narrow(source)}({text}))"
    if narrow(target):
        return f"from_{narrow(target)}({text})"
    if first == last:
        return text
    if "bool_" in (first, last):
        return f"{last}({text})"
    return f"float_of({text})" if last.startswith("float") else f"bits_of({text})"


CASTS = {
    **dict.fromkeys(("arith.extf", "arith.truncf", "tt.fp_to_fp"), _float_to_float),
    **dict.fromkeys(("arith.sitofp", "arith.uitofp"), _integer_to_float),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), _float_to_integer),
    **dict.fromkeys(("arith.extsi", "arith.extui"), _extend),
    "arith.trunci": _truncate,
    "arith.bitcast": lambda operation, text: text,
    "tt.bitcast": _bitcast,
}
