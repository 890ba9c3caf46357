"""Kernels in Python, compiled by our back end and by real Triton, and run on the emulator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report
from mini_triton.ir.core import Module
from mini_triton.transforms.manager import optimize

from tests.oracles import triton
from tests.oracles.triton import Compiled, Source
from tests.support import sources

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\n"


def source(text: str, signature: dict[str, str], divisible: Sequence[str] = (), **constants: Any) -> Source:
    """A kernel `k`, whose text begins with `def`."""
    types = signature | dict.fromkeys(constants, "constexpr")
    return Source(HEAD + text, "k", types, constants, tuple(divisible), options={"enable_fp_fusion": False})


def module_of(asked: Source) -> Module:
    """The kernel's module after all passes."""
    module = sources.compiled(asked)
    optimize(module)
    return module


def code_of(asked: Source, warps: int = 4) -> Code:
    """Our code for the kernel."""
    return compile_module(module_of(asked), warps, 90)


def tritons(asked: Source) -> Compiled:
    """Real Triton's code for the kernel."""
    (made,) = triton.frontends([asked], lower=True)
    assert made.compiled, made.compiled.diagnostic or made.diagnostic
    return made.compiled


def run(code: Code | Compiled, grid: Sequence[int], arguments: Sequence[Any]) -> Report:
    """Launch code on the emulator, which changes the arrays among the arguments."""
    return emulate(code.ptx, grid, arguments, shared=code.shared)


def after(code: Code, grid: Sequence[int], arguments: Sequence[Any], what: str) -> tuple[Report, list[Any]]:
    """The report of a launch on copies of the arrays, and the copies. The emulator must not find an error."""
    __tracebackhide__ = True
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    report = run(code, grid, copies)
    assert not report.errors, f"{what}: the emulator finds an error\n{report.errors[0]}\n{code.ptx}"
    return report, copies
