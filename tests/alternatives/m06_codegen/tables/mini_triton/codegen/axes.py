class Varying:
    def result_axes(self, operation: Operation) -> Axes:
        axes = self.of(*operation.operands)
        program = axes & ALL_PROGRAMS
        every = frozenset(range(len(shape_of(operation.results[0].type)))) if operation.results else NONE
        moved = {
            "tt.expand_dims": lambda at: {axis: axis + (axis >= at) for axis in axes},
            "tt.reduce": lambda at: {axis: axis - (axis > at) for axis in axes if axis != at},
        }
        fixed = {"tt.get_program_id": ALL_PROGRAMS, "tt.make_range": frozenset([0])}
        fixed |= dict.fromkeys(("tt.atomic_rmw", "tt.atomic_cas"), every | ALL_PROGRAMS)
        fixed["tt.unsplat"] = program
        fixed |= dict.fromkeys(MIXING, every | program)
        if not axes:
            fixed |= dict.fromkeys(CONSTANT_STAYS, NONE)
        if operation.name in moved:
            return frozenset(moved[operation.name](axis_of(operation)).values())
        if operation.name == "tt.trans":
            places = {old: new for new, old in enumerate(order_of(operation))} | {PROGRAM: PROGRAM}
            return frozenset(map(places.__getitem__, axes))
        if operation.name == "tt.scan":
            return axes.union([axis_of(operation)])
        return fixed.get(operation.name, axes)

    def for_loop(self, operation: Operation) -> Iterator[tuple[Value, Axes]]:
        lower, upper, step, *inits = operation.operands
        block = operation.regions[0].block
        variable, *carried = block.arguments
        assert block.terminator is not None
        trips = self.of(*operation.operands[:3])
        yield variable, self.of(lower, step)
        for row in zip(carried, operation.results, inits, block.terminator.operands, strict=True):
            argument, result, *sources = row
            yield from dict.fromkeys((argument, result), trips | self.of(*sources)).items()
