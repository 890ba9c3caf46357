from functools import reduce


class Emitter:
    def move_bits(self, columns: Columns) -> Register:
        bits = range(len(columns))
        parts = []
        for distance in range(-len(columns), 32):
            mask = sum(1 << bit for bit in bits if bit + distance >= 0 and columns[bit] >> bit + distance & 1)
            if mask:
                parts.append(self.moved(mask, distance))
        return reduce(lambda one, other: self.op("xor.b32", one, other), parts) if parts else self.op("mov.b32", 0)

    def moved(self, mask: int, distance: int) -> Register:
        """The bits of the thread's number in a mask, moved by a distance."""
        if distance < 0:
            return self.op("and.b32", self.op("shr.u32", self.thread, -distance), mask >> -distance)
        kept = self.op("and.b32", self.thread, mask)
        return self.op("shl.b32", kept, distance) if distance else kept

    def coordinate(self, layout: Layout, axis: int, register: int) -> Register:
        columns = list(zip(*layout.threads, strict=True))[axis]
        start, threads = layout.index(register)[axis], self.linear(columns)
        if not start:
            return threads
        return self.only_once(("at", columns, start), lambda: self.op("xor.b32", start, threads))

    def speaker(self, layout: Layout) -> Register | None:
        everyone = 32 * self.warps - 1
        same = everyone if layout == SCALAR else everyone & layout.idle

        def compute() -> Register:
            return self.op("setp.lt.u32", self.op("and.b32", same, self.thread), 1)

        return self.only_once(("first of", same), compute) if same else None
