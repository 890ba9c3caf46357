"""The error of a `tl.device_assert` that fails, in CUDA's words. (Given.)

    kernel.py:7: block: [1,0,0] Assertion `x must be positive` failed.

Source: `__assertfail` in CUDA, to which Triton compiles `tt.assert`.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np


class DeviceAssertionError(AssertionError):
    """An assertion that does not hold in a running kernel, with the element, the program and the line.

    The code that runs the kernel sets `kernel`, `program` and `place` ("file:line").
    """

    def __init__(self, message: str, lane: tuple[int, ...], rank: int) -> None:
        super().__init__(message, lane, rank)
        self.message, self.lane, self.rank = message, lane, rank
        self.kernel, self.place = "", ""
        self.program: tuple[int, int, int] | None = None

    def __str__(self) -> str:
        file, _, line = self.place.rpartition(":")
        source = linecache.getline(file, int(line)).strip() if file else ""
        element = self.lane[len(self.lane) - self.rank :]
        block = f"block: [{','.join(map(str, self.program))}] " if self.program else ""
        lines = [
            "".join(f"{word}: " for word in (self.place, self.kernel) if word)
            + f"{block}Assertion `{self.message}` failed.",
            f"    the condition is false at {list(element)}" if element else "",
            f"    {source}" if source else "",
        ]
        return "\n".join(line for line in lines if line)


def check(condition: Any, message: str, rank: int, active: Any = True) -> None:
    """Raise `DeviceAssertionError` for the first lane that is active and whose condition, of this rank, is false."""
    failed = active & ~np.asarray(condition)
    if failed.any():
        raise DeviceAssertionError(message, tuple(map(int, np.unravel_index(np.argmax(failed), failed.shape))), rank)
