def expression(operation: Operation, operands: list[str]) -> str | None:
    name = operation.name
    if "predicate" in operation.attributes:
        name = name + " " + str(operation.attributes["predicate"])
    if name not in TEMPLATES:
        return None
    template = TEMPLATES[name]
    if len(operation.operands) > 0 and element_type(operation.operands[0].type) == I1:
        if name in OF_BOOLEANS:
            template = OF_BOOLEANS[name]
    elif element_type(operation.results[0].type) == I1:
        if name in TO_BOOLEANS:
            template = TO_BOOLEANS[name]
    words = {}
    for word in operation.attributes:
        words[word] = operation.attributes[word]
    if "rounding" not in words:
        words["rounding"] = ""
    words["operands"] = ", ".join(operands)
    words["dtype"] = dtype_of(operation.results[0].type)
    return template.format(*operands, **words)
