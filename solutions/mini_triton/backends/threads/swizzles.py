"""The place of each element of a tensor in shared memory, so that threads neither store nor load with bank conflicts.

Shared memory has 32 banks. A bank holds words of 4 bytes: the word at byte address a is in bank (a / 4) % 32, so a line
of 128 bytes has one word of each bank. In one cycle, a bank serves one word, to any number of lanes. Lanes that access
different words of one bank wait for each other: a bank conflict. An instruction that moves up to 4 bytes for each lane
serves all 32 lanes of a warp at once; with 8 bytes, first lanes 0 to 15, then the others; with 16, 8 lanes at a time.

Source: section 5 of "Linear Layouts" (Zhou et al., 2025).
"""

from __future__ import annotations

import math

from mini_triton.backends.threads.layouts import Columns, is_independent

LINE, WORD, WIDEST = 128, 4, 16
"""Bytes of a line, of a word of a bank, and of the widest access of a thread."""
Flat = tuple[Columns, Columns, Columns]
"""A layout's registers, lanes and warps as linear functions to positions in row-major order."""


def places(source: Flat, target: Flat, bits: int, size: int) -> Columns:
    """A linear function from places in shared memory to positions in a tensor: which element is at each place.

    The tensor has 2^`bits` elements of `size` bytes; place p is at byte p * `size`. Each position has one place.
    Threads store in layout `source` and load in layout `target`; in both, each column is 0 or has one bit.

    The function's first columns are `shared_registers(source, target, size)`, because one instruction moves these
    neighbors. The lanes that an instruction serves at once have no bank conflicts, neither when they store nor when
    they load.
    """
    # [task 13.11] Choose the places.
    vector = shared_registers(source, target, size)
    at_once = int(math.log2(LINE // max(WORD, size << len(vector))))
    first, second = ([lane for lane in flat[1][:at_once] if lane] for flat in (source, target))
    units = [1 << bit for bit in range(bits)]
    free = [unit for unit in units if unit not in (*first, *second, *vector)]
    both = [lane for lane in first if lane in second]
    one, other = ([lane for lane in lanes if lane not in both] for lanes in (first, second))
    missing = max(0, int(math.log2(WORD / (size << len(vector)))))
    vector += [*free, *both, *reversed(one)][:missing]  # lanes may share a word
    # no sum of lanes, neither of the first nor of the second, may change only the line
    lines = [unit for unit in free if unit not in vector]
    lines += [x ^ y for x, y in zip(one, other, strict=False)]
    lines = lines[: bits - min(bits, int(math.log2(LINE // size)))]
    line: list[int] = []
    for unit in units:
        if is_independent([*vector, *line, *lines, unit]):
            line.append(unit)
    return (*vector, *line, *lines)
    # [end]


def shared_registers(source: Flat, target: Flat, size: int) -> list[int]:
    """The vectors of registers that both layouts have: these elements of a thread may be neighbors in shared memory."""
    both = [column for column in target[0] if column and column in source[0]]
    return both[: int(math.log2(WIDEST // size))]
