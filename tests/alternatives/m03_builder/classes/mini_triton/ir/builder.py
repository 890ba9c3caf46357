from mini_triton.ir.types import PointerType


class _Place:
    """An insertion point, while its `with` lasts."""

    def __init__(self, builder: Builder, block: Block, anchor: Operation | None) -> None:
        self.builder, self.place = builder, (block, anchor)

    def __enter__(self) -> None:
        self.before = self.builder.block, self.builder.anchor
        self.builder.block, self.builder.anchor = self.place

    def __exit__(self, *error: object) -> None:
        self.builder.block, self.builder.anchor = self.before


class _Origin:
    """A location, while its `with` lasts."""

    def __init__(self, builder: Builder, loc: Loc | None) -> None:
        self.builder, self.loc = builder, loc

    def __enter__(self) -> None:
        self.builder.loc, self.loc = self.loc, self.builder.loc

    def __exit__(self, *error: object) -> None:
        self.builder.loc, self.loc = self.loc, self.builder.loc


class _Step:
    """One step of a cast."""

    def __init__(self, builder: Builder, name: str, element: Scalar) -> None:
        self.builder, self.name, self.element = builder, name, element

    def __call__(self, value: Value) -> Value:
        if self.name.startswith("arith.cmp"):
            zero = self.builder.constant(0, value.type)
            return self.builder.compare("une" if self.name.endswith("f") else "ne", value, zero)
        narrower = self.element.width < element_type(value.type).width
        options = {"rounding": "rtne"} if self.name == "tt.fp_to_fp" and narrower else {}
        return self.builder.create(self.name, value, result=with_element(value.type, self.element), **options)


def _bytes(value: int, count: int) -> bytes:
    """An integer in so many bytes, with or without a sign."""
    try:
        return value.to_bytes(count, "little", signed=value < 0)
    except OverflowError as error:
        raise ValueError(f"{value} does not fit into {count} bytes") from error


class Builder:
    def at_end(self, block: Block) -> Iterator[None]:
        with _Place(self, block, None):
            yield

    def before(self, operation: Operation) -> Iterator[None]:
        if operation.parent is None:
            raise ValueError(f"{operation.name} has no block")
        with _Place(self, operation.parent, operation):
            yield

    def location(self, loc: Loc | None) -> Iterator[None]:
        with _Origin(self, loc):
            yield

    def insert(self, operation: Operation) -> Operation:
        match self.block, self.anchor:
            case None, _:
                raise ValueError("no block to insert into")
            case block, None:
                block.append(operation)
            case block, anchor:
                block.insert(next(i for i, other in enumerate(block.operations) if other is anchor), operation)
        return operation

    def operation(
        self,
        name: str,
        *operands: Value,
        result: Type | tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
        **attributes: Any,
    ) -> Operation:
        operation = create(name, *operands, loc=self.loc, result=result, regions=list(regions), **attributes)
        return self.insert(operation)

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        match element_type(type), value:
            case FloatType(), _:
                stored: bool | int | float = float(value)
            case PointerType(), _:
                raise TypeError(f"{type} has no constants")
            case _, float():
                raise TypeError(f"{value} is no integer")
            case IntegerType(width=1), 0 | 1:
                stored = bool(value)
            case IntegerType(width=1), _:
                raise ValueError(f"{value} is no boolean")
            case IntegerType(width=width), _:
                stored = int.from_bytes(_bytes(int(value), width // 8), "little", signed=True)
        return self.create("arith.constant", value=stored, result=type)

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        places = range(len(shape_of(value.type)) + 1)
        return self.create("tt.expand_dims", value, axis=places[axis] if axis in range(-len(places), 0) else axis)

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        match shape_of(value.type), tuple(shape):
            case old, new if old == new:
                return value
            case (), new:
                return self.splat(value, new)
            case old, new if broadcast_shapes(old, new) != new:
                raise ValueError(f"{old} is no {new}")
            case old, new if len(old) < len(new):
                return self.broadcast_to(self.expand_dims(value, -len(old) - 1), new)
            case old, new:
                return self.create("tt.broadcast", value, result=TensorType(new, element_type(value.type)))
        raise AssertionError

    def broadcast(self, *values: Value) -> list[Value]:
        if len(values) == 1:
            return [*values]
        first, *rest = values
        rest = self.broadcast(*rest)
        shape = broadcast_shapes(shape_of(first.type), shape_of(rest[0].type))
        return [self.broadcast_to(value, shape) for value in values]

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        fitting = self.broadcast(*operands)
        return self.create(name, *fitting, **attributes)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        suffix = "f" if isinstance(element_type(lhs.type), FloatType) else "i"
        return self.elementwise(f"arith.{name}{suffix}", lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        lhs, rhs = self.broadcast(lhs, rhs)
        suffix = "f" if isinstance(element_type(lhs.type), FloatType) else "i"
        return self.create(f"arith.cmp{suffix}", lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        ptr, offset = self.broadcast(ptr, offset)
        return self.operation("tt.addptr", ptr, offset).result

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        match mask, other:
            case None, None:
                operands = [ptr]
            case None, _:
                raise ValueError("`other` without `mask`")
            case _, None:
                operands = self.broadcast(ptr, mask)
            case _:
                operands = self.broadcast(ptr, mask)
                operands.append(self.broadcast_to(other, shape_of(operands[0].type)))
        return self.create("tt.load", *operands)

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> None:
        masks = [] if mask is None else [mask]
        operands = [self.broadcast_to(operand, shape_of(ptr.type)) for operand in [value, *masks]]
        self.operation("tt.store", ptr, *operands)

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        for name, dtype in steps:
            value = _Step(self, name, dtype.ir_type)(value)
        return value
