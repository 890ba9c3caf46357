"""Memories: global memory is this process's memory; shared and local memory are arrays, one part for each owner.

`locate` turns the addresses of an access into indices. It reports and drops lanes whose address is out of bounds or
misaligned. Nothing outside of a launch's arguments is ever read or written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mini_triton.emulator.parser import Instruction, PtxError
from mini_triton.emulator.types import Array

if TYPE_CHECKING:
    from mini_triton.emulator.machine import Machine

ORIGIN, END = 4096, 1 << 47
"""Addresses of a process lie between these numbers."""
WINDOWS = {"shared": 1 << 56, "local": 1 << 57}
"""What a generic address adds to an address in one of these memories."""
UNITS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
"""What moves bytes, by their number. NumPy copies complex numbers of 16 bytes without looking at them."""


@dataclass(frozen=True)
class Allocation:
    """Memory of an argument."""

    name: str
    start: int
    end: int
    keep: Any = None  # the array that owns the memory
    address: int = 0  # that an argument has, if not the start


class Located(NamedTuple):
    """The places of an access in the bytes of a memory, and its lanes; `lanes` is None if all lanes take part."""

    at: Array
    lanes: Array | None


class Memory:
    """Bytes that lanes access."""

    name = ""
    base: Array = np.int64(0)  # of each lane's part

    def __init__(self, content: Array) -> None:
        self.views = {size: content[: len(content) // size * size].view(unit) for size, unit in UNITS.items()}

    def locate(self, machine: Machine, i: Instruction, addresses: Array, size: int, mask: Array | None) -> Located:
        """The places of the lanes in `mask` whose addresses are valid."""
        lanes = None
        if mask is not None:
            lanes = np.flatnonzero(mask)
            addresses = machine.full(addresses)[lanes]
        if addresses.size and (size & (size - 1) == 0) and (addresses & (size - 1)).any():
            bad = addresses & (size - 1) != 0
            self.report(machine, i, "misaligned", addresses, bad, lanes, size)
            addresses, lanes = self.without(machine, addresses, bad, lanes)
        if addresses.size and (bad := self.outside(i, addresses, size)) is not None:
            self.report(machine, i, "out of bounds", addresses, bad, lanes, size)
            addresses, lanes = self.without(machine, addresses, bad, lanes)
        if self.base.ndim:
            addresses = addresses + (self.base if lanes is None else self.base[lanes])
        else:
            addresses = addresses + self.base
        return Located(addresses, lanes)

    @staticmethod
    def without(machine: Machine, addresses: Array, bad: Array, lanes: Array | None) -> tuple[Array, Array]:
        """The addresses and lanes of an access that are not bad."""
        kept = np.arange(machine.count) if lanes is None else lanes
        good = ~np.broadcast_to(bad, kept.shape)
        return np.broadcast_to(addresses, kept.shape)[good], kept[good]

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        """Which addresses are out of bounds; None if none is."""
        raise NotImplementedError

    def report(
        self, machine: Machine, i: Instruction, kind: str, addresses: Array, bad: Array, lanes: Array | None, size: int
    ) -> None:
        """Report the lanes of a bad access."""
        kept = np.arange(machine.count) if lanes is None else lanes
        bad = np.broadcast_to(bad, kept.shape)
        first = int(np.broadcast_to(addresses, kept.shape)[bad][0])
        machine.find(kind, i, f"{size} bytes at {self.describe(first)}", kept[bad])

    def describe(self, address: int) -> str:
        """An address in words."""
        return f"byte {address} of {self.name} memory"


class Banked(Memory):
    """Shared memory, of which each CTA has a part, or local memory, of which each thread has a part."""

    def __init__(self, name: str, owners: Array, count: int, size: int) -> None:
        self.name = name
        self.size = -(-max(size, 16) // 16) * 16
        self.used = size
        super().__init__(np.zeros(count * self.size, np.uint8))
        self.base = owners * self.size

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        if addresses.min() >= 0 and addresses.max() + size <= self.used:
            return None
        return (addresses < 0) | (addresses + size > self.used)

    def describe(self, address: int) -> str:
        return f"byte {address} of {self.name} memory, which has {self.used} bytes"


class Global(Memory):
    """The memory of the process, of which a launch may access its arguments."""

    name = "global"

    def __init__(self, allocations: Sequence[Allocation]) -> None:
        whole: Any = (ctypes.c_uint8 * (END - ORIGIN)).from_address(ORIGIN)
        super().__init__(np.frombuffer(whole, np.uint8))
        self.base = np.int64(-ORIGIN)
        self.allocations = sorted(allocations, key=lambda allocation: (allocation.start, allocation.end))
        self.starts = np.array([allocation.start for allocation in self.allocations], np.int64)
        ends = [allocation.end for allocation in self.allocations]
        self.ends = np.maximum.accumulate(np.array(ends, np.int64)) if ends else np.zeros(0, np.int64)
        self.recent: dict[int, int] = {}  # the allocation that an instruction accessed last

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        low, high = addresses.min(), addresses.max() + size
        known = self.recent.get(i.line, 0)
        if len(self.starts) and self.starts[known] <= low and high <= self.ends[known]:
            return None
        if not len(self.starts):
            return np.ones(addresses.shape, bool)
        which = np.searchsorted(self.starts, addresses, "right") - 1
        bad = (which < 0) | (addresses + size > self.ends[which])
        self.recent[i.line] = int(max(which.max(), 0))
        return bad if bad.any() else None

    def describe(self, address: int) -> str:
        nearest = min(
            self.allocations,
            key=lambda known: max(known.start - address, address - known.end + 1, 0),
            default=Allocation("no argument", 0, 0),
        )
        if address >= nearest.end:
            distance = f"{address - nearest.end} bytes after" if address > nearest.end else "just after"
            return f"an address {distance} the end of {nearest.name} ({nearest.end - nearest.start} bytes)"
        if address < nearest.start:
            return f"an address {nearest.start - address} bytes before the start of {nearest.name}"
        return f"byte {address - nearest.start} of {nearest.name} ({nearest.end - nearest.start} bytes)"


def resolve(machine: Machine, i: Instruction, addresses: Array, mask: Array | None) -> tuple[Memory, Array]:
    """The memory that an instruction accesses, and the addresses in it. A generic address has its memory's window."""
    space = i.space
    if space == "generic":
        used = addresses if mask is None else machine.full(addresses)[mask]
        windows = {
            next((s for s, start in WINDOWS.items() if start <= edge < 2 * start), "global")
            for edge in (int(used.min()), int(used.max()))
            if used.size
        }
        if len(windows) > 1:
            raise PtxError(f"line {i.line}: {i.text}: one access to {' and '.join(sorted(windows))} memory")
        space = windows.pop() if windows else "global"
        addresses = addresses - WINDOWS.get(space, 0)
    return machine.memories["global" if space in ("const", "param") else space], addresses
