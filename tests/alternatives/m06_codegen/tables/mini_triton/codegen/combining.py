class Combining:
    def tt_dot(self, operation: Operation) -> None:
        ways = (self.full, self.full, self.text)
        texts = [way(operand) for way, operand in zip(ways, operation.operands, strict=True)]
        self.assign(operation.results[0], f"combine.dot({', '.join(texts)})")

    def combined(self, operation: Operation, function: str) -> None:
        axis = axis_of(operation)
        axes = self.of_all(operation) | {axis}
        words = {
            "combine": self.combination(operation),
            "sources": f"({''.join(self.spread(operand, axes) + ', ' for operand in operation.operands)})",
            "axis": f"axis={axis - len(shape_of(operation.operands[0].type))}",
            "reverse": "reverse=True" if operation.attributes.get("reverse") else "",
        }
        call = f"combine.{function}({', '.join(filter(None, words.values()))})"
        results = [self.name(result) for result in operation.results]
        self.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")

    def of_all(self, operation: Operation) -> frozenset[int]:
        """The axes of all operands."""
        return frozenset(axis for operand in operation.operands for axis in self.axes[operand])
