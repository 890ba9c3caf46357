def integers(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    name, type = operation.name, operation.operands[0].type
    width, opcode = width_of(type), INTEGERS[name]
    if width == 1:
        return booleans(threads, name, operands)
    given = list(operands)
    if width == 8 and name not in LOW_HALF:
        form = f"cvt.{opcode[-1]}16.{opcode[-1]}8"
        given = [threads.op(form, operand) for operand in operands]
    if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
        given[1] = shift_amount(threads, type, given[1])
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
