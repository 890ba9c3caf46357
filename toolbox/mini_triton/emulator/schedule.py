"""Which lanes run next: lanes that branch apart form groups, and the group with the lowest program counter runs.

Groups meet again where their program counters do. Groups that poll memory in vain give way to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mini_triton.emulator.machine import Machine, Mask

PATIENCE = 4
"""How often lanes may poll while others could run."""
HOPELESS = 5_000
"""How often in a row lanes may poll in vain until the launch is given up. Correct kernels of the corpus need five."""


class Event:
    """What a step tells the schedule, besides changing registers and memory."""


@dataclass(frozen=True)
class Jump(Event):
    """Lanes continue elsewhere."""

    target: Any  # a program counter, or one for each lane


@dataclass(frozen=True)
class Wait(Event):
    """Lanes arrive at barrier `name`, which expects `count` lanes of their CTA (0: all of them)."""

    name: int
    count: int = 0
    blocks: bool = True


@dataclass(frozen=True)
class Exit(Event):
    """Lanes are done. `failed` if the program stopped them: then no barrier expects them."""

    failed: bool = False


@dataclass(frozen=True)
class Poll(Event):
    """Lanes looked at memory that others write. `hopeful` is False if they would look again.

    `changed` is False if they looked in vain: they changed nothing, and found nothing new.
    """

    hopeful: bool = True
    changed: bool = True


@dataclass
class Barrier:
    """A barrier at which lanes have arrived."""

    at: int  # the program counter of the first that arrived
    count: int
    arrived: Mask
    waiting: dict[int, Mask]  # by the program counter at which they continue


class Schedule:
    """The groups of lanes: they are ready at a program counter, wait at a barrier, or are done."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.instructions = machine, machine.kernel.instructions
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

    def handle(self, event: Event, pc: int, lanes: Mask) -> int:
        """Do what a step asks for. Returns the next program counter of the whole group, or -1 if the group is left."""
        match event:
            case Jump():
                return self.jump(event.target, pc, lanes)
            case Poll():
                return self.poll(event, pc)
            case Wait():
                return self.wait(event, pc, lanes)
        assert isinstance(event, Exit)
        self.done = self.done | lanes
        self.failed = self.failed | (lanes & event.failed)
        self.leave(pc, self.active & ~lanes)
        for name in [*self.barriers]:
            self.release(name)
        return -1

    def jump(self, target: Any, pc: int, lanes: Mask) -> int:
        """Lanes of the group continue at a target, the others at `pc`."""
        others = self.active & ~lanes
        if np.ndim(target):
            for each in np.unique(target[lanes]).tolist():
                self.leave(each, lanes & (target == each))
            self.leave(pc, others)
            return -1
        if not lanes.any():
            return pc
        if others.any():
            self.machine.checker.branch(self.instructions[pc - 1], lanes, others)
            self.leave(target, lanes)
            self.leave(pc, others)
            return -1
        if self.ready and not pc <= target < self.stop:
            self.leave(target, self.active)
            return -1
        return target

    def poll(self, event: Poll, pc: int) -> int:
        """Let others run if the group has polled for long; give up if nothing changes any more."""
        self.polls += 1 if event.hopeful else PATIENCE
        self.vain = 0 if event.changed else self.vain + (self.polls >= PATIENCE)
        if self.vain > HOPELESS:
            self.machine.find("deadlock", self.instructions[pc - 1], "polls forever", np.flatnonzero(self.active))
            self.ready.clear()
            self.barriers.clear()
            return -1
        if self.polls >= PATIENCE and self.ready:
            self.leave(pc, self.active)
            return -1
        return pc

    # --- barriers

    def wait(self, event: Wait, pc: int, lanes: Mask) -> int:
        """Lanes arrive at a barrier."""
        if lanes is self.machine.everyone and not event.count and event.blocks and event.name not in self.barriers:
            self.machine.shadow.barrier(self.instructions[pc - 1], lanes)
            return pc
        nobody = ~self.machine.everyone
        barrier = self.barriers.setdefault(event.name, Barrier(pc - 1, 0, nobody, {}))
        barrier.count = max(barrier.count, event.count)
        barrier.arrived = barrier.arrived | lanes
        if event.blocks:
            barrier.waiting[pc] = barrier.waiting.get(pc, nobody) | lanes
            lanes = self.active & ~lanes
        else:
            lanes = self.active
        self.leave(pc, lanes)
        self.release(event.name)
        return -1

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
            machine.find("barrier", self.instructions[barrier.at], "threads ended without it", missing)
        machine.shadow.barrier(self.instructions[barrier.at], go & barrier.arrived)
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
                    i = self.instructions[pc - 1]
                    self.machine.find("barrier", i, "not all threads reach this barrier", np.flatnonzero(lanes))
