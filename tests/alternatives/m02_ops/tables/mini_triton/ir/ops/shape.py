"""Shape operations; shapes by comprehensions."""

import itertools


def expand_dims(src: Type, *, axis: int) -> Type:
    sizes = dict(enumerate(tensor(src).shape))
    require(axis in {*sizes, len(sizes)}, f"there is no axis {axis} to put into {src}")
    moved = {i + (i >= axis): size for i, size in sizes.items()}
    return TensorType(tuple(moved.get(i, 1) for i in range(len(sizes) + 1)), src.element)


def broadcast(src: Type, *, result: Type) -> Type:
    grows = {(old, new) for old, new in itertools.zip_longest(tensor(src).shape, tensor(result).shape) if old != new}
    require({old for old, _ in grows} <= {1}, f"{src} does not grow to {result}")
    require(tensor(src).rank == tensor(result).rank, f"{src} does not have the rank of {result}")
    require(element_type(src) == element_type(result), f"{src} has other elements than {result}")
    return result


def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    places = {axis: i for i, axis in enumerate(order)}
    shape = tensor(src).shape
    require(len(order) == len(shape) and {*places} == {*range(len(shape))}, f"{order} does not order {src}")
    return TensorType(tuple(map(dict(enumerate(shape)).get, order)), element_type(src))
