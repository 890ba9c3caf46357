def bind(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    values = {}
    position = 0
    for parameter in parameters:
        name = parameter.name
        if position < len(arguments):
            if name in keywords:
                raise TypeError(f"{kernel}: {name} is given twice")
            values[name] = arguments[position]
        elif name in keywords:
            values[name] = keywords[name]
        elif parameter.default is not REQUIRED:
            values[name] = parameter.default
        else:
            raise TypeError(f"{kernel}: {name} is missing")
        position = position + 1
    if len(arguments) > len(parameters):
        raise TypeError(f"{kernel}: there are {len(arguments)} arguments for {len(parameters)} parameters")
    options = {}
    for name in keywords:
        if name in values:
            continue
        if name not in OPTIONS:
            raise TypeError(f"{kernel}: {name} is neither a parameter nor an option")
        options[name] = keywords[name]
    return values, options
