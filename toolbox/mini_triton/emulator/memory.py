"""Memories: global memory is this process's memory; shared and local memory are arrays, one part for each owner.

`locate` turns the addresses of an access into indices. It reports and drops lanes whose address is out of bounds or
misaligned. Nothing outside of a launch's arguments is ever read or written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array

if TYPE_CHECKING:
    from mini_triton.emulator.machine import Machine, Mask

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


class Memory:
    """Bytes that lanes access. A place is an index of a byte: an address plus `base`, which may differ by lane."""

    def __init__(self, machine: Machine, name: str, content: Array, base: Array) -> None:
        self.machine, self.name, self.base = machine, name, base
        self.views = {size: content[: len(content) // size * size].view(unit) for size, unit in UNITS.items()}

    def locate(self, i: Instruction, addresses: Array, size: int, mask: Mask) -> tuple[Array, Array]:
        """The places of the lanes in `mask` whose addresses are valid, and these lanes."""
        machine, lanes = self.machine, self.machine.select(mask)
        addresses = machine.pick(addresses, lanes)
        for kind, judge in (("misaligned", misaligned), ("out of bounds", self.outside)):
            if not len(lanes) or (bad := judge(i, addresses, size)) is None:
                continue
            addresses, bad = np.broadcast_to(addresses, lanes.shape), np.broadcast_to(bad, lanes.shape)
            machine.find(kind, i, f"{size} bytes at {self.describe(int(addresses[bad][0]))}", lanes[bad])
            addresses, lanes = addresses[~bad], lanes[~bad]
        return addresses + machine.pick(self.base, lanes), lanes

    def read(self, at: Array, size: int) -> Array:
        """Units of `size` bytes at places."""
        return self.views[size][at // size]

    def write(self, at: Array, size: int, data: Array) -> None:
        """Store units of `size` bytes. Of several at one place, the last one stays."""
        self.views[size][at // size] = data

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        """Which addresses are out of bounds; None if none is."""
        raise NotImplementedError

    def describe(self, address: int) -> str:
        """An address in words."""
        raise NotImplementedError


def misaligned(i: Instruction, addresses: Array, size: int) -> Array | None:
    """Which addresses are no multiples of a size; None if none is."""
    rest = addresses & (size - 1)
    return rest != 0 if rest.any() else None


class Banked(Memory):
    """Shared memory, of which each CTA has a part, or local memory, of which each thread has a part."""

    def __init__(self, machine: Machine, name: str, owners: Array, used: int) -> None:
        self.used, self.size = used, -(-max(used, 16) // 16) * 16
        super().__init__(machine, name, np.zeros((int(owners[-1]) + 1) * self.size, np.uint8), owners * self.size)

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        if addresses.min() >= 0 and addresses.max() + size <= self.used:
            return None
        return (addresses < 0) | (addresses + size > self.used)

    def describe(self, address: int) -> str:
        return f"byte {address} of {self.name} memory, which has {self.used} bytes"


class Global(Memory):
    """The memory of the process, of which a launch may access its arguments."""

    def __init__(self, machine: Machine, allocations: Sequence[Allocation]) -> None:
        whole: Any = (ctypes.c_uint8 * (END - ORIGIN)).from_address(ORIGIN)
        super().__init__(machine, "global", np.frombuffer(whole, np.uint8), np.int64(-ORIGIN))
        self.allocations = sorted(allocations, key=lambda allocation: (allocation.start, allocation.end))
        self.allocations = self.allocations or [Allocation("no argument", 0, 0)]
        self.starts, ends = np.array([(each.start, each.end) for each in self.allocations], np.int64).T
        self.ends = np.maximum.accumulate(ends)
        self.recent: dict[int, int] = {}  # the allocation that an instruction accessed last, by line

    def outside(self, i: Instruction, addresses: Array, size: int) -> Array | None:
        known = self.recent.get(i.line, 0)
        if self.starts[known] <= addresses.min() and addresses.max() + size <= self.ends[known]:
            return None
        which = np.searchsorted(self.starts, addresses, "right") - 1
        self.recent[i.line] = int(max(which.max(), 0))
        bad = (which < 0) | (addresses + size > self.ends[which])
        return bad if bad.any() else None

    def start_of(self, i: Instruction) -> int:
        """The place of the allocation that an instruction accessed last."""
        return self.starts[self.recent.get(i.line, 0)] + self.base

    def describe(self, address: int) -> str:
        nearest = min(self.allocations, key=lambda each: max(each.start - address, address - each.end + 1, 0))
        if address < nearest.start:
            return f"an address {nearest.start - address} bytes before the start of {nearest.name}"
        name = f"{nearest.name} ({nearest.end - nearest.start} bytes)"
        if address < nearest.end:
            return f"byte {address - nearest.start} of {name}"
        distance = f"{address - nearest.end} bytes after" if address > nearest.end else "just after"
        return f"an address {distance} the end of {name}"
