"""Instructions with which the lanes of a warp or a CTA talk to each other: shuffles, votes, reductions, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Put, Step, executes, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array


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


@executes("Tp", "vote")
def vote(machine: Machine, i: Instruction, mask: Mask, put: Put, bits: Array) -> None:
    """Whether all or any lanes of a warp say yes, or who does."""
    said, full = ballot(bits & mask), ballot(mask)
    found = {"ballot": said, "any": said != 0, "all": said == full, "uni": (said == full) | (said == 0)}
    put(found[i.one_of(*found)].repeat(32), mask)


@executes("U", "activemask")
def active_mask(machine: Machine, i: Instruction, mask: Mask, put: Put) -> None:
    put(ballot(mask).repeat(32), mask)


@executes("UP", "elect")
def elect(machine: Machine, i: Instruction, mask: Mask, put: Put, put_chosen: Put) -> None:
    """Choose the first active lane of each warp."""
    leader = mask.reshape(-1, 32).argmax(1).astype(np.uint32).repeat(32)
    put(leader, mask)
    put_chosen(leader == machine.lanes % 32, mask)


@executes("Ut", "match.any")
def match(machine: Machine, i: Instruction, mask: Mask, put: Put, values: Array) -> None:
    """Which lanes of a warp hold the same number."""
    numbers = values.reshape(-1, 32)
    put(ballot((numbers[:, :, None] == numbers[:, None, :]) & mask.reshape(-1, 1, 32)), mask)


REDUCTIONS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
REDUCTIONS |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@executes("Tt", "redux")
def reduce(machine: Machine, i: Instruction, mask: Mask, put: Put, values: Array) -> None:
    """One number of all lanes of a warp."""
    machine.need_whole_groups(i, mask)
    name = i.one_of(*REDUCTIONS)
    function = vars(np)[f"f{name}"] if i.type.is_float and not i.has("NaN") else REDUCTIONS[name]
    found = function.reduce(values.reshape(-1, 32), axis=1, dtype=values.dtype)
    put(i.type.write(found).repeat(32), mask)


@instruction("bar.warp")
def warp_barrier(machine: Machine, i: Instruction) -> Step:
    """Wait for other lanes of the warp."""
    return machine.shadow.warp_barrier


@executes("uu", *(f"{bar}.{how}" for bar in ("bar", "bar.cta", "barrier", "barrier.cta") for how in ("sync", "arrive")))
def barrier(machine: Machine, i: Instruction, mask: Mask, name: Array, count: Array = 0) -> int | None:
    """Wait for other warps of the CTA. `.arrive` does not wait."""
    return machine.schedule.wait(i, mask, int((name * mask).max()), int((count * mask).max()), not i.has("arrive"))


@instruction("bar.red", "bar.cta.red", "barrier.red", "barrier.cta.red")
def voting_barrier(machine: Machine, i: Instruction) -> Step:
    """A barrier that combines predicates. All lanes of the CTA execute it together, or none."""
    put, name = machine.target(i.operands[0], i.type), machine.bits(i.operands[1], 32)
    combine: Any = {"popc": np.sum, "and": np.all, "or": np.any}[i.one_of("popc", "and", "or")]
    wanted = machine.bits(i.operands[-1], 1)

    def step(mask: Mask) -> int:
        machine.need_whole_groups(i, mask)
        found = combine(machine.full(wanted()).reshape(machine.ctas, -1), axis=1)
        put(found.astype(i.type.bits).repeat(machine.threads), mask)
        return machine.schedule.wait(i, mask, int(np.max(name())))

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


@executes("Q", "createpolicy")
def create_policy(machine: Machine, i: Instruction, mask: Mask, put: Put) -> None:
    """A hint for caches, which the emulator does not have."""
    put(np.zeros((), np.uint64), mask)
