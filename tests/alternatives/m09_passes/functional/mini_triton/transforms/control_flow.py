import math


def unwrap_known(module: Operation) -> bool:
    changed = False
    for region in module.regions:
        for block in region.blocks:
            for operation in tuple(block.operations):
                changed |= unwrap_known(operation)
                changed |= unwrap(operation)
    return changed


def unwrap(operation: Operation) -> bool:
    if operation.name == "scf.if":
        known = constant_of(operation.operands[0])
        if known is None:
            return False
        then, otherwise = operation.regions
        run(operation, (then if known else otherwise).blocks, ())
        return True
    if operation.name != "scf.for":
        return False
    match count_rounds(operation):
        case 0:
            replace_by(operation, operation.operands[3:])
        case 1:
            run(operation, operation.regions[0].blocks, (operation.operands[0], *operation.operands[3:]))
        case _:
            return False
    return True


def run(operation: Operation, blocks: list[Block], arguments: tuple[Value, ...]) -> None:
    for block in blocks:
        splice(operation, block, arguments)
    if not blocks:
        replace_by(operation, ())


def count_rounds(loop: Operation) -> int | None:
    first, last, _ = loop.operands[:3]
    lower, upper, step = map(constant_of, loop.operands[:3])
    if first is last:
        return 0
    if lower is None or upper is None:
        return None
    if lower >= upper:
        return 0
    return math.ceil((upper - lower) / step) if step and step > 0 else None


def replace_known(module: Operation) -> bool:
    changed = False
    for operation in module.walk():
        match operation.name:
            case "scf.if":
                changed |= assume_condition(operation)
                pairs = known_of_branch(operation)
            case "scf.for":
                pairs = known_of_loop(operation)
            case _:
                continue
        for old, new in pairs:
            if old.uses:
                old.replace_all_uses_with(new)
                changed = True
    return changed


def known_of_branch(branch: Operation) -> list[tuple[Value, Value]]:
    ends = [block.operations[-1].operands for block in blocks_of(branch)]
    return [(result, values[0]) for result, *values in zip(branch.results, *ends, strict=True) if len({*values}) == 1]


def known_of_loop(loop: Operation) -> list[tuple[Value, Value]]:
    body = loop.regions[0].block
    yields = body.operations[-1].operands
    found: list[tuple[Value, Value]] = []
    for index, result in enumerate(loop.results):
        init, argument, value = loop.operands[3 + index], body.arguments[1 + index], yields[index]
        if value in (argument, init):
            found.append((argument, init))
            value = init
        elif not count_rounds(loop):
            continue
        if not is_inside(value, loop):
            found.append((result, value))
    return found
