import itertools


def chunk_size(function: Operation, leads: Origins) -> int:
    if waits(function, leads):
        return 1
    values = itertools.chain.from_iterable((*each.results, *each.operands) for each in function.walk())
    largest = largest_of(math.prod(shape_of(value.type)) for value in values)
    return next(filter(None, (CHUNK // largest, 1)))


def largest_of(sizes: Iterator[int]) -> int:
    return sorted([1, *sizes])[-1]
