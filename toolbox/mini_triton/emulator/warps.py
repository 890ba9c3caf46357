"""Instructions with which the lanes of a warp or a CTA talk to each other: shuffles, votes, reductions, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, Wait, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array, type_of


@instruction("shfl")
def shuffle(machine: Machine, i: Instruction) -> Step:
    """Take a register of another lane. If this lane is outside of the segment, take one's own."""
    mode = i.one_of("up", "down", "bfly", "idx")
    names = [name.strip() for name in i.operands[0].split("|")]
    put = machine.target(names[0], type_of("b32"))
    put_valid = machine.target(names[1], type_of("pred")) if len(names) > 1 else None
    get, by, clamp = (machine.bits(operand, 32) for operand in i.operands[1:4])
    fixed = not any(machine.is_register(operand) for operand in i.operands[2:4])
    lane, first = machine.lanes & 31, machine.lanes & ~31
    known: list[tuple[Array, Array]] = []

    def sources() -> tuple[Array, Array]:
        if known:
            return known[0]
        distance, limits = (by() & np.uint32(31)).astype(np.int64), clamp().astype(np.int64)
        segment, limit = limits >> 8 & 31, limits & 31
        last, start = (lane & segment) | (limit & ~segment), lane & segment
        other: Any = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance}.get(mode)
        if other is None:
            other = start | (distance & ~segment)
        valid = other >= last if mode == "up" else other <= last
        found = first + np.where(valid, other, lane), valid
        if fixed:
            known.append(found)
        return found

    def step(mask: Mask) -> None:
        source, valid = sources()
        if mask is not None and (mask & ~mask[source]).any():
            machine.find(
                "divergence", i, "reads a register of a lane that is not active", np.flatnonzero(mask & ~mask[source])
            )
        put(machine.full(get())[source], mask)
        if put_valid:
            put_valid(valid, mask)
        machine.checker.warp_barrier(mask)

    return step


def ballot(bits: Array) -> Array:
    """For each warp, the bits of its lanes as one number."""
    return np.packbits(bits.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32)[:, 0]


@instruction("vote")
def vote(machine: Machine, i: Instruction) -> Step:
    """Whether all or any lanes of a warp say yes, or who does."""
    mode = i.one_of("ballot", "any", "all", "uni")
    get = machine.bits(i.operands[1], 1)
    put = machine.target(i.operands[0], type_of("b32" if mode == "ballot" else "pred"))

    def step(mask: Mask) -> None:
        yes, here = machine.full(get()), machine.full(True if mask is None else mask)
        said, full = ballot(yes & here), ballot(here)
        all_said = said == full
        found = {"ballot": said, "any": said != 0, "all": all_said, "uni": all_said | (said == 0)}[mode]
        put(found.repeat(32), mask)

    return step


@instruction("activemask")
def active_mask(machine: Machine, i: Instruction) -> Step:
    put = machine.target(i.operands[0], type_of("b32"))
    return lambda mask: put(ballot(machine.full(True if mask is None else mask)).repeat(32), mask)


@instruction("elect")
def elect(machine: Machine, i: Instruction) -> Step:
    """Choose the first active lane of each warp."""
    names = [name.strip() for name in i.operands[0].split("|")]
    put, put_chosen = machine.target(names[0], type_of("b32")), machine.target(names[1], type_of("pred"))

    def step(mask: Mask) -> None:
        here = machine.full(True if mask is None else mask).reshape(-1, 32)
        leader = here.argmax(1).astype(np.uint32).repeat(32)
        put(leader, mask)
        put_chosen(leader == machine.lanes % 32, mask)

    return step


@instruction("match")
def match(machine: Machine, i: Instruction) -> Step:
    """Which lanes of a warp hold the same number."""
    if not i.has("any"):
        raise KeyError("all")
    get, put = machine.bits(i.operands[1], i.type.width), machine.target(i.operands[0], type_of("b32"))

    def step(mask: Mask) -> None:
        numbers = machine.full(get()).reshape(-1, 32)
        here = machine.full(True if mask is None else mask).reshape(-1, 32)
        same = (numbers[:, :, None] == numbers[:, None, :]) & here[:, None, :]
        put(np.packbits(same, axis=2, bitorder="little").view(np.uint32).reshape(-1), mask)

    return step


REDUCTIONS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
REDUCTIONS |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@instruction("redux")
def reduce(machine: Machine, i: Instruction) -> Step:
    """One number of all lanes of a warp."""
    kind, name = i.type, i.one_of(*REDUCTIONS)
    function = REDUCTIONS[name]
    if kind.is_float:
        function = {"min": np.fmin, "max": np.fmax}[name] if not i.has("NaN") else function
    get, put = machine.source(i.operands[1], kind), machine.target(i.operands[0], kind)

    def step(mask: Mask) -> None:
        machine.need_whole_warps(i, mask)
        values = machine.full(get()).reshape(-1, 32)
        put(kind.write(function.reduce(values, axis=1, dtype=values.dtype)).repeat(32), mask)

    return step


@instruction("bar", "barrier")
def barrier(machine: Machine, i: Instruction) -> Step:
    """Wait for other warps of the CTA. `.arrive` does not wait; `.red` also combines predicates."""
    if i.has("cluster"):
        raise KeyError("clusters")
    if i.has("warp"):
        return machine.checker.warp_barrier
    reduces, at = i.has("red"), 1 if i.has("red") else 0
    name, count = [*(machine.bits(operand, 32) for operand in i.operands[at : at + 2]), lambda: np.uint32(0)][:2]
    if reduces:
        wanted = machine.bits(i.operands[-1], 1)
        how = i.one_of("popc", "and", "or")
        put = machine.target(i.operands[0], type_of("u32" if how == "popc" else "pred"))
        count = lambda: np.uint32(0)  # noqa: E731

    def step(mask: Mask) -> Wait:
        if reduces:  # all lanes of the CTA execute it together, or none
            machine.need_whole_warps(i, mask)
            said = machine.full(wanted()).reshape(machine.ctas, -1)
            found = {"popc": said.sum(1).astype(np.uint32), "and": said.all(1), "or": said.any(1)}[how]
            put(found.repeat(machine.threads), mask)
        names, counts = (value() if mask is None else machine.full(value())[mask] for value in (name, count))
        return Wait(int(np.max(names)), int(np.max(counts)), not i.has("arrive"))

    return step


@instruction("membar", "fence")
def fence(machine: Machine, i: Instruction) -> Step:
    """A fence, which only matters between threads and the units that work on their own: tensor cores, copy engine."""
    orders = i.has("proxy") and i.modifiers[1].startswith("async")
    return machine.checker.fence if orders else lambda mask: None


@instruction("griddepcontrol", "nanosleep", "prefetch", "prefetchu", "discard", "setmaxnreg", "applypriority")
def nothing(machine: Machine, i: Instruction) -> Step:
    """Instructions that change neither registers nor memory here: memory is always up to date."""
    return lambda mask: None


@instruction("createpolicy")
def create_policy(machine: Machine, i: Instruction) -> Step:
    """A hint for caches, which the emulator does not have."""
    put = machine.target(i.operands[0], type_of("b64"))
    return lambda mask: put(np.zeros((), np.uint64), mask)


@instruction("mapa", "getctarank")
def cluster(machine: Machine, i: Instruction) -> Step:
    """Addresses in other CTAs' shared memory."""
    raise KeyError("clusters")
