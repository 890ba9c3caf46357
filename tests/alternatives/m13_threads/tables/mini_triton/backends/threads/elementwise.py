from mini_triton.ir.types import BF16, F16


def integers(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    name, type = operation.name, operation.operands[0].type
    width, opcode = width_of(type), INTEGERS[name]
    if width == 1:
        return booleans(threads, opcode, operands)
    given = list(operands)
    if width == 8 and name not in LOW_HALF:
        form = f"cvt.{opcode[-1]}16.{opcode[-1]}8"
        given = [threads.op(form, operand) for operand in operands]
    if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
        given[1] = as_word(threads, type, given[1])
    return threads.op(opcode + str({8: 16}.get(width, width)), *given)


_LETTERS = {"e": "s", "n": "s", "s": "s", "u": "u"}


def compare_integers(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    type, predicate = operation.operands[0].type, str(operation.attributes["predicate"])
    letter, width = _LETTERS[predicate[0]], width_of(type)
    if width == 1:
        x, y = (threads.op("selp.b32", -1, 0, operand) for operand in operands)
        width = 32
    else:
        x, y = (extended(threads, type, operand, letter) for operand in operands)
    return threads.op(f"setp.{predicate[-2:]}.{letter}{max(width, 16)}", x, y)


def add_to_pointer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    pointer, offset = operation.operands
    element = element_type(pointer.type)
    assert isinstance(element, PointerType)
    address, distance = operands
    width = width_of(offset.type)
    if width in (8, 16):
        distance = threads.op(f"cvt.s32.s{width}", distance)
    form = "mad.lo.s64" if width == 64 else "mad.wide.s32"
    return threads.op(form, distance, size_of(element.pointee), address)


def widen(threads: Threads, type: Type, register: Register) -> Register:
    match width_of(type), element_type(type) == BF16:
        case 16, True:
            empty = threads.bits("b16", 0)
            return threads.op("mov.b32", (empty, register))
        case 16, False:
            return threads.op("cvt.f32.f16", register)
        case 8, _:
            return from_eight_bits(threads, type, register)
    return register


def floats(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    type, name = operation.result.type, operation.name
    if width_of(type) == 64:
        table = FLOATS | DOUBLES
        return threads.op(f"{table[name]}64", *operands)
    if width_of(type) == 32:
        return threads.op(f"{FLOATS[name]}32", *operands)
    if name == "math.fma":
        return threads.op({True: "fma.rn.f16", False: "fma.rn.bf16"}[element_type(type) == F16], *operands)
    return narrow(threads, type, threads.op(f"{FLOATS[name]}32", *(widen(threads, type, x) for x in operands)))


def extreme(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    name, type = EXTREMES[operation.name], operation.result.type
    if width_of(type) == 64:
        unordered = threads.op("setp.nan.f64", *operands)
        nan = threads.op("add.f64", *operands)
        return threads.op("selp.b64", nan, threads.op(f"{name}.f64", *operands), unordered)
    x, y = (widen(threads, type, operand) for operand in operands)
    return narrow(threads, type, threads.op(f"{name}.NaN.f32", x, y))


def choose(threads: Threads, condition: Register, first: Register, second: Register) -> Register:
    if first.kind == "pred":
        numbers = [threads.op("selp.b32", 1, 0, register) for register in (first, second)]
        return threads.op("setp.ne.s32", choose(threads, condition, *numbers), 0)
    return threads.op("selp." + first.kind, first, second, condition)
