"""Building IR: insertion points, source locations, and the broadcasts and casts that operations need.

Type rules require operands that match exactly. The builder makes operands match: it inserts `tt.splat`,
`tt.expand_dims`, `tt.broadcast` and casts before the operation. `scopes.py` builds loops, branches and functions.

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
    """A dtype of the language, as the builder uses it."""

    @property
    def ir_type(self) -> Scalar: ...


class Builder:
    """Creates operations at an insertion point and marks each with the current source location."""

    def __init__(self) -> None:
        self.block: Block | None = None  # new operations go to this block,
        self.anchor: Operation | None = None  # before this operation; None means the end
        self.loc: Loc | None = None

    # --- insertion points and locations

    @contextmanager
    def at_end(self, block: Block) -> Iterator[None]:
        """Inside the `with`, operations go to the end of `block`. Afterwards, the old insertion point is restored."""
        # Task 3.1: With `at_end(inner)` inside `at_end(outer)`, operations go to `inner`, then again to `outer`, even
        # if an exception leaves the inner `with`.
        raise NotImplementedError("Task 3.1: Insertion points and locations")

    @contextmanager
    def before(self, operation: Operation) -> Iterator[None]:
        """Inside the `with`, new operations go immediately before `operation`, in order."""
        # Task 3.1: If a block contains only the operation `end`, creating `a` and then `b` inside `with before(end)`
        # gives the block a, b, end. Afterwards, the old insertion point is restored. Raise ValueError for an operation
        # that is not in a block.
        raise NotImplementedError("Task 3.1: Insertion points and locations")

    @contextmanager
    def location(self, loc: Loc | None) -> Iterator[None]:
        """Inside the `with`, new operations have the location `loc`. No other method sets a location."""
        # Task 3.1: After the `with`, the previous location is restored. `location(None)` means no location.
        raise NotImplementedError("Task 3.1: Insertion points and locations")

    def insert(self, operation: Operation) -> Operation:
        """Put `operation` at the insertion point and return it. Raises `ValueError` without an insertion point."""
        # Task 3.1: Afterwards, the operation's `parent` is the block. `insert` does not change the operation's
        # location.
        raise NotImplementedError("Task 3.1: Insertion points and locations")

    def operation(
        self,
        name: str,
        *operands: Value,
        result: Type | tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
        **attributes: Any,
    ) -> Operation:
        """Create the operation `name` with the current location, and insert it.

        If the type rule rejects the operation, the message of its error contains this location.
        """
        # Task 3.1: The arguments are those of `create` in `ops/definition.py` (task 2.7). Nothing is inserted if the
        # type rule rejects the operation.
        raise NotImplementedError("Task 3.1: Insertion points and locations")

    def create(self, name: str, *operands: Value, result: Type | tuple[Type, ...] = (), **attributes: Any) -> OpResult:
        """Like `operation`, but return the operation's only result."""
        return self.operation(name, *operands, result=result, **attributes).result

    # --- constants

    def constant(self, value: bool | int | float, type: Type) -> OpResult:
        """A constant of `type`; for a tensor type, every element is `value`.

        Integer types accept values from the smallest signed to the largest unsigned value of their width; `i1` accepts
        booleans, 0 and 1; float types also accept integers. Raises `ValueError` if the value is out of range, and
        `TypeError` if `type` is a pointer type, or an integer type with a float `value`. If an error is raised, nothing
        is inserted.
        """
        # Task 3.2: Emit one `arith.constant`. Its attribute `value` is a bool for `i1`, an int in the signed range for
        # all other integer types, and a float for float types.
        raise NotImplementedError("Task 3.2: Constants")

    # --- broadcasting

    def splat(self, value: Value, shape: Sequence[int]) -> OpResult:
        """A tensor of `shape` with the scalar `value` in every element."""
        return self.create("tt.splat", value, result=TensorType(tuple(shape), element_type(value.type)))

    def expand_dims(self, value: Value, axis: int) -> OpResult:
        """Insert a new dimension of size 1. `axis` has the same meaning as in `np.expand_dims`.

        If `axis` is out of range, the operation's type rule raises `VerificationError`.
        """
        # Task 3.3: The axes 1 and -1 turn `tensor<8xf32>` into `tensor<8x1xf32>`; 2 and -3 are out of range.
        raise NotImplementedError("Task 3.3: Broadcasting operands")

    def broadcast_to(self, value: Value, shape: Sequence[int]) -> Value:
        """Broadcast `value` to a shape with as few operations as possible: none if `value` already has that shape.

        Raises `ValueError` if the shape of `value` does not broadcast to `shape`, or if no tensor has this shape.
        """
        # Task 3.3: `shape` may be a list. This method, and every method below that calls it, emits nothing if it
        # raises a `ValueError`.
        raise NotImplementedError("Task 3.3: Broadcasting operands")

    def broadcast(self, *values: Value) -> list[Value]:
        """The values, in the given order, broadcast to their common shape."""
        # Task 3.3: Any number of values, also none. Raise a `ValueError` if they do not have a common shape.
        raise NotImplementedError("Task 3.3: Broadcasting operands")

    # --- operations that broadcast (given)

    def elementwise(self, name: str, *operands: Value, **attributes: Any) -> OpResult:
        """An elementwise operation on operands broadcast to one shape: `elementwise("arith.addi", x, y)`."""
        return self.create(name, *self.broadcast(*operands), **attributes)

    def add(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("add", lhs, rhs)

    def sub(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("sub", lhs, rhs)

    def mul(self, lhs: Value, rhs: Value) -> OpResult:
        return self._arithmetic("mul", lhs, rhs)

    def _arithmetic(self, name: str, lhs: Value, rhs: Value) -> OpResult:
        """The integer or float operation for `name`, such as "add", as the type of the left operand requires."""
        return self.elementwise(f"arith.{name}{'f' if is_float(lhs.type) else 'i'}", lhs, rhs)

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> OpResult:
        """`arith.cmpi` or `arith.cmpf`, as the left operand's type requires. Predicates are `slt`, `ult`, `oeq`, ..."""
        return self.elementwise("arith.cmpf" if is_float(lhs.type) else "arith.cmpi", lhs, rhs, predicate=predicate)

    def addptr(self, ptr: Value, offset: Value) -> OpResult:
        """Move pointers by `offset` elements; both operands are broadcast to a common shape."""
        return self.elementwise("tt.addptr", ptr, offset)

    # --- memory and reductions

    def load(self, ptr: Value, mask: Value | None = None, other: Value | None = None) -> OpResult:
        """Load from `ptr` where `mask` is true.

        The result has the common shape of `ptr` and `mask`. Raises `ValueError` if `other` does not broadcast to this
        shape, and for `other` without a mask, because `other` would never be used.
        """
        # Task 3.3: A load may read the same address several times: with a mask of eight elements, a load from one
        # `!tt.ptr<f32>` returns a `tensor<8xf32>`.
        raise NotImplementedError("Task 3.3: Broadcasting operands")

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> None:
        """Store to `ptr` where `mask` is true. A scalar `value` is stored to every pointer."""
        # Task 3.3: A store must not write to one address several times: each pointer of `ptr` is used once. Raise
        # `ValueError` if the value and the mask would need more pointers.
        raise NotImplementedError("Task 3.3: Broadcasting operands")

    def reduce(self, source: Value, axis: int, combine: Callable[[Value, Value], Value]) -> OpResult:
        """Combine the elements along `axis` with the operations that `combine(left, right)` builds. (Given.)"""
        block = Block([element_type(source.type)] * 2)
        with self.at_end(block):
            self.operation("tt.reduce.return", combine(*block.arguments))
        return self.operation("tt.reduce", source, axis=axis, regions=[Region([block])]).result

    # --- casts

    def cast(self, value: Value, steps: Iterable[tuple[str, HasIRType]]) -> Value:
        """Cast a scalar or a tensor in steps, such as those that `cast_steps` in `language/dtypes.py` returns.

        Each step consists of the name of an operation and the resulting dtype. A comparison is with zero.
        """
        # Task 3.4: `cast_steps(float16, int32)` turns a `tensor<8xf16>` into a `tensor<8xi32>`, in two operations. A
        # comparison is true for every value other than zero, including NaN. Casts round to nearest even (`"rtne"`), but
        # no operation has a `rounding` that its type rule does not require.
        raise NotImplementedError("Task 3.4: Casts")
