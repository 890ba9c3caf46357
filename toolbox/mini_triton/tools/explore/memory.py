"""The accesses of a launch, in the format of the page's script: a few numbers for what each program touches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.analysis.axis_info import AxisAnalysis
from mini_triton.codegen import NumpyKernel
from mini_triton.ir.core import Module, Operation
from mini_triton.runtime.bounds import strides_of
from mini_triton.tools.blame import Blame
from mini_triton.tools.explore.accesses import Touch, watch
from mini_triton.tools.explore.subject import Subject
from mini_triton.tools.explore.traffic import layouts_by_place, measure
from mini_triton.transforms.coalescing import WIDEST, accesses

NUMBERS = 60_000
"""The approximate limit for the count of numbers that describe all touches on a page."""
LANES = 300_000
"""The largest number of lanes of an access to draw. A browser takes some time for each lane."""


def describe_accesses(subject: Subject, module: Module, program: NumpyKernel, ttgir: str) -> list[dict[str, Any]]:
    """All accesses of a launch, in the format of the page's script."""
    assert subject.values
    found = watch(subject, module, program)
    chosen = layouts_by_place(ttgir)
    widths = widths_of(module, subject.compilation.options.num_warps)
    room = NUMBERS // max(1, len(found))
    known_threads: dict[Any, np.ndarray] = {}
    result = []
    for access in found:
        loc, argument = access.operation.loc, subject.values.get(access.buffer.name)
        layout = chosen.get((loc.file, loc.line, loc.column)) if loc else None
        shape = tuple(access.buffer.shape or access.buffer.data.shape)
        bytes, why = widths.get(access.operation, (access.itemsize, ""))
        entry: dict[str, Any] = {
            "kind": access.operation.name[3:].replace("atomic_rmw", "atomic"),
            "argument": access.buffer.name,
            "line": [loc.file, loc.line] if loc else None,
            "shape": list(shape),
            "strides": list(strides_of(argument)) if argument is not None and hasattr(argument, "shape") else [1],
            "size": access.buffer.data.size,
            "origin": access.buffer.origin,
            "itemsize": access.itemsize,
            "tile": list(access.tile),
            "rounds": access.rounds,
            "bytes": bytes,
            "why": why,
            "touches": list(packed(access.touches, room)),
            "outside": sum(int(np.count_nonzero(access.outside(touch))) for touch in access.touches),
        }
        if layout and access.tile:
            key = layout, access.tile
            if key not in known_threads:
                known_threads[key] = layout.owners(access.tile)
            threads = known_threads[key]
            entry["threads"] = threads.ravel().tolist()
            fullest = max(access.touches, key=lambda touch: np.count_nonzero(touch.active), default=None)
            if fullest is not None:
                moved = measure(access, fullest, layout, threads, bytes)
                entry["traffic"] = [moved.instructions, moved.sectors, moved.fewest]
                entry["fullest"] = ", ".join(map(str, fullest.program))
        result.append(entry)
    return result


def widths_of(module: Module, warps: int) -> dict[Operation, tuple[int, str]]:
    """For each access, the bytes per thread and instruction, and why not more. Empty without axis analysis."""
    try:
        blame = Blame(AxisAnalysis(module))
        return {
            access.operation: (access.bytes, "" if access.bytes >= WIDEST else blame.explain(access))
            for access in accesses(module, warps)
        }
    except NotImplementedError:
        return {}


def packed(touches: Sequence[Touch], room: int) -> Iterator[list[Any]]:
    """About `room` numbers for touches: [program, iteration, offsets, lanes] for each, in order of iterations.

    Offsets are {"first", "strides"} if they are regular, otherwise a list. Lanes are a range for each axis if they form
    a box, otherwise a string of 0 and 1.
    """
    few = max(2, LANES // max(1, touches[0].offsets.size)) if touches else 0
    for touch in sorted(touches, key=lambda touch: (touch.round > 1, touch.program[::-1], touch.round))[:few]:
        offsets, lanes = regular(touch), box(touch.active)
        room -= 8 + (0 if offsets else touch.offsets.size) + (0 if lanes else touch.active.size // 2)
        if room < 0:
            return
        yield [
            list(touch.program),
            touch.round,
            offsets or touch.offsets.ravel().tolist(),
            lanes or "".join(map(str, touch.active.ravel().astype(int))),
        ]


def regular(touch: Touch) -> dict[str, Any] | None:
    """The first offset, and the stride along each axis, if they give the offsets of all active lanes."""
    offsets, first = touch.offsets, int(touch.offsets.flat[0])
    strides = [int(np.take(offsets, size > 1, axis).flat[0]) - first for axis, size in enumerate(offsets.shape)]
    guess = first + np.tensordot(strides, np.indices(offsets.shape), 1) if strides else offsets
    return {"first": first, "strides": strides} if np.array_equal(guess[touch.active], offsets[touch.active]) else None


def box(active: np.ndarray) -> list[list[int]] | None:
    """The range of active lanes along each axis, if they form a box. At least one lane is active."""
    places: Any = np.argwhere(active).T
    ranges = [[int(hits.min()), int(hits.max()) + 1] for hits in places]
    return ranges if math.prod(last - first for first, last in ranges) == np.count_nonzero(active) else None
