import itertools


class Accesses:
    def mask(self, values: Sequence[Value], mask: Value | None) -> str:
        text = self.text(mask) if mask is not None else ""
        if not self.active:
            return text
        varying = [value for value in values if self.varies(value)]
        active = self.lifted(self.active, ALL_PROGRAMS, len(shape_of(values[0].type)))
        return " & ".join(f"({part})" for part in (active if varying else "", text) if part)

    def tt_load(self, operation: Operation) -> None:
        pointer, *rest = operation.operands
        mask = self.mask([pointer, *itertools.islice(rest, 1)], next(iter(rest), None))
        others = [f"other={self.text(other)}" for other in itertools.islice(rest, 1, 2)]
        arguments = filter(None, [self.buffer(pointer), self.text(pointer), mask, *others])
        self.assign(operation.results[0], f"{self.library(pointer)}.load({', '.join(arguments)})")

    def tt_store(self, operation: Operation) -> None:
        pointer, value, *rest = operation.operands
        mask = self.mask(operation.operands, next(iter(rest), None))
        arguments = filter(None, [self.buffer(pointer), *map(self.text, (pointer, value)), mask])
        self.write(f"{self.library(pointer)}.store({', '.join(arguments)})")
