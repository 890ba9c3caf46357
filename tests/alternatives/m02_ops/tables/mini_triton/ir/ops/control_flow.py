"""Structured control flow; whatever has types is compared at once."""


def end_of(region: Region, terminator: str) -> Operation:
    ends = [block.operations[-1:] for block in region.blocks]
    names = [[op.name for op in end] for end in ends]
    require(names == [[terminator]], f"there must be one block, ending in {terminator}")
    return ends[0][0]


def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    require(len(regions) == 1 and {lower, upper, step} <= {*map(IntegerType, (8, 16, 32, 64))}, f"{lower} bounds")
    end = end_of(regions[0], "scf.yield")
    takes, yields = argument_types(regions[0].block), operand_types(end)
    require(len({lower, upper, step, *takes[:1]}) == 1, "the bounds and the variable have one type")
    require(bool(takes) and takes[1:] == yields == inits, f"{spell(inits)} become {spell(yields)}")
    return yields


def if_(condition: Type, *, regions: list[Region]) -> Types:
    require(condition == I1 and len(regions) == 2, f"{condition} or {len(regions)} regions are wrong")
    present = [regions[0], *(region for region in regions[1:] if region.blocks)]
    yields = [operand_types(end_of(region, "scf.yield")) for region in present]
    require(not any(region.block.arguments for region in present), "a region takes arguments")
    require(len(present) == 2 or yields == [()], "there is no else for the results")
    require(len(set(yields)) == 1, f"the branches yield {' and '.join(map(spell, yields))}")
    return yields[0]
