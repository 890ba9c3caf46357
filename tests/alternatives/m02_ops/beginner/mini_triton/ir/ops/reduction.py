"""Dot, reduce and scan, one question at a time."""


def dot(a: Type, b: Type, c: Type, *, inputPrecision: InputPrecision = "ieee", maxNumImpreciseAcc: int = 0) -> Type:
    left = tensor(a)
    right = tensor(b)
    total = tensor(c)
    if left.rank != 2 and left.rank != 3:
        raise TypeError(f"it multiplies matrices, not {a}")
    if right.rank != left.rank or total.rank != left.rank:
        raise TypeError(f"{a}, {b} and {c} differ in rank")
    if left.rank == 3:
        if left.shape[0] != right.shape[0] or left.shape[0] != total.shape[0]:
            raise TypeError(f"{a}, {b} and {c} are not stacks of one height")
    if left.shape[-1] != right.shape[-2]:
        raise TypeError(f"the inner sizes of {a} and {b} differ")
    if total.shape[-2] != left.shape[-2]:
        raise TypeError(f"{c} has not as many rows as {a}")
    if total.shape[-1] != right.shape[-1]:
        raise TypeError(f"{c} has not as many columns as {b}")
    if left.element != right.element:
        if left.element not in (F8E5M2, F8E4M3FN) or right.element not in (F8E5M2, F8E4M3FN):
            raise TypeError(f"elements differ: {a} and {b}")
    if left.element not in ACCUMULATORS:
        raise TypeError(f"{a} cannot be multiplied")
    if total.element not in ACCUMULATORS[left.element]:
        raise TypeError(f"products of {a} are not summed in {c}")
    return c


def combine_types(sources: tuple[Type, ...], regions: list[Region], terminator: str) -> None:
    if len(regions) != 1:
        raise TypeError("it needs one region")
    if len(regions[0].blocks) != 1:
        raise TypeError("its region needs one block")
    block = regions[0].blocks[0]
    count = len(sources)
    if len(block.arguments) != 2 * count:
        raise TypeError(f"its region must take {2 * count} elements")
    for i in range(count):
        element = element_type(sources[i])
        if block.arguments[i].type != element:
            raise TypeError(f"left element {i} must be {element}")
        if block.arguments[count + i].type != element:
            raise TypeError(f"right element {i} must be {element}")
    if len(block.operations) == 0:
        raise TypeError(f"its region must end in {terminator}")
    last = block.operations[-1]
    if last.name != terminator:
        raise TypeError(f"its region must end in {terminator}, not in {last.name}")
    if len(last.operands) != count:
        raise TypeError(f"its region must return {count} elements")
    for i in range(count):
        if last.operands[i].type != element_type(sources[i]):
            raise TypeError(f"returned element {i} must be {element_type(sources[i])}")


def reduce(*sources: Type, axis: int, regions: list[Region]) -> tuple[Type, ...]:
    if len(sources) == 0:
        raise TypeError("there is nothing to reduce")
    first = tensor(sources[0])
    for source in sources:
        if tensor(source).shape != first.shape:
            raise TypeError(f"{source} has another shape than {first}")
    if axis < 0 or axis >= first.rank:
        raise TypeError(f"axis {axis} is out of range for {first}")
    combine_types(sources, regions, "tt.reduce.return")
    shape = []
    for i in range(first.rank):
        if i != axis:
            shape.append(first.shape[i])
    results: list[Type] = []
    for source in sources:
        if len(shape) == 0:
            results.append(element_type(source))
        else:
            results.append(TensorType(tuple(shape), element_type(source)))
    return tuple(results)


def scan(*sources: Type, axis: int, reverse: bool, regions: list[Region]) -> tuple[Type, ...]:
    if len(sources) == 0:
        raise TypeError("there is nothing to scan")
    first = tensor(sources[0])
    for source in sources:
        if tensor(source).shape != first.shape:
            raise TypeError(f"{source} has another shape than {first}")
    if axis < 0 or axis >= first.rank:
        raise TypeError(f"axis {axis} is out of range for {first}")
    combine_types(sources, regions, "tt.scan.return")
    return sources
