"""The printer, one piece of text at a time."""


def number(value: bool | int | float, type: Type) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    scalar = element_type(type)
    assert isinstance(scalar, FloatType)
    digits = scalar.width // 4
    infinity, nan = INFINITY_AND_NAN[scalar.name]
    if value != value:
        return "0x" + format(nan, "X").rjust(digits, "0")
    if value in (math.inf, -math.inf):
        if infinity is None:
            raise ValueError(f"{scalar} has no infinity")
        bits = infinity
        if value < 0:
            bits = bits + 2 ** (scalar.width - 1)
        return "0x" + format(bits, "X").rjust(digits, "0")
    text = repr(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        if "." not in mantissa:
            mantissa = mantissa + ".0"
        text = mantissa + "e" + exponent
    return text


class Printer:
    def _name(self, value: Value) -> str:
        if value in self._names:
            return self._names[value]
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
        legal = len(value.name) > 0 and value.name[0] in letters
        for character in value.name:
            if character not in letters + "0123456789":
                legal = False
        if legal:
            name = value.name
            suffix = 0
            while name in self._taken:
                name = value.name + "_" + str(suffix)
                suffix = suffix + 1
        else:
            name = str(self._next_number)
            self._next_number = self._next_number + 1
        self._taken.add(name)
        self._names[value] = "%" + name
        return "%" + name

    def results(self, operation: Operation) -> str:
        count = len(operation.results)
        if count == 0:
            return ""
        name = self._name(operation.results[0])
        if count == 1:
            return name + " = "
        return name + ":" + str(count) + " = "

    def attribute(self, value: Attribute, hint: Any = None) -> str:
        extra = get_args(hint)[1] if len(get_args(hint)) > 1 else None
        if isinstance(extra, Keyword):
            return f"{extra.numbers[str(value)]} : i{extra.width}"
        if extra == "symbol":
            plain = str(value).isidentifier() and str(value).isascii()
            return f"@{value}" if plain else f"@{quoted(str(value))}"
        if value == ():
            return "array<i32>"
        if value is True:
            return "true"
        if value is False:
            return "false"
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, tuple):
            items = []
            for item in value:
                items.append(str(item))
            if hint is None:
                return "dense<[" + ", ".join(items) + f"]> : tensor<{len(items)}xi32>"
            return "array<i32: " + ", ".join(items) + ">"
        if isinstance(value, int):
            return str(value) + " : i32"
        return str(value)

    def constant(self, operation: Operation) -> str:
        value, type = operation.attributes["value"], operation.result.type
        assert isinstance(value, bool | int | float)
        text = number(value, type)
        if isinstance(type, TensorType):
            return "dense<" + text + "> : " + str(type)
        if type == I1:
            return text
        return text + " : " + str(type)

    def generic_form(self, operation: Operation, indent: str) -> str:
        attributes = self._generic_attributes(operation)
        text = self.results(operation)
        text = text + '"' + operation.name + '"'
        names = []
        for operand in operation.operands:
            names.append(self.name(operand))
        text = text + "(" + ", ".join(names) + ")"
        if len(operation.regions) > 0:
            regions = []
            for region in operation.regions:
                regions.append(self.region(region, indent))
            text = text + " (" + ", ".join(regions) + ")"
        if len(attributes) > 0:
            text = text + " " + self.attribute_dict(attributes)
        return text + " : " + signature(operation)

    def region(self, region: Region, indent: str) -> str:
        text = "{\n"
        number = 0
        for block in region.blocks:
            if len(block.arguments) > 0 or number > 0:
                text = text + indent + self.label(block, number) + "\n"
            for operation in block.operations:
                text = text + indent + INDENT
                text = text + self.operation(operation, indent + INDENT) + "\n"
            number = number + 1
        return text + indent + "}"
