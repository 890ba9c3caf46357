"""The structure of the IR: values, operations, blocks and regions.

An operation uses values and defines new ones, its results. A block is a list of operations, with arguments; a region is
a list of blocks; an operation may contain regions. A whole program is therefore a single operation, the module.

Objects of these classes are compared by identity: two `arith.addi` with the same operands are different operations.

Source: MLIR's "Understanding the IR Structure" tutorial. The names are MLIR's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mini_triton.errors import Loc
from mini_triton.ir.types import FunctionType, Type

Attribute = bool | int | float | str | tuple[int, ...] | FunctionType
"""The Python types of attributes. Attributes are constants, known when the operation is made."""


class Use(NamedTuple):
    """One use of a value: operand `number` of `user`."""

    user: Operation
    number: int


class Value:
    """A value that operations can use. It is defined exactly once (static single assignment, SSA).

    `uses` lists every operand that is this value. `name` only suggests a name to the printer.
    """

    def __init__(self, type: Type, name: str = "") -> None:
        self.type = type
        self.name = name
        self.uses: list[Use] = []

    @property
    def parent_block(self) -> Block | None:
        """The block in which this value is defined, if any. (Given; subclasses override it.)"""
        return None

    def replace_all_uses_with(self, other: Value) -> None:
        """Make every user of this value use `other` instead."""
        # Task 2.1: Afterwards, this value has no uses, unless `other` is this value itself.
        raise NotImplementedError("Task 2.1: Values, operations and their uses")


class OpResult(Value):
    """Result number `index` of operation `owner`."""

    def __init__(self, type: Type, owner: Operation, index: int) -> None:
        super().__init__(type)
        self.owner = owner
        self.index = index

    @property
    def parent_block(self) -> Block | None:
        return self.owner.parent


class BlockArgument(Value):
    """Argument number `index` of block `owner`, such as a function's parameter or a loop's induction variable.

    `attributes` holds facts about a function's parameter, such as `tt.divisibility = 16` for an aligned pointer.
    """

    def __init__(self, type: Type, owner: Block, index: int, name: str = "") -> None:
        super().__init__(type, name)
        self.owner = owner
        self.index = index
        self.attributes: dict[str, Attribute] = {}

    @property
    def parent_block(self) -> Block:
        return self.owner


class Operation:
    """One operation, such as `%sum = arith.addi %x, %y : i32`.

    `parent` is the block that contains it. Operands change only through `set_operand`, which also updates their uses.
    """

    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        loc: Loc | None = None,
    ) -> None:
        self.name = name
        self.attributes = dict(attributes or {})
        self.regions = list(regions)
        self.loc = loc
        self.parent: Block | None = None
        self.results = tuple(OpResult(type, self, i) for i, type in enumerate(result_types))
        self._operands = list(operands)
        for region in self.regions:
            region.parent = self
        # Task 2.1: Record the uses of the operands: `addf %x, %x` has two uses of `%x`. `operands` may be an iterator.
        raise NotImplementedError("Task 2.1: Values, operations and their uses")

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @property
    def result(self) -> OpResult:
        """The only result; raises `ValueError` unless there is exactly one."""
        if len(self.results) != 1:
            raise ValueError(f"{self.name} has {len(self.results)} results, not one")
        return self.results[0]

    @property
    def signature(self) -> FunctionType:
        """This operation's type as a function: `(f32, f32) -> f32`."""
        return FunctionType(tuple(o.type for o in self._operands), tuple(result.type for result in self.results))

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region contains this operation's block."""
        # Task 2.1: Return None if the operation is not in a block, or its block is not in a region.
        raise NotImplementedError("Task 2.1: Values, operations and their uses")

    def set_operand(self, index: int, value: Value) -> None:
        """Replace operand `index` with `value`. The first operand is operand 0."""
        # Task 2.1: Afterwards, operand `index` is one of the uses of `value`, and no longer one of the old value's
        # uses.
        raise NotImplementedError("Task 2.1: Values, operations and their uses")

    def walk(self) -> Iterator[Operation]:
        """This operation and all operations inside it, in textual order.

        The caller may erase operations during the walk, because a block's list of operations is copied before the block
        is visited.
        """
        # Task 2.1: For a module with one function of two operations, yield the module, the function and the two
        # operations, in this order.
        raise NotImplementedError("Task 2.1: Values, operations and their uses")

    def erase(self) -> None:
        """Remove this operation from its block, if any. Drop its operands, and those of all operations inside it.

        Raises `ValueError`, and changes nothing, if a result is still used.
        """
        # Task 2.1: The message is "cannot erase arith.addi: its result 0 still has 2 uses". Afterwards, the `operands`
        # of this operation and of all operations inside it are ().
        raise NotImplementedError("Task 2.1: Values, operations and their uses")


class Block:
    """A list of operations that ends with a terminator. Its arguments are values."""

    def __init__(self, argument_types: Sequence[Type] = (), names: Sequence[str] = ()) -> None:
        self.arguments: list[BlockArgument] = []
        self.operations: list[Operation] = []
        self.parent: Region | None = None
        for i, type in enumerate(argument_types):
            self.add_argument(type, names[i] if names else "")

    def add_argument(self, type: Type, name: str = "") -> BlockArgument:
        argument = BlockArgument(type, self, len(self.arguments), name)
        self.arguments.append(argument)
        return argument

    @property
    def terminator(self) -> Operation | None:
        """The last operation, if there is one."""
        return self.operations[-1] if self.operations else None

    def append(self, operation: Operation) -> Operation:
        """Put `operation` at the end and return it."""
        return self.insert(len(self.operations), operation)

    def insert(self, index: int, operation: Operation) -> Operation:
        """Put `operation` at `index` and return it. Raises `ValueError` if `operation` is already in a block."""
        if operation.parent is not None:
            raise ValueError(f"{operation.name} is in a block already")
        self.operations.insert(index, operation)
        operation.parent = self
        return operation


class Region:
    """Blocks inside an operation. A region of a Triton operation has at most one block."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for block in blocks:
            self.append(block)

    def append(self, block: Block) -> Block:
        block.parent = self
        self.blocks.append(block)
        return block

    @property
    def block(self) -> Block:
        """The only block; raises `ValueError` unless there is exactly one."""
        if len(self.blocks) != 1:
            raise ValueError(f"the region has {len(self.blocks)} blocks, not one")
        return self.blocks[0]


class Module(Operation):
    """The outermost operation, `builtin.module`. Its block contains the functions."""

    def __init__(self, functions: Iterable[Operation] = ()) -> None:
        super().__init__("builtin.module", regions=[Region([Block()])])
        for function in functions:
            self.body.append(function)

    @property
    def body(self) -> Block:
        return self.regions[0].block
