"""Copies that finish later: cp.async, and the bulk copies of the copy engine (TMA) with mbarriers and tensor maps.

A copy lands as late as it may: only when a thread waits for it. A program that forgets to wait reads old data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Poll, Step, instruction
from mini_triton.emulator.memory import resolve
from mini_triton.emulator.parser import Instruction, split_operands
from mini_triton.emulator.types import Array, type_of


@dataclass
class Copy:
    """A cp.async that has not landed."""

    instruction: Instruction
    lanes: Array
    at: Array  # in shared memory
    size: int
    data: Array
    groups: Array  # of each lane


class Copies:
    """The copies of a batch that have not landed, and how many groups each lane has committed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.waiting: list[Copy] = []
        self.committed = np.zeros(machine.count, np.int32)

    def commit(self, mask: Mask) -> None:
        """End a group of copies."""
        self.committed[slice(None) if mask is None else mask] += 1

    def land(self, left: int, mask: Mask) -> None:
        """Finish the copies of lanes, except for those of the last `left` groups."""
        still = []
        for copy in self.waiting:
            go = copy.groups < self.committed[copy.lanes] - left
            if mask is not None:
                go &= mask[copy.lanes]
            if go.all():
                self.write(copy, slice(None))
                continue
            if go.any():
                self.write(copy, go)
            rest = (copy.lanes[~go], copy.at[~go], copy.size, copy.data[~go], copy.groups[~go])
            still.append(Copy(copy.instruction, *rest))
        self.waiting = still

    def write(self, copy: Copy, go: Any) -> None:
        machine = self.machine
        machine.shared.views[copy.size][copy.at[go] // copy.size] = copy.data[go]
        machine.checker.landed(copy.instruction, copy.at[go], copy.size, copy.lanes[go])


@instruction("cp")
def copy(machine: Machine, i: Instruction) -> Step:
    """cp.async and cp.async.bulk, and what commits them and waits for them."""
    if i.has("bulk"):
        return bulk_copy(machine, i)
    copies: Copies = machine.state.setdefault("copies", Copies(machine))
    if i.has("commit_group"):
        return lambda mask: copies.commit(mask)
    if i.has("wait_group", "wait_all"):
        left = int(i.operands[0], 0) if i.operands else -1
        return lambda mask: copies.land(left, mask)
    if i.has("mbarrier"):
        arrive = arrival(machine, i, machine.address(i.operands[0]), i.has("noinc"))

        def land_and_arrive(mask: Mask) -> None:
            copies.land(-1, mask)
            arrive(mask)

        return land_and_arrive
    size = int(i.operands[2], 0)
    to, source = machine.address(i.operands[0]), machine.address(i.operands[1])
    more = [
        operand
        for operand in i.operands[3:]
        if not (machine.is_register(operand) and machine.type_of(operand).width == 64)
    ]
    bytes_read = machine.bits(more[0], 32) if more else None

    def step(mask: Mask) -> None:
        at, lanes = machine.shared.locate(machine, i, machine.full(to()), size, mask)
        lanes = machine.lanes if lanes is None else lanes
        wanted = np.full(machine.count, size) if bytes_read is None else machine.full(bytes_read()).astype(np.int64)
        reads = np.zeros(machine.count, bool)
        reads[lanes] = wanted[lanes] > 0
        data = np.zeros((machine.count, size), np.uint8)
        if reads.any():
            memory = machine.memories["global"]
            start, readers = memory.locate(machine, i, machine.full(source()), size, None if reads.all() else reads)
            machine.checker.access(i, memory, start, size, readers, False)
            chosen: Any = slice(None) if readers is None else readers
            data.view(memory.views[size].dtype)[chosen, 0] = memory.views[size][start // size]
            if (wanted[reads] < size).any():
                data[np.arange(size) >= wanted[:, None]] = 0
        machine.checker.access(i, machine.shared, at, size, lanes, True)
        machine.checker.in_flight(at, size, lanes)
        values = data.view(machine.shared.views[size].dtype)[lanes, 0]
        copies.waiting.append(Copy(i, lanes, at, size, values, copies.committed[lanes]))

    return step


# --- mbarriers


@dataclass
class Mbarrier:
    """A barrier in shared memory that counts threads that arrive and bytes that land."""

    count: int
    pending: int
    bytes: int = 0
    phase: int = 0
    copies: list[Any] = field(default_factory=list)  # functions that land the copies it counts
    clock: Any = None  # for the checker: what the threads that arrived had seen

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


def barriers_of(machine: Machine) -> dict[int, Mbarrier]:
    """The mbarriers of a machine, by their places in shared memory."""
    return machine.state.setdefault("mbarriers", {})


def places(machine: Machine, address: Any, mask: Mask) -> tuple[Array, Array]:
    """The places of mbarriers in shared memory, for the lanes in a mask, and these lanes."""
    lanes = machine.lanes if mask is None else np.flatnonzero(mask)
    return machine.full(address())[lanes] + machine.shared.base[lanes], lanes


def barrier_at(machine: Machine, i: Instruction, place: int, lanes: Array) -> Mbarrier:
    """The mbarrier at a place."""
    known = barriers_of(machine)
    if place not in known:
        machine.find("async", i, "this mbarrier was not initialized", lanes[:1])
        known[place] = Mbarrier(1, 1)
    return known[place]


def arrival(machine: Machine, i: Instruction, address: Any, noinc: bool = True, transfers: Any = None) -> Any:
    """A function with which lanes arrive at mbarriers; it returns the phase for each lane."""

    def arrive(mask: Mask, by: Array | None = None) -> Array:
        at, lanes = places(machine, address, mask)
        phases = np.zeros(machine.count, np.uint64)
        for place in np.unique(at).tolist():
            here = at == place
            barrier = barrier_at(machine, i, place, lanes)
            phases[lanes[here]] = barrier.phase
            if transfers is not None:
                barrier.bytes += int(machine.full(transfers())[lanes[here]].astype(np.int64).sum())
            machine.checker.release(barrier, lanes[here])
            if by is None or by.any():
                barrier.pending -= int(np.count_nonzero(here) if by is None else by[lanes[here]].sum())
                barrier.pending += 0 if noinc else int(np.count_nonzero(here))
            barrier.advance()
        return phases

    return arrive


@instruction("mbarrier")
def mbarrier(machine: Machine, i: Instruction) -> Step:
    """Initialize an mbarrier, arrive at it, expect bytes, and wait for a phase."""
    operation = i.one_of("init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait")
    known = barriers_of(machine)
    if operation in ("init", "inval"):
        address = machine.address(i.operands[0])
        count = machine.bits(i.operands[1], 32) if operation == "init" else None

        def set_up(mask: Mask) -> None:
            at, lanes = places(machine, address, mask)
            machine.checker.access(i, machine.shared, at, 8, lanes, True)
            for place, lane in zip(at.tolist(), lanes, strict=True):
                if count is None:
                    known.pop(place, None)
                else:
                    number = int(machine.full(count())[lane])
                    known[place] = Mbarrier(number, number)

        return set_up
    if operation in ("test_wait", "try_wait"):
        return wait_for_phase(machine, i)
    if operation in ("arrive", "expect_tx"):
        has_state = operation == "arrive" and not i.operands[0].startswith("[")
        operands = i.operands[1:] if has_state else i.operands
        number = machine.bits(operands[1], 32) if len(operands) > 1 else None
        transfers = number if i.has("expect_tx") else None
        arrive = arrival(machine, i, machine.address(operands[0]), True, transfers)
        amounts = None if transfers is not None else number
        put = machine.target(i.operands[0], type_of("b64")) if has_state else None

        def step(mask: Mask) -> None:
            by: Array | None = None
            if operation == "expect_tx":
                by = np.zeros(machine.count, np.int64)
            elif amounts is not None:
                by = machine.full(amounts()).astype(np.int64)
            phases = arrive(mask, by)
            if put:
                put(phases, mask)

        return step
    raise KeyError(operation)


def wait_for_phase(machine: Machine, i: Instruction) -> Step:
    """Whether a phase is over: `.parity` asks for the last phase of this parity, otherwise for that of an arrival."""
    put, address = machine.target(i.operands[0], type_of("pred")), machine.address(i.operands[1])
    asked = machine.bits(i.operands[2], 32 if i.has("parity") else 64)

    def step(mask: Mask) -> Poll:
        at, lanes = places(machine, address, mask)
        wanted, over = machine.full(asked()), np.zeros(machine.count, bool)
        for place in np.unique(at).tolist():
            here = lanes[at == place]
            barrier = barrier_at(machine, i, place, here)
            current = barrier.phase & 1 if i.has("parity") else barrier.phase
            over[here] = wanted[here] != current
            barrier.land()  # for the next question: who does not ask again has not waited
            if over[here].any():
                machine.checker.acquire(barrier, here[over[here]])
        put(over, mask)
        passed = bool(over[lanes].all())
        return Poll(hopeful=passed, changed=passed)

    return step


# --- the copy engine

ELEMENTS = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)
"""The sizes of the element types of tensor maps, by PTX's number."""
FIELDS = {"global_address": (0, 8), "rank": (8, 1), "elemtype": (9, 1), "swizzle_mode": (10, 1), "fill_mode": (11, 1)}
FIELDS |= {"interleave_layout": (12, 1), "box_dim": (16, 4), "global_dim": (36, 4), "element_stride": (56, 4)}
FIELDS |= {"global_stride": (80, 8)}
"""Where a tensor map of the emulator keeps its fields, and their sizes. NVIDIA's own format is secret."""


def encode_map(address: int, shape: Any, strides: Any, box: Any, size: int, swizzle: int, fill: int = 0) -> np.ndarray:
    """A tensor map for an array; dimensions in NumPy's order, strides in bytes."""
    data = np.zeros(128, np.uint8)
    data[:8].view(np.int64)[0] = address
    data[8:12] = len(shape) - 1, {1: 0, 2: 1, 4: 2, 8: 4}[size], swizzle, fill
    data[16:36].view(np.uint32)[: len(shape)] = list(box)[::-1]
    data[36:56].view(np.uint32)[: len(shape)] = list(shape)[::-1]
    data[56:76].view(np.uint32)[: len(shape)] = 1
    data[80:112].view(np.int64)[: len(shape) - 1] = list(strides)[-2::-1]
    return data


@instruction("tensormap")
def change_map(machine: Machine, i: Instruction) -> Step:
    """Set a field of a tensor map, or copy a map from shared to global memory."""
    if i.modifiers[0].startswith("cp_fenceproxy"):
        to, source = machine.address(i.operands[0]), machine.address(i.operands[1])

        def copy_map(mask: Mask) -> None:
            leaders = np.zeros(machine.count, bool)
            leaders[::32] = True
            leaders &= machine.full(True if mask is None else mask)
            at, lanes = machine.shared.locate(machine, i, machine.full(source()), 16, leaders)
            place, _ = machine.memories["global"].locate(machine, i, machine.full(to()), 128, leaders)
            for one, other in zip(at.tolist(), place.tolist(), strict=True):
                machine.memories["global"].views[1][other : other + 128] = machine.shared.views[1][one : one + 128]

        return copy_map
    start, size = FIELDS[i.modifiers[2]]
    address, value = machine.address(i.operands[0]), machine.bits(i.operands[-1], 64)
    start += size * int(i.operands[1], 0) if len(i.operands) > 2 else 0

    def replace(mask: Mask) -> None:
        memory, addresses = resolve(machine, i, address(), mask)
        at, lanes = memory.locate(machine, i, machine.full(addresses) + start, size, mask)
        data = machine.full(value()) if lanes is None else machine.full(value())[lanes]
        memory.views[size][at // size] = data.astype(f"u{size}")

    return replace


def bulk_copy(machine: Machine, i: Instruction) -> Step:
    """Copies of the copy engine: one thread starts the copy of a box of a tensor, or of a range of bytes."""
    if i.has("commit_group"):
        return lambda mask: machine.checker.commit_bulk()
    if i.has("wait_group"):
        left = int(i.operands[0], 0)
        return lambda mask: machine.checker.wait_bulk(left)
    spaces = [word.partition("::")[0] for word in i.modifiers if word.partition("::")[0] in ("global", "shared")]
    if i.has("multicast::cluster", "im2col", "prefetch", "reduce") or len(spaces) != 2:
        raise KeyError("form")
    loads = spaces[0] == "shared"
    in_shared = machine.address(i.operands[0 if loads else 1])
    outer = i.operands[1 if loads else 0]
    barrier = machine.address(i.operands[-1]) if loads else None
    if i.has("tensor"):
        map_address, coordinates = split_operands(outer.strip("[] "))
        tensor_map = machine.address(map_address)
        corner = [machine.bits(name, 32) for name in machine.parts(coordinates)]
    else:
        start, length = machine.address(outer), machine.bits(i.operands[2], 32)

    def step(mask: Mask) -> None:
        for lane in (machine.lanes if mask is None else np.flatnonzero(mask)).tolist():
            own = int(machine.full(in_shared())[lane])
            if i.has("tensor"):
                where = int(machine.full(tensor_map())[lane])
                corners = [int(machine.full(get())[lane].astype(np.int32)) for get in corner]
                box = Box(machine, i, where, corners, own, lane)
            else:
                box = Box.of_bytes(
                    machine, i, int(machine.full(start())[lane]), int(machine.full(length())[lane]), own, lane
                )
            if not loads:
                box.store()
                continue
            at = int(machine.full(barrier())[lane]) + int(machine.shared.base[lane])  # type: ignore[misc]
            known = barrier_at(machine, i, at, np.array([lane]))
            box.launch(known)

    return step


class Box:
    """A part of a tensor in global memory, and its place in shared memory."""

    def __init__(self, machine: Machine, i: Instruction, where: int, corner: list[int], own: int, lane: int) -> None:
        self.machine, self.instruction, self.lane = machine, i, lane
        memory = machine.memories["global"]
        at, lanes = memory.locate(machine, i, np.array([where]), 16, None)
        raw = memory.views[1][where - 4096 : where - 4096 + 128].copy() if len(at) else np.zeros(128, np.uint8)
        rank, self.size = int(raw[8]) + 1, ELEMENTS[raw[9]]
        self.fill = int(raw[11])
        box, shape = raw[16:36].view(np.uint32)[:rank], raw[36:56].view(np.uint32)[:rank].astype(np.int64)
        strides = [self.size, *raw[80:112].view(np.int64)[: rank - 1].tolist()]
        if rank != len(corner):
            machine.find("async", i, f"the tensor map has {rank} dimensions", np.array([lane]))
        index = np.indices(tuple(int(n) for n in box[::-1]))[::-1]  # innermost first
        places = [index[n] + corner[n] for n in range(len(corner))]
        inside = np.ones(index.shape[1:], bool)
        address = np.full(index.shape[1:], int(raw[:8].view(np.int64)[0]))
        for n, place in enumerate(places):
            inside &= (place >= 0) & (place < shape[n])
            address += place * strides[n]
        self.inside, self.address = inside.reshape(-1), address.reshape(-1)
        offset = own + np.arange(self.inside.size) * self.size
        self.place_in_shared(offset, {0: 0, 1: 1, 2: 3, 3: 7}[int(raw[10])])
        self.check()

    def place_in_shared(self, offset: Array, swizzle: int) -> None:
        if offset.size and (offset.min() < 0 or offset.max() + self.size > self.machine.shared.used):
            lanes = np.array([self.lane])
            self.machine.find("out of bounds", self.instruction, "the box ends after shared memory", lanes)
            offset = offset % max(self.machine.shared.used, 1) // self.size * self.size
        self.at = (offset ^ (((offset >> 7) & swizzle) << 4)) + self.machine.shared.base[self.lane]

    @classmethod
    def of_bytes(cls, machine: Machine, i: Instruction, start: int, length: int, own: int, lane: int) -> Box:
        """A range of bytes."""
        box = cls.__new__(cls)
        box.machine, box.instruction, box.lane, box.size, box.fill = machine, i, lane, 16, 0
        box.address = start + np.arange(0, length, 16)
        box.inside = np.ones(len(box.address), bool)
        box.place_in_shared(own + np.arange(0, length, 16), 0)
        box.check()
        return box

    def check(self) -> None:
        """Leave out elements that are outside of the launch's arguments."""
        machine, i = self.machine, self.instruction
        memory = machine.memories["global"]
        if not self.inside.any():
            return
        bad = memory.outside(i, self.address[self.inside], self.size)
        if bad is not None:
            first, lane = self.address[self.inside][bad][:1], np.array([self.lane])
            memory.report(machine, i, "out of bounds", first, np.ones(1, bool), lane, self.size)
            self.inside[self.inside] = ~bad
        machine.checker.sectors_of_box(i, self.address[self.inside], self.size)

    def launch(self, barrier: Mbarrier) -> None:
        """Start a copy into shared memory, which lands when a thread waits for the barrier."""
        machine = self.machine
        machine.checker.start_box(self.instruction, self.at, self.size, self.lane)

        def land() -> None:
            view = machine.shared.views[self.size]
            filling = view.dtype.type(0 if not self.fill else 0x7FFF if self.size == 2 else 0x7FFFFFFF)
            view[self.at // self.size] = filling
            view[self.at[self.inside] // self.size] = machine.memories["global"].views[self.size][
                (self.address[self.inside] - 4096) // self.size
            ]
            barrier.bytes -= len(self.at) * self.size
            machine.checker.land_box(self.instruction, self.at, self.size, self.lane, barrier)

        barrier.copies.append(land)

    def store(self) -> None:
        """Copy from shared memory to global memory, or add to it."""
        machine, i = self.machine, self.instruction
        machine.checker.read_box(i, self.at, self.size, self.lane)
        view = machine.memories["global"].views[self.size]
        view[(self.address[self.inside] - 4096) // self.size] = machine.shared.views[self.size][
            self.at[self.inside] // self.size
        ]
