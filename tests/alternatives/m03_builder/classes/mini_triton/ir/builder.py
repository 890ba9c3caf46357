"""Building IR: where operations go, where they came from, and the broadcasts and casts they need.

A type rule wants operands that fit exactly. The builder makes them fit: it inserts `tt.splat`, `tt.expand_dims`,
`tt.broadcast` and casts in front. Loops, branches and functions are built with `scopes.py`.

Source: MLIR's `OpBuilder`; Triton's `python/src/ir.cc` and `broadcast_impl_value` in `semantic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from mini_triton.errors import Loc
from mini_triton.ir.core import Block, Operation, OpResult, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.types import (
    FloatType,
    IntegerType,
    PointerType,
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
    """Creates operations at an insertion point and marks each with the current source location."""

    def __init__(self) -> None:
        self.block: Block | None = None  # where operations go ...
        self.anchor: Operation | None = None  # ... before this one, or to the end
        self.loc: Loc | None = None

    # --- where and whence

    def at_end(self, block: Block) -> _Place:
        """Inside the `with`, operations go to the end of `block`; afterwards to where they went before."""
        return _Place(self, block, None)

    def before(self, operation: Operation) -> _Place:
        """Inside the `with`, operations go right before `operation`, in the order in which they are made."""
        if operation.parent is None:
            raise ValueError(f"{operation.name} has no block")
        return _Place(self, operation.parent, operation)

    def location(self, loc: Loc | None) -> _Origin:
        """Inside the `with`, operations come from `loc`. This is the only place where locations are set."""
        return _Origin(self, loc)

    def insert(self, operation: Operation) -> Operation:
        """Put `operation` at the insertion point and return it. Raises `ValueError` if there is none."""
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
        """Create operation `name`, mark it with the current location and insert it."""
        operation = create(name, *operands, loc=self.loc, result=result, regions=list(regions), **attributes)
        return self.insert(operation)

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

    # --- broadcasting

    def splat(self, value: Value, shape: Sequence[int]) -> OpResult:
        """A scalar in every element of a tensor of `shape`."""
        return self.create("tt.splat", value, result=TensorType(tuple(shape), element_type(value.type)))

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        """A new dimension of size 1; `axis` may be negative, then it counts from the end of the result.

        An axis out of range is left to the operation's type rule, which refuses it with `VerificationError`.
        """
        places = range(len(shape_of(value.type)) + 1)
        return self.create("tt.expand_dims", value, axis=places[axis] if axis in range(-len(places), 0) else axis)

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` in the given shape, by as few operations as possible: none if it has that shape already.

        Raises `ValueError` if the shape of `value` does not broadcast to `shape`.
        """
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
        """All values in the one shape that their shapes broadcast to."""
        if len(values) == 1:
            return [*values]
        first, *rest = values
        rest = self.broadcast(*rest)
        shape = broadcast_shapes(shape_of(first.type), shape_of(rest[0].type))
        return [self.broadcast_to(value, shape) for value in values]

    # --- operations that broadcast

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        """An elementwise operation, its operands broadcast to one shape: `elementwise("arith.addi", x, y)`."""
        fitting = self.broadcast(*operands)
        return self.create(name, *fitting, **attributes)

    def add(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("mul", lhs, rhs)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        """Integer or float arithmetic, by what the left operand is."""
        suffix = "f" if isinstance(element_type(lhs.type), FloatType) else "i"
        return self.elementwise(f"arith.{name}{suffix}", lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        """`slt`, `ult`, `oeq`, ...: the predicate of `arith.cmpi` or `arith.cmpf`, by what the left operand is."""
        lhs, rhs = self.broadcast(lhs, rhs)
        suffix = "f" if isinstance(element_type(lhs.type), FloatType) else "i"
        return self.create(f"arith.cmp{suffix}", lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        """Pointers moved by `offset` elements; both are broadcast to one shape."""
        ptr, offset = self.broadcast(ptr, offset)
        return self.operation("tt.addptr", ptr, offset).result

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        """Read through `ptr` where `mask` holds. Pointer and mask are broadcast together, then `other` to their shape.

        Raises `ValueError` for `other` without a mask: nothing would ever be read from it.
        """
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
        """Write through `ptr` where `mask` holds. Value and mask are broadcast to its shape, never the reverse."""
        masks = [] if mask is None else [mask]
        operands = [self.broadcast_to(operand, shape_of(ptr.type)) for operand in [value, *masks]]
        self.operation("tt.store", ptr, *operands)

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
        for name, dtype in steps:
            value = _Step(self, name, dtype.ir_type)(value)
        return value
