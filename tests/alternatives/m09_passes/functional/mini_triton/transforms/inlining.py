from collections import deque


def calls_in(function: Operation) -> list[Operation]:
    return [operation for operation in function.walk() if operation.name == "tt.call"]


def finish(function: Operation, functions: Mapping[str, Operation], callers: tuple[str, ...] = ()) -> None:
    way = (*callers, str(function.attributes["sym_name"]))
    for call in calls_in(function):
        callee = str(call.attributes["callee"])
        if callee in way:
            circle = way[way.index(callee) :]
            raise CompilationError(f"there is a circle: {' -> '.join([*circle, callee])}", call.loc)
        finish(functions[callee], functions, way)
        inline(call, functions[callee])


def inline(call: Operation, callee: Operation) -> None:
    block = callee.regions[0].block
    values: dict[Value, Value] = {}
    for parameter, argument in zip(block.arguments, call.operands, strict=True):
        values[parameter] = argument
    *copies, end = [copy(operation, values) for operation in block.operations]
    place = call.parent.operations.index(call)
    for offset, operation in enumerate(copies):
        call.parent.insert(place + offset, operation)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    end.erase()
    call.erase()


def copy(operation: Operation, values: dict[Value, Value]) -> Operation:
    waiting: deque[Operation] = deque()
    root = shallow(operation, values, waiting)
    while waiting:  # operands come last: by then all values have copies
        made = waiting.popleft()
        for index, operand in enumerate(made.operands):
            made.set_operand(index, values.get(operand, operand))
    return root


def shallow(operation: Operation, values: dict[Value, Value], waiting: deque[Operation]) -> Operation:
    regions = [Region([block_like(block, values, waiting) for block in region.blocks]) for region in operation.regions]
    types = (result.type for result in operation.results)
    made = Operation(operation.name, operation.operands, types, operation.attributes, regions, operation.loc)
    for old, new in zip(operation.results, made.results, strict=True):
        new.name = old.name
    values.update(zip(operation.results, made.results, strict=True))
    waiting.append(made)
    return made


def block_like(block: Block, values: dict[Value, Value], waiting: deque[Operation]) -> Block:
    made = Block()
    for argument in block.arguments:
        values[argument] = made.add_argument(argument.type, argument.name)
    for operation in block.operations:
        made.append(shallow(operation, values, waiting))
    return made
