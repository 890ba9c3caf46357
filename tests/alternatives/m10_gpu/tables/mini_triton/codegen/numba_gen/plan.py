def source_index(operation: Operation, index: Index) -> Index:
    source = shape_of(operation.operands[0].type)
    places = {  # for each axis of the operand: the axis of the result
        "tt.splat": lambda: [],
        "tt.broadcast": lambda: range(len(source)),
        "tt.expand_dims": lambda: [axis for axis in range(len(index)) if axis != axis_of(operation)],
        "tt.trans": lambda: [order_of(operation).index(axis) for axis in range(len(source))],
    }[operation.name]()
    return tuple(index[place] if source[axis] > 1 else "0" for axis, place in enumerate(places))
