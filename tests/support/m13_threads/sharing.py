"""Programs of accesses to shared memory, as plain data: their instructions, and two judges of their barriers.

    [("write", 0, 1), ("if", [("read", 0, 2)], []), ("for", [("write", 1, 1), ("wait",)])]

An access names the first part of shared memory and the number of parts. A `for` tests its condition after each
iteration and before the first, a `while` between two parts of its body. Each condition is the next bit of the number of
the program (CTA), so the programs of a launch take all paths.
"""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Instruction, Register, Room
from mini_triton.backends.threads.ptx import DYNAMIC, print_kernel
from mini_triton.emulator import emulate

WARPS = 16
PART = 4 * 32 * WARPS
"""The bytes of a part: a word of each thread."""
PARTS = 4
Program = Sequence[Any]


class Written(Emitter):
    """The instructions of a program. In each access, other threads access each byte."""

    def __init__(self, program: Program) -> None:
        super().__init__(WARPS)
        self.path, self.place_of_thread = self.op("mov.u32", "%ctaid.x"), self.op("mov.u32", "%tid.x")
        self.base = self.op("mov.b32", DYNAMIC)
        self.write(program)
        self.do("ret")

    def write(self, program: Program) -> None:
        for name, *rest in program:
            getattr(self, f"write_{name}")(*rest)

    def write_wait(self) -> None:
        self.do("bar.sync", 0)

    def write_read(self, first: int, count: int) -> None:
        self.access(first, count, False)

    def write_write(self, first: int, count: int) -> None:
        self.access(first, count, True)

    def access(self, first: int, count: int, writes: bool) -> None:
        room = self.room(first * PART, count * PART, writes)
        moved = self.op("add.s32", self.place_of_thread, 32 * room.group)
        offset = self.op("shl.b32", self.op("and.b32", moved, 32 * WARPS - 1), 2)
        address = self.op("add.s32", self.base, offset)
        for part in range(first, first + count):
            place = Address(address, part * PART)
            if writes:
                self.do("st.shared.b32", place, self.path, room=room)
            else:
                self.do("ld.shared.b32", place, results=(self.new("b32"),), room=room)

    def condition(self) -> Register:
        bit = self.op("setp.ne.s32", self.op("and.b32", self.path, 1), 0)
        self.do("shr.u32", self.path, 1, results=(self.path,))
        return bit

    def write_if(self, first: Program, second: Program) -> None:
        other, end = self.label(), self.label()
        self.do("bra", other, guard=self.condition(), negated=True)
        self.write(first)
        self.do("bra", end)
        self.do("label", other)
        self.write(second)
        self.do("label", end)

    def write_for(self, body: Program) -> None:
        head, end = self.label(), self.label()
        self.do("bra", end, guard=self.condition(), negated=True)
        self.do("label", head)
        self.write(body)
        self.do("bra", head, guard=self.condition())
        self.do("label", end)

    def write_while(self, first: Program, second: Program) -> None:
        head, end = self.label(), self.label()
        self.do("label", head)
        self.write(first)
        self.do("bra", end, guard=self.condition(), negated=True)
        self.write(second)
        self.do("bra", head)
        self.do("label", end)

    @property
    def instructions(self) -> list[Instruction]:
        return self.lists[0]

    def races(self, instructions: Sequence[Instruction], paths: int) -> list[str]:
        """What the emulator says about races, when programs 0 to `paths` - 1 run."""
        ptx = print_kernel("k", [], instructions, self.counts, 32 * WARPS, "sm_90")
        report = emulate(ptx, (paths, 1, 1), [], shared=PARTS * PART)
        return [str(finding) for finding in report.findings if finding.kind == "race"]


def steps(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions that matter to barriers."""
    return [i for i in instructions if i.room or i.opcode in ("label", "bra", "bar.sync")]


def listing(instructions: Sequence[Instruction], marked: Sequence[int] = ()) -> str:
    """Instructions as a text for failures: bytes of accesses, with their groups; marked instructions have a `>`."""
    lines = []
    for number, i in enumerate(instructions):
        room, guard = i.room, "if … " * (i.guard is not None)
        text = f"{guard}{i.opcode} {' '.join(map(str, i.operands))}"
        if room:
            text = f"{'write' if room.writes else 'read '} {room.start:5}..{room.stop - 1:5}   group {room.group}"
        lines.append(f"{'>' if number in marked else ' '} {number:3} {text}")
    return "\n".join(lines)


def overlap(one: Room, other: Room) -> bool:
    """Whether different threads access a byte of both, and one of them writes it: byte by byte."""
    bytes = set(range(one.start, one.stop)) & set(range(other.start, other.stop))
    return bool(bytes) and True in (one.writes, other.writes) and one.group != other.group


def unsafe(instructions: Sequence[Instruction], barriers: Sequence[int] = ()) -> tuple[int, int] | None:
    """Two accesses that collide on a path without a barrier: a search for paths, from each access."""
    where = {i.operands[0]: number for number, i in enumerate(instructions) if i.opcode == "label"}
    for start, first in enumerate(instructions):
        seen: set[int] = set()
        left = [start + 1] if first.room else []
        while left:
            number = left.pop()
            if number in seen or number == len(instructions) or number in barriers:
                continue
            seen.add(number)
            instruction = instructions[number]
            if instruction.opcode == "bar.sync":
                continue
            assert first.room
            if instruction.room and overlap(first.room, instruction.room):
                return start, number
            if instruction.opcode == "bra":
                left.append(where[instruction.operands[0]])
            if instruction.opcode != "bra" or instruction.guard:
                left.append(number + 1)
    return None


def drawn(generator: random.Random, depth: int, length: int = 3) -> list[Any]:
    """A random program with flow in flow at most `depth` times."""
    program: list[Any] = []
    for _ in range(generator.randint(0, length)):
        kind = generator.choice(["read", "write", "read", "write", "wait", "if", "for", "while"])
        if kind in ("read", "write"):
            first = generator.randrange(PARTS)
            program.append((kind, first, generator.randint(1, min(2, PARTS - first))))
        elif kind == "wait":
            program += [("wait",)] * (generator.random() < 0.3)
        elif depth:
            inner = [drawn(generator, depth - 1) for _ in range(1 + (kind != "for"))]
            program.append((kind, *inner))
    return program


programs = st.builds(lambda seed, depth: drawn(random.Random(seed), depth, 5), st.integers(0, 2**32), st.integers(0, 2))
"""Random programs, small ones first."""
