def paths(tree: ast.FunctionDef) -> list[str]:
    own = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}.union(written(tree.body))
    found: list[str] = []
    for node in ast.walk(ast.Module(tree.body, [])):
        match dotted_name(node).split("."):
            case [""]:
                pass
            case [first, *_] if first not in own and dotted_name(node) not in found:
                found.append(dotted_name(node))
    found.sort()
    return found


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


def compute_key(
    function: KernelSource, references: Sequence[Reference], arguments: Mapping[str, Specialized], options: Options
) -> str:
    of_arguments = [
        f"{name}: {argument.type} {argument.divisible} {describe(argument.value)}"
        for name, argument in arguments.items()
    ]
    of_references = [
        f"{describe(reference.function)} reads {reference.path}: {describe(reference.value)}"
        for reference in references
    ]
    return digest([*versions(), describe(function), *of_references, *of_arguments, str(options)])
