"""The IR's skeleton, by comprehensions."""


class Value:
    def replace_all_uses_with(self, other: Value) -> None:
        places = [(use.user, use.number) for use in self.uses]
        for user, number in places:
            user.set_operand(number, other)


class Operation:
    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        loc: Loc | None = None,
    ) -> None:
        self.name = name
        self.attributes = dict(attributes or {})
        self.regions = list(regions)
        self.loc = loc
        self.parent: Block | None = None
        self.results = tuple(OpResult(type, self, i) for i, type in enumerate(result_types))
        self._operands = list(operands)
        for region in self.regions:
            region.parent = self
        for use in map(Use, [self] * len(self._operands), range(len(self._operands))):
            self._operands[use.number].uses.append(use)

    def parent_op(self) -> Operation | None:
        region = self.parent.parent if self.parent else None
        return region.parent if region else None

    def set_operand(self, index: int, value: Value) -> None:
        old, self._operands[index] = self._operands[index], value
        del old.uses[next(i for i, use in enumerate(old.uses) if use.user is self and use.number == index)]
        value.uses.append(Use(self, index))

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
