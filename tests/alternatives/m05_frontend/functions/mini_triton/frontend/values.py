import itertools
from collections.abc import Callable


def run_time(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(run_time, value))
    return to_tensor(value) if is_number(getattr(value, "value", None)) else value


def parts(value: Any) -> list[tensor]:
    return list(_tensors(value))


def _inside(value: Any) -> Iterable[Any]:
    """What a value consists of."""
    return value if isinstance(value, tuple) else _fields(value).values() if isinstance(value, RunTimeValue) else ()


def _tensors(value: Any) -> Iterator[tensor]:
    if isinstance(value, tensor):
        yield value
    else:
        yield from itertools.chain.from_iterable(map(_tensors, _inside(value)))


def rebuilt(value: Any, handles: Iterable[Value]) -> Any:
    source = iter(handles)
    return _mapped(lambda old: tensor(next(source), old.dtype), value)


def _fill(value: Any, handles: Iterator[Value]) -> Any:
    return rebuilt(value, handles)


def _mapped(function: Callable[[tensor], tensor], value: Any) -> Any:
    """The value with `function` applied to each of its tensors, from left to right."""
    if isinstance(value, tensor):
        return function(value)
    inside = [_mapped(function, element) for element in _inside(value)]
    if isinstance(value, tuple):
        return tuple(inside)
    return type(value)(*inside) if isinstance(value, RunTimeValue) else value


def spelled(value: Any) -> str:
    if isinstance(value, tensor) or not isinstance(value, tuple | RunTimeValue):
        return repr(value)
    name = "" if isinstance(value, tuple) else type(value).__name__
    return f"{name}({', '.join(map(spelled, _inside(value)))})"
