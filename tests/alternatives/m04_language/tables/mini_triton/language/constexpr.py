def evaluate(function: Callable[..., Any], *operands: Any) -> Any:
    known = [unwrap(operand) for operand in operands if not isinstance(operand, RunTimeValue)]
    return constexpr(function(*known)) if len(known) == len(operands) else NotImplemented


class constexpr:
    def __init__(self, value: Any) -> None:
        self.value = {constexpr: unwrap}.get(type(value), lambda value: value)(value)

    def __bool__(self) -> bool:
        return not not self.value

    def __index__(self) -> int:
        if isinstance(self.value, str | float | tuple) or self.value is None:
            raise TypeError(f"{self.value!r} cannot be an index")
        return operator.index(self.value)
