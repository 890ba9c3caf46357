"""Real Triton's layouts and PTX instructions for the loads and stores of a module."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

_PLACE = re.compile(r"\s*\.loc\s+\d+ (\d+) (\d+)")
_ACCESS = re.compile(r"\b(ld|st)(?:\.volatile)?\.global(?:\.[\w:]+)*?(?:\.v([248]))?\.[bfsu](8|16|32|64|128)\b")
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global.*?\], *\[.*?\], *(0x[0-9a-f]+|\d+)")
_LAYOUT = re.compile(r"(#\w+) = #ttg\.blocked<\{sizePerThread = \[([\d, ]+)\].* order = \[(\d+)")
_TENSOR = re.compile(r"\btt\.(load|store) .* : tensor<.*, (#\w+)>$", re.MULTILINE)


class Instruction(NamedTuple):
    """The loads or stores of one location in the kernel's source."""

    kind: str  # "load" or "store"; copies to shared memory are loads
    line: int
    column: int


def instructions(text: str) -> Mapping[Instruction, set[int]]:
    """The bytes that a PTX text's instructions move for a thread, by source location."""
    found: dict[Instruction, set[int]] = defaultdict(set)
    line = column = 0
    for written in text.splitlines():
        if place := _PLACE.match(written):
            line, column = map(int, place.groups())
        for kind, vector, bits in _ACCESS.findall(written):
            found[Instruction({"ld": "load", "st": "store"}[kind], line, column)].add(int(vector or 1) * int(bits) // 8)
        for size in _COPY.findall(written):
            found[Instruction("load", line, column)].add(int(size, 0))
    return found


def chosen(ttgir: str) -> list[tuple[str, int, int]]:
    """For each load and store of tensors: its kind, the axis of neighboring threads, and the elements of a thread."""
    layouts = {name: (int(axis), sizes.split(", ")) for name, sizes, axis in _LAYOUT.findall(ttgir)}
    found = []
    for kind, name in _TENSOR.findall(ttgir):
        axis, sizes = layouts[name]
        found.append((kind, axis, int(sizes[axis])))
    return found
