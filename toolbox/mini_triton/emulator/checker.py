"""The checks of a launch: bank conflicts, sectors, divergence and hints; `shadow.py` finds races.

The machine calls these methods at each access and branch. `Unchecked` neither looks nor counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.emulator.asynchronous import Unfinished
from mini_triton.emulator.machine import Machine, Mask, Step
from mini_triton.emulator.memory import Global, Memory
from mini_triton.emulator.parser import NAME, Instruction, Kernel
from mini_triton.emulator.report import Counts, Report
from mini_triton.emulator.shadow import Shadow, granule_of
from mini_triton.emulator.types import Array

SECTOR, BANKS = 32, 32
WASTEFUL, MANY_WAYS = 2.0, 2.0
"""Hints are given from these ratios on: sectors to the least possible, and cycles of the banks to the fewest."""


class Unchecked:
    """Stands in for the checker, and its shadow, of a launch in which only bad accesses are looked for."""

    def __getattr__(self, event: str) -> Callable[..., None]:
        return lambda *about: None

    def begin(self, machine: Machine) -> Unchecked:
        return self

    def watch(self, i: Instruction, step: Step) -> Step:
        return step


class Checker:
    """Checks one launch, batch by batch."""

    def __init__(self, kernel: Kernel, report: Report) -> None:
        self.kernel, self.report = kernel, report
        self.granule = granule_of(kernel)
        self.needed: set[int] = set()  # lines of barriers
        self.unneeded: set[int] = set()
        self.prices: dict[Any, tuple[Array, Array, Any]] = {}  # by instruction: its last places and lanes, and a cost
        self.split: dict[int, list[Any]] = {}  # by branch: how many warps it split
        factors = [" ".join(i.operands[:2]) for i in kernel.instructions if i.has("mma_async")]
        self.of_products = set(NAME.findall(" ".join(re.findall(r"{.*?}", " ".join(factors)))))  # registers

    def begin(self, machine: Machine) -> Shadow:
        """Begin a batch."""
        self.machine, self.shadow = machine, Shadow(machine, self.granule, self.needed)
        return self.shadow

    def end(self) -> None:
        """End a batch."""
        for copy in self.machine.state(Unfinished).work["cp"][:1]:
            self.machine.find("async", copy.instruction, "no thread ever waits for this copy", copy.arrays[0])
        self.unneeded |= self.shadow.undecided

    def watch(self, i: Instruction, step: Step) -> Step:
        """A step that reports if it uses registers of products that have not finished."""
        names = self.of_products.intersection(NAME.findall(" ".join(i.operands))) if self.of_products else ()
        if not names or i.opcode == "wgmma":
            return step
        watched = {self.machine.index_of(name) for name in names}

        def check(mask: Mask) -> Any:
            products = self.machine.state(Unfinished).work["wgmma"]
            if any(work.registers & watched and mask[work.arrays[0]].any() for work in products):
                self.machine.find(
                    "async", i, "uses registers of a wgmma that has not finished", self.machine.select(mask)
                )
            self.shadow.use(watched, mask)
            return step(mask)

        return check

    # --- accesses

    def access(
        self, i: Instruction, memory: Memory, at: Array, size: int, lanes: Array, write: bool, data: Any = None
    ) -> None:
        """An access of lanes, at places in a memory."""
        if not len(lanes):
            return
        at = np.broadcast_to(at, lanes.shape)
        self.count(i, memory, at, size, lanes)
        if memory is self.machine.shared:
            self.shadow.access(i, at, size, lanes, write, data)
        elif isinstance(memory, Global):
            self.shadow.stored_outside |= write

    def atomic(self, i: Instruction, memory: Memory, at: Array, size: int, lanes: Array) -> None:
        """An atomic access, which races with no other atomic access."""
        self.shadow.stored_outside = True
        if len(lanes):
            self.count(i, memory, at, size, lanes)

    def count(self, i: Instruction, memory: Memory, at: Array, size: int, lanes: Array) -> None:
        """Add what an access costs to the report. Sectors count from the start of the argument."""
        if memory.name == "local":
            self.report.count(i, local=len(lanes))
        elif isinstance(memory, Global):
            at = at - memory.start_of(i)
            touched, least = self.price(i, at - at[0] // SECTOR * SECTOR, size, lanes, sectors)
            self.report.count(i, sectors=touched, least_sectors=least)
        else:
            cycles, least = self.price(i, at - at[0] // 4 * 4, size, lanes, bank_cycles)
            self.report.count(i, bank_ways=cycles, shared=least)

    def price(self, i: Instruction, at: Array, size: int, lanes: Array, cost: Callable[..., Any]) -> Any:
        """What an access costs: the same as before if its places and lanes are the same."""
        known = self.prices.get((i.line, cost))
        if known is None or not (np.array_equal(known[0], at) and np.array_equal(known[1], lanes)):
            whole = at
            if lanes is not self.machine.lanes:
                whole = np.full(self.machine.count, ABSENT)
                whole[lanes] = at
            known = self.prices[i.line, cost] = at, lanes, cost(whole, size)
        return known[2]

    def count_box(self, i: Instruction, address: Array, size: int) -> None:
        """A copy of the copy engine."""
        touched, least = len(np.unique(address // SECTOR)), -(-len(address) * size // SECTOR)
        self.report.count(i, sectors=touched, least_sectors=min(touched, least))

    # --- control

    def branch(self, i: Instruction, taken: Mask, others: Mask) -> None:
        """A branch that some lanes take and others do not."""
        warps = taken.reshape(-1, 32).any(1) & others.reshape(-1, 32).any(1)
        if warps.any():
            entry = self.split.setdefault(i.line, [i, 0, np.flatnonzero(warps)[:1] * 32 + self.machine.first])
            entry[1] += int(warps.sum())

    def finish(self) -> None:
        """Add the hints of the whole launch to the report."""
        for i, warps, lanes in self.split.values():
            self.report.find("divergence", i, f"the branch splits {warps} warps", lanes)
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


# --- costs

ABSENT = -(1 << 62)
"""The place of a lane that takes no part."""


def groups_of(at: Array, lanes: int) -> Array:
    """The places of groups of lanes, sorted in each group, without groups that take no part."""
    table = np.sort(at.reshape(-1, lanes), axis=1)
    return table[table[:, -1] != ABSENT]


def first(table: Array) -> Array:
    """Which numbers of sorted rows are present, and the first of their kind."""
    return (table != ABSENT) & (np.diff(table, axis=1, prepend=ABSENT) != 0)


def sectors(at: Array, size: int) -> tuple[int, int]:
    """Sectors of 32 bytes that warps touch, and the fewest possible for so many different places."""
    table = groups_of(at, 32)
    places = first(table).sum(1)
    touched = first(np.where(table == ABSENT, ABSENT, table // SECTOR))
    return int(touched.sum()), int((-(-places * size // SECTOR)).sum())


def bank_cycles(at: Array, size: int) -> tuple[int, int]:
    """Cycles that the 32 banks of 4 bytes need, and the fewest. A cycle serves 128 bytes."""
    words = max(size // 4, 1)
    table = groups_of(np.where(at == ABSENT, ABSENT, at // 4), BANKS // words)
    rows, columns = np.nonzero(first(table))
    banks = (table[rows, columns][:, None] + np.arange(words)) % BANKS
    counts = np.bincount((rows[:, None] * BANKS + banks).reshape(-1), minlength=len(table) * BANKS)
    return int(counts.reshape(-1, BANKS).max(1).sum()), len(table)
