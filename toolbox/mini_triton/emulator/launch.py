"""Launches: the grid becomes batches, and what happened becomes a report."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.emulator import (  # noqa: F401  (their instructions)
    arithmetic,
    asynchronous,
    conversions,
    copy_engine,
    mbarriers,
    moves,
    tensor_cores,
    warps,
)
from mini_triton.emulator.arguments import Arguments
from mini_triton.emulator.checker import Checker, Unchecked
from mini_triton.emulator.machine import Machine
from mini_triton.emulator.parser import Kernel, PtxError, parse
from mini_triton.emulator.report import Report

LANES, CHECKED_LANES = 1 << 15, 1 << 14
"""How many threads a batch has: enough to keep NumPy busy, few enough for a cache."""
SHARED_BYTES = 1 << 24
"""How much shared memory a batch has, at most."""

parse_once = functools.lru_cache(maxsize=64)(parse)


def emulate(
    ptx: str | Kernel,
    grid: Sequence[int],
    arguments: Sequence[Any],
    *,
    threads: int | None = None,
    shared: int = 0,
    check: bool = True,
    names: Sequence[str] = (),
    reachable: Sequence[Any] = (),
    scratch: int = 0,
) -> Report:
    """Run a kernel's PTX on arrays of this process, and report what happened.

    `arguments` are NumPy arrays, PyTorch tensors on the CPU, tensor descriptors and numbers, in the order of the
    kernel's parameters; `names` are their names, for messages. The kernel may also follow addresses into the arrays in
    `reachable`. `threads` of a CTA are needed only if the text does not say them, `shared` bytes only if the kernel
    takes them from the launch, `scratch` bytes of each CTA for parameters that are not given. Without `check`, nothing
    is looked for except accesses out of bounds, and the launch is faster. Raises `PtxError` for unknown instructions.
    """
    kernel = ptx if isinstance(ptx, Kernel) else parse_once(ptx)
    size = kernel.threads or threads
    if not size or size % 32:
        raise PtxError(f"{kernel.name} needs the number of threads of a CTA, a multiple of 32, not {size}")
    x, y, z = (*map(int, grid), 1, 1)[:3]
    count = x * y * z
    report = Report(kernel.name, size)
    bound = Arguments(kernel, arguments, names, reachable, scratch * count)
    per_batch = (CHECKED_LANES if check else LANES) // size
    owned = shared + kernel.sizes["shared"]
    per_batch = max(1, min(per_batch, SHARED_BYTES // max(owned, 1), count))
    checker = Checker(kernel, report) if check else Unchecked()
    with np.errstate(all="ignore"), collector_paused():
        for first in range(0, count, per_batch):
            ctas = np.arange(first, min(first + per_batch, count))
            machine = Machine(kernel, (x, y, z), size, ctas, bound, shared, report.find, checker)
            machine.run()
            for i, lanes in zip(kernel.instructions, machine.executed.tolist(), strict=False):
                if lanes:
                    tensor = -(-lanes // 32) if i.opcode in ("mma", "wgmma") else 0
                    barriers = -(-lanes // size) if i.opcode in ("bar", "barrier") and not i.has("warp") else 0
                    report.count(i, instructions=-(-lanes // 32), tensor_cores=tensor, barriers=barriers)
            vars(machine).clear()  # its steps refer to it: they and its registers are free now, not at some collection
    checker.finish()
    return report


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No searches for cycles: preparing instructions makes so many objects that searches take up to half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
