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
from mini_triton.ir.ops.elementwise import is_float, width
from mini_triton.ir.types import (
    I1,
    FloatType,
    IntegerType,
    Scalar,
    TensorType,
    Type,
    broadcast_shapes,
    element_type,
    shape_of,
    with_element,
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
        # [task 3.1] The insertion point is `self.block` and `self.anchor`. It comes back on every way out of the
        # `with`.
        saved = self.block, self.anchor
        self.block, self.anchor = block, None
        try:
            yield
        finally:
            self.block, self.anchor = saved
        # [end]

    @contextmanager
    def before(self, operation: Operation) -> Iterator[None]:
        """Inside the `with`, operations go right before `operation`, in the order in which they are made."""
        # [task 3.1] `self.anchor` is the operation that others go before. An operation in no block is a ValueError.
        if operation.parent is None:
            raise ValueError(f"{operation.name} is in no block")
        saved = self.block, self.anchor
        self.block, self.anchor = operation.parent, operation
        try:
            yield
        finally:
            self.block, self.anchor = saved
        # [end]

    @contextmanager
    def location(self, loc: Loc | None) -> Iterator[None]:
        """Inside the `with`, operations come from `loc`. This is the only place where locations are set."""
        # [task 3.1] `self.loc` is the current location. It, too, comes back on every way out.
        saved = self.loc
        self.loc = loc
        try:
            yield
        finally:
            self.loc = saved
        # [end]

    def insert(self, operation: Operation) -> Operation:
        """Put `operation` at the insertion point and return it. Raises `ValueError` if there is none."""
        # [task 3.1] At the end of `self.block`, or right before `self.anchor` if there is one. Given: `append` and
        # `insert` of a block.
        if self.block is None:
            raise ValueError("there is no insertion point: use `with builder.at_end(block)`")
        if self.anchor is None:
            return self.block.append(operation)
        return self.block.insert(self.block.operations.index(self.anchor), operation)
        # [end]

    def operation(
        self,
        name: str,
        *operands: Value,
        result: Type | tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
        **attributes: Any,
    ) -> Operation:
        """Create operation `name`, mark it with the current location and insert it."""
        # [task 3.1] Given: `create` of `ops/definition.py` (task 2.7), which makes and types it.
        return self.insert(create(name, *operands, result=result, regions=regions, loc=self.loc, **attributes))
        # [end]

    def create(self, name: str, *operands: Value, result: Type | tuple[Type, ...] = (), **attributes: Any) -> OpResult:
        """As `operation`, but returns the only result."""
        return self.operation(name, *operands, result=result, **attributes).result

    # --- constants

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        """`value` as a constant of `type`; a tensor type has it in every element.

        Integer types read the value modulo 2**width, but only from the smallest signed to the largest unsigned value;
        `i1` takes booleans and 0 and 1; float types take integers as well. Raises `ValueError` for a value
        out of range, `TypeError` for a float in an integer type and for a pointer type; then nothing is inserted.
        """
        # [task 3.2] The attribute `value` of an `arith.constant` is a bool for `i1`, a signed integer for other integer
        # types (255 as `i8` is -1), a float for float types (1 as `f32` is 1.0).
        element = element_type(type)
        if isinstance(element, FloatType):
            return self.create("arith.constant", value=float(value), result=type)
        if not isinstance(element, IntegerType) or isinstance(value, float):
            raise TypeError(f"{value!r} cannot be a constant of type {type}")
        smallest, count = -(2 ** (element.width - 1)), 2**element.width
        if element == I1:
            smallest = 0
        if not smallest <= value < count:
            raise ValueError(f"{value} is out of range for {element}")
        if element == I1:
            return self.create("arith.constant", value=bool(value), result=type)
        signed = int(value) - count if value >= count // 2 else int(value)
        return self.create("arith.constant", value=signed, result=type)
        # [end]

    # --- broadcasting

    def splat(self, value: Value, shape: Sequence[int]) -> OpResult:
        """A scalar in every element of a tensor of `shape`."""
        return self.create("tt.splat", value, result=TensorType(tuple(shape), element_type(value.type)))

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        """A new dimension of size 1; `axis` may be negative, then it counts from the end of the result.

        An axis out of range is left to the operation's type rule, which refuses it with `VerificationError`.
        """
        # [task 3.3] Axis -1 of `tensor<8xf32>` gives `tensor<8x1xf32>`. `tt.expand_dims` itself takes no negative axis.
        rank = len(shape_of(value.type)) + 1
        return self.create("tt.expand_dims", value, axis=axis % rank if -rank <= axis < rank else axis)
        # [end]

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` in the given shape, by as few operations as possible: none if it has that shape already.

        Raises `ValueError` if the shape of `value` does not broadcast to `shape`.
        """
        # [task 3.3] `tensor<8xf32>` to (4, 8) takes two operations, `f32` to (4, 8) one, `tensor<8xf32>` to (1, 8) one.
        # Given: `splat`, and `broadcast_shapes` of task 1.3.
        shape = tuple(shape)
        old = shape_of(value.type)
        if old == shape:
            return value
        if broadcast_shapes(old, shape) != shape:
            raise ValueError(f"{old} cannot be broadcast to {shape}")
        if not old:
            return self.splat(value, shape)
        for _ in range(len(shape) - len(old)):
            value = self.expand_dims(value, 0)
        if shape_of(value.type) == shape:
            return value
        return self.create("tt.broadcast", value, result=TensorType(shape, element_type(value.type)))
        # [end]

    def broadcast(self, *values: Value) -> list[Value]:
        """All values in the one shape that their shapes broadcast to."""
        # [task 3.3] Shapes (4, 1), () and (8,) all become (4, 8).
        shape: tuple[int, ...] = ()
        for value in values:
            shape = broadcast_shapes(shape, shape_of(value.type))
        return [self.broadcast_to(value, shape) for value in values]
        # [end]

    # --- operations that broadcast

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        """An elementwise operation, its operands broadcast to one shape: `elementwise("arith.addi", x, y)`."""
        # [task 3.3] Of `tensor<8xi32>` and `i32`, `arith.addi` is a `tensor<8xi32>`.
        return self.create(name, *self.broadcast(*operands), **attributes)
        # [end]

    def add(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("mul", lhs, rhs)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        """Integer or float arithmetic, as the type of the left operand requires."""
        # [task 3.3] "add" of integers is `arith.addi`, of floats `arith.addf`. Operands are broadcast.
        return self.elementwise(f"arith.{name}{'f' if is_float(lhs.type) else 'i'}", lhs, rhs)
        # [end]

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        """`slt`, `ult`, `oeq`, ...: the predicate of `arith.cmpi` or `arith.cmpf`, chosen by the left operand."""
        # [task 3.3] Operands are broadcast.
        return self.elementwise("arith.cmpf" if is_float(lhs.type) else "arith.cmpi", lhs, rhs, predicate=predicate)
        # [end]

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        """Pointers moved by `offset` elements; both are broadcast to one shape."""
        # [task 3.3] `!tt.ptr<f32>` moved by `tensor<8xi32>` is `tensor<8x!tt.ptr<f32>>`.
        return self.elementwise("tt.addptr", ptr, offset)
        # [end]

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        """Read through `ptr` where `mask` holds. Pointer and mask are broadcast together, then `other` to their shape.

        Raises `ValueError` for `other` without a mask: nothing would ever be read from it.
        """
        # [task 3.3] A scalar pointer with a mask of eight reads `tensor<8xf32>`, eight times the same place.
        if mask is None:
            if other is not None:
                raise ValueError("`other` cannot be provided without `mask`")
            return self.create("tt.load", ptr)
        ptr, mask = self.broadcast(ptr, mask)
        if other is None:
            return self.create("tt.load", ptr, mask)
        return self.create("tt.load", ptr, mask, self.broadcast_to(other, shape_of(ptr.type)))
        # [end]

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> None:
        """Write through `ptr` where `mask` holds. Value and mask are broadcast to its shape, never the reverse."""
        # [task 3.3] A scalar value is written through every pointer. A mask of eight beside a scalar pointer is a
        # ValueError: the same place would be written eight times.
        shape = shape_of(ptr.type)
        operands = [ptr, self.broadcast_to(value, shape)]
        if mask is not None:
            operands.append(self.broadcast_to(mask, shape))
        self.operation("tt.store", *operands)
        # [end]

    def reduce(self, source: Value, axis: int, combine: Callable[[Value, Value], Value]) -> OpResult:
        """Combine the elements along `axis` by the operations that `combine(left, right)` builds. (Given.)"""
        block = Block([element_type(source.type)] * 2)
        with self.at_end(block):
            self.operation("tt.reduce.return", combine(*block.arguments))
        return self.operation("tt.reduce", source, axis=axis, regions=[Region([block])]).result

    # --- casts

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        """Apply cast steps, as `cast_steps` of `language/dtypes.py` lists them, to a scalar or a tensor.

        Each step is the name of an operation and the dtype after it. A step to `int1` compares with zero.
        """
        # [task 3.4] A `tensor<8xf16>` by `cast_steps(float16, int32)` is `tensor<8xi32>`, after two operations.
        # `arith.cmpi` has the predicate "ne", `arith.cmpf` "une" (so that NaN is true). A `tt.fp_to_fp` to a narrower
        # float has the attribute `rounding="rtne"`; all others have none.
        for name, dtype in steps:
            target = with_element(value.type, dtype.ir_type)
            if name == "arith.cmpi":
                value = self.compare("ne", value, self.constant(0, value.type))
            elif name == "arith.cmpf":
                value = self.compare("une", value, self.constant(0.0, value.type))
            elif name == "tt.fp_to_fp" and width(target) < width(value.type):
                value = self.create(name, value, rounding="rtne", result=target)
            else:
                value = self.create(name, value, result=target)
        return value
        # [end]
