import functools


def along_axis(emit: Emitter, operation: Operation, function: str) -> None:
    axis = axis_of(operation)
    axes = functools.reduce(frozenset.union, map(emit.axes.get, operation.operands), frozenset({axis}))
    spread = functools.partial(emit.spread, axes=axes)
    sources = ", ".join([*map(spread, operation.operands), ""])
    reverse = bool(operation.attributes.get("reverse"))
    options = ", reverse=True" * reverse
    rank = len(shape_of(operation.operands[0].type))
    call = f"{function}({combination(emit, operation)}, ({sources}), {axis - rank}{options})"
    results = [emit.name(result) for result in operation.results]
    emit.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")
