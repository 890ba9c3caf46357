def is_worth_it(branch: Operation) -> bool:
    if not branch.results:
        return False
    budget = BUDGET
    for region in branch.regions:
        *operations, _ = region.block.operations
        for operation in operations:
            if operation.name != "arith.constant":
                budget -= 1
                if budget < 0 or not is_cheap(operation):
                    return False
    return True


def predicate(branch: Operation) -> None:
    yields = []
    for region in branch.regions:
        while len(region.block.operations) > 1:
            move(region.block.operations[0], branch)
        yields.append(region.block.operations[0].operands)
    builder = Builder()
    chosen: list[Value] = []
    with builder.before(branch), builder.location(branch.loc):
        for pair in zip(*yields, strict=True):
            same = pair[0] is pair[1]
            chosen.append(pair[0] if same else builder.create("arith.select", *branch.operands, *pair))
    replace_by(branch, chosen)
