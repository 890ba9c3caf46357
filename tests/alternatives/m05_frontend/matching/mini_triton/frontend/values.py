def flatten(value: Any) -> list[tensor]:
    match value:
        case tensor():
            return [value]
        case tuple():
            inside = value
        case RunTimeValue():
            inside = tuple(_fields(value).values())
        case _:
            inside = ()
    return [part for element in inside for part in flatten(element)]


def rebuild(value: Any, handles: Iterable[Value]) -> Any:
    handles = iter(handles)
    match value:
        case tensor(dtype=dtype):
            return tensor(next(handles), dtype)
        case tuple():
            return tuple([rebuild(element, handles) for element in value])
        case RunTimeValue():
            return type(value)(*[rebuild(field, handles) for field in _fields(value).values()])
        case _:
            return value
