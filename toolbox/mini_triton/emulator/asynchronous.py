"""cp.async: copies into shared memory that land as late as they may, when a thread waits for them.

A program that forgets to wait reads old data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.mbarriers import Mbarriers
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array


@dataclass
class Copy:
    """A copy that has not landed."""

    instruction: Instruction
    size: int
    lanes: Array
    at: Array  # in shared memory
    data: Array
    groups: Array  # of each lane

    def part(self, chosen: Array) -> Copy:
        """The copy of some of its lanes."""
        arrays = (array[chosen] for array in (self.lanes, self.at, self.data, self.groups))
        return Copy(self.instruction, self.size, *arrays)


class Copies:
    """The copies of a batch that have not landed, and how many groups each lane has committed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.waiting: list[Copy] = []
        self.committed = np.zeros(machine.count, np.int32)

    def land(self, left: int, mask: Mask) -> None:
        """Finish the copies of lanes, except for those of the last `left` groups."""
        waiting, self.waiting = self.waiting, []
        for copy in waiting:
            go = mask[copy.lanes] & (copy.groups < self.committed[copy.lanes] - left)
            landed = copy if go.all() else copy.part(go)
            self.machine.shared.write(landed.at, copy.size, landed.data)
            self.machine.shadow.end_write(landed.at, copy.size, landed.lanes)
            if landed is not copy:
                self.waiting.append(copy.part(~go))


@instruction("cp.async")
def copy(machine: Machine, i: Instruction) -> Step:
    """Start a copy of 4, 8 or 16 bytes. Bytes after the first `operands[3]` are zeros."""
    copies, memory, size = machine.state(Copies), machine.memories["global"], int(i.operands[2], 0)
    to, source = machine.address(i.operands[0]), machine.address(i.operands[1])
    policies = [name for name in i.operands[3:] if machine.is_register(name) and machine.declared(name).width == 64]
    length = machine.bits([*(name for name in i.operands[3:] if name not in policies), str(size)][0], 32)

    def step(mask: Mask) -> None:
        at, lanes = machine.shared.locate(i, machine.full(to()), size, mask)
        wanted, reads = machine.full(length()), np.zeros(machine.count, bool)
        reads[lanes] = machine.pick(wanted, lanes) > 0
        start, readers = memory.locate(i, machine.full(source()), size, machine.everyone if reads.all() else reads)
        machine.checker.access(i, memory, start, size, readers, False)
        data = np.zeros((machine.count, size), np.uint8)
        data.view(memory.views[size].dtype)[readers, 0] = memory.read(start, size)
        if (wanted[reads] < size).any():
            data[np.arange(size) >= wanted[:, None]] = 0
        machine.checker.access(i, machine.shared, at, size, lanes, True)
        machine.shadow.begin_write(at, size, lanes)
        values: Any = data.view(memory.views[size].dtype)[lanes, 0]
        copies.waiting.append(Copy(i, size, lanes, at, values, copies.committed[lanes]))

    return step


@instruction("cp.async.commit_group")
def commit(machine: Machine, i: Instruction) -> Step:
    """End a group of copies."""
    copies = machine.state(Copies)

    def step(mask: Mask) -> None:
        copies.committed[mask] += 1

    return step


@instruction("cp.async.wait_group", "cp.async.wait_all")
def wait(machine: Machine, i: Instruction) -> Step:
    """Finish all groups but the last few; `.wait_all` also finishes copies that are in no group."""
    copies, left = machine.state(Copies), int(i.operands[0], 0) if i.operands else -1
    return lambda mask: copies.land(left, mask)


@instruction("cp.async.mbarrier")
def arrive_when_landed(machine: Machine, i: Instruction) -> Step:
    """Arrive at an mbarrier for the copies so far. Without `.noinc`, the barrier expects one arrival more."""
    copies, address = machine.state(Copies), machine.address(i.operands[0])

    def step(mask: Mask) -> None:
        copies.land(-1, mask)
        machine.state(Mbarriers).arrive(i, address(), mask, np.int64(i.has("noinc")), np.int64(0))

    return step
