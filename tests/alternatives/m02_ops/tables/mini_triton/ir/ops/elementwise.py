"""Elementwise operations; every rule is a table of conditions."""


def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    conditions = {I1, with_element(true_value, I1)}
    return _check(
        true_value,
        {
            f"{true_value} is not {false_value}": true_value != false_value,
            f"{condition} is none of {', '.join(map(str, conditions))}": condition not in conditions,
        },
    )


def bitcast(input: Type, *, result: Type) -> Type:
    pointers = [isinstance(element_type(type), PointerType) for type in (input, result)]
    return _check(
        result,
        {
            "the shapes differ": shape_of(input) != shape_of(result),
            "the sizes differ": width(input) != width(result),
            "one of the two is a pointer": any(pointers) and not all(pointers),
        },
    )


def _check(type: Type, faults: dict[str, bool]) -> Type:
    """The type, unless one of the faults is there."""
    for message in (message for message, is_there in faults.items() if is_there):
        raise TypeError(message)
    return type
