def run_time(value: Any) -> Any:
    match value:
        case constexpr(value=int() | float()):
            return to_tensor(value)
        case tuple():
            return tuple(run_time(element) for element in value)
        case _:
            return value


def parts(value: Any) -> list[tensor]:
    match value:
        case tensor():
            return [value]
        case tuple():
            inside = value
        case RunTimeValue():
            inside = tuple(_fields(value).values())
        case _:
            inside = ()
    return [part for element in inside for part in parts(element)]


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    match value:
        case tensor(dtype=dtype):
            return tensor(next(handles), dtype)
        case tuple():
            return tuple([_fill(element, handles) for element in value])
        case RunTimeValue():
            return type(value)(*[_fill(field, handles) for field in _fields(value).values()])
        case _:
            return value


def spelled(value: Any) -> str:
    match value:
        case tuple():
            return "(" + ", ".join(spelled(element) for element in value) + ")"
        case RunTimeValue() if not isinstance(value, tensor):
            return type(value).__name__ + spelled(tuple(_fields(value).values()))
        case _:
            return repr(value)
