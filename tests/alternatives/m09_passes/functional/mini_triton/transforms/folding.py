from collections.abc import Iterator


def fold_elementwise(rewriter: Rewriter, operation: Operation) -> Value | None:
    type = operation.result.type
    scalars = [scalar for scalar in map(scalar_of, operation.operands) if scalar is not None]
    if is_pointer(type) or len(scalars) != len(operation.operands):
        return None
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        number = as_number(evaluate(operation, scalars)[0], type)
    return None if isinstance(number, float) and np.isnan(number) else rewriter.constant(number, type)


def fold_moving(rewriter: Rewriter, operation: Operation) -> Sequence[Value] | None:
    first, *others = map(constant_of, operation.operands)
    if first is None or any(other is None or repr(other) != repr(first) for other in others):
        return None
    return tuple(rewriter.constant(first, result.type) for result in operation.results)


def raise_constant(rewriter: Rewriter, operation: Operation) -> Value | None:
    holders = list(around(operation))
    if len(holders) < 2 or holders[-1].name != "tt.func":
        return None
    with rewriter.before(holders[-1].regions[0].block.operations[0]):
        return rewriter.constant(operation.attributes["value"], operation.result.type)


def around(operation: Operation) -> Iterator[Operation]:
    holder = operation.parent_op
    while holder is not None and holder.name != "builtin.module":
        yield holder
        holder = holder.parent_op
