import contextlib


def evaluate(operation: Operation, operands: Sequence[Array]) -> Sequence[Array] | None:
    if operation.name in PURE:
        return PURE[operation.name](operation, *operands)
    if (text := meaning(operation)) is None:
        return None
    dtype, words = dtype_text(operation.results[0].type), tuple(sorted(operation.attributes.items()))
    return (compile_expression(text, len(operands), dtype, words)(*operands),)


class Program:
    def run(self, block: Block, *arguments: Array) -> Sequence[Array]:
        for argument, given in zip(block.arguments, arguments, strict=True):
            self.values[argument] = given
        with contextlib.ExitStack() as stack:
            stack.enter_context(np.errstate(all="ignore"))
            *operations, last = block.operations or [None]
            if last is not None and last.name not in TERMINATORS:
                operations.append(last)
            for operation in operations:
                operands = [self.values[operand] for operand in operation.operands]
                results = evaluate(operation, operands)
                if results is None:
                    effect = EFFECTS.get(operation.name)
                    if effect is None:
                        raise NotImplementedError(f"no meaning: {operation.name}")
                    results = effect(self, operation, *operands)
                for value, result in zip(operation.results, results, strict=True):
                    self.values[value] = result
        ends = last is not None and last.name in TERMINATORS
        return tuple(self.values[operand] for operand in last.operands) if ends else ()


def run_for(program: Program, operation: Operation, lower: Array, upper: Array, step: Array, *inits: Array) -> Any:
    body = operation.regions[0].block
    i, end, carried = int(lower), int(upper), inits
    while i < end:
        carried = program.run(body, np.asarray(i).astype(np.asarray(lower).dtype)[()], *carried)
        i += int(step)
    return carried


def run_while(program: Program, operation: Operation, *inits: Array) -> Any:
    before, after = (region.block for region in operation.regions)
    goes_on, *forwarded = program.run(before, *inits)
    while goes_on:
        goes_on, *forwarded = program.run(before, *program.run(after, *forwarded))
    return forwarded


def run_if(program: Program, operation: Operation, condition: Array) -> Any:
    then, otherwise = operation.regions
    blocks = then.blocks if condition else otherwise.blocks
    return program.run(blocks[0]) if blocks else []


def combine(program: Program, operation: Operation, sources: Sequence[Array]) -> list[Sequence[Array]]:
    block, axis = operation.regions[0].block, operation.attributes["axis"]
    steps: list = []
    for i in range(sources[0].shape[axis]):
        new = [np.take(source, i, axis) for source in sources]
        steps.append(program.run(block, *steps[-1], *new) if steps else new)
    return steps


def load(program: Program, operation: Operation, address: Array, mask: Array = True, other: Array = 0) -> Any:
    result = fill(operation, other)
    for buffer, index, lanes in program.reach(result.dtype, address, mask):
        result = np.where(lanes, buffer.data[np.where(lanes, index, 0)], result)
    return [result[()]]


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
