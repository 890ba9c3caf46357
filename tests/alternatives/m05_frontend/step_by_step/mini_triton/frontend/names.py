def written(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for name in _names(nodes):
        if isinstance(name.ctx, ast.Store):
            found.append(name)
    return _in_order(found)


def read(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                if isinstance(inner.ctx, ast.Load):
                    found.append(inner)
            if isinstance(inner, ast.AugAssign):
                if isinstance(inner.target, ast.Name):
                    found.append(inner.target)
    return _in_order(found)
