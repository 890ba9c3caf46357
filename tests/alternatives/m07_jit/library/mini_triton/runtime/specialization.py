import struct
from collections.abc import Callable


def specialize_value(value: Any, parameter: Parameter) -> Specialized:
    divisible = parameter.specialize and parameter.specialize_alignment
    if is_memory(value):
        return Specialized(memory_type(value), divisible and not address(value) & (ALIGNMENT - 1))
    numbers: dict[type, Callable[[Any], Specialized]] = {
        type(None): constant,
        constexpr: constant,
        bool: lambda value: Specialized("u1"),
        float: lambda value: Specialized("fp32"),
        int: lambda value: (
            constant(value)
            if value == 1 and parameter.specialize
            else Specialized(integer_type(value), divisible and not value & (ALIGNMENT - 1))
        ),
    }
    if type(value) not in numbers:
        raise TypeError(refusal(value))
    return numbers[type(value)](value)


def integer_type(value: int) -> str:
    for size, signed in ((4, True), (8, True), (8, False)):
        try:
            value.to_bytes(size, "little", signed=signed)
        except OverflowError:
            continue
        return f"{'i' if signed else 'u'}{8 * size}"
    raise OverflowError(f"{value} takes more than 8 bytes")


def memory_type(value: Any) -> str:
    if not element_type(value):
        raise TypeError(f"kernels cannot have elements like those of {value.dtype}")
    return "".join(("*", str(element_type(value))))


def frozen(value: Any) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple([type(value), *(frozen(element) for element in value)])
    if isinstance(value, float):
        return float, struct.pack("d", value)
    return type(value), value
