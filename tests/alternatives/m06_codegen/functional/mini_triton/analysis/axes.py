from collections.abc import Callable


class Varying:
    def result_axes(self, operation: Operation) -> Axes:
        axes = self.of(*operation.operands)

        def each(move: Callable[[int], int | None]) -> Axes:
            moved = (axis if axis == PROGRAM else move(axis) for axis in axes)
            return frozenset(axis for axis in moved if axis is not None)

        if operation.name in ("tt.get_program_id", "tt.make_range"):
            return frozenset({PROGRAM if "program" in operation.name else 0})
        if operation.name.startswith("tt.atomic"):
            return frozenset(range(-1, len(shape_of(operation.result.type))))
        if operation.name == "tt.unsplat":
            return each(lambda axis: None)
        if operation.name == "tt.scan":
            return axes | {axis_of(operation)}
        if operation.name == "tt.reduce":
            at = axis_of(operation)
            return each(lambda axis: None if axis == at else axis - int(axis > at))
        if operation.name == "tt.expand_dims":
            at = axis_of(operation)
            return each(lambda axis: axis + int(axis >= at))
        if operation.name == "tt.trans":
            return each(list(order_of(operation)).index)
        if operation.name in MIXING and not (operation.name in CONSTANT_STAYS and not axes):
            rank = len(shape_of(operation.results[0].type))
            return frozenset(range(-1 if PROGRAM in axes else 0, rank))
        return axes
