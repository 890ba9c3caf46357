"""The settings of environment variables as attributes: `triton.knobs.compilation.always_compile = True`.

Source: Triton's `python/triton/knobs.py`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mini_triton.environment import is_set
from mini_triton.frontend.compiler import DEBUGGING
from mini_triton.runtime import cache as kernels
from mini_triton.runtime import inspection
from mini_triton.runtime.jit import DEBUG
from mini_triton.tuning.given import results


class Knob:
    """An environment variable that is on or off."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def __get__(self, owner: Any, _: type) -> bool:
        return is_set(self.variable)

    def __set__(self, owner: Any, value: bool) -> None:
        os.environ[self.variable] = str(int(bool(value)))


class PathKnob(Knob):
    """An environment variable that names a folder."""

    def __get__(self, owner: Any, _: type) -> Path:  # type: ignore[override]
        return kernels.directory() if self.variable == kernels.DIRECTORY else inspection.dump_directory()

    def __set__(self, owner: Any, value: Path | str) -> None:  # type: ignore[override]
        os.environ[self.variable] = str(value)


class CacheKnobs:
    """Compiled kernels on disk."""

    dir = PathKnob(kernels.DIRECTORY)
    dump_dir = PathKnob(inspection.DUMP_DIRECTORY)


class CompilationKnobs:
    """How kernels are compiled."""

    always_compile = Knob(kernels.ALWAYS_COMPILE)
    dump_ir = Knob(inspection.DUMP)
    front_end_debugging = Knob(DEBUGGING)


class RuntimeKnobs:
    """How kernels run. Triton's interpreter never runs them."""

    interpret = False
    debug = Knob(DEBUG)


class AutotuningKnobs:
    """Settings of autotuned kernels."""

    cache = Knob(results.CACHE)
    print = Knob(results.PRINT)


autotuning = AutotuningKnobs()
cache, compilation, runtime = CacheKnobs(), CompilationKnobs(), RuntimeKnobs()
