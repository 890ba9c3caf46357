def run_time(value: Any) -> Any:
    if isinstance(value, constexpr):
        if is_number(value.value):
            return to_tensor(value.value)
        return value
    if isinstance(value, tuple):
        elements = []
        for element in value:
            elements.append(run_time(element))
        return tuple(elements)
    return value


def parts(value: Any) -> list[tensor]:
    result: list[tensor] = []
    if isinstance(value, tensor):
        result.append(value)
    elif isinstance(value, tuple):
        for element in value:
            for part in parts(element):
                result.append(part)
    elif isinstance(value, RunTimeValue):
        fields = _fields(value)
        for name in fields:
            for part in parts(fields[name]):
                result.append(part)
    return result


def rebuilt(value: Any, handles: Iterable[Value]) -> Any:
    left = list(handles)
    return _rebuilt(value, left)


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    return _rebuilt(value, list(handles))


def _rebuilt(value: Any, left: list[Value]) -> Any:
    if isinstance(value, tensor):
        first = left.pop(0)
        return tensor(first, value.dtype)
    if isinstance(value, tuple):
        elements = []
        for element in value:
            elements.append(_rebuilt(element, left))
        return tuple(elements)
    if isinstance(value, RunTimeValue):
        fields = _fields(value)
        for name in fields:
            fields[name] = _rebuilt(fields[name], left)
        return dataclasses.replace(value, **fields)  # type: ignore[type-var]
    return value


def spelled(value: Any) -> str:
    if isinstance(value, tuple):
        text = "("
        for i in range(len(value)):
            if i > 0:
                text = text + ", "
            text = text + spelled(value[i])
        return text + ")"
    if isinstance(value, RunTimeValue) and not isinstance(value, tensor):
        fields = _fields(value)
        return type(value).__name__ + spelled(tuple(fields.values()))
    return repr(value)
