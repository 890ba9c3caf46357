"""The printer, by tables and joins."""

import itertools
from collections.abc import Callable, Iterator


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

    def attribute(self, value: Attribute, hint: Any = None) -> str:
        extra = get_args(hint)[1] if len(get_args(hint)) > 1 else None
        if isinstance(extra, Keyword):
            return f"{extra.numbers[str(value)]} : i{extra.width}"
        if extra == "symbol":
            plain = str(value).isidentifier() and str(value).isascii()
            return f"@{value}" if plain else f"@{quoted(str(value))}"
        if value == ():
            return "array<i32>"
        forms: dict[type, Callable[[Any], str]] = {
            bool: lambda flag: ("false", "true")[flag],
            int: "{} : i32".format,
            str: quoted,
            tuple: lambda items: self._integers(", ".join(map(str, items)), len(items), hint),
        }
        return forms.get(type(value), str)(value)

    def _integers(self, items: str, count: int, hint: Any) -> str:
        """Integers as an array where a rule says what they are, else as a tensor."""
        return f"array<i32: {items}>" if hint else f"dense<[{items}]> : tensor<{count}xi32>"

    def region(self, region: Region, indent: str) -> str:
        inner = indent + INDENT
        labels = [[indent + self.label(b, i)] * bool(b.arguments or i) for i, b in enumerate(region.blocks)]
        bodies = [(inner + self.operation(operation, inner) for operation in b.operations) for b in region.blocks]
        lines = itertools.chain(*(itertools.chain(*pair) for pair in zip(labels, bodies, strict=True)))
        return "\n".join(itertools.chain("{", lines, [indent + "}"]))
