def combine(program: Program, operation: Operation, sources: Sequence[Array]) -> list[Sequence[Array]]:
    block, axis = operation.regions[0].block, operation.attributes["axis"]
    steps: list = []
    for i in range(sources[0].shape[axis]):
        new = [np.take(source, i, axis) for source in sources]
        steps.append(program.run(block, *steps[-1], *new) if steps else new)
    return steps


def replace(program: Program, operation: Operation, mask: Array, step: Any, address: Array, *operands: Array) -> Any:
    result = fill(operation, 0)
    found = program.reach(result.dtype, address, mask)
    given = [np.broadcast_to(operand, result.shape) for operand in operands]
    for lane in np.ndindex(result.shape):
        for buffer, index, lanes in found:
            if lanes[lane]:
                at = index[lane]
                result[lane] = buffer.data[at]
                buffer.data[at] = step(result[lane], *[operand[lane] for operand in given])
    return [result[()]]
