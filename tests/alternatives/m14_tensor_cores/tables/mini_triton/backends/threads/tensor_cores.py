def multiply(threads: Threads, operation: Operation) -> None:
    left, right, accumulator = operation.operands
    layout = threads.choice.of_product(operation)
    first, second = Factor(threads, left, layout, 0), Factor(threads, right, layout, 1)
    sums = wide_sums(threads, accumulator, layout)
    half, depth = 4 * first.count, shape_of(left.type)[1]
    opcode = f"mma.sync.aligned.m16n8k{2 * half}.row.col.{types_of(operation)}.{form_of(operation)}"
    for start in range(0, len(layout.distinct), 4):
        places = [layout.index(number) for number in layout.distinct[start : start + 4]]
        (row, column), *_ = places
        totals = [sums[place] for place in places]
        for inner in range(0, depth, 2 * half):
            later = inner + half
            a = [first.word(index) for index in ((row, inner), (row + 8, inner), (row, later), (row + 8, later))]
            b = [second.word((inner, column)), second.word((later, column))]
            results = [threads.new("b32"), threads.new("b32"), threads.new("b32"), threads.new("b32")]
            threads.do(opcode, tuple(a), tuple(b), tuple(totals), results=results)
            totals = results
        for place, total in zip(places, totals, strict=True):
            sums[place] = total
    hold_sums(threads, operation, layout, sums)


class Factor:
    def load_matrices(self, tile: Tile, index: Index) -> None:
        half = 4 * self.count
        blocks = 2 if (8, 0)[:: 1 - 2 * self.axis] in self.layout.registers else 1
        starts = [index[0], index[1]]
        starts[self.axis] -= starts[self.axis] % (8 * blocks)
        starts[1 - self.axis] -= starts[1 - self.axis] % (2 * half)
        places: list[Index] = []
        for number in range(2 * blocks):
            down, on = (number // 2, number % 2) if self.axis else (number % 2, number // 2)
            place = starts.copy()
            place[self.axis] += 8 * down
            place[1 - self.axis] += half * on
            places.append((place[0], place[1]))
        trans = ".trans" * (tile.fast == self.axis)
        for place in places:
            self.words[place] = self.threads.new("b32")
        self.threads.do(
            f"ldmatrix.sync.aligned.m8n8.x{len(places)}{trans}.shared.b16",
            tile.address(self.threads, matrices(tile, self.axis, self.layout.warps), places[0]),
            results=[self.words[place] for place in places],
            room=tile.room,
        )
