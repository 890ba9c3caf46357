def specialize_value(value: Any, parameter: Parameter) -> Specialized:
    multiples = parameter.specialize_alignment if parameter.specialize else False
    match value:
        case None | constexpr():
            return specialize_constant(value)
        case int() | float():
            return specialize_number(value, parameter.specialize, multiples)
        case _ if is_memory(value):
            return specialize_memory(value.dtype, address(value), multiples)
    raise TypeError(refuse(value))


def specialize_number(value: int | float, ones: bool = True, multiples: bool = True) -> Specialized:
    match value:
        case bool():
            return Specialized("u1")
        case float():
            return Specialized("fp32")
        case 1 if ones:
            return specialize_constant(1)
        case _:
            return Specialized(integer_type(value), multiples and not value % ALIGNMENT)


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


def specialize_memory(dtype: Any, address: int, multiples: bool = True) -> Specialized:
    match element_type(dtype):
        case None:
            raise TypeError(f"no kernel has elements of {dtype}")
        case element:
            return Specialized("*" + element, not address & ALIGNMENT - 1 if multiples else False)


def freeze(value: Any) -> Hashable:
    match value:
        case tuple():
            return ("tuple", *map(freeze, value))
        case list():
            return ("list", *map(freeze, value))
        case float():
            return "float", value.hex()
        case _:
            return type(value), value
