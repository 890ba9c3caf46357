from collections import ChainMap


def expression(operation: Operation, operands: list[str]) -> str | None:
    predicate = operation.attributes.get("predicate")
    key = operation.name if predicate is None else f"{operation.name} {predicate}"
    if key not in TEMPLATES:
        return None
    result = operation.results[0].type
    tables = {"first operand": OF_BOOLEANS, "result": TO_BOOLEANS}
    types = {"first operand": operation.operands[0].type, "result": result}
    of_booleans = [tables[whose] for whose, type in types.items() if element_type(type) == I1]
    words = ChainMap(
        {"dtype": dtype_of(result), "operands": ", ".join(operands)}, operation.attributes, {"rounding": ""}
    )
    return ChainMap(*of_booleans[:1], TEMPLATES)[key].format(*operands, **words)
