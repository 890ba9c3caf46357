def specialize_value(value: Any, parameter: Parameter) -> Specialized:
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
    if value >= -2147483648 and value <= 2147483647:
        return "i32"
    if value >= -9223372036854775808 and value <= 9223372036854775807:
        return "i64"
    if value >= 0 and value <= 18446744073709551615:
        return "u64"
    raise OverflowError(str(value) + " is too large for 64 bits")


def memory_type(value: Any) -> str:
    spelling = element_type(value)
    if spelling is None:
        raise TypeError("a kernel cannot have elements of dtype " + str(value.dtype))
    return "*" + spelling


def frozen(value: Any) -> Hashable:
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
