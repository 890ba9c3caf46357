def paths(tree: ast.FunctionDef) -> list[str]:
    found = set()

    def visit(waiting: list[ast.AST], own: frozenset[str]) -> frozenset[str]:
        match waiting:
            case []:
                return own
            case [ast.Name(name, ast.Store()), *rest]:
                return visit(rest, own | {name})
            case [node, *rest]:
                name = dotted_name(node)
                if name and name.split(".")[0] not in own:
                    found.add(name)
                always, branches = split(node)
                after = [visit([*always, *branch], own) for branch in branches]
                return visit(rest, frozenset.intersection(*after))
        raise AssertionError

    visit([*tree.body], frozenset(node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)))
    return sorted(found)


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
                callees = functions_in(caller.fn.__defaults__)
                for _, value in values:
                    callees += functions_in(value)
                return own + visit(rest + callees, (*done, caller.fn))
        raise AssertionError

    return visit(list(functions), ())
