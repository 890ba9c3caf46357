"""Instructions with which the lanes of a warp or a CTA talk to each other: shuffles, votes, reductions, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.schedule import Wait
from mini_triton.emulator.types import Array, type_of


@instruction("shfl")
def shuffle(machine: Machine, i: Instruction) -> Step:
    """Take a register of another lane. If this lane is outside of the segment, take one's own."""
    mode = i.one_of("up", "down", "bfly", "idx")
    put, *put_valid = machine.targets(i.operands[0], "b32", "pred")
    get, by, clamp = (machine.bits(operand, 32) for operand in i.operands[1:4])
    fixed = not any(machine.is_register(operand) for operand in i.operands[2:4])

    def sources() -> tuple[Array, Array]:
        lane = machine.lanes & 31
        distance, limits = (by() & np.uint32(31)).astype(np.int64), clamp().astype(np.int64)
        segment, limit = limits >> 8 & 31, limits & 31
        start, last = lane & segment, (lane & segment) | (limit & ~segment)
        other = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance}.get(
            mode, start | (distance & ~segment)
        )
        valid = other >= last if mode == "up" else other <= last
        return machine.lanes - lane + np.where(valid, other, lane), valid

    known = sources() if fixed else None

    def step(mask: Mask) -> None:
        source, valid = known or sources()
        if mask is not machine.everyone and (silent := mask & ~mask[source]).any():
            machine.find("divergence", i, "reads a register of a lane that is not active", np.flatnonzero(silent))
        put(machine.full(get())[source], mask)
        for put_also in put_valid:
            put_also(valid, mask)
        machine.shadow.warp_barrier(mask)

    return step


def ballot(bits: Array) -> Array:
    """The bits of each 32 lanes as one number."""
    return np.packbits(bits.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32)[:, 0]


@instruction("vote")
def vote(machine: Machine, i: Instruction) -> Step:
    """Whether all or any lanes of a warp say yes, or who does."""
    mode = i.one_of("ballot", "any", "all", "uni")
    get = machine.bits(i.operands[1], 1)
    put = machine.target(i.operands[0], type_of("b32" if mode == "ballot" else "pred"))

    def step(mask: Mask) -> None:
        said, full = ballot(get() & mask), ballot(mask)
        found = {"ballot": said, "any": said != 0, "all": said == full, "uni": (said == full) | (said == 0)}[mode]
        put(found.repeat(32), mask)

    return step


@instruction("activemask")
def active_mask(machine: Machine, i: Instruction) -> Step:
    put = machine.target(i.operands[0], type_of("b32"))
    return lambda mask: put(ballot(mask).repeat(32), mask)


@instruction("elect")
def elect(machine: Machine, i: Instruction) -> Step:
    """Choose the first active lane of each warp."""
    put, put_chosen = machine.targets(i.operands[0], "b32", "pred")

    def step(mask: Mask) -> None:
        leader = mask.reshape(-1, 32).argmax(1).astype(np.uint32).repeat(32)
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
        same = (numbers[:, :, None] == numbers[:, None, :]) & mask.reshape(-1, 1, 32)
        put(ballot(same), mask)

    return step


REDUCTIONS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
REDUCTIONS |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@instruction("redux")
def reduce(machine: Machine, i: Instruction) -> Step:
    """One number of all lanes of a warp."""
    kind, name = i.type, i.one_of(*REDUCTIONS)
    function = REDUCTIONS[name]
    if kind.is_float and not i.has("NaN"):
        function = {"min": np.fmin, "max": np.fmax}[name]
    get, put = machine.source(i.operands[1], kind), machine.target(i.operands[0], kind)

    def step(mask: Mask) -> None:
        machine.need_whole_groups(i, mask)
        values = machine.full(get()).reshape(-1, 32)
        put(kind.write(function.reduce(values, axis=1, dtype=values.dtype)).repeat(32), mask)

    return step


@instruction("bar.warp")
def warp_barrier(machine: Machine, i: Instruction) -> Step:
    """Wait for other lanes of the warp."""
    return machine.shadow.warp_barrier


@instruction(*(f"{name}.{how}" for name in ("bar", "bar.cta", "barrier", "barrier.cta") for how in ("sync", "arrive")))
def barrier(machine: Machine, i: Instruction) -> Step:
    """Wait for other warps of the CTA. `.arrive` does not wait."""
    name, count = (machine.bits(operand, 32) for operand in (*i.operands, "0")[:2])

    def step(mask: Mask) -> Wait:
        lanes = machine.select(mask)
        names, counts = (int(np.max(machine.pick(get(), lanes))) for get in (name, count))
        return Wait(names, counts, not i.has("arrive"))

    return step


@instruction("bar.red", "bar.cta.red", "barrier.red", "barrier.cta.red")
def voting_barrier(machine: Machine, i: Instruction) -> Step:
    """A barrier that combines predicates. All lanes of the CTA execute it together, or none."""
    how = i.one_of("popc", "and", "or")
    name, wanted = machine.bits(i.operands[1], 32), machine.bits(i.operands[-1], 1)
    put = machine.target(i.operands[0], type_of("u32" if how == "popc" else "pred"))

    def step(mask: Mask) -> Wait:
        machine.need_whole_groups(i, mask)
        said = machine.full(wanted()).reshape(machine.ctas, -1)
        found = {"popc": said.sum(1).astype(np.uint32), "and": said.all(1), "or": said.any(1)}[how]
        put(found.repeat(machine.threads), mask)
        return Wait(int(np.max(name())))

    return step


@instruction("fence.proxy.async", "fence.proxy.async::generic")
def fence(machine: Machine, i: Instruction) -> Step:
    """A fence between threads and the units that work on their own: tensor cores, copy engine."""
    return machine.shadow.fence


@instruction("membar", "fence", "griddepcontrol", "nanosleep", "prefetch", "prefetchu", "discard", "setmaxnreg")
@instruction("applypriority", "st.param")
def nothing(machine: Machine, i: Instruction) -> Step:
    """Instructions that change neither registers nor memory here: memory is always up to date."""
    return lambda mask: None


@instruction("createpolicy")
def create_policy(machine: Machine, i: Instruction) -> Step:
    """A hint for caches, which the emulator does not have."""
    put = machine.target(i.operands[0], type_of("b64"))
    return lambda mask: put(np.zeros((), np.uint64), mask)
