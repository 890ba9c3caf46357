"""The types of the IR; the rules are tables."""

import itertools

INTEGER_NAMES = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64"}

POWERS_OF_TWO = frozenset(1 << bit for bit in range(128))

DIMENSION_RULES = (
    (TypeError, lambda dim: not isinstance(dim, int), "must have type int"),
    (ValueError, lambda dim: dim not in POWERS_OF_TWO, "must be a power of 2"),
)


class IntegerType:
    def __str__(self) -> str:
        return INTEGER_NAMES[self.width]


class TensorType:
    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        if not self.shape:
            raise TypeError("a tensor needs at least one dimension")
        if not isinstance(self.element, Scalar):
            raise TypeError(f"{self.element} is no scalar")
        for i, dim in enumerate(self.shape):
            for error, is_wrong, rule in DIMENSION_RULES:
                if is_wrong(dim):
                    raise error(f"Shape element {i} {rule}")
        if self.numel > MAX_NUMEL:
            raise ValueError(f"numel ({self.numel}) exceeds triton maximum tensor numel ({MAX_NUMEL})")

    def __str__(self) -> str:
        return "tensor<{}x{}>".format("x".join(str(dim) for dim in self.shape), self.element)


def element_type(type: Type) -> Scalar:
    return getattr(type, "element", type)


def shape_of(type: Type) -> tuple[int, ...]:
    return getattr(type, "shape", ())


def with_element(type: Type, element: Scalar) -> Type:
    return TensorType(shape_of(type), element) if shape_of(type) else element


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    columns = list(itertools.zip_longest(reversed(lhs), reversed(rhs), fillvalue=1))[::-1]
    for i, (left, right) in enumerate(columns):
        if len({left, right, 1}) == 3:
            raise ValueError(f"Cannot make_shape_compatible: incompatible dimensions at index {i}: {left} and {right}")
    return tuple(max(column) for column in columns)
