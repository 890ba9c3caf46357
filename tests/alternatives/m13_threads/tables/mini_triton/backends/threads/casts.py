def integer_to_integer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    (operand,) = operands
    source, target, letter = operation.operands[0].type, operation.result.type, INTEGER_CASTS[operation.name]
    before, after = width_of(source), max(16, width_of(target))
    if width_of(target) == 1:
        small = threads.op("cvt.u32.u64", operand) if before == 64 else operand
        last = threads.op(f"and.{small.kind}", small, 1)
        return threads.op(f"setp.eq.u{small.kind[1:]}", last, 1)
    if before == 1:
        true = {"s": -1, "u": 1}[letter]
        return threads.op(f"selp.b{after}", true, 0, operand)
    if before != after:
        return threads.op(f"cvt.{letter}{after}.{letter}{before}", operand)
    return operand


def float_to_integer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    source, target, letter = operation.operands[0].type, operation.result.type, operation.name[10]
    (operand,) = operands
    operand = widen(threads, source, operand)
    form = operand.kind.replace("b", "f")
    if width_of(target) > 1:
        return threads.op(f"cvt.rzi.{letter}{max(16, width_of(target))}.{form}", operand)
    return threads.op("setp.ne.s32", threads.op(f"cvt.rzi.s32.{form}", operand), 0)


def float_to_float(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    source, target = operation.operands[0].type, operation.result.type
    rounding = "rz" if operation.attributes.get("rounding") == "rtz" else "rn"
    for type in (source, target):
        check_eight_bits(threads, operation, type)
    before, after = element_type(source), element_type(target)
    (operand,) = operands
    direct = {(F64, F16): f"cvt.{rounding}.f16.f64"}
    if before == after:
        return operand
    if (before, after) in direct:
        return threads.op(direct[before, after], operand)
    wide = threads.op(f"cvt.{rounding}.f32.f64", operand) if before == F64 else widen(threads, source, operand)
    if after == F64:
        return threads.op("cvt.f64.f32", wide)
    if width_of(after) == 8:
        return to_eight_bits(threads, operation, target, wide, rounding)
    return wide if after == F32 else narrow(threads, target, wide, rounding)
