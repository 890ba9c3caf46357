"""What IR means, by NumPy: the one interpreter of the tests, which knows nothing of the compiler's own.

Pointers are positions in one flat array, the memory. The IR's integers have no sign, NumPy's have one: arrays are
signed, and operations that read unsigned numbers look at the same bits as such. A result is brought to its type
afterwards, and so wraps around.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import I1, FloatType, IntegerType, PointerType, Type, element_type, shape_of

Function = Callable[..., Any]
Grid = Sequence[int]
Place = tuple[int, int, int]


def places(grid: Grid) -> Iterator[Place]:
    """The ids of all programs of a grid; axis x runs fastest."""
    sizes = (*grid, 1, 1)[:3]
    return ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(sizes))))


def unsigned(x: Any) -> Any:
    """The same bits, read as unsigned numbers."""
    return x.view(f"uint{8 * x.itemsize}")


def _of_unsigned(function: Function) -> Function:
    return lambda *operands: function(*map(unsigned, operands))


def _divided(x: Any, y: Any) -> Any:
    """The quotient, truncated toward zero."""
    return np.where((x < 0) == (y < 0), np.abs(x) // np.abs(y), -(np.abs(x) // np.abs(y)))


def _upper_half(x: Any, y: Any) -> Any:
    """The upper half of the product's bits: Python's integers have room for all."""
    product = unsigned(x).astype(object) * unsigned(y).astype(object)
    return np.asarray(product // 2 ** (8 * x.itemsize), unsigned(x).dtype)


BINARY: dict[str, Function] = {
    **dict.fromkeys(("arith.addi", "arith.addf", "tt.addptr"), np.add),
    **dict.fromkeys(("arith.subi", "arith.subf"), np.subtract),
    **dict.fromkeys(("arith.muli", "arith.mulf"), np.multiply),
    **dict.fromkeys(("arith.divf", "tt.precise_divf"), np.divide),
    "arith.divsi": _divided,
    "arith.divui": _of_unsigned(np.floor_divide),
    "arith.remsi": np.fmod,
    "arith.remui": _of_unsigned(np.remainder),
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.shrui": _of_unsigned(np.right_shift),
    **dict.fromkeys(("arith.maxsi", "arith.maximumf"), np.maximum),
    **dict.fromkeys(("arith.minsi", "arith.minimumf"), np.minimum),
    "arith.maxui": _of_unsigned(np.maximum),
    "arith.minui": _of_unsigned(np.minimum),
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "tt.mulhiui": _upper_half,
}
UNARY: dict[str, Function] = {
    **{f"math.{name}": getattr(np, name) for name in "exp exp2 log log2 sin cos sqrt floor ceil".split()},
    **dict.fromkeys(("math.absf", "math.absi"), np.abs),
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "arith.negf": np.negative,
    "arith.extf": np.array,
    "arith.truncf": np.array,
    "arith.sitofp": np.array,
    "arith.fptosi": np.trunc,
    "arith.extsi": lambda x: -x.astype(np.int8) if x.dtype == bool else x,
    **dict.fromkeys(("arith.extui", "arith.uitofp"), unsigned),
}
OPERATIONS = {**BINARY, **UNARY, "math.fma": lambda x, y, z: x * y + z, "arith.select": np.where}
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
        if name in OPERATIONS:
            return [OPERATIONS[name](*operands)]
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
            operands = list(map(unsigned, operands))
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


class Program(Machine):
    """An interpreter that knows which program of a grid it runs, and more of what moves elements."""

    ids: Place = (0, 0, 0)
    grid: Place = (1, 1, 1)

    def _results(self, operation: Operation, operands: list[Any]) -> Sequence[Any]:
        attributes: Mapping[str, Any] = operation.attributes
        match operation.name:
            case "tt.get_program_id":
                return [self.ids["xyz".index(attributes["axis"])]]
            case "tt.get_num_programs":
                return [self.grid["xyz".index(attributes["axis"])]]
            case "tt.trans":
                return [np.transpose(operands[0], attributes["order"])]
            case "tt.join":
                return [np.stack(operands, axis=-1)]
            case "tt.cat":
                return [np.concatenate(operands)]
            case "tt.split":
                return [operands[0][..., 0], operands[0][..., 1]]
            case "tt.gather":
                return [np.take_along_axis(operands[0], operands[1], attributes["axis"])]
            case "tt.unsplat":
                return [operands[0].reshape(())]
            case "tt.reduce":
                return [running[-1] for running in self._running(operation, operands)]
            case "tt.scan" if attributes["reverse"]:
                backwards = [np.flip(operand, attributes["axis"]) for operand in operands]
                return [
                    np.moveaxis(running[::-1], 0, attributes["axis"]) for running in self._running(operation, backwards)
                ]
            case "tt.scan":
                return [np.moveaxis(running, 0, attributes["axis"]) for running in self._running(operation, operands)]
        return super()._results(operation, operands)

    def _running(self, operation: Operation, operands: list[Any]) -> list[np.ndarray]:
        """What is left after each step along the axis, which comes first: one element after the other is combined."""
        axis: Any = operation.attributes["axis"]
        sources = [np.moveaxis(operand, axis, 0) for operand in operands]
        results = [source.copy() for source in sources]
        for at in np.ndindex(sources[0].shape):
            if at[0]:
                before = (at[0] - 1, *at[1:])
                left, right = [result[before] for result in results], [source[at] for source in sources]
                combined = self.run(operation.regions[0].block, *left, *right)
                for result, element in zip(results, combined, strict=True):
                    result[at] = element
        return results


def interpreted(function: Operation, grid: Grid, memory: np.ndarray, arguments: Sequence[Any]) -> Interpretation:
    """Memory after all programs of a function ran, and every value that each of them had."""
    machine = Program(memory)
    machine.grid = (*grid, 1, 1)[:3]  # type: ignore[assignment]
    runs = []
    for machine.ids in places(grid):
        machine.values = {}
        machine.run(function.regions[0].block, *arguments)
        runs.append(machine.values)
    return Interpretation(machine.memory, runs)


class Interpretation:
    """What came out, and on the way."""

    def __init__(self, memory: np.ndarray, runs: Sequence[Mapping[Value, np.ndarray]]) -> None:
        self.memory = memory
        self.runs = runs

    def differs(self, value: Value) -> set[int]:
        """The dimensions along which a value is not the same; -1 if it is not the same in all programs."""
        stacked = np.stack([run[value] for run in self.runs])
        dimensions = range(len(shape_of(value.type)))
        found = {axis for axis in dimensions if _differs(stacked, axis + 1)}
        return found | ({-1} if _differs(stacked, 0) else set())


def _differs(array: np.ndarray, axis: int) -> bool:
    return bool((array != np.take(array, [0], axis)).any())
