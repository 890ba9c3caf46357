class Blocked:
    def owner(self, *index: int) -> int:
        each, lanes = self.size_per_thread, self.threads_per_warp
        table = [(each[axis], lanes[axis]) for axis in self.order]  # steps and bases: of the threads in a warp,
        table += [(each[axis] * lanes[axis], self.warps_per_cta[axis]) for axis in self.order]  # then of the warps
        places = [*self.order, *self.order]
        number = 0
        for axis, (step, base) in reversed(list(zip(places, table, strict=True))):
            number = number * base + index[axis] // step % base
        return number
