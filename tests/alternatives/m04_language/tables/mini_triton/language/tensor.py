def convert(x: tensor, dtype: dtype | pointer_type) -> tensor:
    return x if x.dtype == dtype else tensor(current().cast(x.handle, cast_steps(x.dtype, dtype)), dtype)


def operands(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    x, y = unwrap(x), unwrap(y)
    if _check_pointers(dtype_of(x), dtype_of(y), pointers):
        x, y = broadcast_together(to_tensor(x), to_tensor(y))
        return x, y
    if is_number(x) and is_number(y):
        x = to_tensor(x)
        y = to_tensor(y)
    common = {
        (False, False): lambda: promote(x.dtype, y.dtype, div_or_mod),
        (False, True): lambda: promote_literal(x.dtype, y, div_or_mod),
        (True, False): lambda: promote_literal(y.dtype, x, div_or_mod),
    }[is_number(x), is_number(y)]()
    x, y = (constant(value, common) if is_number(value) else convert(value, common) for value in (x, y))
    x, y = broadcast_together(x, y)
    return x, y


FLOAT, SIGNED, UNSIGNED = "float", "signed", "unsigned"

OPERATIONS = {
    "add": {FLOAT: "arith.addf", SIGNED: "arith.addi", UNSIGNED: "arith.addi"},
    "sub": {FLOAT: "arith.subf", SIGNED: "arith.subi", UNSIGNED: "arith.subi"},
    "mul": {FLOAT: "arith.mulf", SIGNED: "arith.muli", UNSIGNED: "arith.muli"},
    "div": {SIGNED: "arith.divsi", UNSIGNED: "arith.divui"},
    "mod": {FLOAT: "arith.remf", SIGNED: "arith.remsi", UNSIGNED: "arith.remui"},
    "shr": {SIGNED: "arith.shrsi", UNSIGNED: "arith.shrui"},
    "letter": {FLOAT: "o", SIGNED: "s", UNSIGNED: "u"},
}

PREDICATES = {("ne", FLOAT): "une", **{(name, sign): name for name in ("eq", "ne") for sign in (SIGNED, UNSIGNED)}}


def kind(dtype: Any) -> str:
    """The column of the tables."""
    return "pointer" if dtype.is_ptr() else FLOAT if dtype.is_floating() else SIGNED if dtype.signed else UNSIGNED


def looked_up(table: str, dtype: Any) -> str:
    """The operation for a dtype. Raises `TypeError` if there is none."""
    if kind(dtype) not in OPERATIONS[table]:
        raise TypeError(f"unexpected type {dtype}")
    return OPERATIONS[table][kind(dtype)]


def add(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, pointers=True)
    match kind(x.dtype), kind(y.dtype):
        case "pointer", "pointer":
            raise TypeError("cannot add pointers together")
        case "pointer", sign:
            wide = sign == SIGNED or y.dtype.width == 64
            return build("tt.addptr", x, y if wide else convert(y, int64))
        case _, "pointer":
            return add(y, x)
    return build(looked_up("add", x.dtype), x, y)


def sub(x: Any, y: Any) -> tensor:
    if kind(dtype_of(x)) == "pointer" != kind(dtype_of(y)):
        return add(x, neg(operands(x, y, pointers=True)[1]))
    x, y = operands(x, y)
    return build(looked_up("sub", x.dtype), x, y)


def mul(x: Any, y: Any) -> tensor:
    x, y = operands(x, y)
    return build(looked_up("mul", x.dtype), x, y)


def truediv(x: Any, y: Any) -> tensor:
    operand, other = operands(x, y, div_or_mod=True)
    dtype = {FLOAT: operand.dtype}.get(kind(operand.dtype), float32)
    return build("arith.divf", convert(operand, dtype), convert(other, dtype))


def floordiv(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, div_or_mod=True)
    return build(looked_up("div", x.dtype), x, y)


def mod(x: Any, y: Any) -> tensor:
    x, y = operands(x, y, div_or_mod=True)
    return build(looked_up("mod", x.dtype), x, y)


def bitwise(name: str, x: Any, y: Any) -> tensor:
    x, y = operands(x, y)
    if kind(x.dtype) not in (SIGNED, UNSIGNED):
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    return build(name, x, y)


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    return bitwise(looked_up("shr", shifted.dtype), x, y)


def neg(x: tensor) -> tensor:
    zeros = {FLOAT: -0.0, SIGNED: 0, UNSIGNED: 0}
    if kind(x.dtype) not in zeros:
        raise TypeError(f"wrong type argument to unary minus: {x.dtype}")
    zero = tensor(current().constant(zeros[kind(x.dtype)], x.handle.type), x.dtype)
    return build(looked_up("sub", x.dtype), zero, x)


def invert(x: tensor) -> tensor:
    if kind(x.dtype) not in (SIGNED, UNSIGNED):
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    ones = tensor(current().constant({1: 1}.get(x.dtype.width, -1), x.handle.type), x.dtype)
    return build("arith.xori", x, ones)


def compare(name: str, x: Any, y: Any) -> tensor:
    x, y = operands(to_tensor(x), to_tensor(y))
    operation = {FLOAT: "arith.cmpf"}.get(kind(x.dtype), "arith.cmpi")
    predicate = PREDICATES.get((name, kind(x.dtype)), OPERATIONS["letter"][kind(x.dtype)] + name)
    return build(operation, x, y, predicate=predicate, dtype=int1)
