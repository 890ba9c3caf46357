"""All reasons to call are exceptions."""


def function_for(node):
    if name_of(node) not in HANDLERS:
        raise Unsupported("no kernel is written for it")
    reason = why_not(node)
    if reason:
        raise Unsupported(reason)
    return HANDLERS[name_of(node)]


def lower_call(node, lowered):
    value = node.meta.get("val")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool | int | float):
        return sympify(value)
    arguments, keywords = (torch.fx.map_arg(x, lowered.__getitem__) for x in (node.args, node.kwargs))
    if node.target is operator.getitem:
        whole, place = arguments
        return (
            called(node, arguments, keywords, "part of PyTorch's result") if isinstance(whole, Called) else whole[place]
        )
    try:
        return function_for(node)(node, *arguments, **keywords)
    except Unsupported as refusal:
        return called(node, arguments, keywords, str(refusal))
