"""The printer, by generators and joins."""

import itertools
from collections.abc import Iterator


class Printer:
    def _name(self, value: Value) -> str:
        def candidates() -> Iterator[str]:
            if re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", value.name):
                yield value.name
                yield from (f"{value.name}_{i}" for i in itertools.count())
            yield from map(str, itertools.count())

        if value not in self._names:
            name = next(name for name in candidates() if name not in self._taken)
            self._taken |= {name}
            self._names[value] = f"%{name}"
        return self._names[value]

    def region(self, region: Region, indent: str) -> str:
        inner = indent + INDENT
        labels = [[indent + self.label(b, i)] * bool(b.arguments or i) for i, b in enumerate(region.blocks)]
        bodies = [(inner + self.operation(operation, inner) for operation in b.operations) for b in region.blocks]
        lines = itertools.chain(*(itertools.chain(*pair) for pair in zip(labels, bodies, strict=True)))
        return "\n".join(itertools.chain("{", lines, [indent + "}"]))
