"""The meaning of one token: types, numbers and strings. (Given.)

The functions raise `ValueError` or `TypeError`; the parser adds the location.
"""

from __future__ import annotations

import functools
import re

from mini_triton.formats import FLOATS, INTEGERS
from mini_triton.ir.ops.descriptors import DescriptorType
from mini_triton.ir.types import I1, FloatType, IntegerType, PointerType, Scalar, TensorType, Type

_SCALARS: dict[str, Scalar] = {name: IntegerType(row.width) for name, row in INTEGERS.items()}
_SCALARS |= {name: FloatType(name) for name in FLOATS}
TENSOR = re.compile(r"tensor<\s*(?P<shape>(?:[0-9]+\s*x\s*)*)(?P<element>.*?)\s*>")
# The address space is a number up to Triton 3.8 and a word in 3.9. TTIR contains only pointers to global memory.
_POINTER = re.compile(r'!tt\.ptr<\s*(?P<pointee>.*?)\s*(?:,\s*(?:1|"global")\s*)?>')

# Before Triton 3.8, the block's type was written out: `tensor<16x32xf16>`.
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<(?:tensor<)?(?P<shape>(?:[0-9]+x)+)(?P<sign>[su]?)(?P<element>\w+)>+")


@functools.lru_cache(maxsize=1024)
def type_named(text: str) -> Type:
    """The type with this spelling."""
    if text in _SCALARS:
        return _SCALARS[text]
    if match := TENSOR.fullmatch(text):
        return TensorType(shape_in(match), type_named(match["element"]))  # type: ignore[arg-type]  # it checks
    if match := _POINTER.fullmatch(text):
        pointee = type_named(match["pointee"])
        if isinstance(pointee, TensorType):
            raise ValueError(f"pointers to blocks, such as {text}, are not supported")
        return PointerType(pointee)
    if match := _DESCRIPTOR.fullmatch(text):
        block = TensorType(shape_in(match), type_named(match["element"]))  # type: ignore[arg-type]  # it checks
        return DescriptorType(block, match["sign"])  # type: ignore[return-value]  # as that of a ring
    raise ValueError(f"there is no type {text}")


def shape_in(match: re.Match[str]) -> tuple[int, ...]:
    """The dimensions in a match of `TENSOR`."""
    return tuple(map(int, re.findall("[0-9]+", match["shape"])))


def parse_number(text: str, type: Type) -> bool | int | float:
    """The value of a literal of a scalar type.

    An integer may be written as unsigned. If a float is written in hexadecimal, the digits are its bits.
    """
    if isinstance(type, FloatType):
        if text.startswith("0x"):
            bits = int(text, 16)
            if bits >> type.width:
                raise ValueError(f"0x{bits:X} has more bits than {type}")
            return type.format.value_of(bits)
        if "." not in text:
            raise ValueError(f"a number of type {type} needs a decimal point, not {text}")
        return float(text)
    if not isinstance(type, IntegerType):
        raise ValueError(f"a number cannot be of type {type}")
    if text in ("true", "false") and type == I1:
        return text == "true"
    value = int(text, 16 if "0x" in text else 10)
    if not -(1 << (type.width - 1)) <= value < 1 << type.width:
        raise ValueError(f"{text} does not fit in {type}")
    if type == I1:
        return bool(value)
    return value - (1 << type.width) if value >> (type.width - 1) > 0 else value


def unquoted(text: str) -> str:
    """The text in a string literal, without quotes and escapes."""

    def plain(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return bytes.fromhex(escape.decode()) if len(escape) == 2 else {b"n": b"\n", b"t": b"\t"}.get(escape, escape)

    source = text[1:-1].encode(errors="replace")
    return re.sub(rb"\\([0-9A-Fa-f]{2}|.)", plain, source).decode(errors="replace")
