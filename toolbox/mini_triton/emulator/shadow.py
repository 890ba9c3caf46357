"""Races in shared memory: who touched each place last, and whether the next access is ordered after it.

Each warp has a clock. Barriers, shuffles and mbarriers tell warps how far others' clocks have come. A shadow of shared
memory keeps, for each granule (the smallest access of the kernel), a tag of the last write and of the last read: the
lane, its warp's clock, and the epoch, which counts barriers of the whole CTA. An access of another lane is ordered
after a tagged one if the accessing warp has heard of that clock. Everything before the current epoch is ordered, so
most accesses need only one comparison.

Copies that have not landed have a tag that nobody is ordered after. The copy engine counts as one more lane.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mini_triton.emulator.asynchronous import Unfinished
from mini_triton.emulator.machine import Machine, Mask
from mini_triton.emulator.mbarriers import Mbarrier
from mini_triton.emulator.parser import Instruction, Kernel
from mini_triton.emulator.types import Array

MANY = 1
"""A bit of a read's tag: several lanes have read the place."""
LANE_START, CLOCK_START, EPOCH_START = 1, 17, 41
NEVER = (1 << EPOCH_START - CLOCK_START) - 1
"""The clock of an access that has not finished."""
LAST_EPOCH = np.int64((1 << 63 - EPOCH_START) - 1) << EPOCH_START
UNFINISHED = LAST_EPOCH | NEVER << CLOCK_START
FIRST_EPOCH = 2
"""Places without a tag belong to epoch 0, which is not even the one before."""


def lane_of(tag: Array) -> Array:
    return tag >> LANE_START & (1 << CLOCK_START - LANE_START) - 1


def clock_of(tag: Array) -> Array:
    return tag >> CLOCK_START & NEVER


