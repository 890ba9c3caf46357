def bind(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = {parameter.name for parameter in parameters}
    options = {name: value for name, value in keywords.items() if name in OPTIONS and name not in named}
    signature = inspect.Signature(
        [inspect.Parameter(parameter.name, kind, default=parameter.default) for parameter in parameters]
    )
    own = {name: value for name, value in keywords.items() if name not in options}
    try:
        bound = signature.bind(*arguments, **own)
    except TypeError as error:
        raise TypeError(f"{kernel}: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments), options
