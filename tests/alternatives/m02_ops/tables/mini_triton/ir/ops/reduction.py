"""Dot, reduce and scan; shapes by name."""


def dot(a: Type, b: Type, c: Type, *, inputPrecision: InputPrecision = "ieee", maxNumImpreciseAcc: int = 0) -> Type:
    names = ["smk", "skn", "smn"] if tensor(a).rank == 3 else ["mk", "kn", "mn"]
    sizes: dict[str, set[int]] = {}
    for letters, type in zip(names, (a, b, c), strict=True):
        require(tensor(type).rank == len(letters), f"{type} does not have {len(letters)} dimensions")
        for letter, size in zip(letters, tensor(type).shape, strict=True):
            sizes.setdefault(letter, set()).add(size)
    require(all(len(found) == 1 for found in sizes.values()), f"{a} times {b} does not fit {c}")
    elements = {element_type(a), element_type(b)}
    require(len(elements) == 1 or elements <= FP8, f"{a} and {b} do not meet")
    require(all(element_type(c) in ACCUMULATORS.get(e, ()) for e in elements), f"{c} is not a sum of {a} times {b}")
    return c


def combine_types(sources: tuple[Type, ...], axis: int, regions: list[Region], terminator: str) -> None:
    shapes = {tensor(source).shape for source in sources}
    require(len(shapes) == 1, "there must be one shape")
    require(all(0 <= axis < len(shape) for shape in shapes), f"axis {axis} is out of range")
    require(len(regions) == 1, "one region is needed")
    ends = [end_of(region, terminator) for region in regions]
    wanted = [*map(element_type, sources)]
    for values, count in ((regions[0].block.arguments, 2), (ends[0].operands, 1)):
        require([value.type for value in values] == wanted * count, f"{spell(wanted * count)} is wanted")
