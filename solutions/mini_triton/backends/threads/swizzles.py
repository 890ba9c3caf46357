"""The place of each element of a tensor in shared memory, so that threads neither store nor load with bank conflicts.

Shared memory has 32 banks of 4 bytes. A line is one word of each bank: 128 bytes. When the lanes of a warp access words
of one bank in different lines, they wait for each other. The number of an element's line is therefore a linear function
that no combination of lanes changes alone: where the lanes of the first layout would choose the line, a xor with a bit
of the second layout's lanes moves each line by a different amount. This is a swizzle.

Source: section 5 of "Linear Layouts" (Zhou et al., 2025).
"""

from __future__ import annotations

import math

from mini_triton.backends.threads.layouts import Columns, is_independent

LINE, WORD, WIDEST = 128, 4, 16
"""Bytes of a line, of a word of a bank, and of the widest access of a thread."""
Flat = tuple[Columns, Columns, Columns]


def places(source: Flat, target: Flat, bits: int, size: int) -> Columns:
    """For each bit of a place in shared memory, the position of an element in the tensor. A place holds one element.

    `source` and `target` are two layouts of a tensor with 2^`bits` elements of `size` bytes, all of whose vectors have
    at most one bit. The first bits belong to one vector access, the next to one line, and the others number the lines.
    """
    # [task 13.11] Choose the places.
    vector = shared_registers(source, target, size)
    lanes = int(math.log2(LINE // max(WORD, size << len(vector))))
    first, second = ({lane for lane in flat[1][:lanes] if lane} for flat in (source, target))
    units = [1 << bit for bit in range(bits)]
    free = [unit for unit in units if unit not in first | second and unit not in vector]
    while free and size << len(vector) < WORD:
        vector.append(free.pop(0))
    pairs = [x ^ y for x, y in zip(sorted(first - second), sorted(second - first), strict=False)]
    in_line = int(math.log2(LINE // size))
    lines = (free[::-1] + pairs)[: max(0, bits - in_line)]
    line: list[int] = []
    for unit in [*sorted(first), *sorted(second), *units]:
        if len(vector) + len(line) + len(lines) < bits and is_independent([*vector, *line, *lines, unit]):
            line.append(unit)
    return (*vector, *line, *lines)
    # [end]


def shared_registers(source: Flat, target: Flat, size: int) -> list[int]:
    """The vectors of registers that both layouts have: these elements of a thread may be neighbors in shared memory."""
    both = [column for column in target[0] if column and column in source[0]]
    return both[: int(math.log2(WIDEST // size))]
