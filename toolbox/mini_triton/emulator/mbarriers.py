"""mbarriers: barriers in shared memory that count threads that arrive, and bytes that the copy engine writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Put, Step, executes, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array, type_of


@dataclass
class Mbarrier:
    """An mbarrier. Its phase ends when all threads have arrived and all bytes are there."""

    count: int
    pending: int
    bytes: int = 0
    phase: int = 0
    copies: list[Callable[[], None]] = field(default_factory=list)  # functions that land the copies it counts
    clocks: Any = 0  # for the shadow: what the threads that arrived had seen

    def advance(self) -> None:
        """Begin the next phase if all has arrived."""
        if self.pending <= 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.count

    def land(self) -> None:
        """Finish the copies."""
        for finish in self.copies:
            finish()
        self.copies.clear()
        self.advance()


class Mbarriers:
    """The mbarriers of a batch."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.known: dict[int, Mbarrier] = {}  # by place in shared memory

    def places(self, address: Array, lanes: Array) -> Array:
        """The places in shared memory that lanes mean."""
        return self.machine.full(address)[lanes] + self.machine.shared.base[lanes]

    def visit(self, i: Instruction, address: Array, lanes: Array) -> Iterator[tuple[Mbarrier, Array]]:
        """Each mbarrier that lanes mean, and these lanes."""
        places = self.places(address, lanes)
        for place in np.unique(places).tolist():
            here = lanes[places == place]
            if place not in self.known:
                self.machine.find("async", i, "this mbarrier was not initialized", here[:1])
                self.known[place] = Mbarrier(1, 1)
            yield self.known[place], here

    def arrive(self, i: Instruction, address: Array, mask: Mask, arrivals: Array, transfers: Array) -> Array:
        """Each lane in a mask arrives so many times, and expects so many bytes. Returns the phase for each lane."""
        phases = np.zeros(self.machine.count, np.uint64)
        for barrier, lanes in self.visit(i, address, self.machine.select(mask)):
            phases[lanes] = barrier.phase
            self.machine.shadow.release(barrier, lanes)
            barrier.pending -= int(self.machine.full(arrivals)[lanes].sum())
            barrier.bytes += int(self.machine.full(transfers)[lanes].sum())
            barrier.advance()
        return phases


@executes("au", "mbarrier.init")
def initialize(machine: Machine, i: Instruction, mask: Mask, address: Array, count: Array) -> None:
    """Make an mbarrier for so many threads."""
    barriers, lanes = machine.state(Mbarriers), machine.select(mask)
    places = barriers.places(address, lanes)
    machine.checker.access(i, machine.shared, places, 8, lanes, True)
    for place, number in zip(places.tolist(), count[lanes].tolist(), strict=True):
        barriers.known[place] = Mbarrier(number, number)


@executes("a", "mbarrier.inval")
def invalidate(machine: Machine, i: Instruction, mask: Mask, address: Array) -> None:
    """Forget an mbarrier."""
    barriers, lanes = machine.state(Mbarriers), machine.select(mask)
    places = barriers.places(address, lanes)
    machine.checker.access(i, machine.shared, places, 8, lanes, True)
    for place in places.tolist():
        barriers.known.pop(place, None)


@instruction("mbarrier.arrive", "mbarrier.expect_tx")
def arrive(machine: Machine, i: Instruction) -> Step:
    """Arrive at an mbarrier, or say how many bytes it waits for, or both."""
    state, operands = ("_", i.operands) if i.operands[0].startswith("[") else (i.operands[0], i.operands[1:])
    put, address = machine.target(state, type_of("b64")), machine.address(operands[0])
    number, once = machine.bits((*operands, "1")[1], 32), np.int64(i.modifiers[0] == "arrive")

    def step(mask: Mask) -> None:
        amounts = (once, number().astype(np.int64)) if i.has("expect_tx") else (number().astype(np.int64), np.int64(0))
        put(machine.state(Mbarriers).arrive(i, address(), mask, *amounts), mask)

    return step


@executes("Paq", "mbarrier.test_wait", "mbarrier.try_wait")
def wait(machine: Machine, i: Instruction, mask: Mask, put: Put, address: Array, asked: Array) -> int | None:
    """Whether a phase is over: `.parity` asks for the last phase of this parity, otherwise for that of an arrival."""
    over, lanes = np.zeros(machine.count, bool), machine.select(mask)
    for barrier, here in machine.state(Mbarriers).visit(i, address, lanes):
        over[here] = asked[here] != (barrier.phase & 1 if i.has("parity") else barrier.phase)
        if over[here].any():
            machine.shadow.acquire(barrier, here[over[here]])
        barrier.land()  # for the next question: who does not ask again has not waited
    put(over, mask)
    passed = bool(over[lanes].all())
    return machine.schedule.poll(i, passed, hopeful=passed)
