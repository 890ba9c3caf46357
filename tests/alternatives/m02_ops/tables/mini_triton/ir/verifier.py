"""The verifier, by comprehensions."""


def check_terminators(operation: Operation) -> None:
    blocks = [block.operations for region in operation.regions for block in region.blocks]
    flags = [[_terminates(inner) for inner in block] for block in blocks]
    wanted = [[i == len(block) - 1 for i in range(len(block))] for block in blocks]
    if operation.name == "builtin.module":
        wanted = [[False] * len(block) for block in blocks]
    elif not all(blocks):
        raise fail(operation, "an empty block has no terminator")
    for block, found, expected in zip(blocks, flags, wanted, strict=True):
        if found != expected:
            wrong = [op for op, a, b in zip(block, found, expected, strict=True) if a != b]
            raise fail(wrong[0], "terminators end blocks")


def check_visibility(block: Block, visible: set[Value]) -> None:
    known = frozenset(visible).union(block.arguments)
    for operation in block.operations:
        if not known.issuperset(operation.operands):
            raise fail(operation, "it uses what it cannot see")
        for region in operation.regions:
            for inner in region.blocks:
                check_visibility(inner, _inside(operation, known))
        known = known.union(operation.results)


def _terminates(operation: Operation) -> bool:
    return getattr(definition(operation.name), "terminator", False)


def _inside(operation: Operation, known: frozenset[Value]) -> set[Value]:
    """The values that the regions of an operation see."""
    return set() if operation.name in ISOLATED_FROM_ABOVE else set(known)
