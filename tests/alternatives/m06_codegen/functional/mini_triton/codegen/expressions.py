import functools


def expression(operation: Operation, operands: list[str]) -> str | None:
    name = " ".join(filter(None, (operation.name, operation.attributes.get("predicate"))))
    if TEMPLATES.get(name) is None:
        return None
    first, result = (element_type(value.type) for value in (operation.operands[0], operation.results[0]))
    special = OF_BOOLEANS if first == I1 else TO_BOOLEANS if result == I1 else {}
    template = special.get(name) or TEMPLATES[name]
    return functools.partial(template.format, *operands)(
        **({"rounding": ""} | operation.attributes | {"dtype": dtype_of(operation.results[0].type)}),
        operands=", ".join(operands),
    )
