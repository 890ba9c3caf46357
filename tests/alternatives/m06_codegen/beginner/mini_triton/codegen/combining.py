class Combining:
    def tt_dot(self, operation: Operation) -> None:
        a = operation.operands[0]
        b = operation.operands[1]
        c = operation.operands[2]
        text = "combine.dot(" + self.full(a) + ", " + self.full(b) + ", " + self.text(c) + ")"
        self.assign(operation.results[0], text)

    def combined(self, operation: Operation, function: str) -> None:
        axis = axis_of(operation)
        rank = len(shape_of(operation.operands[0].type))
        axes = frozenset([axis])
        for operand in operation.operands:
            axes = axes | self.axes[operand]
        operands = ""
        for operand in operation.operands:
            operands = operands + self.spread(operand, axes) + ", "
        call = "combine." + function + "(" + self.combination(operation) + ", (" + operands + "), " + str(axis - rank)
        if operation.attributes.get("reverse"):
            call = call + ", True"
        call = call + ")"
        results = [self.name(result) for result in operation.results]
        self.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")
