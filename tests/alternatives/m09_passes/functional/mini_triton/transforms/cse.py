from collections.abc import Iterator


def key_of(operation: Operation, inside: Numbers) -> Hashable:
    of = [
        ("inside", inside[operand]) if operand in inside else ("outside", id(operand)) for operand in operation.operands
    ]
    return (
        operation.name,
        tuple(sorted(of)) if operation.name in COMMUTATIVE else tuple(of),
        frozenset((name, type(value), bits(value)) for name, value in operation.attributes.items()),
        operation.signature,
        contents(operation, inside),
    )


def contents(operation: Operation, inside: Numbers) -> Hashable:
    known = dict(inside)
    return tuple(tuple(lines(block, known)) for region in operation.regions for block in region.blocks)


def lines(block: Block, known: Numbers) -> Iterator[Hashable]:
    number(block.arguments, known)
    yield tuple(argument.type for argument in block.arguments)
    for inner in block.operations:
        yield key_of(inner, known)
        number(inner.results, known)


class Merger:
    def merge(self, block: Block) -> None:
        around, self.known = self.known, dict(self.known)
        for operation in tuple(block.operations):
            if operation.name in LOOPS and may_change_memory(operation):
                self.writes += 1
            for region in operation.regions:
                for inner in region.blocks:
                    self.merge(inner)
            if effects(operation) & WRITES:
                self.writes += 1
                continue
            key = key_of(operation, {}), self.writes * bool(effects(operation))
            first = self.known.setdefault(key, operation)
            if first is not operation:
                for index, result in enumerate(operation.results):
                    result.replace_all_uses_with(first.results[index])
                operation.erase()
                self.changed = True
        self.known = around
