"""Kernels in Python text, compiled by the back end for threads, and run on the emulator.

asked = Kernel("def kernel(out, x, N: tl.constexpr): ...", {"out": "*i32", "x": "*i32"}, {"N": 64})
asked.run(out, x)                  # a failed check shows the kernel
asked.code.ptx
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn
from unittest import mock

import numpy as np
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.emulator import emulate
from mini_triton.emulator.machine import ZEROS
from mini_triton.emulator.report import Report

from tests.checks import described
from tests.oracles import assembler
from tests.oracles.triton import Source
from tests.support import sources

GARBAGE = {
    width: zero | zero.dtype.type(0x5A5A5A5A5A5A5A5B % (1 << 8 * zero.itemsize)) for width, zero in ZEROS.items()
}
"""What a register contains before an instruction has written it; the emulator takes zeros."""
HEADER = "import triton\nimport triton.language as tl\n\n\n"


class Kernel:
    """The function `kernel` of a text, for programs of some warps. `types` are those of its run-time parameters."""

    def __init__(
        self,
        text: str,
        types: Mapping[str, str],
        constants: Mapping[str, Any],
        warps: int = 4,
        capability: int = 90,
        stages: int = 0,
    ) -> None:
        signature = {**types, **dict.fromkeys(constants, "constexpr")}
        self.source = Source(
            f"{HEADER}{text}", "kernel", signature, constants, [n for n in types if types[n][0] == "*"]
        )
        self.warps, self.options = warps, (warps, capability, stages)
        values = ", ".join(f"{name}={value}" for name, value in constants.items())
        self.words = f"{warps} warps run this kernel{values and f' with {values}'}:\n{text}\n"

    @cached_property
    def code(self) -> Code:
        """The compiled kernel."""
        made = described(self.words, lambda: compile_module(sources.compiled(self.source), *self.options))
        return made.succeeds("PTX")

    def run(self, *arguments: Any, programs: int = 1) -> Report:
        """Launch the kernel. Fails for errors that the emulator finds, such as races."""
        __tracebackhide__ = True
        with mock.patch.dict(ZEROS, GARBAGE):
            report = emulate(self.code.ptx, (programs, 1, 1), arguments, shared=self.code.shared)
        if report.errors:
            self.fail("a launch without errors", str(report.errors[0]))
        return report

    def assemble(self) -> None:
        """Require that NVIDIA's assembler accepts the PTX: it is stricter than the emulator."""
        __tracebackhide__ = True
        if not (made := assembler.assemble(self.code.ptx, f"--gpu-name={self.code.target}")).cubin:
            self.fail("PTX that NVIDIA's assembler accepts", made.said)

    def check(self, name: str, got: np.ndarray, expected: np.ndarray, because: str = "") -> None:
        """Require equal elements; NaN equals NaN."""
        __tracebackhide__ = True
        wrong = np.argwhere((got != expected) & ~((got != got) & (expected != expected)))
        if len(wrong):
            place = tuple(wrong[0].tolist())
            where = f"{name}[{', '.join(map(str, place))}]"
            self.fail(f"{where} = {expected[place]}", f"{where} = {got[place]}; {len(wrong)} wrong elements", because)

    def fail(self, expected: str, got: str, because: str = "") -> NoReturn:
        """Fail with the kernel's text."""
        __tracebackhide__ = True
        described(self.words, lambda: None).fail(expected, got, because)
