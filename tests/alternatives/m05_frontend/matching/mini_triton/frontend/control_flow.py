def merge(visitor: Visitor, node: ast.If, test: tensor, branches: Sequence[Branch]) -> None:
    (_, then, _), (_, otherwise, _) = branches
    missing, place = object(), visitor.loc(node)
    pairs: dict[str, tuple[Any, Any]] = {}
    for name in dict.fromkeys([*written(node.body), *written(node.orelse)]):
        before = visitor.scope.values.get(name, missing)
        match then.values.get(name, missing), otherwise.values.get(name, missing):
            case value, other if value is other and value is not missing:
                visitor.scope.bind(name, value, last_assignment(name, then, otherwise))
            case value, other if value is missing or other is missing or not (flatten(value) or flatten(other)):
                reason = f"after the `if` on line {place.line}, not every run has given it a value"
                visitor.scope.lose(name, reason, place)
            case value, other if (value is before or other is before) and not has_type(before):
                visitor.scope.lose(name, f"a branch of the `if` on line {place.line} leaves it without a value", place)
            case value, other if agree(visitor.scope, name, value, other):
                pairs[name] = value, other
            case _:
                raise disagreement(visitor.scope, name, then, otherwise)
    joined = join(visitor, test, branches, list(zip(*pairs.values(), strict=True)) or [(), ()])
    for name, value in zip(pairs, joined, strict=True):
        visitor.scope.bind(name, value, last_assignment(name, then, otherwise))


def to_condition(visitor: Visitor, node: ast.expr, test: tensor) -> tensor:
    match test.numel, test.shape:
        case 1, ():
            return visitor.evaluate(node, convert, test, int1)
        case 1, _:
            handle = visitor.builder.create("tt.unsplat", test.handle)
            return to_condition(visitor, node, tensor(handle, test.dtype))
        case _:
            raise UnsupportedLanguageConstruct(
                "Boolean value of Tensor with more than one value is ambiguous", visitor.loc(node)
            )
