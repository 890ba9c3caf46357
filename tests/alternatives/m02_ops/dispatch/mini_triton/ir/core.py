"""The IR's skeleton; small helpers keep the one invariant."""

import itertools


class Value:
    def replace_all_uses_with(self, other: Value) -> None:
        uses, self.uses = self.uses, []
        for user, number in uses:
            user._operands[number] = other
        other.uses.extend(uses)


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
        for use, operand in _uses_of(self):
            operand.uses.append(use)

    def parent_op(self) -> Operation | None:
        match self.parent:
            case Block(parent=Region(parent=Operation() as holder)):
                return holder
            case _:
                return None

    def set_operand(self, index: int, value: Value) -> None:
        use = Use(self, index)
        _forget(use, self._operands[index])
        value.uses.append(use)
        self._operands[index] = value

    def walk(self) -> Iterator[Operation]:
        pending = [self]
        while pending:
            operation = pending.pop()
            yield operation
            inside = [block.operations for region in operation.regions for block in region.blocks]
            pending.extend(reversed(list(itertools.chain(*inside))))

    def erase(self) -> None:
        used = next((result for result in self.results if result.uses), None)
        if used is not None:
            raise ValueError(f"cannot erase {self.name}: its result {used.index} still has {len(used.uses)} uses")
        for operation in list(self.walk()):
            for use, operand in _uses_of(operation):
                _forget(use, operand)
            operation._operands = []
        match self.parent:
            case Block(operations=operations):
                operations[:] = [operation for operation in operations if operation is not self]
                self.parent = None


def _uses_of(operation: Operation) -> list[tuple[Use, Value]]:
    """Every operand with its use."""
    return [(Use(operation, number), operand) for number, operand in enumerate(operation._operands)]


def _forget(use: Use, value: Value) -> None:
    """Take one use out of a value's list, which stays the same list."""
    value.uses[:] = [other for other in value.uses if other != use]
