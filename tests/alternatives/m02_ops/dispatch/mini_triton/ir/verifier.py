"""The verifier, by matching."""


def check_types(operation: Operation) -> None:
    declared = definition(operation.name)
    if declared is None:
        raise fail(operation, "there is no such operation")
    given = [operand.type for operand in operation.operands], [result.type for result in operation.results]
    try:
        types = declared.result_types(given[0], operation.attributes, tuple(given[1]), operation.regions)
    except TypeError as refusal:
        reason = str(refusal)
    else:
        if list(types) == given[1]:
            return
        reason = f"it results in {spelled(types)}"
    raise fail(operation, reason)


def check_terminators(operation: Operation) -> None:
    for region in operation.regions:
        for block in region.blocks:
            match (operation.name, [inner for inner in block.operations if _is_terminator(inner)]):
                case ("builtin.module", []):
                    continue
                case (_, [end]) if end is block.operations[-1]:
                    continue
                case (_, []):
                    raise fail(operation, "a block without a terminator")
                case (_, [early, *_]):
                    raise fail(early, "a terminator before the end")


def check_visibility(block: Block, visible: set[Value]) -> None:
    here = set(visible)
    here.update(block.arguments)
    for operation in block.operations:
        hidden = [number for number, operand in enumerate(operation.operands) if operand not in here]
        if hidden:
            raise fail(operation, f"operand {hidden[0]} is out of sight")
        inside = set() if operation.name in ISOLATED_FROM_ABOVE else here
        for region in operation.regions:
            for inner in region.blocks:
                check_visibility(inner, inside)
        here.update(operation.results)


def _is_terminator(operation: Operation) -> bool:
    declared = definition(operation.name)
    return bool(declared and declared.terminator)
