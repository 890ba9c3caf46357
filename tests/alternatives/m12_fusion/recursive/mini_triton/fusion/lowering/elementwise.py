"""By kind of operand, early returns."""


def operand(body, x, index, dtype):
    if not isinstance(x, Tensor):
        if getattr(x, "free_symbols", None):
            return body.number(x, dtype)
        to = float if dtype.is_floating_point else bool if dtype == torch.bool else int
        return body.constant(to(x), dtype)
    element = body.value(x, broadcast_index(index, x.shape))
    return body.cast(element, dtype)


def lower_operator(name, node, *operands):
    kind = OPERATORS[name].kind
    dtype = promote(kind, list(operands))
    after = torch.bool if kind is Kind.COMPARE else dtype

    def at(body, index):
        lines = []
        for x in operands:
            lines.append(operand(body, x, index, dtype))
        return body.cast(body.apply(name, lines, after), computed_in(node.meta["val"].dtype))

    return elementwise(node, operands, at)
