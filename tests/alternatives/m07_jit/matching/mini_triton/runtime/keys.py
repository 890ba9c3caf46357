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
