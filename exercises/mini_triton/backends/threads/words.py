"""Elements in memory: several neighbors of a thread form words, which one instruction moves.

    neighbors            instruction      words
    4 of f32             ld.….v4.b32      4 of 4 bytes
    2 of f64             ld.….v2.b64      2 of 8 bytes
    8 of f16             ld.….v4.b32      4 of 4 bytes
    i8: 1, 2, 3, 4       ld.….b32         0x04030201
    i8: 1, 2             ld.….b16         0x0201
    i8: 1                ld.….b8          0x01 in a 16-bit register, whose upper half is undefined
    i1: true, false      ld.….b16         0x0001

Numbers of neighbors are powers of two.

`mov.b32` also moves two 16-bit registers into one 32-bit register, or back; `mov.b64` does so with two 32-bit registers
and one 64-bit register. A pair of registers, the lower half first, is a tuple among the operands, or the two results of
the instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.backends.threads.instructions import Address, Register, Room, kind_of, size_of
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.types import Type

WORD = 4


def word_bits(size: int, count: int) -> int:
    """The bits of the words for `count` neighbors of `size` bytes each."""
    return 8 * (size if size >= WORD else min(WORD, size * count))


def suffix(bits: int, words: int) -> str:
    """The end of the opcode for this many words: "v4.b32"."""
    return f"{f'v{words}.' if words > 1 else ''}b{bits}"


def pack(threads: Threads, type: Type, elements: Sequence[Register]) -> list[Register]:
    """Registers with the words that hold neighbors, as in the table above."""
    # Task 13.7: Put the elements into words.
    raise NotImplementedError("Task 13.7: Memory")


def pairs(elements: Sequence[Register]) -> list[tuple[Register, Register]]:
    """Elements 0 and 1, 2 and 3, and so on."""
    return list(zip(elements[::2], elements[1::2], strict=True))


def join_bytes(threads: Threads, low: Register, high: Register) -> Register:
    """Two bytes in a register, without the undefined halves of theirs."""
    return threads.op("or.b16", threads.op("and.b16", low, 255), threads.op("shl.b16", high, 8))


def unpack(threads: Threads, type: Type, words: Sequence[Register], count: int) -> list[Register]:
    """Registers with the `count` elements that words hold: the opposite of `pack`."""
    # Task 13.7: Take the elements out of the words.
    raise NotImplementedError("Task 13.7: Memory")


def load(
    threads: Threads,
    space: str,
    type: Type,
    address: Address,
    count: int,
    guard: Register | None = None,
    others: Sequence[Register] = (),
    room: Room | None = None,
    policy: Sequence[Register] = (),
) -> list[Register]:
    """The `count` neighbors at an address, loaded by one instruction, whose opcode is `ld.<space>.<suffix>`.

    The instruction's operands are the address, then `policy`, which is a hint for caches. In threads in which the guard
    is false, the instruction does not run, and the elements are `others`, or 0. The instruction has this `room`, from
    which task 13.9 learns what it accesses in shared memory.
    """
    bits = word_bits(size_of(type), count)
    words = max(1, 8 * size_of(type) * count // bits)
    kind = "b16" if bits == 8 else f"b{bits}"
    # Task 13.7: Return registers with the elements.
    raise NotImplementedError("Task 13.7: Memory")


def store(
    threads: Threads,
    space: str,
    type: Type,
    address: Address,
    elements: Sequence[Register],
    guard: Register | None = None,
    room: Room | None = None,
    policy: Sequence[Register] = (),
) -> None:
    """Store neighbors to an address where the guard is true."""
    words = pack(threads, type, elements)
    bits = word_bits(size_of(type), len(elements))
    threads.do(f"st.{space}.{suffix(bits, len(words))}", address, tuple(words), *policy, guard=guard, room=room)
