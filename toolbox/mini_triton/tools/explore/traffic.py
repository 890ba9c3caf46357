"""The cost of an access on a GPU: the elements of each thread, and the sectors that a warp's instructions move."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mini_triton.backends.layouts import WARP, Blocked, layouts
from mini_triton.codegen.library.lenient import within
from mini_triton.tools.explore.accesses import Access, Touch
from mini_triton.tools.explore.relations import ALIAS

SECTOR = 32
"""The size of a sector in bytes: a GPU's memory delivers whole sectors."""
TOUCHES_MEMORY = re.compile(
    r"(?:tt\.load|tt\.store|tt\.atomic_\w+|ttg\.async_copy_global_to_local) .*?"
    r"tensor<[\dx]*!tt\.ptr<[^>]*>, (#\w+)>.*?(loc\(.*\))$"
)


def layouts_by_place(ttgir: str) -> dict[tuple[str, int, int], Blocked]:
    """The layout of each access in TTGIR, by its location in the kernel's source."""
    aliases = {match[1]: match[2] for match in map(ALIAS.fullmatch, ttgir.splitlines()) if match}
    by_name = layouts(ttgir)
    result = {}
    for line in ttgir.splitlines():
        match = TOUCHES_MEMORY.search(line)
        if match and match[1] in by_name:
            location = re.sub(r"#loc\d*", lambda name: aliases.get(name[0], ""), match[2])
            for file, number, column in re.findall(r'"([^"]*)":(\d+):(\d+)', location):
                result[file, int(number), int(column)] = by_name[match[1]]
    return result


@dataclass(frozen=True)
class Traffic:
    """The traffic of a program's warps in one execution of an access."""

    instructions: int
    sectors: int  # touched by all warps together
    fewest: int  # sectors that the same bytes would fill


def measure(access: Access, touch: Touch, layout: Blocked, threads: np.ndarray, bytes: int) -> Traffic:
    """Count instructions and sectors. One instruction moves `bytes` for a thread; `threads` lists the lanes'
    threads."""
    fastest = layout.order[0]
    vector = max(1, min(bytes // access.itemsize, layout.size_per_thread[fastest]))
    parts = [threads // WARP]  # lanes with equal parts belong to one instruction of one warp
    sizes = zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, strict=True)
    for axis, (size, lanes, warps) in enumerate(sizes):
        index = np.indices(threads.shape)[axis]
        parts += [index // (size * lanes * warps), index % size // (vector if axis == fastest else 1)]
    used = touch.active & within(access.buffer, touch.offsets)
    start = (touch.offsets[used] + access.buffer.origin) * access.itemsize  # as if the memory began at a sector
    which = np.stack([part[used] for part in parts])
    _, instruction = np.unique(which, axis=1, return_inverse=True)
    pairs = np.unique(np.stack([instruction.ravel(), start // SECTOR]), axis=1)
    elements = np.unique(np.stack([instruction.ravel(), start]), axis=1)
    moved = np.bincount(elements[0]) * access.itemsize
    return Traffic(len(moved), pairs.shape[1], int(np.sum(-(-moved // SECTOR))))
