def vectors(threads: Threads, operation: Operation, layout: Layout) -> list[list[int]]:
    if operation not in threads.choice.accesses:
        return [[number] for number in layout.distinct]
    access = threads.choice.accesses[operation]
    groups: dict[int, list[int]] = {}
    for position, number in enumerate(layout.distinct):
        groups.setdefault(position * access.element // access.bytes, []).append(number)
    return list(groups.values())


def load(threads: Threads, operation: Operation) -> None:
    pointers, type = operation.operands[0], operation.result.type
    mask, other = operand_of(operation, "mask"), operand_of(operation, "other")
    layout = threads.choice.of_access(operation)
    space, policy = cached(threads, operation)
    held: dict[int, Register] = {}
    for numbers in vectors(threads, operation, layout):
        first, others = numbers[0], []
        place = threads.register(pointers, layout, first)
        guard = guard_of(threads, mask, layout, first)
        if guard is not None and other is not None:
            for number in numbers:
                others.append(threads.register(other, layout, number))
        elements = words.load(threads, space, type, Address(place, 0), len(numbers), guard, others, policy=policy)
        for number, element in zip(numbers, elements, strict=True):
            held[number] = element
    threads.hold(operation.result, layout, held)


def store(threads: Threads, operation: Operation) -> None:
    pointers, value = operation.operands[:2]
    layout, mask = threads.choice.of_access(operation), operand_of(operation, "mask")
    space, policy = cached(threads, operation)
    for numbers in vectors(threads, operation, layout):
        place = threads.register(pointers, layout, numbers[0])
        elements = [threads.register(value, layout, number) for number in numbers]
        guard = threads.both(threads.speaker(layout), guard_of(threads, mask, layout, numbers[0]))
        words.store(threads, space, value.type, Address(place), elements, guard, policy=policy)
