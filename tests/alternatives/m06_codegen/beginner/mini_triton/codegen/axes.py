class Varying:
    def result_axes(self, operation: Operation) -> Axes:
        axes = self.of(*operation.operands)
        name = operation.name
        if name == "tt.get_program_id":
            return frozenset([PROGRAM])
        if name == "tt.make_range":
            return frozenset([0])
        if name == "tt.expand_dims":
            moved = set()
            for axis in axes:
                if axis == PROGRAM or axis < axis_of(operation):
                    moved.add(axis)
                else:
                    moved.add(axis + 1)
            return frozenset(moved)
        if name == "tt.trans":
            moved = set()
            if PROGRAM in axes:
                moved.add(PROGRAM)
            new = 0
            for old in order_of(operation):
                if old in axes:
                    moved.add(new)
                new = new + 1
            return frozenset(moved)
        if name == "tt.reduce":
            moved = set()
            for axis in axes:
                if axis == PROGRAM or axis < axis_of(operation):
                    moved.add(axis)
                elif axis > axis_of(operation):
                    moved.add(axis - 1)
            return frozenset(moved)
        if name == "tt.scan":
            return axes | frozenset([axis_of(operation)])
        if name == "tt.atomic_rmw" or name == "tt.atomic_cas":
            every = set(range(len(shape_of(operation.result.type))))
            every.add(PROGRAM)
            return frozenset(every)
        if name == "tt.unsplat":
            return axes & ALL_PROGRAMS
        if name in CONSTANT_STAYS and len(axes) == 0:
            return NONE
        if name in MIXING:
            moved = set(range(len(shape_of(operation.results[0].type))))
            if PROGRAM in axes:
                moved.add(PROGRAM)
            return frozenset(moved)
        return axes

    def for_loop(self, operation: Operation) -> Iterator[tuple[Value, Axes]]:
        lower, upper, step, *inits = operation.operands
        block = operation.regions[0].block
        variable, *carried = block.arguments
        assert block.terminator is not None
        yield variable, self.of(lower) | self.of(step)
        for i in range(len(carried)):
            following = block.terminator.operands[i]
            axes = self.of(inits[i]) | self.of(following)
            for bound in (lower, upper, step):
                axes = axes | self.of(bound)
            yield carried[i], axes
            yield operation.results[i], axes
