"""Lower tensor descriptors to pointers and masks, for devices without a copy engine. (Given.)

    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f32>, <tensor<16x32xf32>>
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<16x32xf32>> -> tensor<16x32xf32>

The load becomes that of a block pointer, which the language builds. Where a descriptor crosses control flow, a pointer
takes its place, and further values follow: the array's shape, its strides, and the value of elements outside it.

Source: Triton's `RewriteTensorDescriptorToPointer.cpp`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.descriptors import NAN, PADDING, DescriptorType
from mini_triton.ir.types import I64, FunctionType, PointerType, Type, shape_of
from mini_triton.language import atomics
from mini_triton.language.block_pointer import block_pointer
from mini_triton.language.context import building
from mini_triton.language.dtypes import DTYPES, int32, int64, pointer_type
from mini_triton.language.memory import load, store
from mini_triton.language.tensor import convert, make_scalar, tensor
from mini_triton.transforms.structure import blocks_of, insert, replace_by

Array = tuple[block_pointer, tensor]
"""What a descriptor describes, as a block without offsets; and the value of elements outside it."""


def lower_descriptors(module: Operation) -> bool:
    """Lower the descriptors of a module whose calls are inlined; return whether there were any."""
    lowering = Lowering()
    with building(lowering.builder):
        for operation in [*module.walk()]:
            lowering.visit(operation)
    for operation in reversed(lowering.done):
        operation.erase()
    return bool(lowering.arrays)


def has_descriptors(module: Operation) -> bool:
    """Whether any value of a module is a descriptor."""
    values = (value for operation in module.walk() for value in defined_by(operation))
    return any(isinstance(value.type, DescriptorType) for value in values)


def is_supported(ttir: str, capability: int) -> bool:
    """Whether a GPU's copy engine can do all that a module's text asks of descriptors."""
    gathers = "tt.descriptor_gather" in ttir or "tt.descriptor_scatter" in ttir
    return capability >= (100 if gathers else 90)


def defined_by(operation: Operation) -> list[Value]:
    """The results of an operation, and the arguments of its blocks."""
    return [*operation.results, *(argument for block in blocks_of(operation) for argument in block.arguments)]


def parts_of(type: Any) -> list[Type]:
    """The types of the values that replace a value of this type."""
    if not isinstance(type, DescriptorType):
        return [type]
    return [PointerType(type.block.element), *[I64] * (2 * type.block.rank - 1), type.block.element]


def array_of(type: DescriptorType, parts: Iterable[Value]) -> Array:
    """The array with these parts, which have the types of `parts_of`. The last stride is always 1."""
    signs = (True, False) if not type.sign else (type.sign == "s",)
    element = next(one for one in DTYPES.values() if one.ir_type == type.block.element and one.signed in signs)
    base, *numbers, outside = parts
    sizes = (*(tensor(number, int64) for number in numbers), make_scalar(1, int64))
    rank = type.block.rank
    pointer = tensor(base, pointer_type(element))
    return block_pointer(pointer, sizes[:rank], sizes[rank:], (), type.block.shape), tensor(outside, element)


class Lowering:
    """Visits operations in textual order."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.arrays: dict[Value, Array] = {}  # by descriptor, or by the pointer that takes its place
        self.done: list[Operation] = []  # operations that make descriptors, which nothing will use

    def visit(self, operation: Operation) -> None:
        """Lower an operation that takes, makes or carries descriptors."""
        if operation.name == "tt.func":
            return self.receive(operation)
        is_carried = any(isinstance(value.type, DescriptorType) for value in defined_by(operation))
        if not is_carried and self.arrays.keys().isdisjoint(operation.operands):
            return None
        with self.builder.before(operation), self.builder.location(operation.loc):
            if operation.name == "tt.make_tensor_descriptor":
                base, *sizes = operation.operands
                self.describe(operation.result, base, sizes, operation.attributes.get("padding"))
                self.done.append(operation)
            elif operation.name == "arith.select":
                condition, *sides = operation.operands
                pairs = zip(*map(self.expand, sides), strict=True)
                parts = [self.builder.create("arith.select", condition, *pair) for pair in pairs]
                self.arrays[operation.result] = array_of(operation.result.type, parts)  # type: ignore[arg-type]
                self.done.append(operation)
            elif operation.name.startswith("tt.descriptor_"):
                replace_by(operation, [value.handle for value in self.access(operation)])
            else:
                self.carry(operation)
        return None

    def receive(self, function: Operation) -> None:
        """Replace the descriptors that the host made. After each, a kernel takes its shape and its strides."""
        block = function.regions[0].block
        with self.builder.before(block.operations[0]), self.builder.location(function.loc):
            for place, argument in enumerate(block.arguments):
                if isinstance(type := argument.type, DescriptorType):
                    sizes = block.arguments[place + 1 :][: 2 * type.block.rank]
                    self.describe(argument, argument, sizes, argument.attributes.pop(PADDING, None))
                    argument.type = parts_of(type)[0]
        inputs = tuple(argument.type for argument in block.arguments)
        function.attributes["function_type"] = FunctionType(inputs)

    def describe(self, descriptor: Value, base: Value, sizes: Sequence[Value], padding: Any) -> None:
        """Note what a descriptor describes. The shape is i32."""
        type: Any = descriptor.type
        rank = type.block.rank
        shape = [convert(tensor(size, int32), int64).handle for size in sizes[:rank]]
        pointer, _ = array_of(type, [base, *shape, *sizes[rank:-1], base])
        outside = pointer.padding("nan" if padding == NAN else "zero")
        assert outside is not None
        self.arrays[descriptor] = pointer, outside

    def access(self, operation: Operation) -> list[tensor]:
        """Load or store a block. Returns what was loaded."""
        descriptor, *operands = operation.operands
        array, outside = self.arrays[descriptor]
        kind, value = operation.name.removeprefix("tt.descriptor_"), None
        if kind in ("store", "reduce", "scatter"):
            value = tensor(operands.pop(2 if kind == "scatter" else 0), outside.dtype)
        offsets = tuple(convert(tensor(operand, int32), int64) for operand in operands)
        rows = shape_of(operands[0].type) or array.block_shape[:1]
        block = dataclasses.replace(array, offsets=offsets, block_shape=(*rows, *array.block_shape[1:]))
        pointers, mask = block.pointers(), block.mask(tuple(range(len(offsets))))
        if value is None:
            return [load(pointers, mask, outside)]
        if kind == "reduce":
            reduce: Callable[..., Any] = getattr(atomics, f"atomic_{operation.attributes['kind']}")
            reduce(pointers, value, mask)
        else:
            store(pointers, value, mask)
        return []

    def expand(self, value: Value) -> list[Value]:
        """The values in the place of a value."""
        if value not in self.arrays:
            return [value]
        array, outside = self.arrays[value]
        return [part.handle for part in (array.base, *array.shape, *array.strides[:-1], outside)]

    def carry(self, operation: Operation) -> None:
        """Make an operation of control flow carry arrays: first what takes the place of a value, then all the rest."""
        types = [result.type for result in operation.results]
        operands, parts = [*map(self.expand, operation.operands)], [*map(parts_of, types)]
        new = Operation(operation.name, ordered(operands), ordered(parts), operation.attributes, (), operation.loc)
        new.regions, operation.regions = operation.regions, []
        for region in new.regions:
            region.parent = new
        insert(new, operation)
        rest = iter(new.results[len(types) :])
        self.note(zip(types, new.results, strict=False), lambda _: next(rest))
        for block in blocks_of(new):
            arguments = [(argument.type, argument) for argument in block.arguments]
            self.note(arguments, block.add_argument)
        replace_by(operation, new.results[: len(types)])

    def note(self, values: Iterable[tuple[Any, Value]], add: Callable[[Type], Value]) -> None:
        """Note the arrays among values, given with their former types; `add` makes the other parts of an array."""
        for type, value in values:
            value.type, *others = parts_of(type)
            if isinstance(type, DescriptorType):
                self.arrays[value] = array_of(type, [value, *map(add, others)])


def ordered(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """The first part of each value, then the others."""
    return [part[0] for part in parts] + [one for part in parts for one in part[1:]]
