"""A kernel that Numba compiles: its module on disk, and a launch."""

from __future__ import annotations

import functools
import hashlib
import importlib
import math
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mini_triton.codegen.kernel import NumpyKernel, argument
from mini_triton.codegen.library.programs import LazyPrograms
from mini_triton.codegen.numba_gen.program import dtype_of
from mini_triton.ir.device_assert import DeviceAssertionError
from mini_triton.ir.storage import Buffer, OutOfBounds


class NumbaKernel:
    """Runs programs of a kernel. NumPy reruns the programs that give up in generated code, to find the error."""

    def __init__(
        self, source: str, plain: NumpyKernel, folder: Path | None = None, tell: Callable[[str], object] = bool
    ) -> None:
        self.source, self.plain = source, plain
        self.tell = tell  # reports why NumPy runs a launch or a program
        self.folder = folder or Path(tempfile.gettempdir(), "mini_triton_numba")
        self.dtypes = [np.dtype(dtype_of(type).rstrip("_")) for type in plain.types]
        self.in_turn = "prange(" not in source  # one program after the other

    @functools.cached_property
    def launch(self) -> Any:
        """The compiled launcher. Its module is stored in the folder, beside Numba's cache."""
        digest = hashlib.sha256(self.source.encode()).hexdigest()[:16]
        name = re.sub(r"\W", "_", self.plain.name, flags=re.ASCII)
        path = self.folder / f"mini_triton_{name}_{digest}.py"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.folder, suffix=".tmp", delete=False) as file:
                file.write(self.source)
            Path(file.name).replace(path)
        importlib.invalidate_caches()
        sys.path.insert(0, str(self.folder))  # Numba looks up the globals of cached code by module name
        try:
            return importlib.import_module(path.stem).launch
        finally:
            sys.path.remove(str(self.folder))

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs of a grid. For each parameter there is a `Buffer` or a number."""
        x, y, z = (*grid, 1, 1)[:3]
        plain = [argument(dtype, value) for dtype, value in zip(self.plain.dtypes, arguments, strict=True)]
        buffers = [value for value in plain if isinstance(value, Buffer)]
        spans = {buffer.name: (buffer.start, buffer.end) for buffer in buffers}
        sliced = [buffer.name for buffer in buffers if buffer.origin or buffer.gaps is not None]
        if sliced or overlap(spans, self.plain.stored):
            self.tell(f"gaps in {', '.join(sliced)}" if sliced else "arguments overlap, and one is stored to")
            self.plain(grid, arguments, reachable)
            return
        values = [
            value.data.view(dtype) if isinstance(value, Buffer) else dtype.type(value)
            for dtype, value in zip(self.dtypes, plain, strict=True)
        ]
        self.rerun(self.run((x, y, z), values), (x, y, z), plain, reachable)

    def run(self, grid: tuple[int, int, int], values: Sequence[Any]) -> Iterator[int]:
        """Run all programs, and yield the numbers of those that gave up: at once for atomics, otherwise at the end."""
        failed = np.zeros(math.prod(grid), bool)
        stopped = -1
        while (stopped := self.launch(stopped + 1, *grid, failed, *values)) >= 0:
            yield stopped
        if np.count_nonzero(failed):
            yield from np.flatnonzero(failed).tolist()

    def rerun(self, numbers: Iterable[int], grid: Any, arguments: Sequence[Any], reachable: Sequence[Buffer]) -> None:
        """Run some of the programs in NumPy. Each succeeds or raises a precise error."""
        for number in numbers:
            self.tell(f"program {number} may access memory outside an argument")
            values = [argument(dtype, value) for dtype, value in zip(self.plain.dtypes, arguments, strict=True)]
            buffers = [value for value in values if isinstance(value, Buffer)] + list(reachable)
            programs = LazyPrograms(grid, number, number + 1, buffers)
            with np.errstate(all="ignore"):
                try:
                    self.plain.function(programs, *values)
                except (OutOfBounds, DeviceAssertionError) as error:
                    self.plain.locate(error)
                    raise


def overlap(spans: Mapping[str, tuple[int, int]], stored: Collection[str]) -> bool:
    """Whether an argument in `stored` shares memory with a different argument. A span is a first and an end address."""
    for one in stored:
        first, end = spans[one]
        for other, (start, stop) in spans.items():
            if first < stop and start < end and one != other:
                return True
    return False
