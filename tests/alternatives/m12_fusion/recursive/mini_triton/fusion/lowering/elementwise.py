"""By kind of operand, early returns."""


def operand(body, x, index, dtype):
    if not isinstance(x, Tensor):
        if getattr(x, "free_symbols", None):
            return body.number(x, dtype)
        to = float if dtype.is_floating_point else bool if dtype == torch.bool else int
        return body.constant(to(x), dtype)
    element = body.value(x, broadcast_index(index, x.shape))
    return body.cast(element, dtype)


def lower_formula(node, operands, formula, kind=Kind.SAME):
    dtype = promote(kind, list(operands))

    def at(body, index):
        def value(x):
            return x if isinstance(x, Value) else operand(body, x, index, dtype)

        def apply(name, *values):
            after = {Kind.COMPARE: torch.bool}.get(OPERATORS[name].kind, dtype)
            return body.apply(name, map(value, values), after)

        return formula(apply, *map(value, operands))

    return elementwise(node, operands, at)
