"""Expressions with operators. Each function writes one kind, or gives nothing where no visible value fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import (
    FLOATS,
    INTEGERS,
    MOST,
    NUMBERS,
    SIGNED,
    broadcast,
    elements,
    promoted,
    quotient,
    same_signedness,
)
from tests.support.m05_frontend.random_kernels.writer import Function

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
