def convert(x: tensor, dtype: dtype | pointer_type) -> tensor:
    if x.dtype == dtype:
        return x
    steps = cast_steps(x.dtype, dtype)
    handle = current().cast(x.handle, steps)
    return tensor(handle, dtype)


def operands(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    x, y = unwrap(x), unwrap(y)
    x_dtype = dtype_of(x)
    y_dtype = dtype_of(y)
    if _check_pointers(x_dtype, y_dtype, pointers):
        x = to_tensor(x)
        y = to_tensor(y)
    else:
        if is_number(x) and is_number(y):
            x = to_tensor(x)
            y = to_tensor(y)
        if is_number(x):
            common = promote_literal(y_dtype, x, div_or_mod)
            x = constant(x, common)
            y = convert(y, common)
        elif is_number(y):
            common = promote_literal(x_dtype, y, div_or_mod)
            x = convert(x, common)
            y = constant(y, common)
        else:
            common = promote(x_dtype, y_dtype, div_or_mod)
            x = convert(x, common)
            y = convert(y, common)
    both = broadcast_together(x, y)
    return both[0], both[1]


def add(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, pointers=True)
    if x.dtype.is_ptr() and y.dtype.is_ptr():
        raise TypeError("cannot add pointers together")
    if x.dtype.is_ptr() or y.dtype.is_ptr():
        if x.dtype.is_ptr():
            pointer = x
            offset = y
        else:
            pointer = y
            offset = x
        if offset.dtype.is_int() and not offset.dtype.signed and offset.dtype.width != 64:
            offset = convert(offset, int64)
        return tensor(current().create("tt.addptr", pointer.handle, offset.handle), pointer.dtype)
    if x.dtype.is_floating():
        return build("arith.addf", x, y)
    return build("arith.addi", x, y)


def sub(x: Any, y: Any) -> tensor:
    x_is_pointer = dtype_of(x).is_ptr()
    y_is_pointer = dtype_of(y).is_ptr()
    if x_is_pointer and y_is_pointer:
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    if x_is_pointer:
        pointer, offset = operands(x, y, pointers=True)
        return add(pointer, neg(offset))
    x, y = operands(x, y)
    if x.dtype.is_floating():
        return build("arith.subf", x, y)
    return build("arith.subi", x, y)


def mul(x: Any, y: Any) -> tensor:
    x, y = operands(x, y)
    if x.dtype.is_floating():
        return build("arith.mulf", x, y)
    return build("arith.muli", x, y)


def truediv(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, div_or_mod=True)
    if not x.dtype.is_floating():
        x = convert(x, float32)
        y = convert(y, float32)
    return build("arith.divf", x, y)


def floordiv(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, div_or_mod=True)
    if x.dtype.is_floating():
        raise TypeError(f"unexpected type {x.dtype}")
    if x.dtype.signed:
        return build("arith.divsi", x, y)
    return build("arith.divui", x, y)


def mod(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, div_or_mod=True)
    if x.dtype.is_floating():
        return build("arith.remf", x, y)
    if x.dtype.signed:
        return build("arith.remsi", x, y)
    return build("arith.remui", x, y)


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    if shifted.dtype.is_ptr():
        raise TypeError(f"a pointer, {shifted.dtype}, cannot be shifted")
    if shifted.dtype.is_floating():
        raise TypeError(f"a float, {shifted.dtype}, cannot be shifted")
    if shifted.dtype.signed:
        return bitwise("arith.shrsi", x, y)
    return bitwise("arith.shrui", x, y)


def neg(x: tensor) -> tensor:
    if x.dtype.is_ptr():
        raise TypeError(f"wrong type argument to unary minus: {x.dtype}")
    if x.dtype.is_floating():
        zero = constant(-0.0, x.dtype)
    else:
        zero = constant(0, x.dtype)
    return sub(zero, x)


def invert(x: tensor) -> tensor:
    if x.dtype.is_ptr():
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    if x.dtype.is_floating():
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    if x.dtype.is_bool():
        ones = constant(True, x.dtype)
    elif x.dtype.signed:
        ones = constant(-1, x.dtype)
    else:
        ones = constant(2**x.dtype.width - 1, x.dtype)
    return bitwise("arith.xori", x, ones)


def compare(name: str, x: Any, y: Any) -> tensor:
    x, y = operands(to_tensor(x), to_tensor(y))
    if x.dtype.is_floating():
        if name == "ne":
            predicate = "une"
        else:
            predicate = "o" + name
        operation = "arith.cmpf"
    else:
        if name == "eq" or name == "ne":
            predicate = name
        elif x.dtype.signed:
            predicate = "s" + name
        else:
            predicate = "u" + name
        operation = "arith.cmpi"
    result = current().create(operation, x.handle, y.handle, predicate=predicate)
    return tensor(result, int1)
