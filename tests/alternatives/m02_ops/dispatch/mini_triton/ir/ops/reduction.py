"""Dot, reduce and scan; rules by matching."""

from mini_triton.ir.core import Operation


def dot(a: Type, b: Type, c: Type, *, inputPrecision: InputPrecision = "ieee", maxNumImpreciseAcc: int = 0) -> Type:
    match (tensor(a).shape, tensor(b).shape, tensor(c).shape):
        case ((m, k), (k2, n), (m2, n2)) if (k, m, n) == (k2, m2, n2):
            pass
        case ((s, m, k), (s2, k2, n), (s3, m2, n2)) if (k, m, n) == (k2, m2, n2) and s == s2 == s3:
            pass
        case _:
            raise TypeError(f"{a} times {b} is not {c}")
    elements = element_type(a), element_type(b)
    if len(set(elements)) == 2 and set(elements) != {F8E5M2, F8E4M3FN}:
        raise TypeError(f"{a} and {b} have different elements")
    if element_type(c) not in ACCUMULATORS.get(elements[0], ()):
        raise TypeError(f"the products of {a} and {b} are not summed in {c}")
    return c


def combine_types(sources: tuple[Type, ...], regions: list[Region], terminator: str) -> None:
    elements = tuple(map(element_type, sources))
    match [region.blocks for region in regions]:
        case [[block]]:
            pass
        case _:
            raise TypeError("there must be one region of one block")
    match block.terminator:
        case Operation(name=name, operands=returned) if name == terminator:
            pass
        case _:
            raise TypeError(f"there is no {terminator} at the end")
    for what, values, wanted in (("take", block.arguments, elements * 2), ("return", returned, elements)):
        if tuple(value.type for value in values) != wanted:
            raise TypeError(f"the region must {what} {spelled(wanted)}")


def reduce(*sources: Type, axis: int, regions: list[Region]) -> tuple[Type, ...]:
    shape = _common_shape(sources, axis)
    combine_types(sources, regions, "tt.reduce.return")
    match [size for i, size in enumerate(shape) if i != axis]:
        case []:
            return tuple(map(element_type, sources))
        case rest:
            return tuple(TensorType(tuple(rest), element_type(source)) for source in sources)


def scan(*sources: Type, axis: int, reverse: bool, regions: list[Region]) -> tuple[Type, ...]:
    _common_shape(sources, axis)
    combine_types(sources, regions, "tt.scan.return")
    return tuple(sources)


def _common_shape(sources: tuple[Type, ...], axis: int) -> tuple[int, ...]:
    """The shape of all sources, which has this axis."""
    match list({tensor(source).shape for source in sources}):
        case [shape] if axis in range(len(shape)):
            return shape
        case [_]:
            raise TypeError(f"there is no axis {axis}")
        case _:
            raise TypeError(f"the shapes of {spelled(sources)} differ")
