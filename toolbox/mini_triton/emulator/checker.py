"""The checks of a launch: races by `shadow.py`; here bank conflicts, sectors, divergence, and copies that finish later.

The machine calls these methods at each access and barrier. `Unchecked` neither looks nor counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.emulator.memory import Memory
from mini_triton.emulator.parser import Instruction, Kernel, split_operands
from mini_triton.emulator.report import Counts, Report
from mini_triton.emulator.shadow import Shadow, granule_of
from mini_triton.emulator.types import Array

if TYPE_CHECKING:
    from mini_triton.emulator.asynchronous import Mbarrier
    from mini_triton.emulator.machine import Machine, Mask, Step

SECTOR = 32
WASTEFUL, MANY_WAYS = 2.0, 2.0
"""Hints are given from these ratios on: sectors to the least possible, and cycles of the banks to the fewest."""


class Unchecked:
    """Stands in for the checker of a launch in which only bad accesses are looked for."""

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, event: str) -> Callable[..., None]:
        return lambda *about: None

    def watch(self, i: Instruction, step: Step) -> Step:
        return step


class Checker:
    """Checks one launch, batch by batch."""

    def __init__(self, kernel: Kernel, report: Report) -> None:
        self.kernel, self.report = kernel, report
        self.granule = granule_of(kernel)
        self.needed: set[int] = set()
        self.unneeded: set[int] = set()
        self.patterns: dict[int, tuple[Array, Any]] = {}  # by instruction: its last addresses, and what they cost
        self.split: dict[int, list[Any]] = {}  # by branch: how many warps it split
        products = [i for i in kernel.instructions if i.has("mma_async")]
        self.sums = {name for i in products for name in split_operands(i.operands[0].strip("{}"))}

    def begin(self, machine: Machine) -> None:
        """Begin a batch."""
        self.machine = machine
        self.shadow = Shadow(machine, self.granule)
        self.shadow.needed = self.needed
        self.products: list[tuple[list[Any], set[int]]] = [([], set())]  # by group: what is read, and what is written
        self.boxes: list[list[Any]] = [[]]
        self.stored_outside = False  # to global memory, since the last barrier

    def end(self, machine: Machine) -> None:
        """End a batch."""
        self.unneeded |= self.shadow.undecided
        copies = machine.state.get("copies")
        if copies and copies.waiting:
            copy = copies.waiting[0]
            machine.find("async", copy.instruction, "no thread ever waits for this copy", copy.lanes)

    # --- accesses

    def access(
        self, i: Instruction, memory: Memory, at: Array, size: int, lanes: Array | None, write: bool, data: Any = None
    ) -> None:
        """An access of lanes, at places in a memory."""
        lanes = self.machine.lanes if lanes is None else lanes
        if not len(lanes):
            return
        at = np.broadcast_to(at, lanes.shape)
        if memory.name == "shared":
            self.count_banks(i, at, size, lanes)
            self.shadow.access(i, at, size, lanes, write, data)
        elif memory.name == "global":
            self.stored_outside |= write
            self.count_sectors(i, at, size, lanes)
        elif memory.name == "local":
            self.report.count(i, local=len(lanes))

    def atomic(self, i: Instruction, memory: Memory, at: Array, size: int, lanes: Array | None) -> None:
        """An atomic access, which races with no other atomic access."""
        lanes = self.machine.lanes if lanes is None else lanes
        self.stored_outside = True
        if not len(lanes):
            return
        if memory.name == "global":
            self.count_sectors(i, np.broadcast_to(at, lanes.shape), size, lanes)
        elif memory.name == "shared":
            self.count_banks(i, np.broadcast_to(at, lanes.shape), size, lanes)

    def known_pattern(self, i: Instruction, relative: Array) -> Any:
        """What the same addresses cost when this instruction ran before; None if they differ."""
        known = self.patterns.get(i.line)
        return known[1] if known and np.array_equal(known[0], relative) else None

    def by_warp(self, at: Array, lanes: Array, group: int) -> Array:
        """Places as [groups of lanes, lanes of a group]; those of inactive lanes repeat an active lane's."""
        if len(lanes) == self.machine.count:
            return at.reshape(-1, group)
        places = np.full(self.machine.count, -1)
        places[lanes] = at
        table = places.reshape(-1, group)
        table = table[(table >= 0).any(1)]
        return np.where(table < 0, table.max(1, keepdims=True), table)

    def count_sectors(self, i: Instruction, at: Array, size: int, lanes: Array) -> None:
        """Sectors of 32 bytes that warps touch, counted from the start of the argument, and the fewest possible."""
        memory: Any = self.machine.memories["global"]
        start = memory.starts[memory.recent.get(i.line, 0)] + memory.base
        relative = at - start
        cost = self.known_pattern(i, relative - relative[0] // SECTOR * SECTOR)
        if cost is None:
            table = np.sort(self.by_warp(relative, lanes, 32), axis=1)
            new = np.ones(table.shape, bool)
            new[:, 1:] = np.diff(table, axis=1) != 0
            wide = table // SECTOR
            fresh = np.ones(table.shape, bool)
            fresh[:, 1:] = np.diff(wide, axis=1) != 0
            cost = int(fresh.sum()), int((-(-new.sum(1) * size // SECTOR)).sum())
            self.patterns[i.line] = relative - relative[0] // SECTOR * SECTOR, cost
        self.report.count(i, sectors=cost[0], least_sectors=cost[1])

    def count_banks(self, i: Instruction, at: Array, size: int, lanes: Array) -> None:
        """Cycles that the 32 banks of 4 bytes need, and the fewest. A cycle serves 128 bytes."""
        relative = at - at[0]
        cost = self.known_pattern(i, relative) if at[0] % 128 == 0 or size >= 4 else None
        if cost is None:
            words = max(size // 4, 1)
            group = 32 // words
            table = self.by_warp(at // 4, lanes, group)[..., None] + np.arange(words)
            table = np.sort(table.reshape(len(table), -1), axis=1)
            fresh = np.ones(table.shape, bool)
            fresh[:, 1:] = np.diff(table, axis=1) != 0
            rows = np.broadcast_to(np.arange(len(table))[:, None], table.shape)
            counts = np.bincount((rows * 32 + table % 32)[fresh], minlength=len(table) * 32).reshape(-1, 32)
            cost = int(counts.max(1).sum()), len(table)
            self.patterns[i.line] = relative, cost
        self.report.count(i, bank_ways=cost[0], shared=cost[1])

    def sectors_of_box(self, i: Instruction, address: Array, size: int) -> None:
        """The sectors of a copy of the copy engine."""
        sectors, least = len(np.unique(address // SECTOR)), -(-len(address) * size // SECTOR)
        self.report.count(i, sectors=sectors, least_sectors=min(sectors, least))

    # --- control

    def branch(self, i: Instruction, taken: Array, others: Array) -> None:
        """A branch that some lanes take and others do not."""
        warps = taken.reshape(-1, 32).any(1) & others.reshape(-1, 32).any(1)
        if warps.any():
            entry = self.split.setdefault(i.line, [i, 0, np.flatnonzero(warps)[:1] * 32])
            entry[1] += int(warps.sum())

    def barrier(self, i: Instruction, lanes: Array | None) -> None:
        """A barrier of a CTA has ended."""
        self.shadow.barrier(i.line, lanes, self.stored_outside)
        self.stored_outside = False

    def warp_barrier(self, mask: Array | None) -> None:
        """Lanes of a warp have met."""
        self.shadow.warp_barrier(mask)

    def fence(self, mask: Array | None) -> None:
        """Lanes let tensor cores and the copy engine see what the CTA has stored."""
        ctas = slice(None) if mask is None else np.unique(self.machine.cta[mask])
        self.shadow.fenced[ctas] = self.machine.steps_done

    # --- what finishes later

    def in_flight(self, at: Array, size: int, lanes: Array) -> None:
        """A cp.async has begun to write."""
        self.shadow.mark(at, size, lanes, True)

    def landed(self, i: Instruction, at: Array, size: int, lanes: Array) -> None:
        """A cp.async has landed."""
        self.shadow.finish(at, size, lanes, True)

    def read_product(self, i: Instruction, at: Array, lanes: Array) -> None:
        """A wgmma reads rows of 16 bytes."""
        self.shadow.check_fence(i, at, 16, lanes)
        self.shadow.access(i, at, 16, lanes, False, None)
        self.shadow.mark(at, 16, lanes, False)
        self.products[-1][0].append((at, lanes))

    def start_product(self, i: Instruction, registers: list[int]) -> None:
        """A wgmma has begun; its sums are in registers."""
        self.products[-1][1].update(registers)

    def commit_products(self) -> None:
        self.products.append(([], set()))

    def watch(self, i: Instruction, step: Step) -> Step:
        """A step that reports if it reads sums of products that have not finished."""
        if not self.sums or i.opcode == "wgmma":
            return step
        words = re.findall(r"%?[\w$.]+", " ".join(i.operands[i.opcode not in ("st", "red", "stmatrix") :]))
        watched = {self.machine.number(word) for word in words if word in self.sums}
        if not watched:
            return step

        def check(mask: Mask) -> Any:
            if any(registers & watched for _, registers in self.products):
                lanes = self.machine.lanes if mask is None else np.flatnonzero(mask)
                self.machine.find("async", i, "reads sums of a wgmma that has not finished", lanes)
            return step(mask)

        return check

    def wait_products(self, left: int) -> None:
        """All groups of products but the last `left` have finished."""
        over = max(len(self.products) - 1 - left, 0)
        for accesses, _ in self.products[:over]:
            for at, lanes in accesses:
                self.shadow.finish(at, 16, lanes, False)
        del self.products[:over]

    def start_box(self, i: Instruction, at: Array, size: int, lane: int) -> None:
        """The copy engine begins to write a box."""
        step = max(16 // size, 1)
        self.shadow.start_box(i, at[::step] // 16 * 16, 16, lane)

    def land_box(self, i: Instruction, at: Array, size: int, lane: int, barrier: Mbarrier) -> None:
        """A box has landed; threads that wait for the barrier may read it."""
        clocks = self.shadow.land_box(at[:: max(16 // size, 1)] // 16 * 16, 16, lane)
        barrier.clock = clocks if barrier.clock is None else np.maximum(barrier.clock, clocks)

    def read_box(self, i: Instruction, at: Array, size: int, lane: int) -> None:
        """The copy engine begins to read a box."""
        at = at[:: max(16 // size, 1)] // 16 * 16
        lanes = np.full(len(at), lane)
        self.stored_outside = True
        self.shadow.check_fence(i, at, 16, lanes)
        self.shadow.access(i, at, 16, lanes, False, None)
        self.shadow.mark(at, 16, lanes, False)
        self.boxes[-1].append((at, lanes))

    def commit_bulk(self) -> None:
        self.boxes.append([])

    def wait_bulk(self, left: int) -> None:
        """The copy engine has read all groups of boxes but the last `left`."""
        over = max(len(self.boxes) - 1 - left, 0)
        for at, lanes in (box for group in self.boxes[:over] for box in group):
            self.shadow.finish(at, 16, lanes, False)
        del self.boxes[:over]

    def release(self, barrier: Mbarrier, lanes: Array) -> None:
        """Lanes have arrived at an mbarrier."""
        known = self.shadow.release(lanes)
        barrier.clock = known if barrier.clock is None else np.maximum(barrier.clock, known)
        self.stored_outside = True

    def acquire(self, barrier: Mbarrier, lanes: Array) -> None:
        """Lanes have seen that a phase of an mbarrier is over."""
        if barrier.clock is not None:
            self.shadow.acquire(barrier.clock, lanes)

    # --- hints

    def finish(self) -> None:
        """Add the hints of the whole launch to the report."""
        for i, warps, lanes in self.split.values():
            self.report.find("divergence", i, f"the branch splits {warps} warps", lanes, self.machine.threads)
        for i in self.kernel.instructions:
            _, c = self.report.instructions.get(i.line, (None, Counts()))
            if c.local:
                self.report.find("spills", i, f"{c.local} accesses of threads to local memory")
            if c.sectors > WASTEFUL * c.least_sectors:
                self.report.find("sectors", i, f"{c.sectors} sectors of 32 bytes for what fits in {c.least_sectors}")
            if c.bank_ways > MANY_WAYS * c.shared:
                self.report.find("banks", i, f"bank conflicts: {c.bank_ways / c.shared:.1f} ways on average")
            if i.line in self.unneeded - self.needed:
                self.report.find("redundant barrier", i, "no access needs this barrier alone")
