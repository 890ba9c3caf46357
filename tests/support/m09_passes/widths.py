"""How real Triton does the loads and stores of a module: the layouts it chooses, the instructions it ends with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from mini_triton.backends import ptx
from mini_triton.backends.layouts import layouts

_PLACE = re.compile(r"\s*\.loc\s+\d+ (\d+) (\d+)")
_LAYOUT = re.compile(r"\btt\.(load|store) .* : tensor<.*, (#\w+)>$", re.MULTILINE)


class Instruction(NamedTuple):
    """Loads or stores that come from one place of the kernel's source."""

    kind: str  # "load" or "store"; copies to shared memory are loads
    line: int
    column: int


def instructions(text: str) -> Mapping[Instruction, set[int]]:
    """The bytes that the instructions of a PTX text move for a thread, by the places that they come from."""
    found: dict[Instruction, set[int]] = defaultdict(set)
    line = column = 0
    for written in text.splitlines():
        if place := _PLACE.match(written):
            line, column = map(int, place.groups())
        for kind, size in ptx.accesses(written):
            found[Instruction("store" if kind == "store" else "load", line, column)].add(size)
    return found


def chosen(ttgir: str) -> list[tuple[str, int, int]]:
    """Of each load and store of tensors: "load" or "store", the axis of neighbouring threads, a thread's elements."""
    known = layouts(ttgir)
    found = []
    for kind, name in _LAYOUT.findall(ttgir):
        axis = known[name].order[0]
        found.append((kind, axis, known[name].size_per_thread[axis]))
    return found