def granule_of(kernel: Kernel) -> int:
    """The number of bytes of the smallest access to shared memory."""
    sizes = [16]
    for i in kernel.instructions:
        if i.opcode in ("ld", "st", "atom", "red") and i.space in ("shared", "generic") and i.types:
            vector = int(i.one_of("v2", "v4", "v8")[1:] or 1)
            sizes.append(i.type.width // 8 * vector)
        elif i.opcode == "cp" and not i.has("bulk") and len(i.operands) > 2:
            sizes.append(int(i.operands[2], 0))
        elif i.opcode in ("mbarrier", "tensormap"):
            sizes.append(4)
    return min(sizes)


class Shadow:
    """The shadow of the shared memory of a batch of CTAs."""

    def __init__(self, machine: Machine, granule: int, needed: set[int]) -> None:
        self.machine, self.granule = machine, granule
        size = len(machine.shared.views[1]) // granule
        self.writes, self.reads = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.per_cta = machine.threads // 32
        self.engine = machine.count  # the copy engine's lane
        self.engine_clock = np.zeros(machine.ctas, np.int64)
        self.clocks = np.zeros((machine.warps, self.per_cta + 1), np.int64)  # what each warp knows of its CTA's clocks
        self.epoch = np.full(machine.ctas, FIRST_EPOCH)
        self.tick(np.ones(machine.warps, bool))
        self.opened = np.full(machine.ctas, -1)  # the line of the barrier that began the epoch
        self.needed = needed  # lines of barriers without which accesses of this launch would race
        self.undecided: set[int] = set()
        self.stored_outside = False  # to global memory, since the last barrier
        self.stored = np.zeros(size, np.int64)  # when threads stored last
        self.fenced = np.zeros(machine.ctas, np.int64)  # when threads let units of their own see their stores
        self.used: dict[int, Array] = {}  # when threads used registers last
        self.ready: Array = np.int64(-1)  # when threads let tensor cores use registers

    # --- order

    def tick(self, warps: Array) -> None:
        """Advance the clocks of warps."""
        every = np.arange(self.machine.warps)
        self.clocks[every, every % self.per_cta] += warps
        clocks = self.clocks[every, every % self.per_cta]
        self.now = self.epoch.repeat(self.per_cta) << EPOCH_START | clocks << CLOCK_START

    def barrier(self, i: Instruction, mask: Mask) -> None:
        """Lanes of CTAs have met at a barrier."""
        if i.line not in self.needed:
            if self.stored_outside:
                self.decide(i.line)
            else:
                self.undecided.add(i.line)
        self.stored_outside = False
        here = mask.reshape(self.machine.ctas, self.per_cta, 32)
        met = here.any(2)
        clocks = self.clocks.reshape(*met.shape, -1)
        clocks[:] = np.where(met[..., None], (clocks * met[..., None]).max(1, keepdims=True), clocks)
        whole = here.all((1, 2))
        self.epoch += whole
        self.opened[whole] = i.line
        self.tick(met.reshape(-1))

    def warp_barrier(self, mask: Mask) -> None:
        """Lanes of warps have met."""
        self.tick(mask.reshape(-1, 32).any(1))

    def decide(self, line: int) -> None:
        """A barrier is needed."""
        self.needed.add(line)
        self.undecided.discard(line)

    def fence(self, mask: Mask) -> None:
        """Lanes let tensor cores and the copy engine see what their CTAs have stored."""
        self.fenced[self.machine.cta[mask]] = self.machine.steps_done

    def release(self, barrier: Mbarrier, lanes: Array) -> None:
        """Lanes arrive at an mbarrier, which keeps what their warps know; their next accesses are not part of it."""
        self.stored_outside = True
        warps = np.zeros(self.machine.warps, bool)
        warps[lanes >> 5] = True
        barrier.clocks = np.maximum(barrier.clocks, self.clocks[warps].max(0))
        self.tick(warps)

    def acquire(self, barrier: Mbarrier, lanes: Array) -> None:
        """Lanes have seen that a phase of an mbarrier is over."""
        self.clocks[lanes >> 5] = np.maximum(self.clocks[lanes >> 5], barrier.clocks)

    # --- accesses

    def spread(self, at: Array, size: int, lanes: Array) -> tuple[Array, Array]:
        """The granules of accesses, and the lane of each."""
        per = max(size // self.granule, 1)
        if per == 1:
            return at // self.granule, lanes
        return ((at // self.granule)[:, None] + np.arange(per)).reshape(-1), np.repeat(lanes, per)

    def tags(self, lanes: Array) -> Array:
        return self.now[lanes >> 5] | lanes << LANE_START

    def access(self, i: Instruction, at: Array, size: int, lanes: Array, write: bool, data: Array | None) -> None:
        """Check an access, and remember it."""
        place, owner = self.spread(at, size, lanes)
        tag, before, known = self.tags(owner), self.writes[place], self.reads[place]
        self.judge(i, place, before, owner, "write", "written" if write else "read")
        if write:
            self.judge(i, place, known, owner, "read", "written")
            self.writes[place] = tag
            self.stored[place] = self.machine.steps_done
            if data is not None and (self.writes[place] != tag).any():
                self.compare(i, at, lanes, data)
            return
        if not before.all():
            lost = before == 0
            text = f"byte {self.offset(place[lost][0])} of shared memory is read, but no thread has written it"
            self.machine.find("uninitialized", i, text, owner[lost])
        others = known >> EPOCH_START == tag >> EPOCH_START
        others &= (lane_of(known) != owner) | (known & MANY != 0)
        unfinished = clock_of(known) == NEVER
        self.reads[place] = np.where(unfinished, known, tag | others)
        repeated = self.reads[place] | MANY != tag | MANY
        if repeated.any():  # lanes of this instruction share a place
            self.reads[place[repeated & ~unfinished]] |= MANY

    def compare(self, i: Instruction, at: Array, lanes: Array, data: Array) -> None:
        """Report lanes of one instruction that store different numbers to one place: in one warp, one of them stays."""
        order = np.argsort(at, kind="stable")
        at, warps = at[order], lanes[order] >> 5
        values = np.ascontiguousarray(np.broadcast_to(data, at.shape)[order])[:, None].view(np.uint8)
        differ = (at[1:] == at[:-1]) & (values[1:] != values[:-1]).any(1)
        same_warp = warps[1:] == warps[:-1]
        for kind, chosen in (("race", differ & ~same_warp), ("order", differ & same_warp)):
            if chosen.any():
                where = at[1:][chosen][0] % self.machine.shared.size
                text = f"threads store different numbers to byte {where} in one instruction"
                self.machine.find(kind, i, text, lanes[order][1:][chosen])

    def judge(self, i: Instruction, place: Array, before: Array, lanes: Array, was: str, now: str) -> None:
        """Report accesses that are not ordered after an earlier access to their place."""
        epochs, current = before >> EPOCH_START, self.epoch[self.machine.cta[lanes]]
        if self.undecided:
            near = (epochs == current - 1) & (lane_of(before) >> 5 != lanes >> 5)
            if near.any():
                for line in np.unique(self.opened[self.machine.cta[lanes[near]]]).tolist():
                    self.decide(line)
        hot = epochs >= current
        if not hot.any():
            return
        tag, lane = before[hot], lanes[hot]
        owner, clock = lane_of(tag), clock_of(tag)
        of = np.where(owner == self.engine, self.per_cta, (owner >> 5) % self.per_cta)
        seen = self.clocks[lane >> 5, of] - (owner >> 5 == lane >> 5)
        unfinished = clock == NEVER
        bad = unfinished | (seen < clock) & ((owner != lane) | (tag & MANY != 0))
        if not bad.any():
            return
        n = np.flatnonzero(bad)[0]
        who = "the copy engine" if owner[n] == self.engine else f"thread {owner[n] % self.machine.threads}"
        text = f"byte {self.offset(place[hot][n])} of shared memory is {now} "
        if unfinished[n]:
            text += f"while a copy or product of {who} is still under way"
        else:
            text += f"after a {was} of {who}, with no barrier between"
        self.machine.find("async" if unfinished[n] else "race", i, text, lane[bad])

    def offset(self, granule: int) -> int:
        """A granule as an offset in its CTA's shared memory."""
        return int(granule) * self.granule % self.machine.shared.size

    # --- copies and products that finish later

    def begin_write(self, at: Array, size: int, lanes: Array) -> None:
        """A copy has begun to write, for some lanes."""
        place, owner = self.spread(at, size, lanes)
        self.writes[place] = UNFINISHED | owner << LANE_START

    def end_write(self, at: Array, size: int, lanes: Array) -> None:
        """A copy has written, as if the lanes had done so now."""
        place, owner = self.spread(at, size, lanes)
        self.writes[place] = self.tags(owner)
        self.stored[place] = self.machine.steps_done

    def read_later(self, i: Instruction, at: Array, lanes: Array, registers: Iterable[int] = ()) -> None:
        """A unit of its own begins to read 16 bytes at each place, and registers. It sees no store without a fence."""
        self.access(i, at, 16, lanes, False, None)
        self.stored_outside |= i.has("bulk")
        place, owner = self.spread(at, 16, lanes)
        late = self.stored[place] > self.fenced[self.machine.cta[owner]]
        if late.any():
            text = f"byte {self.offset(place[late][0])} of shared memory was stored with no fence.proxy.async before"
            self.machine.find("async", i, text, owner[late])
        self.reads[place] = UNFINISHED | owner << LANE_START
        self.machine.state(Unfinished).begin(i, self.end_read, lanes, at, registers=registers)

    def end_read(self, lanes: Array, at: Array) -> None:
        """A unit of its own has read, as if the lanes had done so now."""
        place, owner = self.spread(at, 16, lanes)
        known = self.reads[place]
        self.reads[place] = np.where(clock_of(known) == NEVER, self.tags(owner), known)

    def use(self, registers: set[int], mask: Mask) -> None:
        """Lanes use registers that tensor cores use, too."""
        for register in registers:
            self.used[register] = self.stamped(self.used.get(register, np.int64(0)), mask)

    def fence_registers(self, mask: Mask) -> None:
        """Lanes let tensor cores use registers."""
        self.ready = self.stamped(self.ready, mask)

    def stamped(self, times: Array, mask: Mask) -> Array:
        """The times at which lanes did something last, after those in a mask do it now."""
        now = np.int64(self.machine.steps_done)
        return now if mask is self.machine.everyone else np.where(mask, now, times)

    def need_fence(self, i: Instruction, registers: dict[str, int], mask: Mask) -> None:
        """Report registers that tensor cores use without a fence after threads did."""
        for name, number in registers.items():
            late = mask & (self.used.get(number, np.int64(0)) > self.ready)
            if late.any():
                text = f"no wgmma.fence since threads last used {name}"
                self.machine.find("async", i, text, np.flatnonzero(late))
                break

    def begin_box(self, i: Instruction, at: Array, lane: int) -> None:
        """The copy engine begins to write 16 bytes at each place, after what the lane that asked it has seen."""
        self.access(i, at, 16, np.full(len(at), lane), True, None)
        self.begin_write(at, 16, np.full(len(at), self.engine))

    def end_box(self, at: Array, lane: int, barrier: Mbarrier) -> None:
        """The copy engine has written; threads that wait for the barrier may read.

        Other barriers do not order the engine, so its tags stay in the last epoch.
        """
        cta = self.machine.cta[lane]
        self.engine_clock[cta] += 1
        place, owner = self.spread(at, 16, np.full(len(at), self.engine))
        self.stored[place] = 0
        self.writes[place] = LAST_EPOCH | self.engine_clock[cta] << CLOCK_START | owner << LANE_START
        barrier.clocks = np.maximum(
            barrier.clocks, np.eye(self.per_cta + 1, dtype=np.int64)[-1] * self.engine_clock[cta]
        )
