"""Shape operations, one dimension at a time."""


def make_range(*, start: int, end: int) -> Type:
    length = end - start
    if length <= 0:
        raise TypeError(f"the range from {start} to {end} is empty")
    return TensorType((length,), I32)


def splat(src: Type, *, result: Type) -> Type:
    if isinstance(src, TensorType):
        raise TypeError(f"it takes a scalar, not {src}")
    if not isinstance(result, TensorType):
        raise TypeError(f"it gives a tensor, not {result}")
    if result.element != src:
        raise TypeError(f"a splat of {src} cannot be {result}")
    return result


def expand_dims(src: Type, *, axis: int) -> Type:
    old = tensor(src)
    if axis < 0 or axis > old.rank:
        raise TypeError(f"axis {axis} is out of range for {src}")
    shape = list(old.shape)
    shape.insert(axis, 1)
    return TensorType(tuple(shape), old.element)


def broadcast(src: Type, *, result: Type) -> Type:
    old = tensor(src)
    new = tensor(result)
    if old.element != new.element:
        raise TypeError(f"elements differ: {src} and {result}")
    if old.rank != new.rank:
        raise TypeError(f"ranks differ: {src} and {result}")
    for i in range(old.rank):
        if old.shape[i] != 1:
            if old.shape[i] != new.shape[i]:
                raise TypeError(f"dimension {i} cannot grow from {old.shape[i]} to {new.shape[i]}")
    return new


def reshape(src: Type, *, allow_reorder: Unit = False, result: Type) -> Type:
    old = tensor(src)
    new = tensor(result)
    if old.element != new.element:
        raise TypeError(f"elements differ: {src} and {result}")
    old_size = 1
    for size in old.shape:
        old_size = old_size * size
    new_size = 1
    for size in new.shape:
        new_size = new_size * size
    if old_size != new_size:
        raise TypeError(f"{src} and {result} differ in size")
    return new


def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    old = tensor(src)
    if len(order) != old.rank:
        raise TypeError(f"{order} has not as many axes as {src}")
    for axis in range(old.rank):
        if axis not in order:
            raise TypeError(f"axis {axis} of {src} is missing in {order}")
    shape = []
    for axis in order:
        shape.append(old.shape[axis])
    return TensorType(tuple(shape), old.element)


def join(lhs: Type, rhs: Type) -> Type:
    left = tensor(lhs)
    right = tensor(rhs)
    if left != right:
        raise TypeError(f"its operands must have the same type, got {lhs} and {rhs}")
    return TensorType(left.shape + (2,), left.element)


def split(src: Type) -> tuple[Type, Type]:
    whole = tensor(src)
    if whole.rank < 2:
        raise TypeError(f"{src} has only one dimension")
    if whole.shape[-1] != 2:
        raise TypeError(f"the last dimension of {src} is not 2")
    first = TensorType(whole.shape[:-1], whole.element)
    second = TensorType(whole.shape[:-1], whole.element)
    return (first, second)
