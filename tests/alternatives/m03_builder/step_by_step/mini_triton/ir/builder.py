"""Building IR: where operations go, where they came from, and the broadcasts and casts they need.

A type rule wants operands that fit exactly. The builder makes them fit: it inserts `tt.splat`, `tt.expand_dims`,
`tt.broadcast` and casts in front. Loops, branches and functions are built with `scopes.py`.

Source: MLIR's `OpBuilder`; Triton's `python/src/ir.cc` and `broadcast_impl_value` in `semantic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from mini_triton.errors import Loc
from mini_triton.ir.core import Block, Operation, OpResult, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.types import (
    FloatType,
    PointerType,
    Scalar,
    TensorType,
    Type,
    broadcast_shapes,
    element_type,
    shape_of,
)


class HasIRType(Protocol):
    """A dtype of the language, as far as the builder cares."""

    @property
    def ir_type(self) -> Scalar: ...


class Builder:
    """Creates operations at an insertion point and marks each with the current source location."""

    def __init__(self) -> None:
        self.block: Block | None = None  # where operations go ...
        self.anchor: Operation | None = None  # ... before this one, or to the end
        self.loc: Loc | None = None

    # --- where and whence

    @contextmanager
    def at_end(self, block: Block) -> Iterator[None]:
        """Inside the `with`, operations go to the end of `block`; afterwards to where they went before."""
        old_block = self.block
        old_anchor = self.anchor
        self.block = block
        self.anchor = None
        try:
            yield
        finally:
            self.block = old_block
            self.anchor = old_anchor

    @contextmanager
    def before(self, operation: Operation) -> Iterator[None]:
        """Inside the `with`, operations go right before `operation`, in the order in which they are made."""
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

    @contextmanager
    def location(self, loc: Loc | None) -> Iterator[None]:
        """Inside the `with`, operations come from `loc`. This is the only place where locations are set."""
        old_loc = self.loc
        self.loc = loc
        try:
            yield None
        finally:
            self.loc = old_loc

    def insert(self, operation: Operation) -> Operation:
        """Put `operation` at the insertion point and return it. Raises `ValueError` if there is none."""
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
        """Create operation `name`, mark it with the current location and insert it."""
        made = create(name, *operands, result=result, regions=regions, loc=self.loc, **attributes)
        self.insert(made)
        return made

    def create(self, name: str, *operands: Value, result: Type | tuple[Type, ...] = (), **attributes: Any) -> OpResult:
        """As `operation`, but returns the only result."""
        return self.operation(name, *operands, result=result, **attributes).result

    # --- constants

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        """`value` as a constant of `type`; a tensor type has it in every element.

        Integer types read the value modulo 2**width, but only from the smallest signed to the largest unsigned value;
        `i1` takes booleans and 0 and 1; float types take integers as well. Raises `ValueError` for a value
        out of range, `TypeError` for a float in an integer type and for a pointer type.
        """
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

    # --- broadcasting

    def splat(self, value: Value, shape: Sequence[int]) -> OpResult:
        """A scalar in every element of a tensor of `shape`."""
        return self.create("tt.splat", value, result=TensorType(tuple(shape), element_type(value.type)))

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        """A new dimension of size 1; `axis` may be negative, then it counts from the end of the result.

        An axis out of range is left to the operation's type rule, which refuses it with `VerificationError`.
        """
        if axis < 0:
            new_rank = len(shape_of(value.type)) + 1
            axis = axis + new_rank
        return self.create("tt.expand_dims", value, axis=axis)

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` in the given shape, by as few operations as possible: none if it has that shape already.

        Raises `ValueError` if the shape of `value` does not broadcast to `shape`.
        """
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
        """All values in the one shape that their shapes broadcast to."""
        common = shape_of(values[0].type)
        for other in values[1:]:
            common = broadcast_shapes(common, shape_of(other.type))
        results = []
        for value in values:
            results.append(self.broadcast_to(value, common))
        return results

    # --- operations that broadcast

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        """An elementwise operation, its operands broadcast to one shape: `elementwise("arith.addi", x, y)`."""
        fitting = self.broadcast(*operands)
        operation = self.operation(name, *fitting, **attributes)
        return operation.results[0]

    def add(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("mul", lhs, rhs)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        """Integer or float arithmetic, by what the left operand is."""
        if isinstance(element_type(lhs.type), FloatType):
            name = "arith." + name + "f"
        else:
            name = "arith." + name + "i"
        return self.elementwise(name, lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        """`slt`, `ult`, `oeq`, ...: the predicate of `arith.cmpi` or `arith.cmpf`, by what the left operand is."""
        if isinstance(element_type(lhs.type), FloatType):
            return self.elementwise("arith.cmpf", lhs, rhs, predicate=predicate)
        return self.elementwise("arith.cmpi", lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        """Pointers moved by `offset` elements; both are broadcast to one shape."""
        shape = broadcast_shapes(shape_of(ptr.type), shape_of(offset.type))
        pointers = self.broadcast_to(ptr, shape)
        offsets = self.broadcast_to(offset, shape)
        return self.create("tt.addptr", pointers, offsets)

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        """Read through `ptr` where `mask` holds. Pointer and mask are broadcast together, then `other` to their shape.

        Raises `ValueError` for `other` without a mask: nothing would ever be read from it.
        """
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
        """Write through `ptr` where `mask` holds. Value and mask are broadcast to its shape, never the reverse."""
        shape = shape_of(ptr.type)
        value = self.broadcast_to(value, shape)
        if mask is None:
            self.operation("tt.store", ptr, value)
        else:
            mask = self.broadcast_to(mask, shape)
            self.operation("tt.store", ptr, value, mask)

    def reduce(self, source: Value, axis: int, combine: Callable[[Value, Value], Value]) -> OpResult:
        """Combine the elements along `axis` by what `combine(left, right)` builds. (Given.)"""
        block = Block([element_type(source.type)] * 2)
        with self.at_end(block):
            self.operation("tt.reduce.return", combine(*block.arguments))
        return self.operation("tt.reduce", source, axis=axis, regions=[Region([block])]).result

    # --- casts

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        """Apply cast steps, as `cast_steps` of `language/dtypes.py` lists them, to a scalar or a tensor.

        Each step is the name of an operation and the dtype after it. A step to `int1` compares with zero.
        """
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
