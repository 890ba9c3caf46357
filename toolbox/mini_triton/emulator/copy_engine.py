"""The copy engine (TMA): one thread starts the copy of a box of a tensor, or of a range of bytes.

A copy into shared memory lands when a thread waits for its mbarrier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, executes, instruction
from mini_triton.emulator.mbarriers import Mbarrier, Mbarriers
from mini_triton.emulator.parser import Instruction, split_operands
from mini_triton.emulator.tensor_maps import ELEMENTS, MAP_BYTES, TENSOR_MAP
from mini_triton.emulator.types import Array


@instruction("tensormap.replace")
def replace(machine: Machine, i: Instruction) -> Step:
    """Set a field of a tensor map, or an element of the field."""
    kind, start = TENSOR_MAP.fields[i.modifiers[2]][:2]  # type: ignore[index]
    size = kind.base.itemsize
    start += size * int(i.operands[1], 0) if len(i.operands) > 2 else 0
    address, value = machine.address(i.operands[0]), machine.bits(i.operands[-1], 64)

    def step(mask: Mask) -> None:
        memory, at, lanes = machine.locate(i, machine.full(address()) + start, size, mask)
        memory.write(at, size, machine.full(value())[lanes].astype(f"u{size}"))

    return step


@executes("aa", "tensormap.cp_fenceproxy")
def copy_map(machine: Machine, i: Instruction, mask: Mask, to: Array, source: Array) -> None:
    """Copy a tensor map from shared to global memory."""
    memory, leaders = machine.memories["global"], mask & (machine.lanes % 32 == 0)
    at, _ = machine.shared.locate(i, source, 16, leaders)
    place, _ = memory.locate(i, to, MAP_BYTES, leaders)
    own = np.arange(MAP_BYTES)
    memory.write(place[:, None] + own, 1, machine.shared.read(at[:, None] + own, 1))


@dataclass
class Box:
    """Elements of a tensor in global memory, or pieces of a range of bytes."""

    addresses: Array
    inside: Array  # of the tensor
    size: int  # of an element, in bytes
    swizzle: int = 0  # the bits of a row's number that swizzle it
    fills_with_nan: bool = False

    def copy(self, machine: Machine, i: Instruction, start: int, lane: int, barrier: Mbarrier | None) -> None:
        """Store the box from shared memory; or, with a barrier, begin to load the box."""
        shared, memory, size, lanes = machine.shared, machine.memories["global"], self.size, np.array([lane])
        offset = start + np.arange(len(self.addresses)) * size
        if offset.size and shared.outside(i, offset, size) is not None:
            machine.find("out of bounds", i, "the box ends after shared memory", lanes)
            offset = offset % max(shared.used, 1) // size * size
        at = (offset ^ (offset >> 7 & self.swizzle) << 4) + shared.base[lane]
        inside, chunks = self.inside, at[:: max(16 // size, 1)] // 16 * 16
        known = self.addresses[inside]
        if known.size and (bad := memory.outside(i, known, size)) is not None:
            machine.find("out of bounds", i, f"{size} bytes at {memory.describe(int(known[bad][0]))}", lanes)
            inside[inside] = ~bad
            known = known[~bad]
        machine.checker.count_box(i, known, size)
        if not barrier:
            machine.shadow.read_later(i, chunks, np.full(len(chunks), lane))
            memory.write(known + memory.base, size, shared.read(at[inside], size))
            return
        machine.shadow.begin_box(i, chunks, lane)

        def land() -> None:
            shared.write(at, size, 0 if not self.fills_with_nan else 0x7FFF if size == 2 else 0x7FFFFFFF)
            shared.write(at[inside], size, memory.read(known + memory.base, size))
            barrier.bytes -= len(at) * size
            machine.shadow.end_box(chunks, lane, barrier)

        barrier.copies.append(land)


def box_of_tensor(machine: Machine, i: Instruction, where: int, corner: list[int], lane: int) -> Box:
    """The box at a corner, innermost first, of the tensor whose map has an address."""
    memory = machine.memories["global"]
    if memory.outside(i, np.array([where]), MAP_BYTES) is not None:
        machine.find("out of bounds", i, f"{MAP_BYTES} bytes at {memory.describe(where)}", np.array([lane]))
        return Box(np.zeros(0, np.int64), np.zeros(0, bool), 1)
    raw = memory.read(where + memory.base + np.arange(TENSOR_MAP.itemsize), 1)
    tensor = raw.view(TENSOR_MAP)[0]
    rank, size = int(tensor["rank"]) + 1, ELEMENTS[tensor["elemtype"]]
    if rank != len(corner):
        machine.find("async", i, f"the tensor map has {rank} dimensions", np.array([lane]))
    index = np.indices(tensor["box_dim"][:rank][::-1].tolist()).reshape(rank, -1)[::-1]
    places = index[: len(corner)] + np.array(corner[:rank])[:, None]
    inside = ((places >= 0) & (places < tensor["global_dim"][: len(places), None])).all(0)
    strides = np.array([size, *tensor["global_stride"][: rank - 1]])
    addresses = tensor["global_address"] + strides[: len(places)] @ places
    return Box(addresses, inside, size, (1 << int(tensor["swizzle_mode"])) - 1, bool(tensor["fill_mode"]))


@instruction("cp.async.bulk")
def copy(machine: Machine, i: Instruction) -> Step:
    """Copy a range of bytes, or a box of a tensor, between global memory and shared memory."""
    spaces = [space for word in i.modifiers if (space := word.partition("::")[0]) in ("global", "shared")]
    if i.has("multicast::cluster", "im2col") or len(spaces) != 2:
        raise KeyError("form")
    loads = spaces[0] == "shared"
    inner, outer = i.operands[:2] if loads else i.operands[1::-1]
    in_shared, barrier = machine.address(inner), machine.address(i.operands[-1]) if loads else None
    if i.has("tensor"):
        outer, coordinates = split_operands(outer.strip("[] "))
        numbers = [machine.bits(name, 32) for name in machine.parts(coordinates)]
    else:
        numbers = [machine.bits(i.operands[2], 32)]
    start = machine.address(outer)

    def step(mask: Mask) -> None:
        values = [machine.full(get()) for get in (in_shared, start, *numbers)]
        for lane in machine.select(mask).tolist():
            own, where, *rest = (int(value[lane]) for value in values)
            if i.has("tensor"):
                box = box_of_tensor(machine, i, where, np.array(rest, np.uint32).view(np.int32).tolist(), lane)
            else:
                addresses = where + np.arange(0, rest[0], 16)
                box = Box(addresses, np.ones(len(addresses), bool), 16)
            known = None
            if barrier:
                ((known, _),) = machine.state(Mbarriers).visit(i, barrier(), np.array([lane]))
            box.copy(machine, i, own, lane, known)

    return step
