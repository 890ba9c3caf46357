"""Launches under the sanitizer. (Given.)"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype
from mini_triton.ir.types import PointerType
from mini_triton.sanitizer.memory import Memory
from mini_triton.sanitizer.plan import Plan, plan_of
from mini_triton.sanitizer.program import Launch, programs
from mini_triton.sanitizer.reports import Report, publish
from mini_triton.sanitizer.shadows import Traced

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel


class SanitizedKernel:
    """Runs programs of a kernel as a `NumpyKernel` does, and keeps `reports` of what is wrong."""

    def __init__(self, plan: Plan, stored: list[str], kinds: frozenset[str]) -> None:
        self.plan, self.stored, self.kinds = plan, stored, kinds
        self.reports: list[Report] = []

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs, one after the other. Raises `OutOfBounds` and `DeviceAssertionError`."""
        x, y, z = (*grid, 1, 1)[:3]
        parameters = self.plan.block.arguments
        buffers: dict[Any, Buffer] = {}
        values = []
        for parameter, given in zip(parameters, arguments, strict=True):
            if isinstance(given, Buffer):
                assert isinstance(parameter.type, PointerType)
                given = buffers[parameter] = given.read_as(numpy_dtype(parameter.type.pointee))
                values.append(Traced(given.address(0)))
            else:
                values.append(Traced(np.asarray(given).astype(numpy_dtype(parameter.type))[()]))
        everything = [*buffers.values(), *reachable]
        launch = Launch(self.plan, (x, y, z), buffers, everything, Memory(everything, self.kinds), self.kinds)
        try:
            with np.errstate(all="ignore"):  # integers wrap around, floats become infinite
                for program in programs(launch):
                    program.run(self.plan.block, *values)
        except OutOfBounds as error:
            error.kernel = self.plan.name
            raise
        finally:
            self.reports = list(launch.found.values())


def sanitize(
    kernel: CompiledKernel,
    grid: tuple[int, int, int],
    values: Mapping[str, Any],
    memory: Mapping[str, Any],
    kinds: frozenset[str],
) -> None:
    """Run a kernel on the CPU, and look for these kinds of defects. Raises `SanitizerError` after the launch.

    An access out of bounds ends the launch at once, as without the sanitizer; what was found before is in its notes.
    """
    program = SanitizedKernel(plan_of(str(kernel.texts["ttir"])), kernel.program.stored, kinds)
    watched = copy.copy(kernel)
    watched.program = program  # type: ignore[assignment]
    try:
        watched.launch_on_cpu(grid, values, memory)
    except Exception as error:
        for report in program.reports:
            error.add_note(str(report))
        raise
    publish(program.reports)
