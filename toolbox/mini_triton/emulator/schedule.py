"""Which lanes run next: lanes that branch apart form groups, and the group with the lowest program counter runs.

Groups meet again where their program counters do. Groups that poll memory in vain give way to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mini_triton.emulator.machine import Machine, Mask
    from mini_triton.emulator.parser import Instruction

PATIENCE = 4
"""How often lanes may poll while others could run."""
HOPELESS = 5_000
"""How often in a row lanes may poll in vain until the launch is given up. Correct kernels of the corpus need five."""


@dataclass
class Barrier:
    """A barrier at which lanes have arrived."""

    first: Instruction  # at which lanes have arrived
    count: int
    arrived: Mask
    waiting: dict[int, Mask]  # by the program counter at which they continue


class Schedule:
    """The groups of lanes: they are ready at a program counter, wait at a barrier, or are done."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.ready: dict[int, Mask] = {0: machine.everyone}
        self.barriers: dict[int, Barrier] = {}
        self.done, self.failed = ~machine.everyone, ~machine.everyone
        self.polls = self.vain = 0
        self.last_turn = -1

    def choose(self) -> bool:
        """Choose the group that runs next: `pc`, `active` and `stop`. False if all lanes are done."""
        if not self.ready:
            self.report_stuck()
            return False
        counters = sorted(self.ready)
        self.pc = counters[0]
        if self.polls >= PATIENCE and len(counters) > 1:  # another group's turn
            self.pc = next((pc for pc in counters if pc > self.last_turn), counters[0])
            self.last_turn, self.polls = self.pc, 0
        self.stop = next((pc for pc in counters if pc > self.pc), len(self.machine.program))
        self.active = self.ready.pop(self.pc)
        return True

    def leave(self, pc: int, lanes: Mask) -> None:
        """Lanes, if any, are ready at a program counter, where they may meet others."""
        if pc in self.ready:
            lanes = lanes | self.ready[pc]
        if lanes.any():
            self.ready[pc] = self.machine.everyone if lanes.all() else lanes

    # --- what steps return: the next program counter of the whole group, or -1 if the group is left

    def jump(self, i: Instruction, target: Any, lanes: Mask) -> int:
        """Lanes of the group continue at a target, or each at its own; the others go on."""
        pc, others = i.number + 1, self.active & ~lanes
        if not lanes.any():
            return pc
        if others.any():
            self.machine.checker.branch(i, lanes, others)
        elif not np.ndim(target) and (not self.ready or pc <= target < self.stop):
            return int(target)
        for each in np.unique(target[lanes]).tolist() if np.ndim(target) else [target]:
            self.leave(each, lanes & (target == each))
        self.leave(pc, others)
        return -1

    def exit(self, pc: int, lanes: Mask, failed: bool = False) -> int:
        """Lanes are done, the others go on. If the program has `failed`, no barrier expects the lanes."""
        self.done = self.done | lanes
        self.failed = self.failed | (lanes & failed)
        self.leave(pc, self.active & ~lanes)
        for name in [*self.barriers]:
            self.release(name)
        return -1

    def poll(self, i: Instruction, changed: bool, hopeful: bool = True) -> int:
        """The group has looked at memory that others write.

        `hopeful` is False if it would look again. `changed` is False if it changed nothing, and found nothing new.
        Others run if the group has polled for long; the launch is given up if nothing changes any more.
        """
        self.polls += 1 if hopeful else PATIENCE
        self.vain = 0 if changed else self.vain + (self.polls >= PATIENCE)
        if self.vain > HOPELESS:
            self.machine.find("deadlock", i, "polls forever", np.flatnonzero(self.active))
            self.ready.clear()
            self.barriers.clear()
            return -1
        if self.polls >= PATIENCE and self.ready:
            self.leave(i.number + 1, self.active)
            return -1
        return i.number + 1

    def wait(self, i: Instruction, lanes: Mask, name: int, count: int = 0, blocks: bool = True) -> int:
        """Lanes arrive at barrier `name`, which expects `count` lanes of their CTA (0: all of them)."""
        pc = i.number + 1
        if lanes is self.machine.everyone and not count and blocks and name not in self.barriers:
            self.machine.shadow.barrier(i, lanes)
            return pc
        nobody = ~self.machine.everyone
        barrier = self.barriers.setdefault(name, Barrier(i, 0, nobody, {}))
        barrier.count = max(barrier.count, count)
        barrier.arrived = barrier.arrived | lanes
        if blocks:
            barrier.waiting[pc] = barrier.waiting.get(pc, nobody) | lanes
        self.leave(pc, self.active & ~lanes if blocks else self.active)
        self.release(name)
        return -1

    # --- barriers

    def release(self, name: int) -> None:
        """Let the lanes of each CTA go for which enough have arrived."""
        machine, barrier = self.machine, self.barriers[name]
        came, gone = (lanes.reshape(machine.ctas, -1).sum(1) for lanes in (barrier.arrived, self.done))
        full = came >= barrier.count if barrier.count else came + gone >= machine.threads
        full &= came > 0
        if not full.any():
            return
        go = full.repeat(machine.threads)
        missing = np.flatnonzero(self.done & ~self.failed & go)
        if len(missing) and not barrier.count:
            machine.find("barrier", barrier.first, "threads ended without it", missing)
        machine.shadow.barrier(barrier.first, go & barrier.arrived)
        for pc, lanes in barrier.waiting.items():
            self.leave(pc, lanes & go)
            barrier.waiting[pc] = lanes & ~go
        barrier.arrived = barrier.arrived & ~go
        if not barrier.arrived.any():
            del self.barriers[name]

    def report_stuck(self) -> None:
        """Report the barriers at which lanes wait forever."""
        for barrier in self.barriers.values():
            for pc, lanes in barrier.waiting.items():
                if lanes.any():
                    i = self.machine.kernel.instructions[pc - 1]
                    self.machine.find("barrier", i, "not all threads reach this barrier", np.flatnonzero(lanes))
