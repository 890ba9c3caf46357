"""Work that threads start and wait for: copies by cp.async, reads by wgmma and by the copy engine.

Work ends as late as it may, when a thread waits for it. So a program that forgets to wait for a copy reads old data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, executes, instruction
from mini_triton.emulator.mbarriers import Mbarriers
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array


@dataclass
class Work:
    """What a unit of its own has begun for some lanes."""

    instruction: Instruction
    finish: Callable[..., None]  # takes the arrays of the lanes for which the work ends
    groups: Array  # of each lane
    arrays: tuple[Array, ...]  # with an entry for each lane: first the lane, then what `finish` needs
    registers: set[int]  # that the unit uses until then

    def part(self, chosen: Array) -> Work:
        """The work for some of its lanes."""
        arrays = tuple(array[chosen] for array in self.arrays)
        return Work(self.instruction, self.finish, self.groups[chosen], arrays, self.registers)


class Unfinished:
    """The work of a batch that is under way, and how many groups each lane has committed, by unit."""

    def __init__(self, machine: Machine) -> None:
        self.work: dict[str, list[Work]] = defaultdict(list)
        self.committed: dict[str, Array] = defaultdict(lambda: np.zeros(machine.count, np.int32))

    def begin(self, i: Instruction, finish: Callable[..., None], *arrays: Array, registers: Any = ()) -> None:
        """Start work for the lanes in the first array."""
        groups = self.committed[unit_of(i)][arrays[0]]
        self.work[unit_of(i)].append(Work(i, finish, groups, arrays, set(registers)))

    def finish(self, unit: str, left: int, mask: Mask) -> None:
        """Finish the work for lanes in a mask, except for that of the last `left` groups."""
        waiting, self.work[unit] = self.work[unit], []
        for work in waiting:
            lanes = work.arrays[0]
            ends = mask[lanes] & (work.groups < self.committed[unit][lanes] - left)
            if ends.all():
                work.finish(*work.arrays)
            else:
                work.finish(*work.part(ends).arrays)
                self.work[unit].append(work.part(~ends))


def unit_of(i: Instruction) -> str:
    """The unit that does the work of an instruction."""
    return "bulk" if i.has("bulk") else i.opcode


@instruction("cp.async")
def copy(machine: Machine, i: Instruction) -> Step:
    """Start a copy of 4, 8 or 16 bytes. Bytes after the first `operands[3]` are zeros."""
    memory, shared, size = machine.memories["global"], machine.shared, int(i.operands[2], 0)
    to, source = machine.address(i.operands[0]), machine.address(i.operands[1])
    policies = {name for name in i.operands[3:] if machine.is_register(name) and machine.declared(name).width == 64}
    lengths = [operand for operand in i.operands[3:] if operand not in policies]
    length = machine.bits((*lengths, str(size))[0], 32)

    def finish(lanes: Array, at: Array, data: Array) -> None:
        shared.write(at, size, data)
        machine.shadow.end_write(at, size, lanes)

    def step(mask: Mask) -> None:
        at, lanes = shared.locate(i, machine.full(to()), size, mask)
        wanted, reads = machine.full(length()), np.zeros(machine.count, bool)
        reads[lanes] = machine.pick(wanted, lanes) > 0
        start, readers = memory.locate(i, machine.full(source()), size, machine.everyone if reads.all() else reads)
        machine.checker.access(i, memory, start, size, readers, False)
        data = np.zeros((machine.count, size), np.uint8)
        data.view(memory.views[size].dtype)[readers, 0] = memory.read(start, size)
        if (wanted[reads] < size).any():
            data[np.arange(size) >= wanted[:, None]] = 0
        machine.checker.access(i, shared, at, size, lanes, True)
        machine.shadow.begin_write(at, size, lanes)
        machine.state(Unfinished).begin(i, finish, lanes, at, data.view(memory.views[size].dtype)[lanes, 0])

    return step


@instruction("cp.async.commit_group", "cp.async.bulk.commit_group", "wgmma.commit_group")
def commit(machine: Machine, i: Instruction) -> Step:
    """End a group of copies or products."""
    committed = machine.state(Unfinished).committed[unit_of(i)]

    def step(mask: Mask) -> None:
        committed[mask] += 1

    return step


@instruction("cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group")
def wait(machine: Machine, i: Instruction) -> Step:
    """Finish all groups but the last few; `.wait_all` also finishes copies that are in no group."""
    left = int(i.operands[0], 0) if i.operands else -1
    return lambda mask: machine.state(Unfinished).finish(unit_of(i), left, mask)


@executes("a", "cp.async.mbarrier")
def arrive_when_landed(machine: Machine, i: Instruction, mask: Mask, address: Array) -> None:
    """Arrive at an mbarrier for the copies so far. Without `.noinc`, the barrier expects one arrival more."""
    machine.state(Unfinished).finish("cp", -1, mask)
    machine.state(Mbarriers).arrive(i, address, mask, np.int64(i.has("noinc")), np.int64(0))
