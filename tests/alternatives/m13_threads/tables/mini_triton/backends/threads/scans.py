"""Lanes first scan the totals of their elements; each element then gets what is before its lane."""

from functools import reduce


class OneScan:
    def within_warp(self, elements):
        running = [elements[0]]
        for one in elements[1:]:
            running.append(self.combine(running[-1], one))
        last, distance, lane = running.pop(), 1, self.lane()
        while distance < 1 << len(self.bits):
            last = self.after(self.shifted(last, distance), last, lane, distance)
            distance *= 2
        if running:
            earlier = self.shifted(last, 1)
            running = [self.after(earlier, one, lane) for one in running]
        return running + [last]

    def after(self, before, elements, position, least=1):
        alone = self.threads.op("setp.lt.s32", position, least)
        both = self.combine(before, elements)
        return [choose(self.threads, alone, one, other) for one, other in zip(elements, both, strict=True)]

    def before_warp(self, totals, own):
        ordered = list(reversed(totals)) if self.reverse else list(totals)
        position, sums = self.position(own), [ordered[0]]
        for total in ordered[1:-1]:
            sums.append(self.combine(sums[-1], total))

        def earlier(found, warp):
            here = self.threads.op("setp.eq.s32", position, warp)
            return [choose(self.threads, here, new, old) for new, old in zip(sums[warp - 1], found, strict=True)]

        return reduce(earlier, range(2, len(ordered)), sums[0])
