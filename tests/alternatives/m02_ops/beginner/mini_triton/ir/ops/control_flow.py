"""Structured control flow, one question at a time."""


def end_of(region: Region, terminator: str) -> Operation:
    if len(region.blocks) == 0:
        raise TypeError("a region must have a block")
    if len(region.blocks) > 1:
        raise TypeError("a region must have only one block")
    operations = region.blocks[0].operations
    if len(operations) == 0:
        raise TypeError(f"an empty region must end in {terminator}")
    last = operations[-1]
    if last.name != terminator:
        raise TypeError(f"a region must end in {terminator}, not in {last.name}")
    return last


def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    if not isinstance(lower, IntegerType):
        raise TypeError(f"its bounds must be integers, not {lower}")
    if lower.width == 1:
        raise TypeError("its bounds must not be booleans")
    if upper != lower:
        raise TypeError(f"the upper bound is {upper}, the lower one {lower}")
    if step != lower:
        raise TypeError(f"the step is {step}, the lower bound {lower}")
    if len(regions) != 1:
        raise TypeError("it needs one region")
    end = end_of(regions[0], "scf.yield")
    arguments = regions[0].blocks[0].arguments
    if len(arguments) != 1 + len(inits):
        raise TypeError("its block must take the induction variable and every carried value")
    if arguments[0].type != lower:
        raise TypeError("the induction variable has another type than the bounds")
    if len(end.operands) != len(inits):
        raise TypeError("it must yield every carried value")
    for i in range(len(inits)):
        if arguments[i + 1].type != inits[i]:
            raise TypeError(f"carried value {i} starts as {inits[i]}")
        if end.operands[i].type != inits[i]:
            raise TypeError(f"carried value {i} is {inits[i]}, but another type is yielded")
    return inits


def if_(condition: Type, *, regions: list[Region]) -> Types:
    if condition != I1:
        raise TypeError(f"its condition must be a scalar i1, not {condition}")
    if len(regions) != 2:
        raise TypeError("it needs two regions")
    then_end = end_of(regions[0], "scf.yield")
    if len(regions[0].blocks[0].arguments) > 0:
        raise TypeError("its regions take no arguments")
    then_types = operand_types(then_end)
    if len(regions[1].blocks) == 0:
        if len(then_types) > 0:
            raise TypeError("it has results, so it needs an else")
        return ()
    else_end = end_of(regions[1], "scf.yield")
    if len(regions[1].blocks[0].arguments) > 0:
        raise TypeError("its regions take no arguments")
    if operand_types(else_end) != then_types:
        raise TypeError("its branches yield different types")
    return then_types


def while_(*inits: Type, regions: list[Region]) -> Types:
    if len(regions) != 2:
        raise TypeError("it needs two regions")
    before_end = end_of(regions[0], "scf.condition")
    after_end = end_of(regions[1], "scf.yield")
    forwarded = []
    for operand in before_end.operands[1:]:
        forwarded.append(operand.type)
    results = tuple(forwarded)
    if argument_types(regions[0].blocks[0]) != inits:
        raise TypeError("before must take what the loop starts with")
    if argument_types(regions[1].blocks[0]) != results:
        raise TypeError("after must take what before hands on")
    if operand_types(after_end) != inits:
        raise TypeError("after must yield what before takes")
    return results


def condition(condition: Type, *values: Type) -> None:
    if condition != I1:
        raise TypeError("its condition must be a scalar i1, not " + str(condition))
