"""What IR means, by NumPy: a small interpreter of memory, shapes and control flow; `arithmetic.py` has the rest.

Pointers are positions in one flat array, the memory. What NumPy does with two arrays is what the IR must do.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import I1, FloatType, IntegerType, PointerType, Type, element_type, shape_of

from tests.support.m06_codegen import arithmetic

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
TERMINATORS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")

COMPARISONS = {
    name: getattr(operator, name[-2:])
    for name in "eq ne slt sle sgt sge ult ule ugt uge oeq olt ole ogt oge une".split()
}


def numpy_type(type: Type) -> np.dtype:
    """NumPy's dtype for the elements of `type`; a pointer is a position."""
    element = element_type(type)
    if isinstance(element, PointerType):
        return np.dtype(np.int64)
    if isinstance(element, FloatType):
        return np.dtype(FLOATS[element.name])
    return np.dtype(bool) if element.width == 1 else np.dtype(f"int{element.width}")


class Machine:
    """Runs operations: values in a dictionary, memory in an array, functions of a module by name."""

    def __init__(self, memory: Any = (), functions: Sequence[Operation] = ()) -> None:
        self.memory = np.array(memory)
        self.functions = {function.attributes["sym_name"]: function for function in functions}
        self.values: dict[Value, Any] = {}
        self.printed: list[tuple[Operation, Any]] = []  # each `tt.print`, and its operand

    def run(self, block: Block, *arguments: Any) -> list[Any]:
        """The operands of the block's terminator, or nothing if it has none, after all before it has run."""
        for argument, given in zip(block.arguments, arguments, strict=True):
            self.values[argument] = np.asarray(given, numpy_type(argument.type)).reshape(shape_of(argument.type))
        for operation in block.operations:
            operands = [self.values[operand] for operand in operation.operands]
            if operation.name in TERMINATORS:
                return operands
            with np.errstate(all="ignore"):  # IR arithmetic wraps around, and knows NaN
                results = self._results(operation, operands)
            for value, result in zip(operation.results, results, strict=True):
                self.values[value] = np.asarray(result, numpy_type(value.type))
                assert self.values[value].shape == shape_of(value.type), print_module(operation)
        return []

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """What function `name` returns."""
        return self.run(self.functions[name].regions[0].block, *arguments)

    def _results(self, operation: Operation, operands: list[Any]) -> Sequence[Any]:
        name, attributes = operation.name, operation.attributes
        shape = shape_of(operation.results[0].type) if operation.results else ()
        if name in arithmetic.OPERATIONS:
            return [arithmetic.OPERATIONS[name](*operands)]
        match name:
            case "arith.constant":
                return [np.full(shape, attributes["value"])]
            case "arith.cmpi" | "arith.cmpf":
                return [self._compare(str(attributes["predicate"]), operation.operands[0].type, operands)]
            case "arith.trunci":  # to i1: the lowest bit
                return [operands[0] & 1 if element_type(operation.results[0].type) == I1 else operands[0]]
            case "tt.bitcast":
                return [operands[0].view(numpy_type(operation.results[0].type))]
            case "tt.get_program_id":
                return [0]
            case "tt.make_range":
                return [np.arange(attributes["start"], attributes["end"])]  # type: ignore[arg-type]
            case "tt.splat" | "tt.broadcast":
                return [np.broadcast_to(operands[0], shape)]
            case "tt.expand_dims":
                return [np.expand_dims(operands[0], attributes["axis"])]  # type: ignore[arg-type]
            case "tt.reshape":
                return [np.reshape(operands[0], shape)]
            case "tt.load":
                return [self._load(*operands)]
            case "tt.print":
                self.printed.append((operation, operands[0]))
                return []
            case "tt.store":
                self._store(*operands)
                return []
            case "tt.call":
                return self.call(str(attributes["callee"]), *operands)
            case "scf.for":
                return self._for(operation.regions[0], *operands)
            case "scf.if":
                taken = operation.regions[0 if operands[0] else 1]
                return self.run(taken.block) if taken.blocks else []
            case "scf.while":
                return self._while(operation.regions, operands)
        raise AssertionError(f"these tests do not know the operation {name}:\n{print_module(operation)}")

    def _compare(self, predicate: str, type: Type, operands: list[Any]) -> Any:
        if predicate.startswith("u") and isinstance(element_type(type), IntegerType):
            operands = list(map(arithmetic.unsigned, operands))
        assert predicate in COMPARISONS, f"not {predicate!r}: to compare floats with zero, use `une`, true for NaN"
        return COMPARISONS[predicate](*operands)

    def _load(self, pointers: Any, mask: Any = True, other: Any = 0) -> Any:
        return np.where(mask, self.memory[np.where(mask, pointers, 0)], other)

    def _store(self, pointers: Any, values: Any, mask: Any = True) -> None:
        mask = np.broadcast_to(mask, pointers.shape)
        self.memory[pointers[mask]] = values[mask]

    def _for(self, body: Region, lower: Any, upper: Any, step: Any, *carried: Any) -> Sequence[Any]:
        for i in range(lower, upper, step):
            carried = tuple(self.run(body.block, i, *carried))
        return carried

    def _while(self, regions: list[Region], carried: Sequence[Any]) -> Sequence[Any]:
        while True:
            goes_on, *forwarded = self.run(regions[0].block, *carried)
            if not goes_on:
                return forwarded
            carried = self.run(regions[1].block, *forwarded)
