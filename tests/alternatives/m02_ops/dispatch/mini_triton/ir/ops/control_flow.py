"""Structured control flow; rules by matching."""


def end_of(region: Region, terminator: str) -> Operation:
    match region.blocks:
        case [Block(terminator=Operation(name=name) as end)] if name == terminator:
            return end
        case [Block(terminator=end)]:
            raise TypeError(f"{terminator} must be the end, not {end and end.name}")
        case blocks:
            raise TypeError(f"{len(blocks)} blocks instead of one, and no {terminator}")


def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    match (lower, upper, step, regions):
        case (IntegerType(width=1), _, _, _):
            raise TypeError("booleans bound no loop")
        case (IntegerType(), _, _, [body]) if lower == upper and lower == step:
            return _agree(inits, yields=operand_types(end_of(body, "scf.yield")), takes=_carried(body.block, lower))
    raise TypeError(f"bounds {lower}, {upper}, {step} and {len(regions)} regions make no loop")


def if_(condition: Type, *, regions: list[Region]) -> Types:
    match (condition, regions):
        case (IntegerType(width=1), [then, Region(blocks=[])]):
            return _agree((), yields=operand_types(end_of(then, "scf.yield")), takes=argument_types(then.block))
        case (IntegerType(width=1), [then, other]):
            results = operand_types(end_of(then, "scf.yield"))
            _agree(results, yields=operand_types(end_of(other, "scf.yield")))
            _agree((), then=argument_types(then.block), other=argument_types(other.block))
            return results
    raise TypeError(f"{condition} and {len(regions)} regions make no if")


def while_(*inits: Type, regions: list[Region]) -> Types:
    match regions:
        case [before, after]:
            _, *forwarded = operand_types(end_of(before, "scf.condition"))
            yielded = operand_types(end_of(after, "scf.yield"))
            _agree(inits, before=argument_types(before.block), yields=yielded)
            return _agree(tuple(forwarded), after=argument_types(after.block))
    raise TypeError(f"{len(regions)} regions make no while")


def condition(condition: Type, *values: Type) -> None:
    match condition:
        case IntegerType(width=1):
            return None
    raise TypeError(f"{condition} is no condition")


def _agree(wanted: Types, **found: Types) -> Types:
    """Refuse whatever is not as wanted."""
    for name, types in found.items():
        if types != wanted:
            raise TypeError(f"{name} {spelled(types)} instead of {spelled(wanted)}")
    return wanted


def _carried(block: Block, bound: Type) -> Types:
    """The types of the carried values, after the induction variable's."""
    match argument_types(block):
        case (variable, *carried) if variable == bound:
            return tuple(carried)
    raise TypeError(f"the first argument must be {bound}")
