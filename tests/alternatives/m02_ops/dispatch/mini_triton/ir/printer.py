"""The printer, by matching."""

import itertools


def number(value: bool | int | float, type: Type) -> str:
    match value:
        case bool() | int():
            return f"{value}".lower()
        case float() if math.isfinite(value):
            mantissa, e, exponent = repr(value).partition("e")
            return mantissa + (".0" if "." not in mantissa else "") + e + exponent
    scalar = element_type(type)
    assert isinstance(scalar, FloatType)
    bits = INFINITY_AND_NAN[scalar.name][math.isnan(value)]
    if bits is None:
        raise ValueError(f"{scalar} has no infinity")
    sign = 1 if str(value).startswith("-") else 0
    return "0x" + format(bits | sign << (scalar.width - 1), f"0{scalar.width // 4}X")


class Printer:
    def _name(self, value: Value) -> str:
        match self._names.get(value):
            case None:
                name = self._fresh(value.name)
                self._taken.add(name)
                return self._names.setdefault(value, "%" + name)
            case known:
                return known

    def _fresh(self, wish: str) -> str:
        """A name that is not taken."""
        if not re.fullmatch(r"[A-Za-z_]\w*", wish, re.ASCII):
            self._next_number += 1
            return str(self._next_number - 1)
        names = itertools.accumulate(itertools.count(), lambda name, suffix: f"{wish}_{suffix}", initial=wish)
        return next(name for name in names if name not in self._taken)

    def results(self, operation: Operation) -> str:
        match operation.results:
            case ():
                return ""
            case (only,):
                return f"{self._name(only)} = "
            case (first, *_) as several:
                return f"{self._name(first)}:{len(several)} = "
        raise AssertionError

    def attribute(self, value: Attribute, hint: Any = None) -> str:
        extra = get_args(hint)[1] if len(get_args(hint)) > 1 else None
        if isinstance(extra, Keyword):
            return f"{extra.numbers[str(value)]} : i{extra.width}"
        if extra == "symbol":
            plain = str(value).isidentifier() and str(value).isascii()
            return f"@{value}" if plain else f"@{quoted(str(value))}"
        if value == ():
            return "array<i32>"
        match value:
            case bool():
                return str(value).lower()
            case int():
                return f"{value} : i32"
            case str():
                return quoted(value)
            case tuple() if hint is not None:
                return f"array<i32: {str(list(value))[1:-1]}>"
            case tuple():
                return f"dense<{list(value)}> : tensor<{len(value)}xi32>"
            case _:
                return f"{value}"

    def constant(self, operation: Operation) -> str:
        value, type = operation.attributes["value"], operation.result.type
        assert isinstance(value, bool | int | float)
        match type:
            case TensorType():
                return f"dense<{number(value, type)}> : {type}"
            case _ if type == I1:
                return number(value, type)
            case _:
                return f"{number(value, type)} : {type}"

    def generic_form(self, operation: Operation, indent: str) -> str:
        attributes = self._generic_attributes(operation)
        head = f'{self.results(operation)}"{operation.name}"({", ".join(map(self.name, operation.operands))})'
        regions = ", ".join(self.region(region, indent) for region in operation.regions)
        parts = [head, f"({regions})" if regions else "", self.attribute_dict(attributes) if attributes else ""]
        return " ".join(filter(None, [*parts, ":", signature(operation)]))

    def region(self, region: Region, indent: str) -> str:
        def block_lines(i: int, block: Block) -> list[str]:
            inner = indent + INDENT
            label = [indent + self.label(block, i)] if i or block.arguments else []
            return label + [inner + self.operation(operation, inner) for operation in block.operations]

        blocks = ["\n".join(block_lines(i, block)) for i, block in enumerate(region.blocks)]
        return "\n".join(["{", *filter(None, blocks), indent + "}"])
