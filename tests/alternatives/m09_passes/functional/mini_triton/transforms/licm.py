def hoist_invariants(module: Operation) -> bool:
    changed = False

    def visit(operation: Operation) -> None:
        nonlocal changed
        for region in operation.regions:
            for block in region.blocks:
                for inner in tuple(block.operations):
                    visit(inner)
        if operation.name in LOOPS and hoist_from(operation):
            changed = True

    visit(module)
    return changed


def hoist_from(loop: Operation) -> bool:
    ready = next(
        (
            operation
            for region in loop.regions
            for operation in region.block.operations
            if is_invariant(operation, loop) and may_hoist(operation, loop)
        ),
        None,
    )
    if ready is None:
        return False
    move(ready, loop)
    hoist_from(loop)
    return True


def is_invariant(operation: Operation, loop: Operation) -> bool:
    own = {value for inner in operation.walk() for value in inner.results}
    own |= {a for inner in operation.walk() for region in inner.regions for b in region.blocks for a in b.arguments}
    return all(o in own or not is_inside(o, loop) for inner in operation.walk() for o in inner.operands)


def may_hoist(operation: Operation, loop: Operation) -> bool:
    if operation.name in TERMINATORS:
        return False
    if may_speculate(operation):
        return True
    return effects(operation) & WRITES == 0 and certainly_runs(loop) and not may_change_memory(loop)


def certainly_runs(loop: Operation) -> bool:
    match loop.name, [constant_of(operand) for operand in loop.operands[:2]]:
        case "scf.for", [int(lower), int(upper)]:
            return lower < upper
    return False
