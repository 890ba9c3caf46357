"""Shape operations; rules by matching."""


def make_range(*, start: int, end: int) -> Type:
    match end - start:
        case length if length > 0:
            return TensorType((length,), I32)
        case _:
            raise TypeError(f"there is nothing from {start} to {end}")


def splat(src: Type, *, result: Type) -> Type:
    match result:
        case TensorType(element=element) if element == src:
            return result
    raise TypeError(f"{src} cannot be splat to {result}")


def expand_dims(src: Type, *, axis: int) -> Type:
    match src:
        case TensorType(shape=shape, element=element) if axis in range(len(shape) + 1):
            return TensorType(shape[:axis] + (1,) + shape[axis:], element)
    raise TypeError(f"{src} has no place {axis}")


def broadcast(src: Type, *, result: Type) -> Type:
    match (src, result):
        case (TensorType(shape=old, element=a), TensorType(shape=new, element=b)) if a == b and len(old) == len(new):
            if all(left in (1, right) for left, right in zip(old, new, strict=True)):
                return result
    raise TypeError(f"{src} cannot be broadcast to {result}")


def reshape(src: Type, *, allow_reorder: Unit = False, result: Type) -> Type:
    match (src, result):
        case (TensorType(element=a, numel=n), TensorType(element=b, numel=m)) if (a, n) == (b, m):
            return result
    raise TypeError(f"{src} cannot be reshaped to {result}")


def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    match src:
        case TensorType(shape=shape, element=element) if [*range(len(shape))] == sorted(order):
            return TensorType(tuple(map(shape.__getitem__, order)), element)
    raise TypeError(f"{src} cannot be transposed by {order}")


def join(lhs: Type, rhs: Type) -> Type:
    match (lhs, rhs):
        case (TensorType(shape=shape, element=element), TensorType()) if lhs == rhs:
            return TensorType(shape + (2,), element)
    raise TypeError(f"{lhs} and {rhs} cannot be joined")


def split(src: Type) -> tuple[Type, Type]:
    match src:
        case TensorType(shape=(_, *_, 2) as shape, element=element):
            return (TensorType(shape[:-1], element),) * 2
    raise TypeError(f"{src} cannot be split")
