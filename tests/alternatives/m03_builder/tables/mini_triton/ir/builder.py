"""Building IR: where operations go, where they came from, and the broadcasts and casts they need.

A type rule wants operands that fit exactly. The builder makes them fit: it inserts `tt.splat`, `tt.expand_dims`,
`tt.broadcast` and casts in front. Loops, branches and functions are built with `scopes.py`.

Source: MLIR's `OpBuilder`; Triton's `python/src/ir.cc` and `broadcast_impl_value` in `semantic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
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


def _wrapped(value: bool | int, width: int) -> int:
    """The signed integer with these bits."""
    if value not in range(-(2**width) // 2, 2**width):
        raise ValueError(f"{value} does not fit into {width} bits")
    return (int(value) + 2**width // 2) % 2**width - 2**width // 2


def _truth(value: bool | int, width: int) -> bool:
    if value not in (0, 1):
        raise ValueError(f"{value} is neither true nor false")
    return value == 1


_STORE: dict[tuple[type, bool], Callable[..., bool | int | float]] = {
    (FloatType, False): lambda value, width: float(value),
    (IntegerType, False): _wrapped,
    (IntegerType, True): _truth,
}


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
    def _with(self, **new: Any) -> Iterator[None]:
        """Inside the `with`, these attributes have other values."""
        old = {name: getattr(self, name) for name in new}
        vars(self).update(new)
        try:
            yield
        finally:
            vars(self).update(old)

    @contextmanager
    def at_end(self, block: Block) -> Iterator[None]:
        """Inside the `with`, operations go to the end of `block`; afterwards to where they went before."""
        with self._with(block=block, anchor=None):
            yield

    @contextmanager
    def before(self, operation: Operation) -> Iterator[None]:
        """Inside the `with`, operations go right before `operation`, in the order in which they are made."""
        if not operation.parent:
            raise ValueError(f"there is no place before {operation.name}: it is in no block")
        with self._with(block=operation.parent, anchor=operation):
            yield

    @contextmanager
    def location(self, loc: Loc | None) -> Iterator[None]:
        """Inside the `with`, operations come from `loc`. This is the only place where locations are set."""
        with self._with(loc=loc):
            yield

    def insert(self, operation: Operation) -> Operation:
        """Put `operation` at the insertion point and return it. Raises `ValueError` if there is none."""
        if self.block is None:
            raise ValueError("nowhere to insert")
        operations = self.block.operations
        return self.block.insert(operations.index(self.anchor) if self.anchor else len(operations), operation)

    def operation(
        self,
        name: str,
        *operands: Value,
        result: Type | tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
        **attributes: Any,
    ) -> Operation:
        """Create operation `name`, mark it with the current location and insert it."""
        keywords = dict(result=result, regions=regions, loc=self.loc) | attributes
        return self.insert(create(name, *operands, **keywords))

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
        store = _STORE.get((element.__class__, element == I1))
        if store is None or isinstance(value, float) and not isinstance(element, FloatType):
            raise TypeError(f"no constant of type {type} is {value!r}")
        return self.create("arith.constant", value=store(value, element.width), result=type)

    # --- broadcasting

    def splat(self, value: Value, shape: Sequence[int]) -> OpResult:
        """A scalar in every element of a tensor of `shape`."""
        return self.create("tt.splat", value, result=TensorType(tuple(shape), element_type(value.type)))

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        """A new dimension of size 1; `axis` may be negative, then it counts from the end of the result.

        An axis out of range is left to the operation's type rule, which refuses it with `VerificationError`.
        """
        rank = len(shape_of(value.type))
        return self.create("tt.expand_dims", value, axis=axis + (rank + 1) * (axis < 0))

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` in the given shape, by as few operations as possible: none if it has that shape already.

        Raises `ValueError` if the shape of `value` does not broadcast to `shape`.
        """
        shape, old = tuple(shape), shape_of(value.type)
        if broadcast_shapes(old, shape) != shape:
            raise ValueError(f"shape {old} does not grow to {shape}")
        if old and old != shape:
            value = reduce(self.expand_dims, [0] * (len(shape) - len(old)), value)
        grow = {(): "tt.splat", shape: None}.get(shape_of(value.type), "tt.broadcast")
        if shape == old or grow is None:
            return value
        return self.create(grow, value, result=TensorType(shape, element_type(value.type)))

    def broadcast(self, *values: Value) -> list[Value]:
        """All values in the one shape that their shapes broadcast to."""
        shape = reduce(broadcast_shapes, (shape_of(value.type) for value in values))
        return list(map(partial(self.broadcast_to, shape=shape), values))

    # --- operations that broadcast

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        """An elementwise operation, its operands broadcast to one shape: `elementwise("arith.addi", x, y)`."""
        return self.operation(name, *self.broadcast(*operands), **attributes).result

    def add(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("mul", lhs, rhs)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        """Integer or float arithmetic, by what the left operand is."""
        return self.elementwise(f"arith.{name}" + "if"[is_float(lhs.type)], lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        """`slt`, `ult`, `oeq`, ...: the predicate of `arith.cmpi` or `arith.cmpf`, by what the left operand is."""
        return self.elementwise("arith.cmp" + "if"[is_float(lhs.type)], lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        """Pointers moved by `offset` elements; both are broadcast to one shape."""
        return self.elementwise("tt.addptr", ptr, offset)

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        """Read through `ptr` where `mask` holds. Pointer and mask are broadcast together, then `other` to their shape.

        Raises `ValueError` for `other` without a mask: nothing would ever be read from it.
        """
        if mask is None and other is not None:
            raise ValueError("`other` is for what a mask leaves out")
        ptr, *mask_ = self.broadcast(ptr, *filter(None, [mask]))
        others = [self.broadcast_to(value, shape_of(ptr.type)) for value in (other,) if value is not None]
        return self.create("tt.load", ptr, *mask_, *others)

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> None:
        """Write through `ptr` where `mask` holds. Value and mask are broadcast to its shape, never the reverse."""
        given = [operand for operand in (value, mask) if operand is not None]
        self.operation("tt.store", ptr, *(self.broadcast_to(operand, shape_of(ptr.type)) for operand in given))

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
        special = {
            "arith.cmpi": lambda v, _: self.compare("ne", v, self.constant(0, v.type)),
            "arith.cmpf": lambda v, _: self.compare("une", v, self.constant(0, v.type)),
            "tt.fp_to_fp": lambda v, target: self.create(
                "tt.fp_to_fp", v, result=target, **({"rounding": "rtne"} if width(target) < width(v.type) else {})
            ),
        }

        def apply(v: Value, step: tuple[str, HasIRType]) -> Value:
            name, target = step[0], with_element(v.type, step[1].ir_type)
            return special.get(name, lambda v, target: self.create(name, v, result=target))(v, target)

        return reduce(apply, steps, value)
