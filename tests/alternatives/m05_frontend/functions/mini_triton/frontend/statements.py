class Statements:
    def run(self, statements: Sequence[ast.stmt]) -> Any:
        remaining = iter(range(1, len(statements) + 1))
        for statement, following in zip(statements, remaining, strict=True):
            match statement:
                case ast.Return():
                    return self.visit(statement)
                case ast.If():
                    with self.builder.location(self.loc(statement)):
                        return self.visit_If(statement, list(statements[following:]))
            self.visit(statement)
        return NOTHING

    def visit_Return(self, node: ast.Return) -> Any:
        if not self.in_loop:
            return constexpr(None) if node.value is None else self.visit(node.value)
        words = "a kernel: Cannot have `return` statements inside `while` or `for` statements"
        raise UnsupportedLanguageConstruct(words, self.loc(node))

    def visit_Assign(self, node: ast.Assign) -> None:
        target, *others = node.targets
        if others:
            raise self.error(node, "simultaneous multiple assignment is not supported")
        self.assign(target, self.visit(node.value))

    def assign(self, target: ast.expr, value: Any) -> None:
        refused = {
            ast.Subscript: "__setitem__ is not supported",
            ast.Attribute: "Attribute assignment is not supported",
        }
        if type(target) in refused:
            raise self.error(target, refused[type(target)])
        elif isinstance(target, ast.Name):
            value = self.evaluate(target, run_time, value)
            if not can_be_named(value):
                raise self.error(target, f"{target.id} = {unwrap(value)!r} is not possible")
            self.scope.bind(target.id, value, self.loc(target))
        elif not isinstance(target, ast.Tuple):
            raise self.unsupported(target, target)
        else:
            values = value if isinstance(value, tuple) else ()
            try:
                pairs = list(zip(target.elts, values, strict=True))
            except ValueError:
                message = f"{len(target.elts)} names, but {len(values)} values"
                raise self.error(target, message) from None
            for element, part in pairs:
                self.assign(element, part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value and "constexpr" not in ast.unparse(node.annotation):
            self.assign(node.target, self.visit(node.value))
        elif node.value:
            value, target = self.visit(node.value), node.target
            problems = {
                "only a name can be constexpr": not isinstance(target, ast.Name),
                f"{ast.unparse(target)} is already defined. constexpr cannot be reassigned.": (
                    ast.unparse(target) in self.scope.values
                ),
                f"{ast.unparse(target)}, a constexpr, cannot be {value!r}": isinstance(value, tensor),
            }
            for message, holds in problems.items():
                if holds:
                    raise self.error(node, message)
            self.scope.bind(
                ast.unparse(target), value if isinstance(value, tuple) else constexpr(value), self.loc(target)
            )

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, f"{ast.unparse(node.target)} cannot be updated")
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        new = ast.copy_location(
            ast.Assign([node.target], ast.copy_location(ast.BinOp(old, node.op, node.value), node)), node
        )
        self.visit_Assign(new)
