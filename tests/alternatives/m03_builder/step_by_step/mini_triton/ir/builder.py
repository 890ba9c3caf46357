from mini_triton.ir.types import PointerType


class Builder:
    def at_end(self, block: Block) -> Iterator[None]:
        old_block = self.block
        old_anchor = self.anchor
        self.block = block
        self.anchor = None
        try:
            yield
        finally:
            self.block = old_block
            self.anchor = old_anchor

    def before(self, operation: Operation) -> Iterator[None]:
        block = operation.parent
        if block is None:
            raise ValueError("the operation is in no block")
        old_block = self.block
        old_anchor = self.anchor
        self.block = block
        self.anchor = operation
        try:
            yield
        finally:
            self.block = old_block
            self.anchor = old_anchor

    def location(self, loc: Loc | None) -> Iterator[None]:
        old_loc = self.loc
        self.loc = loc
        try:
            yield None
        finally:
            self.loc = old_loc

    def insert(self, operation: Operation) -> Operation:
        if self.block is None:
            raise ValueError("no insertion point")
        index = 0
        for other in self.block.operations:
            if other is self.anchor:
                break
            index = index + 1
        self.block.insert(index, operation)
        return operation

    def operation(
        self,
        name: str,
        *operands: Value,
        result: Type | tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
        **attributes: Any,
    ) -> Operation:
        made = create(name, *operands, result=result, regions=regions, loc=self.loc, **attributes)
        self.insert(made)
        return made

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        element = element_type(type)
        if isinstance(element, PointerType):
            raise TypeError("there are no constant pointers")
        if isinstance(element, FloatType):
            number = float(value)
            return self.create("arith.constant", value=number, result=type)
        if isinstance(value, float):
            raise TypeError("a float is no integer")
        if element.width == 1:
            if value == 0:
                return self.create("arith.constant", value=False, result=type)
            if value == 1:
                return self.create("arith.constant", value=True, result=type)
            raise ValueError("a boolean is 0 or 1")
        integer = int(value)
        largest_unsigned = 2**element.width - 1
        largest_signed = 2 ** (element.width - 1) - 1
        smallest_signed = -largest_signed - 1
        if integer > largest_unsigned:
            raise ValueError("too large")
        if integer < smallest_signed:
            raise ValueError("too small")
        if integer > largest_signed:
            integer = integer - largest_unsigned - 1
        return self.create("arith.constant", value=integer, result=type)

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        if axis < 0:
            new_rank = len(shape_of(value.type)) + 1
            axis = axis + new_rank
        return self.create("tt.expand_dims", value, axis=axis)

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        wanted = list(shape)
        have = list(shape_of(value.type))
        if have == wanted:
            return value
        if len(have) > len(wanted):
            raise ValueError("too many dimensions")
        if len(have) == 0:
            return self.splat(value, wanted)
        while len(have) < len(wanted):
            have.insert(0, 1)
        for i in range(len(wanted)):
            if have[i] != wanted[i] and have[i] != 1:
                raise ValueError("a dimension does not fit")
        while len(shape_of(value.type)) < len(wanted):
            value = self.expand_dims(value, 0)
        if have != wanted:
            result = TensorType(tuple(wanted), element_type(value.type))
            value = self.create("tt.broadcast", value, result=result)
        return value

    def broadcast(self, *values: Value) -> list[Value]:
        common = shape_of(values[0].type)
        for other in values[1:]:
            common = broadcast_shapes(common, shape_of(other.type))
        results = []
        for value in values:
            results.append(self.broadcast_to(value, common))
        return results

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        fitting = self.broadcast(*operands)
        operation = self.operation(name, *fitting, **attributes)
        return operation.results[0]

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        if isinstance(element_type(lhs.type), FloatType):
            name = "arith." + name + "f"
        else:
            name = "arith." + name + "i"
        return self.elementwise(name, lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        if isinstance(element_type(lhs.type), FloatType):
            return self.elementwise("arith.cmpf", lhs, rhs, predicate=predicate)
        return self.elementwise("arith.cmpi", lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        shape = broadcast_shapes(shape_of(ptr.type), shape_of(offset.type))
        pointers = self.broadcast_to(ptr, shape)
        offsets = self.broadcast_to(offset, shape)
        return self.create("tt.addptr", pointers, offsets)

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        if other is not None and mask is None:
            raise ValueError("other needs a mask")
        if mask is None:
            return self.create("tt.load", ptr)
        shape = broadcast_shapes(shape_of(ptr.type), shape_of(mask.type))
        ptr = self.broadcast_to(ptr, shape)
        mask = self.broadcast_to(mask, shape)
        if other is None:
            return self.create("tt.load", ptr, mask)
        other = self.broadcast_to(other, shape)
        return self.create("tt.load", ptr, mask, other)

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> None:
        shape = shape_of(ptr.type)
        value = self.broadcast_to(value, shape)
        if mask is None:
            self.operation("tt.store", ptr, value)
        else:
            mask = self.broadcast_to(mask, shape)
            self.operation("tt.store", ptr, value, mask)

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        for step in steps:
            name = step[0]
            element = step[1].ir_type
            shape = shape_of(value.type)
            if shape == ():
                target: Type = element
            else:
                target = TensorType(shape, element)
            if name == "arith.cmpi":
                zero = self.constant(0, element_type(value.type))
                value = self.compare("ne", value, zero)
            elif name == "arith.cmpf":
                zero = self.constant(0.0, element_type(value.type))
                value = self.compare("une", value, zero)
            elif name == "tt.fp_to_fp":
                if element.width < element_type(value.type).width:
                    value = self.create(name, value, rounding="rtne", result=target)
                else:
                    value = self.create(name, value, result=target)
            else:
                value = self.create(name, value, result=target)
        return value
