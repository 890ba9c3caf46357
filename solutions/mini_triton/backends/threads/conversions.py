"""From one layout to another: by renaming registers if no thread needs another thread's elements, otherwise through
shared memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from mini_triton.backends.threads import words
from mini_triton.backends.threads.instructions import Register, size_of
from mini_triton.backends.threads.layouts import Columns, Layout, apply, compose, invert
from mini_triton.backends.threads.swizzles import places, shared_registers
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.types import Type, shape_of

Registers = dict[int, Register]


def convert(threads: Threads, type: Type, source: Layout, held: Registers, target: Layout) -> Registers:
    """The registers of a tensor in layout `target`, from its registers `held` in layout `source`."""
    if numbers := renaming(source, target):
        return {number: held[numbers[number]] for number in target.distinct}
    return exchange(threads, type, source, held, target)


def renaming(source: Layout, target: Layout) -> Mapping[int, int]:
    """For each distinct register of the target, the source's distinct register that has the same element, in every
    thread. Empty if a thread needs another thread's element, or if threads need different registers.
    """
    # [task 13.11] Find the registers.
    numbers = {source.index(number): number for number in source.distinct}
    wanted = {number: target.index(number) for number in target.distinct}
    if source.threads != target.threads or not numbers.keys() >= set(wanted.values()):
        return {}
    return {number: numbers[index] for number, index in wanted.items()}
    # [end]


def exchange(threads: Threads, type: Type, source: Layout, held: Registers, target: Layout) -> Registers:
    """Move a tensor through shared memory. Returns each distinct register in layout `target`, by its number.

    The tensor, or a number, takes as much shared memory as it has bytes, and needs one barrier. Accesses have no bank
    conflicts (`places`). Of several threads that hold an element in layout `source`, only the first must have the right
    bits. A thread moves each of its `groups` by one instruction.
    """
    shape, size = shape_of(type), size_of(type)
    # [task 13.11] Store the elements, and load them.
    bits = int(math.log2(math.prod(shape)))
    flat = source.flat(shape), target.flat(shape)
    place_of, vector = invert(places(*flat, bits, size)), shared_registers(*flat, size)
    start = threads.reserve(size << bits)
    speaker, room = threads.speaker(source), threads.room(start, size << bits, True)
    for numbers, at, columns in groups(type, source, place_of, vector):
        address = threads.shared_address(columns, at, start)
        words.store(threads, "shared", type, address, [held[number] for number in numbers], speaker, room)
    room = threads.room(start, size << bits, False)
    loaded: Registers = {}
    for numbers, at, columns in groups(type, target, place_of, vector):
        address = threads.shared_address(columns, at, start)
        loaded.update(zip(numbers, words.load(threads, "shared", type, address, len(numbers), room=room), strict=True))
    return loaded
    # [end]


def groups(type: Type, layout: Layout, place_of: Columns, vector: list[int]) -> list[tuple[list[int], int, Columns]]:
    """Registers whose elements are neighbors in shared memory, with the byte where they start.

    `place_of` is a linear function from positions in the tensor to places, and `vector` has the positions at places 1,
    2, 4 and so on, as far as both layouts have registers for them (`shared_registers`). The byte is the xor of a number
    and a linear function of the thread's number; `threads.shared_address` makes an address of them.
    """
    size = size_of(type)
    registers, lanes, warps = layout.flat(shape_of(type))
    columns = tuple(size * column for column in compose(place_of, lanes + warps))
    bits = [1 << registers.index(unit) for unit in vector]
    inside = [sum(chosen) for chosen in itertools.product(*((0, bit) for bit in reversed(bits)))]
    return [
        ([first + more for more in inside], size * apply(compose(place_of, registers), first), columns)
        for first in layout.distinct
        if not first & sum(bits)
    ]
