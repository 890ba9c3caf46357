"""Small kernels as text, and their programs run by the interpreter of `execution.py`, one after the other.

text = kernel("out: *i32, n: i32", "%pid = tt.get_program_id x : i32", "tt.store %out, %pid : !tt.ptr<i32>")
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import shape_of

from tests.support.m06_codegen.execution import Machine

Grid = Sequence[int]
Place = tuple[int, int, int]


def kernel(parameters: str, *lines: str, end: str = "tt.return") -> str:
    """A module of one function; a parameter is `name: type`, where `*f32` is a pointer."""
    pairs = [parameter.split(": ") for parameter in parameters.split(", ")]
    types = [(name, f"!tt.ptr<{type[1:]}>" if type.startswith("*") else type) for name, type in pairs]
    header = ", ".join(f"%{name}: {type}" for name, type in types)
    body = "\n".join(f"    {line}" for text in (*lines, end) for line in text.splitlines())
    return f"module {{\n  tt.func public @kernel({header}) {{\n{body}\n  }}\n}}\n"


def tensor(element: str, *shape: int) -> str:
    """A tensor type as text; a scalar's if there is no shape."""
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


def places(grid: Grid) -> Iterator[Place]:
    """The ids of all programs of a grid; axis x runs fastest."""
    sizes = (*grid, 1, 1)[:3]
    return ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(sizes))))


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
