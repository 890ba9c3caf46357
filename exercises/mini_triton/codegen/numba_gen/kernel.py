"""A kernel that Numba compiles: its module on disk, and a launch."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import math
import re
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mini_triton.codegen.kernel import NumpyKernel, argument
from mini_triton.codegen.library.programs import LazyPrograms
from mini_triton.codegen.numba_gen import blas
from mini_triton.codegen.numba_gen.program import dtype_of
from mini_triton.ir.given.device_assert import DeviceAssertionError
from mini_triton.ir.storage import Buffer, OutOfBounds

TASKS = 8
"""Parts of a grid for each thread: programs may take different times."""


class NumbaKernel:
    """Runs programs of a kernel: those that the generated function gives up are run by NumPy, which knows why."""

    def __init__(self, source: str, plain: NumpyKernel, folder: Path | None = None) -> None:
        self.source, self.plain = source, plain
        self.folder = folder or Path(tempfile.gettempdir(), "mini_triton_numba")
        self.dtypes = [np.dtype(dtype_of(type).rstrip("_")) for type in plain.types]
        self.launch: Any = None

    def load(self) -> Any:
        """The compiled launcher: its module lies in the folder, and Numba's cache beside it."""
        digest = hashlib.sha256(self.source.encode()).hexdigest()[:16]
        name = re.sub(r"\W", "_", self.plain.name, flags=re.ASCII)
        path = self.folder / f"mini_triton_{name}_{digest}.py"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.folder, suffix=".tmp", delete=False) as file:
                file.write(self.source)
            Path(file.name).replace(path)
        importlib.invalidate_caches()
        sys.path.insert(0, str(self.folder))  # Numba finds the globals of cached code by the module's name
        try:
            return importlib.import_module(path.stem).launch
        finally:
            sys.path.remove(str(self.folder))

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs of a grid. For each parameter there is a `Buffer` or a number."""
        x, y, z = (*grid, 1, 1)[:3]
        count = math.prod((x, y, z))
        plain = [argument(dtype, value) for dtype, value in zip(self.plain.dtypes, arguments, strict=True)]
        buffers = [value for value in plain if isinstance(value, Buffer)]
        if not count:
            return
        if any(b.origin or b.gaps is not None for b in buffers) or overlap(buffers, self.plain.stored):
            self.plain(grid, arguments, reachable)
            return
        if self.launch is None:
            self.launch = self.load()
        values = [
            value.data.view(dtype) if isinstance(value, Buffer) else dtype.type(value)
            for dtype, value in zip(self.dtypes, plain, strict=True)
        ]
        failed = np.zeros(count, bool)
        with blas.one_thread_each() if "gemm(" in self.source else contextlib.nullcontext():
            first = 0
            while first < count:
                stopped = self.launch(first, x, y, z, failed, *values)
                if stopped < 0:
                    break
                self.run_plainly((x, y, z), [stopped], plain, reachable)
                failed[stopped] = False
                first = stopped + 1
        if failed.any():
            self.run_plainly((x, y, z), np.flatnonzero(failed), plain, reachable)

    def run_plainly(self, grid: tuple[int, int, int], numbers: Any, values: list[Any], reachable: Any) -> None:
        """Run a few programs by NumPy: it raises an error that says what is wrong, or gets by."""
        buffers = [value for value in values if isinstance(value, Buffer)] + list(reachable)
        with np.errstate(all="ignore"):
            for number in map(int, numbers):
                programs = LazyPrograms(grid, number, number + 1, buffers)
                try:
                    self.plain.function(programs, *values)
                except (OutOfBounds, DeviceAssertionError) as error:
                    self.plain.locate(error, programs)
                    raise


def overlap(buffers: Sequence[Buffer], stored: Collection[str]) -> bool:
    """Whether an argument that is stored to shares memory with another one."""
    return any(
        one is not other and one.start < other.end and other.start < one.end
        for one in buffers
        if one.name in stored
        for other in buffers
    )
