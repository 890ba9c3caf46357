"""The IR's skeleton, by comprehensions."""


class Operation:
    def walk(self) -> Iterator[Operation]:
        inside = (op for region in self.regions for block in region.blocks for op in tuple(block.operations))
        yield from (op for part in ([self], *(op.walk() for op in inside)) for op in part)

    def erase(self) -> None:
        counts = {result.index: len(result.uses) for result in self.results if result.uses}
        for index, count in counts.items():
            raise ValueError(f"cannot erase {self.name}: its result {index} still has {count} uses")
        gone = list(self.walk())
        for value in {operand for operation in gone for operand in operation._operands}:
            value.uses = [use for use in value.uses if use.user not in gone]
        for operation in gone:
            operation._operands.clear()
        block, self.parent = self.parent, None
        if block:
            block.operations.remove(self)
