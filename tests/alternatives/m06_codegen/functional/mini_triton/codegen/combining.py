import functools


class Combining:
    def tt_dot(self, operation: Operation) -> None:
        *factors, c = operation.operands
        arguments = [*map(self.full, factors), self.text(c)]
        self.assign(operation.results[0], f"combine.dot({', '.join(arguments)})")

    def combined(self, operation: Operation, function: str) -> None:
        axis = axis_of(operation)
        axes = functools.reduce(frozenset.union, map(self.axes.get, operation.operands), frozenset({axis}))
        spread = functools.partial(self.spread, axes=axes)
        sources = ", ".join([*map(spread, operation.operands), ""])
        reverse = bool(operation.attributes.get("reverse"))
        options = ", reverse=True" * reverse
        rank = len(shape_of(operation.operands[0].type))
        call = f"combine.{function}({self.combination(operation)}, ({sources}), {axis - rank}{options})"
        results = [self.name(result) for result in operation.results]
        self.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")
