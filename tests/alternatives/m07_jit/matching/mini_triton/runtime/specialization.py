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
