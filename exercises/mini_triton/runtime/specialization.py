"""Specialization: the types of a kernel's arguments, and a few facts about their values.

The compiler should know two facts about values. The first fact is that an integer is 1. Such an integer is very often a
stride: if the stride is a constant, multiplications by it vanish, and neighboring elements can be loaded at once. The
second fact is that an address or an integer is a multiple of 16: memory can then be loaded 16 bytes at a time.

Source: `native_specialize_impl` in Triton's `python/src/specialize.cc`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from mini_triton.errors import CompilationError
from mini_triton.frontend.function import KernelSource
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.runtime.arguments import address, element_type, is_descriptor, is_memory, parts_of, to_python
from mini_triton.runtime.binding import Parameter

ALIGNMENT = 16


class Specialized(NamedTuple):
    """The facts about one argument that the compiler knows. Launches with equal specializations share a kernel."""

    type: str  # "*fp32", "i32", ..., or "constexpr"
    divisible: bool = False  # the integer, or the address, is a multiple of 16
    value: Hashable = None  # the frozen value of a constexpr


def specialize(kernel: str, parameter: Parameter, value: Any) -> Specialized:
    """The specialization of the argument for this parameter. (Given.)

    Raises `TypeError` for values that kernels do not take, `OverflowError` for integers beyond 64 bits, and
    `CompilationError` for a constexpr that must not be specialized. Messages name the kernel and the parameter.
    """
    if parameter.constexpr and not (parameter.specialize and parameter.specialize_alignment):
        raise CompilationError(
            f"{parameter.name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment. "
            f"Remove constexpr designation to skip specialization of {kernel}."
        )
    try:
        if parameter.constexpr or isinstance(value, KernelSource):
            return specialize_constant(value)
        if is_descriptor(value):
            return specialize_descriptor(value)
        found = specialize_value(to_python(value), parameter)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{kernel}, parameter {parameter.name}: {error}") from None
    if parameter.const and found.type.startswith("*"):
        return Specialized(f"*k{found.type[1:]}", found.divisible)
    return Specialized(parameter.type, found.divisible) if parameter.type and value is not None else found


def specialize_value(value: Any, parameter: Parameter) -> Specialized:
    """The specialization of a value, regardless of annotations. Raises `TypeError(refuse(value))` if it is invalid."""
    # Task 7.2: The value 32 has the type "i32" and is `divisible`; 1, None and any `constexpr` are constants; an array
    # is a pointer. If `parameter.specialize` is false, 32 and 1 have the type "i32" and no further facts. If only
    # `parameter.specialize_alignment` is false, 32 has no further facts, and 1 is still a constant. Given: `is_memory`,
    # `address`, `specialize_constant`.
    raise NotImplementedError("Task 7.2: Specialization")


def specialize_number(value: int | float, ones: bool = True, multiples: bool = True) -> Specialized:
    """The specialization of a number. Its type is "u1" for a bool, "fp32" for a float, and `integer_type` for an int.

    If `ones`, the integer 1 is a compile-time value. If `multiples`, integers that are multiples of 16 are `divisible`.
    """
    # Task 7.2: Return `Specialized("i32", True)` for 32, `Specialized("i32", False)` for 33, and `Specialized("u1")`
    # for True.
    raise NotImplementedError("Task 7.2: Specialization")


def integer_type(value: int) -> str:
    """The first of i32, i64 and u64 that can hold a value. Raises `OverflowError`, with the value, if no type can."""
    # Task 7.2: Return "i64" for 2**31, and "u64" for 2**63. As in real Triton, there is no "u32".
    raise NotImplementedError("Task 7.2: Specialization")


def specialize_memory(dtype: Any, address: int, multiples: bool = True) -> Specialized:
    """The specialization of an array or a tensor: a pointer to elements of this dtype, such as "*fp32".

    If `multiples`, an address that is a multiple of 16 is `divisible`. Raises `TypeError`, with the dtype, for elements
    that kernels do not support.
    """
    # Task 7.2: For float32 at address 1600, return `Specialized("*fp32", True)`. Given: `element_type`, which returns
    # the spelling of a dtype, or None.
    raise NotImplementedError("Task 7.2: Specialization")


def specialize_descriptor(value: Any) -> Specialized:
    """The specialization of a tensor descriptor: its elements, blocks, padding, and multiples of 16. (Given.)"""
    element = specialize_memory(value.base.dtype, address(value.base)).type.removeprefix("*")
    blocks = [int(size) for size in value.block_shape]
    numbers = {part: address(x) if is_memory(x) else x for part, x in parts_of(value).items()}
    multiples = " ".join(part for part, number in numbers.items() if number % ALIGNMENT == 0)
    return Specialized(f"tensordesc<{element}{blocks}, {value.padding}, {multiples}>")


def specialize_constant(value: Any) -> Specialized:
    """The specialization of a compile-time value. Raises `TypeError` if it is not hashable. (Given.)"""
    value = freeze(unwrap(to_python(value)))
    try:
        hash(value)
    except TypeError as error:
        raise TypeError(f"a compile-time value must be hashable: {error}") from None
    return Specialized("constexpr", False, value)


def freeze(value: Any) -> Hashable:
    """A hashable stand-in for `value`. Stand-ins are equal only if their values are the same constant for a kernel.

    `value` contains no `constexpr`. A NumPy number in a tuple is a different constant from the equal Python number.
    """
    # Task 7.2: In Python, 1, True and 1.0 are equal, and so are 0.0 and -0.0, but NaN is not equal to itself. For a
    # kernel, 1, True, 1.0, 0.0 and -0.0 are five different constants, and all NaNs are the same constant. Two tuples or
    # two lists are different constants if any two corresponding elements are different constants.
    raise NotImplementedError("Task 7.2: Specialization")


def refuse(value: Any) -> str:
    """Why a kernel cannot take this argument. (Given.)"""
    kind = type(value).__name__
    if isinstance(value, tuple | list | str):
        return f"a {kind} can only be the argument of a parameter annotated tl.constexpr"
    return f"a kernel takes arrays, tensors, ints, floats, bools and None, not {kind}"
