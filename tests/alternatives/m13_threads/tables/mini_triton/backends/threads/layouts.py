from functools import reduce
from itertools import islice
from operator import xor


def apply(columns: Columns, number: int) -> int:
    if not number:
        return 0
    rest = apply(columns[1:], number >> 1)
    return rest ^ columns[0] if number & 1 else rest


def compose(outer: Columns, inner: Columns) -> Columns:
    values: list[int] = []
    for column in inner:
        parts = [value for bit, value in enumerate(outer) if column & 1 << bit]
        values.append(reduce(xor, parts, 0))
    return tuple(values)


def invert(columns: Columns) -> Columns:
    if not is_independent(columns):
        raise ValueError(f"no inverse: the columns {columns} are not independent")
    leading: dict[int, tuple[int, int]] = {}  # by the highest bit of a value: the value, and where it is
    for bit, column in enumerate(columns):
        value, number = reduced(leading, column)
        leading[value.bit_length()] = value, number ^ 1 << bit
    return tuple(reduced(leading, 1 << bit)[1] for bit in range(len(columns)))


def is_independent(columns: Sequence[int]) -> bool:
    leading: dict[int, tuple[int, int]] = {}
    for column in columns:
        value, _ = reduced(leading, column)
        leading[value.bit_length()] = value, 0
    return 0 not in leading


def reduced(leading: dict[int, tuple[int, int]], value: int) -> tuple[int, int]:
    """A value without the highest bits of known values, and the sum of the numbers of the removed ones."""
    number = 0
    for length in range(value.bit_length(), 0, -1):
        if value.bit_length() == length and length in leading:
            value, number = value ^ leading[length][0], number ^ leading[length][1]
    return value, number


class Layout:
    def index(self, register: int, thread: int = 0) -> Index:
        bits = [
            *zip(self.registers, reversed(f"{register:b}"), strict=False),
            *zip(self.threads, reversed(f"{thread:b}"), strict=False),
        ]
        rank = len((*self.registers, *self.threads, ())[0])
        chosen = [vector for vector, bit in bits if bit == "1"]
        return reduce(lambda one, other: tuple(map(xor, one, other)), chosen, (0,) * rank)


def blocked(shape: Sequence[int], order: Sequence[int], sizes: Mapping[int, int], warps: int) -> Layout:
    rank = len(shape)
    bits = {axis: shape[axis].bit_length() - 1 for axis in order}
    taken = {axis: min(bits[axis], sizes.get(axis, 1).bit_length() - 1) for axis in order}
    block = [(axis, bit) for axis in order for bit in range(taken[axis])]
    beyond = [(axis, bit) for axis in order for bit in range(taken[axis], bits[axis])]
    vectors = [tuple((1 << bit) * (axis == other) for other in range(rank)) for axis, bit in block + beyond]
    count = warps.bit_length() - 1 + LANE_BITS
    missing = max(0, count - len(beyond))
    vectors += missing * [(0,) * rank]
    places = iter(vectors)
    inside, lanes, others = (tuple(islice(places, size)) for size in (len(block), LANE_BITS, count - LANE_BITS))
    return Layout((*inside, *places), lanes, others)
