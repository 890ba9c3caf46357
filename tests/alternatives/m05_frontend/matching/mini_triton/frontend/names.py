def written(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        for inner in ast.walk(node):
            match inner:
                case ast.Name(ctx=ast.Store()):
                    found.append(inner)
    return _in_order(found)


def read(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        for inner in ast.walk(node):
            match inner:
                case ast.Name(ctx=ast.Load()):
                    found.append(inner)
                case ast.AugAssign(target=ast.Name() as target):
                    found.append(target)
    return _in_order(found)
