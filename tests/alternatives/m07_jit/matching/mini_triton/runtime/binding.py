def bind(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    def value_of(place: int, parameter: Parameter) -> Any:
        match place < len(arguments), parameter.name in keywords:
            case True, True:
                raise TypeError(f"{kernel}: two values for {parameter.name}")
            case True, False:
                return arguments[place]
            case False, True:
                return keywords[parameter.name]
        if parameter.default is REQUIRED:
            raise TypeError(f"{kernel}: no value for {parameter.name}")
        return parameter.default

    values = {parameter.name: value_of(place, parameter) for place, parameter in enumerate(parameters)}
    match [name for name in keywords if name not in values and name not in OPTIONS], arguments[len(parameters) :]:
        case [name, *_], _:
            raise TypeError(f"{kernel}: what is {name}?")
        case _, [_, *_]:
            raise TypeError(f"{kernel}: too many arguments")
    return values, {name: value for name, value in keywords.items() if name not in values}
