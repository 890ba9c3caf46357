class Liveness:
    def keep(self, operation: Operation) -> None:
        waiting = [operation]
        while waiting:
            found = waiting.pop()
            if found in self.operations:
                continue
            self.operations.add(found)
            self.read(needs(found))
            waiting += [block.operations[-1] for region in found.regions for block in region.blocks]
            waiting += [found.parent_op] if found.parent_op else []

    def trace(self, value: Value) -> None:
        match value:
            case OpResult(owner=owner):
                around = owner
            case BlockArgument(owner=block):
                around = block.parent.parent
        self.keep(around)
        self.read(passed_on(around, value))


def needs(operation: Operation) -> Sequence[Value]:
    match operation.name:
        case "scf.yield" | "scf.while":
            return ()
        case "scf.condition":
            return [operation.operands[0]]
        case "scf.for":
            lower, upper, step, *_ = operation.operands
            return lower, upper, step
        case _:
            return operation.operands


def passed_on(operation: Operation, value: OpResult | BlockArgument) -> Iterator[Value]:
    ends = [region.block.operations[-1].operands for region in operation.regions if region.blocks]
    match operation.name, value:
        case "scf.for", BlockArgument(index=0):
            return iter(())
        case "scf.for", _:
            carried = value.index if isinstance(value, OpResult) else value.index - 1
            return iter((operation.operands[3:][carried], ends[0][carried]))
        case "scf.if", _:
            return (end[value.index] for end in ends)
        case "scf.while", BlockArgument(owner=block) if block is operation.regions[0].block:
            return iter((operation.operands[value.index], ends[1][value.index]))
        case "scf.while", _:
            return iter([ends[0][1:][value.index]])
    return iter(())
