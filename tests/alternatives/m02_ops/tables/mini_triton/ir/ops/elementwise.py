"""Elementwise operations; every rule is a table of conditions."""

from collections.abc import Callable


def same_integers(lhs: Type, rhs: Type) -> Type:
    return _check(lhs, {f"{lhs} is not of integers": not is_integer(lhs), f"{lhs} is not {rhs}": lhs != rhs})


def same_floats(lhs: Type, rhs: Type) -> Type:
    return _check(lhs, {f"{lhs} is not of floats": not is_float(lhs), f"{lhs} is not {rhs}": lhs != rhs})


def select(condition: Type, true_value: Type, false_value: Type) -> Type:
    conditions = {I1, with_element(true_value, I1)}
    return _check(
        true_value,
        {
            f"{true_value} is not {false_value}": true_value != false_value,
            f"{condition} is none of {', '.join(map(str, conditions))}": condition not in conditions,
        },
    )


def wider_float(input: Type, *, result: Type) -> Type:
    return _wider(input, result, (16, 32, 64), is_float)


def wider_integer(input: Type, *, result: Type) -> Type:
    return _wider(input, result, (1, 8, 16, 32, 64), is_integer)


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


def _wider(input: Type, result: Type, widths: tuple[int, ...], fits: Callable[[Type], bool]) -> Type:
    """A cast from one of the widths to a later one."""
    return _check(
        result,
        {
            "the shapes differ": shape_of(input) != shape_of(result),
            f"{input} or {result} has the wrong kind": not (fits(input) and fits(result)),
            f"{input} has a width of {width(input)}": width(input) not in widths,
            f"{result} is no wider": width(result) <= width(input),
        },
    )
