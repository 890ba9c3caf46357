"""The settings of environment variables as attributes: `triton.knobs.compilation.always_compile = True`.

Knobs that configure real Triton's back ends, or hooks into it, are missing: an `AttributeError` says so.

Source: Triton's `python/triton/knobs.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mini_triton.compat.missing import explain_missing
from mini_triton.environment import CACHE_AUTOTUNING, PRINT_AUTOTUNING, is_set
from mini_triton.frontend.compiler import DEBUGGING
from mini_triton.runtime import cache as kernels
from mini_triton.runtime import inspection
from mini_triton.runtime.jit import DEBUG


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


class Knobs:
    """Knobs of one area."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"mini_triton does not have the knob {name} of {type(self).__name__}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            getattr(self, name)
        super().__setattr__(name, value)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A context at whose end the area's knobs have the values that they had at its start."""
        variables = [knob.variable for knob in vars(type(self)).values() if isinstance(knob, Knob)]
        before = {variable: os.environ.get(variable) for variable in variables}
        try:
            yield
        finally:
            for variable, value in before.items():
                os.environ.pop(variable, None)
                if value is not None:
                    os.environ[variable] = value


class CacheKnobs(Knobs):
    """Compiled kernels on disk."""

    dir = PathKnob(kernels.DIRECTORY)
    dump_dir = PathKnob(inspection.DUMP_DIRECTORY)


class CompilationKnobs(Knobs):
    """How kernels are compiled."""

    always_compile = Knob(kernels.ALWAYS_COMPILE)
    dump_ir = Knob(inspection.DUMP)
    front_end_debugging = Knob(DEBUGGING)


class RuntimeKnobs(Knobs):
    """How kernels run. Triton's interpreter never runs them."""

    interpret = False
    debug = Knob(DEBUG)


class AutotuningKnobs(Knobs):
    """Settings of autotuned kernels."""

    cache = Knob(CACHE_AUTOTUNING)
    print = Knob(PRINT_AUTOTUNING)


autotuning = AutotuningKnobs()
cache, compilation, runtime = CacheKnobs(), CompilationKnobs(), RuntimeKnobs()


def refresh_knobs() -> None:
    """Do nothing: each use of a knob reads its environment variable."""


def __getattr__(name: str) -> Any:
    raise AttributeError(explain_missing("triton.knobs", name))
