"""The reductions and stores of each loop are filtered by level."""


class ReductionWriter:
    def reduce_text(self, line):
        (number,) = line.operands
        neutral = number_text(identity(line.detail, self.body.lines[number].dtype))
        filled = f"tl.where(r_inside, tl.broadcast_to({self.name(number)}, [XBLOCK, RBLOCK]), {neutral})"
        if line.detail not in FIRST:
            return REDUCED[line.detail].format(filled)
        at = f"tl.where(r_inside & (x == x), {self.index_text(line.place)}, 2147483647)"
        pair = f"({filled}, tl.broadcast_to({at}, [XBLOCK, RBLOCK]))"
        return f"tl.reduce({pair}, 1, {FIRST[line.detail]})[1][:, None]"

    def write_loops(self):
        def has_steps(tensor):
            parts = index_in(self.space, tensor)
            symbols = set().union(*(part.free_symbols for part in parts)) if parts else set()
            return any(getattr(symbol, "reduced", False) for symbol in symbols)

        def level_of(tensor):
            return self.levels[self.body.value(tensor, index_in(self.space, tensor)).number]

        elements = [tensor for tensor in self.group.stored if has_steps(tensor)]
        needed = [n for n, line in enumerate(self.body.lines) if line.op == "reduce"]
        level = 0
        while any(self.levels[n] > level for n in needed) or any(level_of(tensor) >= level for tensor in elements):
            now = [n for n in needed if self.levels[n] == level + 1]
            self.write_loop(now, [tensor for tensor in elements if level_of(tensor) == level])
            level += 1
        self.store_all([tensor for tensor in self.group.stored if tensor not in elements])
