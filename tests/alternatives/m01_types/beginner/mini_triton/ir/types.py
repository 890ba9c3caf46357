"""The types of the IR, one small step at a time."""


class IntegerType:
    def __str__(self) -> str:
        text = "i"
        text = text + str(self.width)
        return text


class FloatType:
    def width(self) -> int:
        for name in FLOAT_WIDTHS:
            if name == self.name:
                return FLOAT_WIDTHS[name]
        raise ValueError(self.name)

    def __str__(self) -> str:
        return str(self.name)


class PointerType:
    def width(self) -> int:
        return 64

    def __str__(self) -> str:
        text = str(self.pointee)
        return "!tt.ptr<" + text + ">"


class TensorType:
    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        if len(self.shape) == 0:
            raise TypeError("a tensor needs at least one dimension")
        if type(self.element) not in (IntegerType, FloatType, PointerType):
            raise TypeError("the element must be a scalar")
        for i in range(len(self.shape)):
            dim = self.shape[i]
            if type(dim) is not int:
                raise TypeError("Shape element " + str(i) + " must have type int")
            if dim <= 0:
                raise ValueError("Shape element " + str(i) + " must be a power of 2")
            half = dim
            while half % 2 == 0:
                half = half // 2
            if half != 1:
                raise ValueError("Shape element " + str(i) + " must be a power of 2")
        if self.numel > 1048576:
            raise ValueError("numel (" + str(self.numel) + ") exceeds triton maximum tensor numel (1048576)")

    def numel(self) -> int:
        product = 1
        for dim in self.shape:
            product = product * dim
        return product

    def __str__(self) -> str:
        text = "tensor<"
        for dim in self.shape:
            text = text + str(dim) + "x"
        text = text + str(self.element)
        text = text + ">"
        return text


def element_type(type: Type) -> Scalar:
    if isinstance(type, TensorType):
        return type.element
    else:
        return type


def shape_of(type: Type) -> tuple[int, ...]:
    if isinstance(type, TensorType):
        return type.shape
    else:
        return ()


def with_element(type: Type, element: Scalar) -> Type:
    if isinstance(type, TensorType):
        new_type = TensorType(type.shape, element)
        return new_type
    else:
        return element


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    left_shape = list(lhs)
    right_shape = list(rhs)
    while len(left_shape) < len(right_shape):
        left_shape.insert(0, 1)
    while len(right_shape) < len(left_shape):
        right_shape.insert(0, 1)
    result = []
    index = 0
    while index < len(left_shape):
        left = left_shape[index]
        right = right_shape[index]
        if left == right:
            result.append(left)
        elif left == 1:
            result.append(right)
        elif right == 1:
            result.append(left)
        else:
            raise ValueError(
                "Cannot make_shape_compatible: incompatible dimensions at index "
                + str(index)
                + ": "
                + str(left)
                + " and "
                + str(right)
            )
        index = index + 1
    return tuple(result)
