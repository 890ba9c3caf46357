"""Races in shared memory: who touched each place last, and whether the next access is ordered after it.

Each warp has a clock. Barriers, shuffles and mbarriers tell warps how far others' clocks have come. A shadow of shared
memory keeps, for each granule (the smallest access of the kernel), a tag of the last write and of the last read: the
thread, its warp's clock, and the epoch, which counts barriers of the whole CTA. An access of another thread is ordered
after a tagged one if the accessing warp has heard of that clock. Everything before the current epoch is ordered, so
most accesses need only one comparison.

Copies that have not landed have a tag that nobody is ordered after. The copy engine counts as one more thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.emulator.parser import Instruction, Kernel
from mini_triton.emulator.types import Array

THREAD_BITS, CLOCK_BITS = 12, 24
THREAD, CLOCK = (1 << THREAD_BITS) - 1, (1 << CLOCK_BITS) - 1
NEVER = CLOCK
"""The clock of an access that has not finished."""
EPOCH_START = THREAD_BITS + CLOCK_BITS
MANY = 1 << 62
"""A bit of a read's tag: several threads have read the place."""
LAST_EPOCH = (1 << (62 - EPOCH_START)) - 1


def granule_of(kernel: Kernel) -> int:
    """The number of bytes of the smallest access to shared memory."""
    sizes = [16]
    for i in kernel.instructions:
        if i.opcode in ("ld", "st", "atom", "red") and i.space in ("shared", "generic") and i.types:
            vector = next((int(m[1]) for m in i.modifiers if m in ("v2", "v4", "v8")), 1)
            sizes.append(i.type.width // 8 * vector)
        elif i.opcode == "cp" and not i.has("bulk") and len(i.operands) > 2:
            sizes.append(int(i.operands[2], 0))
        elif i.opcode in ("mbarrier", "tensormap"):
            sizes.append(4)
    return min(sizes)


class Shadow:
    """The shadow of the shared memory of a batch of CTAs."""

    def __init__(self, machine: Any, granule: int) -> None:
        self.machine, self.granule = machine, granule
        size = len(machine.shared.views[1]) // granule
        self.writes = np.zeros(size, np.int64)
        self.reads = np.zeros(size, np.int64)
        warps = self.per_cta = machine.threads // 32
        self.clocks = np.zeros((machine.ctas, warps, warps + 1), np.int64)  # what each warp knows of each warp's clock
        self.clocks[:, range(warps), range(warps)] = 1
        self.epoch = np.zeros(machine.ctas, np.int64)
        self.opened = np.full(machine.ctas, -1)  # the instruction that began the epoch
        self.needed: set[int] = set()  # barriers without which accesses of this launch would race
        self.undecided: set[int] = set()
        self.engine = np.zeros(machine.ctas, np.int64)
        self.stored = np.zeros(size, np.int64)  # when threads stored last
        self.fenced = np.zeros(machine.ctas, np.int64)  # when threads let units of their own see their stores

    # --- order

    def barrier(self, line: int, lanes: Array | None, useful: bool) -> None:
        """All warps of some CTAs have met; `lanes` are those that took part."""
        if line not in self.needed:
            if useful:
                self.decide(line)
            else:
                self.undecided.add(line)
        if lanes is None:
            self.meet(np.arange(self.machine.ctas))
            self.epoch += 1
            self.opened[:] = line
            return
        here = lanes.reshape(self.machine.ctas, -1)
        done = here.any(1)
        whole = here.all(1)
        if whole.any():
            ctas = np.flatnonzero(whole)
            self.meet(ctas)
            self.epoch[ctas] += 1
            self.opened[ctas] = line
        for cta in np.flatnonzero(done & ~whole):
            warps = np.flatnonzero(here[cta].reshape(-1, 32).any(1))
            self.clocks[cta, warps] = self.clocks[cta, warps].max(0)
            self.clocks[cta, warps, warps] += 1

    def meet(self, ctas: Array) -> None:
        self.clocks[ctas] = self.clocks[ctas].max(1, keepdims=True)
        warps = np.arange(self.per_cta)
        self.clocks[ctas[:, None], warps, warps] += 1

    def warp_barrier(self, mask: Array | None) -> None:
        """The lanes of warps have met."""
        warps = np.arange(self.per_cta)
        if mask is None:
            self.clocks[:, warps, warps] += 1
        else:
            cta, warp = np.nonzero(mask.reshape(self.machine.ctas, -1, 32).any(2))
            self.clocks[cta, warp, warp] += 1

    def decide(self, line: int) -> None:
        """A barrier is needed."""
        self.needed.add(line)
        self.undecided.discard(line)

    # --- accesses

    def tags(self, lanes: Array, clock: int | None = None) -> tuple[Array, Array, Array]:
        """The CTAs, the threads and the tags of accesses by lanes."""
        cta, thread = lanes // self.machine.threads, lanes % self.machine.threads
        if clock is NEVER:
            return cta, thread, (np.int64(LAST_EPOCH) << EPOCH_START) | NEVER << THREAD_BITS | (thread + 1)
        now = self.clocks[cta, thread >> 5, thread >> 5]
        return cta, thread, self.epoch[cta] << EPOCH_START | now << THREAD_BITS | (thread + 1)

    def spread(self, at: Array, size: int, *more: Array) -> tuple[Array, ...]:
        """The granules of accesses, and other arrays repeated for each granule."""
        per = max(size // self.granule, 1)
        first = at // self.granule
        if per == 1:
            return (first, *more)
        return ((first[:, None] + np.arange(per)).reshape(-1), *(np.repeat(array, per) for array in more))

    def access(self, i: Instruction, at: Array, size: int, lanes: Array, write: bool, data: Array | None) -> None:
        """Check an access, and remember it."""
        cta, thread, tag = self.tags(lanes)
        place, cta, thread, tag = self.spread(at, size, cta, thread, tag)
        before = self.writes[place]
        self.judge(i, place, before, cta, thread, "write", "written" if write else "read")
        if write:
            self.judge(i, place, self.reads[place], cta, thread, "read", "written")
            self.writes[place] = tag
            self.stored[place] = self.machine.steps_done
            if data is not None and (self.writes[place] != tag).any():
                stored = np.repeat(data, len(place) // len(at)) if np.ndim(data) else np.full(len(place), data)
                self.same_instruction(i, place, tag, stored, at, size, data)
            return
        if not before.all():
            lost = before == 0
            text = f"byte {self.offset(place[lost][0])} of shared memory is read, but no thread has written it"
            self.machine.find("uninitialized", i, text, self.lanes_of(cta, thread, lost))
        known = self.reads[place]
        current = (known & ~MANY) >> EPOCH_START == tag >> EPOCH_START
        others = current & ((known & THREAD != thread + 1) | (known & MANY != 0))
        unfinished = (known >> THREAD_BITS) & CLOCK == NEVER
        self.reads[place] = np.where(unfinished, known, np.where(others, tag | MANY, tag))
        repeated = self.reads[place] & ~MANY != tag
        if repeated.any():  # lanes of this instruction share a place
            self.reads[place[repeated & ~unfinished]] |= MANY

    def same_instruction(
        self, i: Instruction, place: Array, tag: Array, stored: Array, at: Array, size: int, data: Array
    ) -> None:
        """Report lanes of one instruction that store different numbers to one place: in one warp, one of them stays."""
        order = np.argsort(at, kind="stable")
        values = np.ascontiguousarray(np.broadcast_to(data, at.shape))[order].view(np.uint8).reshape(len(at), -1)
        same = at[order][1:] == at[order][:-1]
        differ = same & (values[1:] != values[:-1]).any(1)
        threads = ((tag & THREAD) - 1)[:: len(place) // len(at)][order]
        is_warps = threads[1:] >> 5 == threads[:-1] >> 5
        text = f"threads store different numbers to byte {self.offset(place[0])} in one instruction"
        for kind, chosen in (("race", differ & ~is_warps), ("order", differ & is_warps)):
            if chosen.any():
                self.machine.find(kind, i, text, threads[1:][chosen])

    def judge(self, i: Instruction, place: Array, before: Array, cta: Array, thread: Array, was: str, now: str) -> None:
        """Report accesses that are not ordered after an earlier access to their place."""
        epochs = (before & ~MANY) >> EPOCH_START
        current = self.epoch[cta]
        if self.undecided:
            near = (epochs == current - 1) & (before != 0) & ((before & THREAD) - 1 >> 5 != thread >> 5)
            if near.any():
                for line in np.unique(self.opened[cta[near]]).tolist():
                    self.decide(line)
        hot = (epochs >= current) & (before != 0)
        if not hot.any():
            return
        tag, cta_, thread_ = before[hot], cta[hot], thread[hot]
        owner, clock = (tag & THREAD) - 1, tag >> THREAD_BITS & CLOCK
        seen = self.clocks[cta_, thread_ >> 5, np.minimum(owner >> 5, self.per_cta)]
        ordered = np.where(owner >> 5 == thread_ >> 5, seen > clock, seen >= clock) & (clock != NEVER)
        bad = ~ordered & ((owner != thread_) | (tag & MANY != 0) | (clock == NEVER))
        if not bad.any():
            return
        n = np.flatnonzero(bad)[0]
        unfinished = bool(clock[n] == NEVER)
        who = "the copy engine" if owner[n] >= self.machine.threads else f"thread {owner[n]}"
        spot = f"byte {self.offset(place[hot][n])} of shared memory is {now}"
        if unfinished:
            text = f"{spot} while a copy or product of {who} is still under way"
        else:
            text = f"{spot} after a {was} of {who}, with no barrier between"
        self.machine.find("async" if unfinished else "race", i, text, self.lanes_of(cta_, thread_, bad))

    def lanes_of(self, cta: Array, thread: Array, chosen: Array) -> Array:
        return (cta * self.machine.threads + np.minimum(thread, self.machine.threads - 1))[chosen]

    def offset(self, granule: int) -> int:
        """A granule as an offset in its CTA's shared memory."""
        return int(granule) * self.granule % self.machine.shared.size

    # --- copies and products that finish later

    def mark(self, at: Array, size: int, lanes: Array, write: bool) -> None:
        """Accesses have begun, and have not finished."""
        place, tag = self.spread(at, size, self.tags(lanes, NEVER)[2])
        (self.writes if write else self.reads)[place] = tag

    def finish(self, at: Array, size: int, lanes: Array, write: bool) -> None:
        """Such accesses have finished, as if the lanes had done them now."""
        place, tag = self.spread(at, size, self.tags(lanes)[2])
        if write:
            self.writes[place] = tag
            self.stored[place] = self.machine.steps_done
        else:
            unfinished = self.reads[place] >> THREAD_BITS & CLOCK == NEVER
            self.reads[place] = np.where(unfinished, tag, self.reads[place])

    def check_fence(self, i: Instruction, at: Array, size: int, lanes: Array) -> None:
        """Report that a unit of its own reads what threads have stored, with no fence between."""
        place, owner = self.spread(at, size, lanes)
        late = self.stored[place] > self.fenced[owner // self.machine.threads]
        if late.any():
            text = f"byte {self.offset(place[late][0])} of shared memory was stored with no fence.proxy.async before"
            self.machine.find("async", i, text, owner[late])

    def start_box(self, i: Instruction, at: Array, size: int, lane: int) -> None:
        """The copy engine begins to write, after what the lane that asked it has seen."""
        lanes = np.full(len(at), lane)
        cta, thread, _ = self.tags(lanes)
        place, cta, thread = self.spread(at, size, cta, thread)
        self.judge(i, place, self.writes[place], cta, thread, "write", "overwritten")
        self.judge(i, place, self.reads[place], cta, thread, "read", "overwritten")
        engine = self.machine.threads + 1
        self.writes[place] = (np.int64(LAST_EPOCH) << EPOCH_START) | NEVER << THREAD_BITS | engine

    def land_box(self, at: Array, size: int, lane: int) -> Array:
        """The copy engine has written. Returns the clocks that a thread has heard of if it waited for the copy.

        Barriers do not order the engine, so its tags stay in the last epoch.
        """
        cta = lane // self.machine.threads
        self.engine[cta] += 1
        (place,) = self.spread(at, size)
        engine = self.machine.threads + 1
        self.stored[place] = 0
        self.writes[place] = LAST_EPOCH << EPOCH_START | self.engine[cta] << THREAD_BITS | engine
        clocks = np.zeros(self.per_cta + 1, np.int64)
        clocks[-1] = self.engine[cta]
        return clocks

    def release(self, lanes: Array) -> Array:
        """What the warps of lanes know now; their next accesses are not part of it."""
        cta, warp = lanes[0] // self.machine.threads, np.unique(lanes % self.machine.threads >> 5)
        known = self.clocks[cta, warp].max(0)
        self.clocks[cta, warp, warp] += 1
        return known

    def acquire(self, clocks: Array, lanes: Array) -> None:
        """The warps of lanes hear of clocks."""
        cta, warp = lanes[0] // self.machine.threads, np.unique(lanes % self.machine.threads >> 5)
        self.clocks[cta, warp] = np.maximum(self.clocks[cta, warp], clocks)
