def assign(threads: Threads, targets: Sequence[Value], sources: Sequence[Value]) -> None:
    waiting: dict[Register, Register] = {}
    for value, wanted in zip(targets, sources, strict=True):
        layout = threads.homes[value]
        for number, target in threads.all_registers(value, layout).items():
            waiting[target] = threads.register(wanted, layout, number)
    waiting = {target: source for target, source in waiting.items() if target != source}
    while waiting:
        free = [target for target in waiting if target not in waiting.values()]
        for target in free:
            threads.copy(target, waiting.pop(target))
        if waiting and not free:
            target = next(iter(waiting))
            spare = threads.new(target.kind)
            threads.copy(spare, target)
            waiting = {other: spare if source == target else source for other, source in waiting.items()}


def for_loop(threads: Threads, operation: Operation) -> None:
    lower, upper, step = operation.operands[:3]
    block = operation.regions[0].block
    counter, *carried = block.arguments
    kind = kind_of(counter.type)
    type = kind.replace("b", "s")
    make_room(threads, carried)
    bounds = [threads.register(value) for value in (lower, upper, step)]
    count = threads.new(kind)
    threads.hold(counter, SCALAR, {0: count})
    assign(threads, carried, operation.operands[3:])
    threads.copy(count, bounds[0])
    instructions = body(threads, block, carried, terminator(block).operands)
    head, end = threads.label(), threads.label()
    runs = threads.op(f"setp.lt.{type}", count, bounds[1])
    threads.do("bra", end, guard=runs, negated=True)
    threads.do("label", head)
    threads.add(instructions)
    threads.do(f"add.{type}", count, bounds[2], results=(count,))
    threads.do("bra", head, guard=threads.op(f"setp.lt.{type}", count, bounds[1]))
    threads.do("label", end)
    alias(threads, operation.results, carried)


def branch(threads: Threads, operation: Operation) -> None:
    make_room(threads, operation.results)
    condition = threads.register(operation.operands[0])
    blocks = [region.block for region in operation.regions if region.blocks]
    codes = [body(threads, block, operation.results, terminator(block).operands) for block in blocks]
    first, end = threads.label(), threads.label()
    threads.do("bra", first, guard=condition)
    for code in codes[1:]:
        threads.add(code)
    threads.do("bra", end)
    threads.do("label", first)
    threads.add(codes[0])
    threads.do("label", end)


def while_loop(threads: Threads, operation: Operation) -> None:
    before, after = (region.block for region in operation.regions)
    make_room(threads, [*before.arguments, *operation.results])
    assign(threads, before.arguments, operation.operands)
    with threads.nested(before) as first:
        threads.block(before)
        goes_on = threads.register(terminator(before).operands[0])
        assign(threads, operation.results, terminator(before).operands[1:])
    alias(threads, after.arguments, operation.results)
    second = body(threads, after, before.arguments, terminator(after).operands)
    head, inside, end = (threads.label() for _ in range(3))
    threads.do("label", head)
    threads.add(first)
    threads.do("bra", inside, guard=goes_on)
    threads.do("bra", end)
    threads.do("label", inside)
    threads.add(second)
    threads.do("bra", head)
    threads.do("label", end)
