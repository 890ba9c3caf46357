"""Addresses as sums: first those of the other axes, then the place along the axis."""


def gather(threads, operation):
    source, indices = operation.operands
    axis, shape, size = axis_of(operation), shape_of(source.type), size_of(source.type)
    layout = threads.choice.of_value(operation.result)
    start = in_row_major_order(threads, source)
    read = threads.room(start, size * math.prod(shape), False)

    def offset(index):
        return size * flatten([0 if number == axis else at for number, at in enumerate(index)], shape)

    columns = tuple(map(offset, layout.threads))
    step = size * math.prod(shape[axis + 1 :])

    def element(number):
        place = as_word(threads, indices.type, threads.register(indices, layout, number))
        distance = threads.op("mul.lo.s32", place, step)
        base, further = threads.shared_address(columns, offset(layout.index(number)), start)
        address = words.Address(threads.op("add.s32", base, distance), further)
        return words.load(threads, "shared", source.type, address, 1, room=read)[0]

    threads.hold(operation.result, layout, {number: element(number) for number in layout.distinct})
