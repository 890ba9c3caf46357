def runtime_if(visitor: Visitor, node: ast.If, test: tensor, rest: Sequence[ast.stmt]) -> Any:
    then, otherwise = node.body, node.orelse
    match find_return(node):
        case ast.Return() as found if visitor.in_loop:
            refuse_return(visitor, found)
        case ast.Return():
            paths = [lambda: visitor.run([*then, *rest]), lambda: visitor.run([*otherwise, *rest])]
            mismatch = "Return type mismatch: {} and {}"
            return choose(visitor, node, test, compile_branches(visitor, paths), mismatch)
        case None:
            paths = [lambda: visitor.run(then), lambda: visitor.run(otherwise)]
            merge(visitor, node, test, compile_branches(visitor, paths))
            return visitor.run(rest)


def choose(visitor: Visitor, node: ast.expr | ast.stmt, test: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
    match branches:
        case [(first, _, one), (second, _, two)]:
            with visitor.builder.at_end(first):
                one = to_run_time(one)
            with visitor.builder.at_end(second):
                two = to_run_time(two)
    if (types := (describe(one), describe(two))) and types[0] == types[1]:
        return join(visitor, test, branches, (one, two))
    raise visitor.error(node, mismatch.format(*types))


def merge(visitor: Visitor, node: ast.If, test: tensor, branches: Sequence[Branch]) -> None:
    (_, then, _), (_, otherwise, _) = branches
    missing, place = object(), visitor.loc(node)
    pairs: dict[str, tuple[Any, Any]] = {}
    for name in dict.fromkeys([*written(node.body), *written(node.orelse)]):
        match then.values.get(name, missing), otherwise.values.get(name, missing):
            case value, other if value is other and value is not missing:
                visitor.scope.bind(name, value, otherwise.places[name])
            case value, other if value is missing or other is missing or not (flatten(value) or flatten(other)):
                reason = f"after the `if` on line {place.line}, not every run has given it a value"
                visitor.scope.lose(name, reason, place)
            case value, other if agree(visitor.scope, name, value, other):
                pairs[name] = value, other
            case _:
                raise disagreement(visitor.scope, name, then, otherwise)
    joined = join(visitor, test, branches, list(zip(*pairs.values(), strict=True)) or [(), ()])
    for name, value in zip(pairs, joined, strict=True):
        visitor.scope.bind(name, value, then.places[name])


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


def find_carried(visitor: Visitor, node: ast.For | ast.While) -> Carried:
    return {
        name: value
        for name, value in visitor.scope.values.items()
        if flatten(value) and name in written(node.body) and name not in find_targets(node)
    }


def visit_body(visitor: Visitor, node: ast.For | ast.While, carried: Carried) -> list[Value]:
    before, was = visitor.scope.copy(), visitor.in_loop
    visitor.in_loop = True
    visitor.run(node.body)
    visitor.in_loop = was
    check_known(visitor, node, before)
    now = {name: visitor.scope.values.get(name) for name in carried}
    for name, value in now.items():
        match describe(carried[name]), describe(value):
            case first, second if first != second:
                raise changed(visitor.scope, name, carried[name], before)
    return [part.handle for part in flatten(tuple(now.values()))]


def runtime_for(visitor: Visitor, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
    down = is_negative(iterator.step)
    operands = find_bounds(visitor, node.iter, iterator, down)
    lower, upper, _ = operands
    carried, outside = find_carried(visitor, node), visitor.scope
    handles = [value.handle for value in operands]
    with for_(visitor.builder, *handles, [part.handle for part in flatten(tuple(carried.values()))]) as loop:
        visitor.scope = outside.copy()
        enter(visitor, carried, loop.carried)
        match down, tensor(loop.variable, lower.dtype):
            case True, variable:
                visitor.scope.bind(target.id, add(sub(upper, variable), lower), visitor.loc(target))
            case False, variable:
                visitor.scope.bind(target.id, variable, visitor.loc(target))
        yield_(visitor.builder, *visit_body(visitor, node, carried))
    annotate(loop.variable, iterator)
    leave(visitor, node, carried, outside, loop.results)
