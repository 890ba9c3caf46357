def written(nodes: Iterable[ast.AST]) -> list[str]:
    return _in_order(filter(lambda name: isinstance(name.ctx, ast.Store), _names(nodes)))


def read(nodes: Iterable[ast.AST]) -> list[str]:
    class Reader(ast.NodeVisitor):
        def visit_Name(self, node: ast.Name) -> None:
            if isinstance(node.ctx, ast.Load):
                names.append(node)

        def visit_AugAssign(self, node: ast.AugAssign) -> None:
            if isinstance(node.target, ast.Name):
                names.append(node.target)
            self.generic_visit(node)

    names: list[ast.Name] = []
    for node in nodes:
        Reader().visit(node)
    return _in_order(names)
