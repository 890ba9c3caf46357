def specialize_value(value: Any, parameter: Parameter) -> Specialized:
    wanted = parameter.specialize
    match value:
        case None | constexpr():
            return constant(value)
        case bool():
            return Specialized("u1")
        case float():
            return Specialized("fp32")
        case int() if wanted and value == 1:
            return constant(1)
        case int():
            kind, place = integer_type(value), value
        case _ if is_memory(value):
            kind, place = memory_type(value), address(value)
        case _:
            raise TypeError(refusal(value))
    return Specialized(kind, wanted and parameter.specialize_alignment and not place % ALIGNMENT)


def integer_type(value: int) -> str:
    match value.bit_length(), value < 0:
        case bits, False if bits < 32:
            return "i32"
        case bits, False if bits < 64:
            return "i64"
        case 64, False:
            return "u64"
    match (-value - 1).bit_length():
        case bits if value < 0 and bits < 32:
            return "i32"
        case bits if value < 0 and bits < 64:
            return "i64"
    raise OverflowError(f"{value} has no type")


def memory_type(value: Any) -> str:
    match element_type(value):
        case None:
            raise TypeError(f"no kernel has elements of {value.dtype}")
        case spelling:
            return f"*{spelling}"


def frozen(value: Any) -> Hashable:
    match value:
        case tuple():
            return ("tuple", *map(frozen, value))
        case list():
            return ("list", *map(frozen, value))
        case float():
            return "float", value.hex()
        case _:
            return type(value), value
