"""A launch under the sanitizer. (Given.)"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mini_triton.sanitizer.facts import facts_of
from mini_triton.sanitizer.launch import SanitizedKernel
from mini_triton.sanitizer.program import OnOutside
from mini_triton.sanitizer.reports import publish

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel


def sanitize(
    kernel: CompiledKernel,
    grid: tuple[int, int, int],
    values: Mapping[str, Any],
    memory: Mapping[str, Any],
    kinds: frozenset[str],
    on_outside: OnOutside | None = None,
) -> None:
    """Run a kernel on the CPU, and look for these kinds of defects. Raises `SanitizerError` after the launch.

    Without `on_outside`, an out-of-bounds access ends the launch at once, as without the sanitizer; the error's notes
    contain the defects found before.
    """
    program = SanitizedKernel(facts_of(str(kernel.texts["ttir"])), kinds, on_outside)
    watched = copy.copy(kernel)
    watched.program = watched.run = program  # type: ignore[assignment]
    try:
        watched.launch_on_cpu(grid, values, memory)
    except Exception as error:
        for report in program.reports:
            error.add_note(str(report))
        raise
    publish(program.reports)
