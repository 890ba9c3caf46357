import itertools


def mask_of(emit: Emitter, values: Sequence[Value], mask: Value | None) -> str:
    text = emit.text(mask) if mask is not None else ""
    if not emit.active:
        return text
    varying = [value for value in values if emit.varies(value)]
    active = emit.lift(emit.active, ALL_PROGRAMS, len(shape_of(values[0].type)))
    return " & ".join(f"({part})" for part in (active if varying else "", text) if part)


def load(emit: Emitter, operation: Operation) -> None:
    pointer, *rest = operation.operands
    mask = mask_of(emit, [pointer, *itertools.islice(rest, 1)], next(iter(rest), None))
    others = [f"other={emit.text(other)}" for other in itertools.islice(rest, 1, 2)]
    arguments = filter(None, [memory_of(emit, pointer), emit.text(pointer), mask, *others])
    emit.assign(operation.results[0], f"{library_of(emit, pointer)}.load({', '.join(arguments)})")


def store(emit: Emitter, operation: Operation) -> None:
    pointer, value, *rest = operation.operands
    mask = mask_of(emit, operation.operands, next(iter(rest), None))
    arguments = filter(None, [memory_of(emit, pointer), *map(emit.text, (pointer, value)), mask])
    emit.write(f"{library_of(emit, pointer)}.store({', '.join(arguments)})")
