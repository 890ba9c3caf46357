def expression(operation, operands):
    text = meaning(operation)
    attributes = {"rounding": "", **operation.attributes}
    names = {"dtype": dtype_of(operation.results[0].type)} if text else {}
    return text and text.format(*operands, operands=", ".join(operands), **names, **attributes)
