"""The verifier, one question at a time."""


def check_types(operation: Operation) -> None:
    declared = definition(operation.name)
    if declared is None:
        raise fail(operation, "there is no such operation")
    operands = []
    for operand in operation.operands:
        operands.append(operand.type)
    results = []
    for result in operation.results:
        results.append(result.type)
    try:
        expected = declared.result_types(operands, operation.attributes, tuple(results), operation.regions)
    except TypeError as error:
        raise fail(operation, str(error)) from None
    if len(expected) != len(results):
        raise fail(operation, f"it should have {len(expected)} results, not {len(results)}")
    for i in range(len(results)):
        if expected[i] != results[i]:
            raise fail(operation, f"its result {i} should be {expected[i]}, not {results[i]}")


def check_terminators(operation: Operation) -> None:
    if operation.name == "builtin.module":
        for function in operation.regions[0].blocks[0].operations:
            if _ends_a_block(function):
                raise fail(function, "a module has no terminator")
        return
    for region in operation.regions:
        for block in region.blocks:
            if len(block.operations) == 0:
                raise fail(operation, "it has an empty block")
            for inner in block.operations[:-1]:
                if _ends_a_block(inner):
                    raise fail(inner, "a terminator stands before the end of its block")
            if not _ends_a_block(block.operations[-1]):
                raise fail(block.operations[-1], "its block does not end in a terminator")


def check_visibility(block: Block, visible: set[Value]) -> None:
    seen: set[Value] = set()
    for value in visible:
        seen.add(value)
    for argument in block.arguments:
        seen.add(argument)
    for operation in block.operations:
        number = 0
        for operand in operation.operands:
            if operand not in seen:
                raise fail(operation, f"operand {number} cannot be seen here")
            number = number + 1
        for region in operation.regions:
            for inner in region.blocks:
                if operation.name in ISOLATED_FROM_ABOVE:
                    check_visibility(inner, set())
                else:
                    check_visibility(inner, seen)
        for result in operation.results:
            seen.add(result)


def _ends_a_block(operation: Operation) -> bool:
    declared = definition(operation.name)
    if declared is None:
        return False
    return declared.terminator
