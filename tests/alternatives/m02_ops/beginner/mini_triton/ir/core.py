"""The IR's skeleton, one small step at a time."""


class Value:
    def replace_all_uses_with(self, other: Value) -> None:
        while len(self.uses) > 0:
            first = self.uses[0]
            first.user.set_operand(first.number, other)


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
        number = 0
        while number < len(self._operands):
            operand = self._operands[number]
            use = Use(user=self, number=number)
            operand.uses.append(use)
            number = number + 1

    def parent_op(self) -> Operation | None:
        block = self.parent
        if block is None:
            return None
        region = block.parent
        if region is None:
            return None
        return region.parent

    def set_operand(self, index: int, value: Value) -> None:
        old = self._operands[index]
        kept = []
        for use in old.uses:
            if use.user is self and use.number == index:
                continue
            kept.append(use)
        old.uses = kept
        self._operands[index] = value
        value.uses.append(Use(self, index))

    def walk(self) -> Iterator[Operation]:
        everything: list[Operation] = [self]
        for region in self.regions:
            for block in region.blocks:
                for operation in block.operations:
                    for inner in operation.walk():
                        everything.append(inner)
        for operation in everything:
            yield operation

    def erase(self) -> None:
        for result in self.results:
            count = len(result.uses)
            if count > 0:
                message = "cannot erase " + self.name + ": its result " + str(result.index)
                message = message + " still has " + str(count) + " uses"
                raise ValueError(message)
        for region in self.regions:
            for block in region.blocks:
                while len(block.operations) > 0:
                    last = block.operations[-1]
                    for result in last.results:
                        result.uses.clear()
                    last.erase()
        number = 0
        for operand in self._operands:
            operand.uses.remove(Use(self, number))
            number = number + 1
        self._operands = []
        if self.parent is not None:
            position = 0
            while self.parent.operations[position] is not self:
                position = position + 1
            del self.parent.operations[position]
            self.parent = None
