def view(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    operand = operation.operands[0]
    if layout != SCALAR:
        return threads.register(operand, before(operation, layout), number)
    return threads.register(operand, threads.choice.of_value(operand))


def before(operation: Operation, layout: Layout) -> Layout:
    """The layout of the operands for a layout of the result."""
    places = layout.registers + layout.threads
    moved = {vector: source(operation, vector)[1] for vector in places}
    return layout.map(moved.__getitem__)


def join(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    inner = before(operation, layout)
    begin = source(operation, layout.index(number))[0]
    changing = [bit for bit, vector in enumerate(layout.threads) if source(operation, vector)[0]]
    registers = [threads.register(operand, inner, number) for operand in operation.operands if changing]
    if not registers:
        return threads.register(operation.operands[begin], inner, number)
    columns = tuple(int(bit in changing) for bit in range(len(layout.threads)))

    def is_first() -> Register:
        return threads.op("setp.eq.s32", threads.linear(columns), 0)

    if begin:
        registers.reverse()
    return choose(threads, threads.only_once(("first", columns), is_first), *registers)
