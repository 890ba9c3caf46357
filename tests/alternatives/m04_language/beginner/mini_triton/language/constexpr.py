def evaluate(function: Callable[..., Any], *operands: Any) -> Any:
    values = []
    for operand in operands:
        if isinstance(operand, RunTimeValue):
            return NotImplemented
        values.append(unwrap(operand))
    result = function(*values)
    return constexpr(result)


class constexpr:
    def __init__(self, value: Any) -> None:
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    def __bool__(self) -> bool:
        if self.value:
            return True
        return False

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"{self.value!r} is no integer")
        return int(self.value)
