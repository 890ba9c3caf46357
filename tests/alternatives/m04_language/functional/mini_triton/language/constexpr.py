def evaluate(function: Callable[..., Any], *operands: Any) -> Any:
    if [operand for operand in operands if isinstance(operand, RunTimeValue)]:
        return NotImplemented
    return constexpr(function(*unwrap(operands)))


class constexpr:
    def __bool__(self) -> bool:
        return operator.truth(self.value)
