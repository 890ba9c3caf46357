def renaming(source: Layout, target: Layout) -> Mapping[int, int]:
    found = {}
    for number in target.distinct:
        same = [other for other in source.distinct if source.index(other) == target.index(number)]
        if not same:
            return {}
        found[number] = same[0]
    thread_alike = [mine == theirs for mine, theirs in zip(source.threads, target.threads, strict=True)]
    return found if all(thread_alike) else {}


def exchange(threads: Threads, type: Type, source: Layout, held: Registers, target: Layout) -> Registers:
    shape, size = shape_of(type), size_of(type)
    count = math.prod(shape)
    ends = [layout.flat(shape) for layout in (source, target)]
    where = invert(places(ends[0], ends[1], count.bit_length() - 1, size))
    neighbors = shared_registers(ends[0], ends[1], size)
    first = threads.reserve(count * size)
    rooms = [threads.room(first, count * size, writes) for writes in (True, False)]
    results: Registers = {}
    for layout, room in zip((source, target), rooms, strict=True):
        for numbers, byte, columns in groups(type, layout, where, neighbors):
            address = threads.shared_address(columns, byte, first)
            if room.writes:
                elements = list(map(held.__getitem__, numbers))
                words.store(threads, "shared", type, address, elements, guard=threads.speaker(layout), room=room)
                continue
            elements = words.load(threads, "shared", type, address, len(numbers), room=room)
            for number, element in zip(numbers, elements, strict=True):
                results[number] = element
    return results
