"""What a kernel is compiled for: the types of its arguments, and a little of their values.

Two values matter so much that the compiler may know them. An integer of 1 is very often a stride: as a constant it
vanishes, and neighbouring elements can be loaded at once. And memory is loaded by 16 bytes at a time if the compiler
knows that addresses, and what is added to them, are multiples of 16.

Source: `native_specialize_impl` in Triton's `python/src/specialize.cc`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.runtime.arguments import address, element_type, is_memory, number
from mini_triton.runtime.binding import Parameter

ALIGNMENT = 16


class Specialized(NamedTuple):
    """What the compiler is told of one argument. Arguments with equal ones share a compiled kernel."""

    type: str  # "*fp32", "i32", ..., or "constexpr"
    divisible: bool = False  # the integer, or the address, is a multiple of 16
    value: Hashable = None  # of a constexpr: its `frozen` value


def specialize(kernel: str, parameter: Parameter, value: Any) -> Specialized:
    """What the compiler is told of the argument for this parameter.

    Raises `TypeError`, with the names of kernel and parameter, for what kernels cannot take.
    """
    try:
        if parameter.constexpr:
            return constant(value)
        found = specialize_value(number(value), parameter)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{kernel}, parameter {parameter.name}: {error}") from None
    return Specialized(parameter.type, found.divisible) if parameter.type and value is not None else found


def specialize_value(value: Any, parameter: Parameter) -> Specialized:
    """The same without regard to annotations. Raises `TypeError` that says what kernels take."""
    if value is None:
        return constant(None)
    if isinstance(value, constexpr):
        return constant(value)
    if value is True or value is False:
        return Specialized("u1", False, None)
    if isinstance(value, float):
        return Specialized("fp32", False, None)
    if isinstance(value, int):
        if parameter.specialize:
            if value == 1:
                return constant(1)
        type = integer_type(value)
        divisible = False
        if parameter.specialize:
            if parameter.specialize_alignment:
                if value % 16 == 0:
                    divisible = True
        return Specialized(type, divisible, None)
    if is_memory(value):
        type = memory_type(value)
        divisible = False
        if parameter.specialize:
            if parameter.specialize_alignment:
                if address(value) % 16 == 0:
                    divisible = True
        return Specialized(type, divisible, None)
    raise TypeError(refusal(value))


def integer_type(value: int) -> str:
    """The first of i32, i64 and u64 that can hold the integer; `OverflowError` if none can."""
    if value >= -2147483648 and value <= 2147483647:
        return "i32"
    if value >= -9223372036854775808 and value <= 9223372036854775807:
        return "i64"
    if value >= 0 and value <= 18446744073709551615:
        return "u64"
    raise OverflowError(str(value) + " is too large for 64 bits")


def memory_type(value: Any) -> str:
    """The type of a pointer to an array's or a tensor's elements, such as "*fp32".

    Raises `TypeError`, with the dtype in it, for elements that kernels have no type for.
    """
    spelling = element_type(value)
    if spelling is None:
        raise TypeError("a kernel cannot have elements of dtype " + str(value.dtype))
    return "*" + spelling


def constant(value: Any) -> Specialized:
    """What the compiler is told of a compile-time value. Raises `TypeError` for one that is not hashable. (Given.)"""
    value = frozen(unwrap(number(value)))
    try:
        hash(value)
    except TypeError as error:
        raise TypeError(f"a compile-time value must be hashable: {error}") from None
    return Specialized("constexpr", False, value)


def frozen(value: Any) -> Hashable:
    """Something that is equal for two values only if kernels compiled with them are the same."""
    if isinstance(value, tuple) or isinstance(value, list):
        elements = []
        for element in value:
            elements.append(frozen(element))
        if isinstance(value, tuple):
            return ("tuple", tuple(elements))
        return ("list", tuple(elements))
    if isinstance(value, float):
        return ("float", repr(value))
    return (type(value).__name__, value)


def refusal(value: Any) -> str:
    """Why a kernel cannot take this argument. (Given.)"""
    kind = type(value).__name__
    if isinstance(value, tuple | list | str):
        return f"a {kind} can only be the argument of a parameter annotated tl.constexpr"
    return f"a kernel takes arrays, tensors, ints, floats, bools and None, not {kind}"
