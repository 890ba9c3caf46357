"""The back end "emulator": real Triton compiles a kernel for a GPU, and the emulator runs it on arrays in CPU memory.

MINI_TRITON_BACKEND=emulator        the default back end of launches
MINI_TRITON_TARGET=cuda:80          the GPU for which real Triton compiles; the default is cuda:90
MINI_TRITON_EMULATOR_CHECK=0        run faster, and check accesses for bounds and alignment only
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from mini_triton.backends.triton_api import join_parts
from mini_triton.emulator.launch import emulate
from mini_triton.emulator.memory import Allocation
from mini_triton.emulator.report import Report
from mini_triton.emulator.tensor_maps import TensorMap
from mini_triton.environment import OFF, ON, choice

if TYPE_CHECKING:
    from mini_triton.ir.storage import Buffer
    from mini_triton.runtime.compiled_kernel import CompiledKernel

TARGET, CHECK = "MINI_TRITON_TARGET", "MINI_TRITON_EMULATOR_CHECK"
NARROW = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}
"""Float types of numbers that compiled code takes as bits."""


class EmulationError(RuntimeError):
    """The emulator has found errors. `report` has all findings."""

    def __init__(self, report: Report) -> None:
        self.report = report
        found = "\n".join(map(str, report.errors))
        super().__init__(f"the emulator found errors in {report.kernel}:\n{found}")


def target(spelled: str | None = None) -> str:
    """The GPU for which to compile, "sm_80" for cuda:80; by default, the one that `MINI_TRITON_TARGET` names."""
    spelled = spelled or os.environ.get(TARGET) or "cuda:90"
    if not re.fullmatch(r"cuda:\d{2,3}", spelled, re.ASCII):
        raise ValueError(f"a target ({TARGET}) is spelled like cuda:90, not {spelled!r}")
    return spelled.replace("cuda:", "sm_")


def load(kernel: CompiledKernel) -> EmulatedKernel:
    """The function that runs a grid of a kernel on the emulator."""
    return EmulatedKernel(kernel, target())


class EmulatedKernel:
    """A compiled kernel that the emulator runs, called like a NumPy program. `report` is that of the last launch."""

    def __init__(self, kernel: CompiledKernel, target: str) -> None:
        self.kernel, self.target = kernel, target
        self.report = Report(kernel.name)

    @property
    def code(self) -> tuple[str, int, int]:
        """The kernel's PTX, and the bytes of shared memory and of scratch memory that a program needs."""
        lowered = self.kernel.lower(self.target)
        return lowered.asm["ptx"], lowered.kernel.shared, lowered.kernel.scratch

    @property
    def types(self) -> Sequence[str]:
        """The types of the arguments that the PTX takes. That of a descriptor begins with "tensordesc"."""
        return self.kernel.lower(self.target).kernel.types

    def maps(self, arguments: Sequence[Any]) -> list[TensorMap]:
        """The tensor maps that the PTX takes after the arguments."""
        return []

    def __call__(
        self, grid: tuple[int, int, int], arguments: Sequence[Any], reachable: Sequence[Buffer] = (), check: bool = True
    ) -> None:
        """Run the grid. Raises `EmulationError` if anything is wrong with it."""
        if 0 in grid:
            return
        ptx, shared, scratch = self.code
        check = check and choice(CHECK, (*ON, *OFF), "1") in ON
        types = self.kernel.compilation.inputs.values()
        given = [as_argument(argument, type) for argument, type in zip(arguments, types, strict=True)]
        self.report = emulate(
            ptx,
            grid,
            [*join_parts(self.types, given), *self.maps(given)],
            shared=shared,
            check=check,
            names=[getattr(name, "base", name) for name in join_parts(self.types, self.kernel.parameters)],
            reachable=[as_argument(buffer, "") for buffer in reachable],
            scratch=scratch,
        )
        if self.report.errors:
            raise EmulationError(self.report)


def as_argument(value: Any, type: str) -> Any:
    """An argument of the emulator for an argument of a launch."""
    if hasattr(value, "origin"):
        address = value.start + value.origin * value.data.itemsize
        return Allocation(value.name, value.start, value.end, value.data, address)
    if type in NARROW:
        return int(np.asarray(value, NARROW[type]).view(np.uint16))
    return value
