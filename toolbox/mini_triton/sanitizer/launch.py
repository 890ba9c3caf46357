"""Launches under the sanitizer. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.kernel import argument
from mini_triton.ir.core import Value
from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype
from mini_triton.ir.types import PointerType, Type
from mini_triton.sanitizer.at_once import passes
from mini_triton.sanitizer.facts import KernelFacts
from mini_triton.sanitizer.memory import Memory
from mini_triton.sanitizer.program import Launch, OnOutside
from mini_triton.sanitizer.reports import Ids, Report
from mini_triton.sanitizer.shadows import Traced


class SanitizedKernel:
    """Runs programs of a kernel as a `NumpyKernel` does, and keeps `reports` of errors."""

    def __init__(self, facts: KernelFacts, kinds: frozenset[str], on_outside: OnOutside | None = None) -> None:
        self.facts, self.stored, self.kinds, self.on_outside = facts, facts.stored, kinds, on_outside
        self.reports: list[Report] = []

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs at once; if a check suspects a defect, run them again one by one.

        Raises `OutOfBounds` and `DeviceAssertionError`.
        """
        parameters = self.facts.block.arguments
        arguments = [as_declared(parameter.type, given) for parameter, given in zip(parameters, arguments, strict=True)]
        buffers = [given for given in arguments if isinstance(given, Buffer)]
        memory = Memory([*buffers, *reachable], self.kinds)
        if not passes(self.facts, grid, arguments, memory):
            x, y, z = (*grid, 1, 1)[:3]
            self.run_one_by_one((x, y, z), arguments, memory)

    def run_one_by_one(self, grid: Ids, arguments: Sequence[Any], memory: Memory) -> None:
        """Run the programs one by one, and report errors."""
        given = dict(zip(self.facts.block.arguments, arguments, strict=True))
        buffers: dict[Value, Buffer] = {key: value for key, value in given.items() if isinstance(value, Buffer)}
        values = [Traced(given.address(0) if isinstance(given, Buffer) else given) for given in arguments]
        launch = Launch(self.facts, grid, buffers, memory, self.kinds, on_outside=self.on_outside)
        try:
            with np.errstate(all="ignore"):  # integers wrap around, floats become infinite
                launch.run(*values)
        except OutOfBounds as error:
            error.kernel = self.facts.name
            raise
        finally:
            self.reports = [report for report in launch.found.values() if report.kind in self.kinds]


def as_declared(type: Type, given: Any) -> Any:
    """An argument with its parameter's type: a number, or a buffer of elements of the pointee type."""
    return argument(numpy_dtype(type.pointee if isinstance(type, PointerType) else type), given)
