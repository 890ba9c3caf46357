def paths(tree: ast.FunctionDef) -> list[str]:
    own = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}.union(written(tree.body))
    found: set[str] = set()
    for node in ast.walk(ast.Module(tree.body, [])):
        match dotted(node).split("."):
            case [""]:
                pass
            case [first, *_] if first not in own:
                found.add(dotted(node))
    return list(found)


def references(*functions: KernelSource) -> list[Reference]:
    def visit(waiting: list[KernelSource], done: tuple[Any, ...]) -> list[Reference]:
        match waiting:
            case []:
                return []
            case [caller, *rest] if caller.fn in done:
                return visit(rest, done)
            case [caller, *rest]:
                values = [(path, resolve(caller.globals, path)) for path in paths(caller.tree)]
                own = [Reference(caller, path, value) for path, value in values if matters(value)]
                callees = [callee for callee in map(as_function, (value for _, value in values)) if callee]
                return own + visit(rest + callees, (*done, caller.fn))
        raise AssertionError

    return visit(list(functions), ())


def key(function: KernelSource, arguments: Mapping[str, Specialized], options: Options) -> str:
    of_arguments = [
        f"{name}: {argument.type} {argument.divisible} {spelled(argument.value)}"
        for name, argument in arguments.items()
    ]
    called = [function for argument in arguments.values() for function in functions_in(argument.value)]
    of_references = [
        f"{reference.function.fn.__qualname__} reads {reference.path}: {described(reference.value)}"
        for reference in references(function, *called)
    ]
    return digest([*versions(), described(function), *of_references, *of_arguments, str(options)])
